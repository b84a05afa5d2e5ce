/* SPDX-License-Identifier: MIT */
/*
 * A stream: a descriptor with a buffer.
 *
 * A buffer holds either what was read and not yet given out (READING) or what is to be written
 * (WRITING), never both.  The lock guards all but the links of the list of streams, which the
 * list's lock guards (open.c); whoever needs both takes the list's first.  The functions named
 * __file_... expect the stream's lock to be held.
 */
#ifndef LIBC_STDIO_FILE_H
#define LIBC_STDIO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../internal.h"

#define FILE_UNREAD 8 /* Characters that ungetc() takes at any time. */

enum file_flags {
	FILE_READABLE = 0x001,
	FILE_WRITABLE = 0x002,
	FILE_APPENDS = 0x004,
	FILE_READING = 0x008,
	FILE_WRITING = 0x010,
	FILE_AT_END = 0x020,
	FILE_FAILED = 0x040,
	FILE_BY_LINE = 0x080,     /* A line's end is written at once. */
	FILE_UNBUFFERED = 0x100,  /* So is everything. */
	FILE_OWNS_BUFFER = 0x200, /* The buffer is from malloc. */
	FILE_IS_STATIC = 0x400,   /* The structure is not. */
	FILE_ASKS = 0x800,        /* By line if it turns out to be a terminal. */
};

struct libc_file {
	libc_lock_t lock;
	int owner;      /* The thread that has the lock; 0 if none. */
	unsigned depth; /* How often it has taken it. */

	struct libc_file *following;
	struct libc_file **link; /* What points to this one. */

	int descriptor;
	unsigned flags;
	unsigned char *buffer; /* NULL before the first use. */
	size_t size;
	size_t next; /* When reading: what is given out next. */
	size_t used; /* Bytes in the buffer. */

	size_t unread_count;
	unsigned char unread[FILE_UNREAD]; /* The last is given out first. */
	unsigned char single;              /* The buffer of an unbuffered stream. */

	pid_t child; /* Of popen(). */
};

/* Make the stream ready for one or the other; false, with an error, if it cannot be. */
bool __file_begin_read(FILE *file);
bool __file_begin_write(FILE *file);

/* One character, EOF at the end or after an error. */
int __file_get(FILE *file);
bool __file_unget(FILE *file, int character);

/* So many bytes, fewer at the end or after an error. */
size_t __file_read(FILE *file, unsigned char *to, size_t size);
size_t __file_write(FILE *file, const unsigned char *from, size_t size);

/*
 * Reads into the empty buffer; false at the end or after an error.  In the other direction, writes
 * what is in the buffer; what an error leaves stays there.
 */
bool __file_fill(FILE *file);
bool __file_flush(FILE *file);

/* Gives what was read too early back to the file, by moving the descriptor's offset. */
void __file_give_back(FILE *file);

/* Bytes that were read and not given out, those of ungetc() with them. */
size_t __file_ahead(const FILE *file);

/* Writes what another stream shows line by line, before a person is waited for. */
void __file_flush_prompt(const FILE *reader);

/* The flags and open()'s flags of a mode; false if it is none. */
bool __file_read_mode(const char *mode, unsigned *flags, int *open_flags);

/* A stream on this descriptor, in the list; NULL if there is no memory. */
FILE *__file_new(int descriptor, unsigned flags);

#endif
