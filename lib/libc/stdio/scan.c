/* SPDX-License-Identifier: MIT */
/* The family of scanf. */
#include "scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum size {
	SIZE_INT,
	SIZE_CHAR,
	SIZE_SHORT,
	SIZE_LONG,
	SIZE_LONG_LONG,
	SIZE_LONG_DOUBLE,
};

struct directive {
	bool silent;   /* The value is not stored. */
	bool allocate; /* Text goes to memory from malloc. */
	size_t width;  /* 0: not given. */
	enum size size;
	char letter;
	bool set[UCHAR_MAX + 1]; /* Of %[. */
};

enum outcome {
	STORED,
	SILENT, /* Matched, and nothing to count. */
	MISMATCH,
	NO_INPUT,
};

struct scan {
	struct source source;
	va_list arguments;
};

/* ---------------- The format ---------------- */

static const char *parse_size(const char *format, enum size *size)
{
	switch (*format) {
	case 'h':
		*size = format[1] == 'h' ? SIZE_CHAR : SIZE_SHORT;
		return format + (format[1] == 'h' ? 2 : 1);
	case 'l':
		*size = format[1] == 'l' ? SIZE_LONG_LONG : SIZE_LONG;
		return format + (format[1] == 'l' ? 2 : 1);
	case 'z':
	case 't':
		*size = SIZE_LONG;
		return format + 1;
	case 'j':
	case 'q':
		*size = SIZE_LONG_LONG;
		return format + 1;
	case 'L':
		*size = SIZE_LONG_DOUBLE;
		return format + 1;
	default:
		*size = SIZE_INT;
		return format;
	}
}

/* From behind the bracket to behind the one that ends the set.  The first of a set may be one. */
static const char *parse_set(const char *format, struct directive *directive)
{
	bool member = *format != '^';
	const char *first;

	format += !member;
	memset(directive->set, !member, sizeof(directive->set));
	for (first = format; *format != '\0' && (*format != ']' || format == first); format++) {
		unsigned char from = (unsigned char)*format;
		unsigned char to = from;

		if (format[1] == '-' && format[2] != ']' && format[2] != '\0') {
			to = (unsigned char)format[2];
			format += 2;
		}
		for (unsigned character = from; character <= to; character++)
			directive->set[character] = member;
	}
	return *format != '\0' ? format + 1 : format;
}

static const char *parse_directive(const char *format, struct directive *directive)
{
	*directive = (struct directive){.silent = *format == '*'};
	format += directive->silent;
	for (; isdigit((unsigned char)*format); format++)
		directive->width = directive->width * 10 + (size_t)(*format - '0');
	directive->allocate = *format == 'm';
	format += directive->allocate;
	format = parse_size(format, &directive->size);
	directive->letter = *format;
	if (*format == '[')
		return parse_set(format + 1, directive);
	return *format != '\0' ? format + 1 : format;
}

/* ---------------- Values ---------------- */

static void store_integer(void *to, enum size size, unsigned long long value)
{
	switch (size) {
	case SIZE_CHAR:
		*(unsigned char *)to = (unsigned char)value;
		break;
	case SIZE_SHORT:
		*(unsigned short *)to = (unsigned short)value;
		break;
	case SIZE_LONG:
		*(unsigned long *)to = (unsigned long)value;
		break;
	case SIZE_LONG_LONG:
	case SIZE_LONG_DOUBLE:
		*(unsigned long long *)to = value;
		break;
	default:
		*(unsigned *)to = (unsigned)value;
	}
}

/* The value of a number as the type has it that it is for: a long too large is the largest. */
static unsigned long long convert_integer(const char *text, int base, bool is_signed,
					  enum size size)
{
	bool wide = size == SIZE_LONG_LONG || size == SIZE_LONG_DOUBLE;

	if (is_signed && wide)
		return (unsigned long long)strtoll(text, NULL, base);
	if (is_signed)
		return (unsigned long long)strtol(text, NULL, base);
	return wide ? strtoull(text, NULL, base) : strtoul(text, NULL, base);
}

static void store_float(void *to, enum size size, const char *text)
{
	switch (size) {
	case SIZE_LONG:
		*(double *)to = strtod(text, NULL);
		break;
	case SIZE_LONG_DOUBLE:
		*(long double *)to = strtold(text, NULL);
		break;
	default:
		*(float *)to = strtof(text, NULL);
	}
}

/* What an item that did not match means: the source's end before its first character is another. */
static enum outcome refuse(const struct item *item)
{
	return item->length == 0 && item->source->ended ? NO_INPUT : MISMATCH;
}

static enum outcome scan_integer(struct scan *scan, const struct directive *directive,
				 struct item *item)
{
	static const char letters[] = "diuoxXp";
	static const signed char bases[] = {10, 0, 10, 8, 16, 16, 16};
	int base = bases[strchr(letters, directive->letter) - letters];
	bool is_signed = directive->letter == 'd' || directive->letter == 'i';
	enum size size = directive->letter == 'p' ? SIZE_LONG : directive->size;

	if (!__item_integer(item, base))
		return refuse(item);
	if (directive->silent)
		return SILENT;
	store_integer(va_arg(scan->arguments, void *), size,
		      convert_integer(item->text, base, is_signed, size));
	return STORED;
}

static enum outcome scan_float(struct scan *scan, const struct directive *directive,
			       struct item *item)
{
	if (!__item_float(item))
		return refuse(item);
	if (directive->silent)
		return SILENT;
	store_float(va_arg(scan->arguments, void *), directive->size, item->text);
	return STORED;
}

static bool belongs(const struct directive *directive, int character)
{
	if (character == EOF)
		return false;
	if (directive->letter == '[')
		return directive->set[character];
	return directive->letter == 'c' || !isspace(character);
}

/* Gathers an item to memory of its own; the zero behind it is not for %c. */
static enum outcome store_new_text(struct scan *scan, const struct directive *directive,
				   const struct item *item)
{
	size_t size = item->length + (directive->letter != 'c');
	char *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		return NO_INPUT;
	memcpy(copy, item->text, size);
	*va_arg(scan->arguments, char **) = copy;
	return STORED;
}

/* Text goes where it is wanted character by character, however much there is. */
static size_t scan_into(struct item *item, const struct directive *directive, char *to)
{
	size_t count = 0;

	for (; item->width > 0; item->width--) {
		int character = __source_get(item->source);

		if (!belongs(directive, character)) {
			__source_unget(item->source, character);
			break;
		}
		if (to != NULL)
			to[count] = (char)character;
		count++;
	}
	return count;
}

static enum outcome scan_text(struct scan *scan, const struct directive *directive,
			      struct item *item)
{
	size_t wanted = directive->letter == 'c' ? item->width : 1;
	bool stored = !directive->silent && !directive->allocate;
	char *to = stored ? va_arg(scan->arguments, char *) : NULL;
	size_t count;

	if (directive->allocate && !directive->silent) {
		while (belongs(directive, __item_peek(item)))
			__item_take(item);
		count = item->length;
	} else {
		count = scan_into(item, directive, to);
	}
	if (count < wanted)
		return count == 0 && item->source->ended ? NO_INPUT : MISMATCH;
	if (directive->silent)
		return SILENT;
	if (directive->allocate)
		return store_new_text(scan, directive, item);
	if (directive->letter != 'c')
		to[count] = '\0';
	return STORED;
}

/* ---------------- Directives ---------------- */

static void skip_blanks(struct source *source)
{
	int character;

	do
		character = __source_get(source);
	while (character != EOF && isspace(character));
	__source_unget(source, character);
}

static enum outcome scan_literal(struct source *source, char wanted)
{
	int character = __source_get(source);

	if (character == (unsigned char)wanted)
		return SILENT;
	__source_unget(source, character);
	return character == EOF ? NO_INPUT : MISMATCH;
}

static enum outcome scan_item(struct scan *scan, const struct directive *directive,
			      struct item *item)
{
	switch (directive->letter) {
	case 'd':
	case 'i':
	case 'u':
	case 'o':
	case 'x':
	case 'X':
	case 'p':
		return scan_integer(scan, directive, item);
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		return scan_float(scan, directive, item);
	case 's':
	case 'c':
	case '[':
		return scan_text(scan, directive, item);
	default:
		return MISMATCH;
	}
}

static enum outcome scan_directive(struct scan *scan, const struct directive *directive)
{
	struct item item;
	enum outcome outcome;
	size_t width = directive->width;

	if (directive->letter == 'n') {
		if (!directive->silent)
			store_integer(va_arg(scan->arguments, void *), directive->size,
				      scan->source.read);
		return SILENT;
	}
	if (directive->letter != 'c' && directive->letter != '[')
		skip_blanks(&scan->source);
	if (directive->letter == '%')
		return scan_literal(&scan->source, '%');
	if (width == 0)
		width = directive->letter == 'c' ? 1 : SIZE_MAX;
	__item_begin(&item, &scan->source, width);
	outcome = scan_item(scan, directive, &item);
	if (item.no_memory)
		outcome = NO_INPUT;
	__item_end(&item);
	return outcome;
}

/* Values that were stored; EOF if the input ended before the first. */
static int scan_list(struct scan *scan, const char *format)
{
	struct directive directive;
	int count = 0;

	while (*format != '\0') {
		enum outcome outcome = SILENT;

		if (isspace((unsigned char)*format)) {
			skip_blanks(&scan->source);
			format++;
		} else if (*format == '%') {
			format = parse_directive(format + 1, &directive);
			outcome = scan_directive(scan, &directive);
		} else {
			outcome = scan_literal(&scan->source, *format++);
		}
		if (outcome == NO_INPUT)
			return count > 0 ? count : EOF;
		if (outcome == MISMATCH)
			return count;
		count += outcome == STORED;
	}
	return count;
}

int vfscanf(FILE *file, const char *format, va_list arguments)
{
	struct scan scan = {.source.file = file};
	int count;

	va_copy(scan.arguments, arguments);
	flockfile(file);
	count = scan_list(&scan, format);
	funlockfile(file);
	va_end(scan.arguments);
	return count;
}

int vsscanf(const char *text, const char *format, va_list arguments)
{
	struct scan scan = {.source.text = text};
	int count;

	va_copy(scan.arguments, arguments);
	count = scan_list(&scan, format);
	va_end(scan.arguments);
	return count;
}

int vscanf(const char *format, va_list arguments)
{
	return vfscanf(stdin, format, arguments);
}

int scanf(const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vfscanf(stdin, format, arguments);
	va_end(arguments);
	return count;
}

int fscanf(FILE *file, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vfscanf(file, format, arguments);
	va_end(arguments);
	return count;
}

int sscanf(const char *text, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsscanf(text, format, arguments);
	va_end(arguments);
	return count;
}
