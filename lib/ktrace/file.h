/* SPDX-License-Identifier: MIT */
/*
 * Reading what ktrace() recorded: records out of a file, which may still grow.
 *
 * For whoever shows traces: kdump on the host and in the guest, and ktrace.  Nothing is believed of
 * the file.  A header that cannot be one ends no reading: what follows is searched for the next
 * that can, and what lies between is complained of.  So of a damaged file all is shown that can be
 * read, and it is known that it is damaged.
 */
#ifndef KTRACE_FILE_H
#define KTRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ktrace.h>

#define KTRACE_BODY_MAX 0x10000u /* More than any record has: a larger length is damage. */
#define KTRACE_WINDOW   0x80000u /* So much of the file is in memory. */

struct ktrace_record {
	uint64_t at; /* Of its header, in the file. */
	unsigned type;
	unsigned thread;
	int32_t pid;
	uint32_t sequence;
	int64_t time;                   /* Microseconds since 1970. */
	char command[KTR_COMM_MAX + 1]; /* Printable. */
	const unsigned char *body;      /* Good until the next record is asked for. */
	size_t length;
};

struct ktrace_file {
	const char *program; /* In complaints. */
	const char *name;
	int descriptor;
	bool is_growing;   /* What ends within a record will go on. */
	bool is_at_end;    /* There was no more when it was last tried. */
	bool is_damaged;   /* Something was complained of. */
	uint32_t sequence; /* The last record's; 0 before the first. */
	uint64_t base;     /* Where in the file the window begins. */
	size_t at;         /* In the window: what comes next, */
	size_t used;       /* and what is behind all that was read. */
	unsigned char *window;
};

/* `-` is standard input.  False with errno if it cannot be opened. */
bool ktrace_open(struct ktrace_file *file, const char *name);

/* Of what is open already. */
bool ktrace_attach(struct ktrace_file *file, int descriptor);
void ktrace_close(struct ktrace_file *file);

/*
 * The next record; false at the end.  Of a file that grows that is the end for now, and there may
 * be more at the next call.
 */
bool ktrace_next(struct ktrace_file *file, struct ktrace_record *record);

/* A file that grew does so no more: what is in it now is all. */
void ktrace_stop_growing(struct ktrace_file *file);

/* Takes back what ktrace_next() has just given: it comes once more. */
void ktrace_put_back(struct ktrace_file *file, const struct ktrace_record *record);

/*
 * The next record behind `at` that is of the call's thread, or of its process by a thread that is
 * not known: `at`, at first the call itself, becomes that.  It stays where it is.  False if there
 * is none in the window.
 */
bool ktrace_peek(const struct ktrace_file *file, const struct ktrace_record *call,
		 struct ktrace_record *at);

/* Prints `PROGRAM: FILE: what` on standard error, and remembers that the file is damaged. */
void ktrace_complain(struct ktrace_file *file, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
