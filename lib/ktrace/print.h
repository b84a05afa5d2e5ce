/* SPDX-License-Identifier: MIT */
/* Records as lines, as BSD's kdump prints them. */
#ifndef KTRACE_PRINT_H
#define KTRACE_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "calls.h"
#include "file.h"

/* What stands for the default: all but KTRFAC_CSW. */
#define KTRACE_DEFAULT \
	(KTRFAC_SYSCALL | KTRFAC_SYSRET | KTRFAC_NAMEI | KTRFAC_GENIO | KTRFAC_PSIG | KTRFAC_USER)

/* Facilities by their letters, such as `cn+`; false if one is none. */
bool ktrace_parse_facilities(const char *letters, unsigned *facilities);
#define KTRACE_LETTERS "c n i s u w +"

enum ktrace_time {
	KTRACE_NO_TIME,
	KTRACE_ELAPSED,  /* Since the first record. */
	KTRACE_RELATIVE, /* Since the record before that is printed. */
	KTRACE_ABSOLUTE, /* Since 1970. */
};

struct ktrace_print {
	FILE *out;
	struct ktrace_file *file;
	unsigned facilities; /* Which records are printed: KTRFAC_*, */
	int32_t pid;         /* and of whom; 0: of all. */
	bool is_decimal;     /* Numbers are, else hexadecimal. */
	bool has_numbers;    /* No names for them. */
	bool has_threads;
	bool hides_data;
	uint64_t data_most; /* Bytes of a record. */
	enum ktrace_time time;
	bool has_begun;
	uint32_t held;       /* Whose paths were waited for once: it is not held back again. */
	int64_t begin, last; /* The times of the first record, and of the last that was printed. */
};

/* Of the fields above those that are not 0 by default; of the file all records but waits. */
void ktrace_print_start(struct ktrace_print *print, struct ktrace_file *file, FILE *out);

/*
 * All records that are there.  Of a file that grows the last one stays for the next time if it is a
 * call whose paths are yet to come.
 */
void ktrace_print_all(struct ktrace_print *print);

/* One record, if it is to be printed. */
void ktrace_print_record(struct ktrace_print *print, const struct ktrace_record *record);

/* What stands in its line behind the type, and the line's end: of one that is sound. */
void ktrace_print_body(struct ktrace_print *print, const struct ktrace_record *record);

/* Is it of a process and a type that are to be printed?  What has no known type always is. */
bool ktrace_is_chosen(const struct ktrace_print *print, const struct ktrace_record *record);

/*
 * `name(arguments)` of a call, with paths as the records behind it tell them; and what it came to,
 * as `-1 ENOENT No such file or directory`.
 */
void ktrace_print_call(struct ktrace_print *print, const struct ktrace_record *record);
void ktrace_print_result(struct ktrace_print *print, const struct ktrace_record *record);

/* Is it of a type that is known, and long enough?  Else there is a complaint. */
bool ktrace_is_sound(struct ktrace_file *file, const struct ktrace_record *record);

/* The number of the call, of a KTR_SYSCALL or a KTR_SYSRET that is sound. */
int ktrace_print_code(const struct ktrace_record *record);

/* Bytes as C would have them in a string, without the quotes; and one. */
#define KTRACE_BYTE_ROOM 5
void ktrace_print_byte(unsigned char byte, char text[KTRACE_BYTE_ROOM]);
void ktrace_print_text(FILE *out, const unsigned char *bytes, size_t length);

/* The name of a call, which may be nobody's: then its number. */
void ktrace_print_name(FILE *out, int code);

/* Does the call name paths of which the records are not in the window yet? */
bool ktrace_lacks_paths(const struct ktrace_file *file, const struct ktrace_record *record);

#endif
