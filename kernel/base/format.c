/* SPDX-License-Identifier: MIT */
/*
 * Formatted text (base/format.h).
 *
 * One directive is read into a struct, then one function writes what it stands for.  Owns nothing
 * and allocates nothing, so that a kernel that is about to die can still say why.
 */
#include "base/format.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/divide.h"
#include "base/string.h"

/* Where the text goes and what it is made from. */
struct formatter {
	format_sink *sink;
	void *context;
	size_t length;
	va_list args;
};

enum length {
	LENGTH_INT,
	LENGTH_LONG,
	LENGTH_LONG_LONG,
	LENGTH_SIZE
};

/* What stands between `%` and the letter. */
struct directive {
	bool left; /* The padding goes behind the text. */
	bool zero; /* It is made of zeros, behind the sign. */
	size_t width;
	size_t precision; /* Of text: at most so many characters. */
	enum length length;
};

#define NO_PRECISION SIZE_MAX
#define DIGITS_MAX   20 /* Of 2^64 in base 10. */

#define LOWER "0123456789abcdef"
#define UPPER "0123456789ABCDEF"

/* Every character goes through here: the length is what was wanted, whether the sink kept it. */
static void format_put(struct formatter *f, char c)
{
	f->sink(f->context, c);
	f->length++;
}

static void format_put_bytes(struct formatter *f, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		format_put(f, bytes[i]);
}

static void format_put_many(struct formatter *f, char c, size_t n)
{
	while (n-- > 0)
		format_put(f, c);
}

/*
 * Writes `prefix` (a sign) and `text`, padded to the width.  Blanks go before the sign and zeros
 * behind it; text on the left is never padded with zeros, which would change a number.
 */
static void format_put_field(struct formatter *f, const struct directive *d, const char *prefix,
			     const char *text, size_t n)
{
	size_t prefix_length = strlen(prefix);
	size_t padding = d->width > prefix_length + n ? d->width - prefix_length - n : 0;

	if (!d->left && !d->zero)
		format_put_many(f, ' ', padding);
	format_put_bytes(f, prefix, prefix_length);
	if (!d->left && d->zero)
		format_put_many(f, '0', padding);
	format_put_bytes(f, text, n);
	if (d->left)
		format_put_many(f, ' ', padding);
}

/* Takes the last digit off the number: a CPU's own division wherever 32 bits are enough. */
static unsigned format_take_digit(uint64_t *number, unsigned base)
{
	uint64_t all = *number;

	*number = all > UINT32_MAX ? divide(all, base) : (uint32_t)all / base;
	return (unsigned)(all - *number * base);
}

/* The digits come last one first, and so fill their room from its end. */
static void format_put_number(struct formatter *f, const struct directive *d, const char *prefix,
			      uint64_t number, const char *alphabet, unsigned base)
{
	char digits[DIGITS_MAX];
	size_t first = DIGITS_MAX;

	assert(base == 10 || base == 16);
	do
		digits[--first] = alphabet[format_take_digit(&number, base)];
	while (number != 0);
	format_put_field(f, d, prefix, digits + first, DIGITS_MAX - first);
}

/*
 * The next argument, with the type that the caller must have passed.  A cast of one common type
 * would not do: on the machine a long long takes two words of the stack and an int one.
 */
static uint64_t format_take_unsigned(struct formatter *f, enum length length)
{
	switch (length) {
	case LENGTH_LONG:
		return va_arg(f->args, unsigned long);
	case LENGTH_LONG_LONG:
		return va_arg(f->args, unsigned long long);
	case LENGTH_SIZE:
		return va_arg(f->args, size_t);
	default:
		return va_arg(f->args, unsigned);
	}
}

static int64_t format_take_signed(struct formatter *f, enum length length)
{
	switch (length) {
	case LENGTH_LONG:
		return va_arg(f->args, long);
	case LENGTH_LONG_LONG:
		return va_arg(f->args, long long);
	case LENGTH_SIZE:
		return va_arg(f->args, ptrdiff_t);
	default:
		return va_arg(f->args, int);
	}
}

/* The value is made positive without sign: the smallest number has no positive one with it. */
static void format_put_signed(struct formatter *f, const struct directive *d)
{
	int64_t number = format_take_signed(f, d->length);

	if (number < 0)
		format_put_number(f, d, "-", -(uint64_t)number, LOWER, 10);
	else
		format_put_number(f, d, "", (uint64_t)number, LOWER, 10);
}

/* All its digits: addresses are read in columns. */
static void format_put_pointer(struct formatter *f, const struct directive *d)
{
	uintptr_t pointer = (uintptr_t)va_arg(f->args, void *);
	char text[2 + 2 * sizeof(pointer)] = "0x";

	for (size_t i = sizeof(text); i > 2; i--, pointer >>= 4)
		text[i - 1] = LOWER[pointer & 15];
	format_put_field(f, d, "", text, sizeof(text));
}

static void format_put_string(struct formatter *f, const struct directive *d)
{
	const char *text = va_arg(f->args, const char *);
	size_t n = 0;

	if (text == NULL)
		text = "(null)";
	/* Not strlen(): with a precision there need not be a zero at the end. */
	while (n < d->precision && text[n] != '\0')
		n++;
	format_put_field(f, d, "", text, n);
}

/* By way of a field of one character, so that it has a width too. */
static void format_put_char(struct formatter *f, const struct directive *d)
{
	char c = (char)va_arg(f->args, int);

	format_put_field(f, d, "", &c, 1);
}

/* An unknown directive is written as it stands: a mistake in a message should not hide the rest. */
static void format_put_directive(struct formatter *f, const struct directive *d, char letter)
{
	switch (letter) {
	case 'd':
	case 'i':
		format_put_signed(f, d);
		break;
	case 'u':
		format_put_number(f, d, "", format_take_unsigned(f, d->length), LOWER, 10);
		break;
	case 'x':
		format_put_number(f, d, "", format_take_unsigned(f, d->length), LOWER, 16);
		break;
	case 'X':
		format_put_number(f, d, "", format_take_unsigned(f, d->length), UPPER, 16);
		break;
	case 'p':
		format_put_pointer(f, d);
		break;
	case 's':
		format_put_string(f, d);
		break;
	case 'c':
		format_put_char(f, d);
		break;
	default:
		format_put(f, '%');
		if (letter != '%')
			format_put(f, letter);
	}
}

/* Each function that reads gets where to begin and returns where it stopped. */
static const char *format_read_flags(const char *p, struct directive *d)
{
	for (;; p++) {
		if (*p == '-')
			d->left = true;
		else if (*p == '0')
			d->zero = true;
		else
			return p;
	}
}

/* Digits, or `*` for the next argument; a negative one counts as none. */
static const char *format_read_count(struct formatter *f, const char *p, size_t *count)
{
	int argument;

	if (*p == '*') {
		argument = va_arg(f->args, int);
		if (argument >= 0)
			*count = (size_t)argument;
		return p + 1;
	}
	for (*count = 0; *p >= '0' && *p <= '9'; p++)
		*count = *count * 10 + (size_t)(*p - '0');
	return p;
}

/* More than two `l` mean no more than two: there is no longer number. */
static const char *format_read_length(const char *p, struct directive *d)
{
	if (*p == 'z') {
		d->length = LENGTH_SIZE;
		return p + 1;
	}
	for (; *p == 'l'; p++)
		d->length = d->length == LENGTH_INT ? LENGTH_LONG : LENGTH_LONG_LONG;
	return p;
}

/* Reads from behind the `%` to the letter, and returns where that is. */
static const char *format_read_directive(struct formatter *f, const char *p, struct directive *d)
{
	*d = (struct directive){.precision = NO_PRECISION};
	p = format_read_flags(p, d);
	p = format_read_count(f, p, &d->width);
	if (*p == '.')
		p = format_read_count(f, p + 1, &d->precision);
	return format_read_length(p, d);
}

/*
 * A format that ends within a directive ends the text there.  The arguments are copied because a
 * va_list that is a parameter cannot be passed on by address on every machine, the host included.
 */
size_t format_to(format_sink *sink, void *context, const char *format, va_list args)
{
	struct formatter f = {.sink = sink, .context = context};
	struct directive d;

	assert(sink != NULL && format != NULL);
	va_copy(f.args, args);
	for (const char *p = format; *p != '\0'; p++) {
		if (*p != '%') {
			format_put(&f, *p);
			continue;
		}
		p = format_read_directive(&f, p + 1, &d);
		if (*p == '\0')
			break;
		format_put_directive(&f, &d, *p);
	}
	va_end(f.args);
	return f.length;
}

/* A buffer with a fixed size; characters behind its end are dropped. */
struct buffer {
	char *next;
	char *end; /* Where the terminating zero goes at the latest. */
};

static void format_put_buffer(void *context, char c)
{
	struct buffer *buffer = context;

	assert(buffer->next <= buffer->end);
	if (buffer->next < buffer->end)
		*buffer->next++ = c;
}

/*
 * Goes on counting behind the end of the buffer, so that the caller learns how much room it takes.
 */
size_t format_string_va(char *buffer, size_t size, const char *format, va_list args)
{
	struct buffer target = {buffer, buffer + size - 1};
	size_t length;

	assert(buffer != NULL && size > 0);
	length = format_to(format_put_buffer, &target, format, args);
	*target.next = '\0';
	return length;
}

size_t format_string(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	size_t length;

	va_start(args, format);
	length = format_string_va(buffer, size, format, args);
	va_end(args);
	return length;
}
