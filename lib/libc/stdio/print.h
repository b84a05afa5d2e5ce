/* SPDX-License-Identifier: MIT */
/*
 * Formatted output: a format's conversions, and the sinks that take the characters.
 *
 * The formatter (print.c) reads the format (__print_parse.c) and the arguments (print_arguments.c),
 * and writes to a sink; numbers with a point are __print_float.c's.  What kinds of sinks there are
 * only printf.c knows.
 */
#ifndef LIBC_STDIO_PRINT_H
#define LIBC_STDIO_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink {
	void (*write)(struct sink *sink, const char *from, size_t size);
	size_t total; /* Characters so far, wherever they went. */
};

void __sink_write(struct sink *sink, const char *from, size_t size);
void __sink_pad(struct sink *sink, char character, size_t count);

enum length {
	LENGTH_INT,
	LENGTH_CHAR,
	LENGTH_SHORT,
	LENGTH_LONG,
	LENGTH_LONG_LONG,
	LENGTH_LONG_DOUBLE,
};

/* A width or a precision: a number, or the place of an argument. */
struct amount {
	int value; /* -1: none. */
	bool argument;
	unsigned place; /* From 1; 0 is the next one. */
};

struct conversion {
	bool left;
	bool plus;
	bool space;
	bool alternative;
	bool zeros;
	struct amount width;
	struct amount precision;
	enum length length;
	unsigned place; /* Of the argument. */
	char letter;
};

/* Reads from behind the percent sign to behind the letter; the letter is zero if the text ends. */
const char *__print_parse(const char *format, struct conversion *conversion);

union value {
	uint64_t integer; /* An int or a long is extended by its sign. */
	long double real;
	void *pointer;
};

#define MOST_ARGUMENTS 32 /* That a format may name by their places. */

/* Arguments in order; or all at once, if a format names places. */
struct arguments {
	va_list list;
	bool by_place;
	union value values[MOST_ARGUMENTS];
};

/* Looks through the format; false if its places cannot be understood. */
bool __arguments_begin(struct arguments *arguments, const char *format, va_list list);
void __arguments_end(struct arguments *arguments);

/* The value of a conversion, and that of a width or precision. */
void __arguments_take(struct arguments *arguments, const struct conversion *conversion,
		      union value *value);
int __arguments_take_amount(struct arguments *arguments, const struct amount *amount);

/* A prefix (a sign, 0x), zeros and a body, in a field. */
void __print_field(struct sink *sink, const struct conversion *conversion, const char *prefix,
		   size_t zeros, const char *body, size_t size);

/*
 * The same in two steps, for a body that is written by parts: what stands before it, and how many
 * blanks are to follow.
 */
size_t __print_open_field(struct sink *sink, const struct conversion *conversion,
			  const char *prefix, size_t length);

void __print_float(struct sink *sink, const struct conversion *conversion, long double number);
void __print_hexadecimal_float(struct sink *sink, const struct conversion *conversion,
			       long double number);
void __print_special_float(struct sink *sink, const struct conversion *conversion, bool infinite,
			   bool negative);

/* e+05: an exponent of so many digits or more. */
#define PRINT_EXPONENT 8 /* Bytes: p-16445 and its zero. */
void __print_exponent(char *to, char letter, int exponent, unsigned digits);

/* The sign that a number shows. */
const char *__print_sign(const struct conversion *conversion, bool negative);

/* The whole of it: the number of characters, -1 with an error if the format is none. */
int __print_list(struct sink *sink, const char *format, va_list list);

#endif
