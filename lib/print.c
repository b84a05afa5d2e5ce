/* SPDX-License-Identifier: MIT */
/*
 * Formatted output: one formatter, two places where its characters can go.
 *
 * A sink takes characters one by one.  format() stores them until its room is used up and counts
 * the rest; print() gathers them and hands each full chunk, and the last, to the kernel.
 */
#include <assay.h>

struct sink {
	char *buffer;
	size_t room;  /* Bytes of buffer; its last is kept for the terminating zero. */
	size_t used;  /* Characters in buffer. */
	size_t total; /* Characters so far, stored or not. */
	bool flushes; /* A full buffer is printed and used again. */
};

/* One conversion, as in %-08llx. */
struct conversion {
	bool left;
	bool zeros;
	size_t width;
	size_t bytes; /* Of the argument. */
};

static void sink_flush(struct sink *sink)
{
	sink->buffer[sink->used] = '\0';
	mach_print(sink->buffer);
	sink->used = 0;
}

static void sink_put(struct sink *sink, char character)
{
	sink->total++;
	if (sink->used + 1 < sink->room)
		sink->buffer[sink->used++] = character;
	if (sink->flushes && sink->used + 1 == sink->room)
		sink_flush(sink);
}

static void sink_pad(struct sink *sink, char character, size_t count)
{
	while (count-- > 0)
		sink_put(sink, character);
}

/*
 * A sign or prefix, then the text.  Zeros go between the two, so that -1 in a width of three is
 * -01.
 */
static void put_field(struct sink *sink, const struct conversion *conversion, const char *prefix,
		      const char *text)
{
	size_t length = strlen(prefix) + strlen(text);
	size_t padding = conversion->width > length ? conversion->width - length : 0;
	bool zeros = conversion->zeros && !conversion->left;

	if (!conversion->left && !zeros)
		sink_pad(sink, ' ', padding);
	while (*prefix != '\0')
		sink_put(sink, *prefix++);
	if (zeros)
		sink_pad(sink, '0', padding);
	while (*text != '\0')
		sink_put(sink, *text++);
	if (conversion->left)
		sink_pad(sink, ' ', padding);
}

/* Long division by halves: each step's remainder is below the divisor, so divl cannot overflow. */
uint32_t divide(uint64_t *number, uint32_t by)
{
	uint32_t high = (uint32_t)(*number >> 32);
	uint32_t low = (uint32_t)*number;
	uint32_t remainder = high % by;

	__asm__("divl %2" : "+a"(low), "+d"(remainder) : "rm"(by) : "cc");
	*number = (uint64_t)(high / by) << 32 | low;
	return remainder;
}

static void put_number(struct sink *sink, const struct conversion *conversion, const char *prefix,
		       uint64_t number, uint32_t base)
{
	char digits[24]; /* 2^64 has 20 in decimal, the smallest base. */
	char *first = digits + sizeof(digits) - 1;

	*first = '\0';
	do {
		*--first = "0123456789abcdef"[divide(&number, base)];
	} while (number > 0);
	put_field(sink, conversion, prefix, first);
}

static void put_signed(struct sink *sink, const struct conversion *conversion, int64_t number)
{
	if (number < 0)
		put_number(sink, conversion, "-", -(uint64_t)number, 10);
	else
		put_number(sink, conversion, "", (uint64_t)number, 10);
}

/* Reads a width: digits, or a star for one among the arguments, where negative means left. */
static const char *read_width(const char *format, struct conversion *conversion, va_list *arguments)
{
	if (*format == '*') {
		int width = va_arg(*arguments, int);

		conversion->left |= width < 0;
		conversion->width = width < 0 ? -(size_t)width : (size_t)width;
		return format + 1;
	}
	for (; *format >= '0' && *format <= '9'; format++)
		conversion->width = conversion->width * 10 + (size_t)(*format - '0');
	return format;
}

/* Reads all between the percent sign and the letter; returns where the letter is. */
static const char *read_conversion(const char *format, struct conversion *conversion,
				   va_list *arguments)
{
	for (; *format == '-' || *format == '0'; format++) {
		conversion->left |= *format == '-';
		conversion->zeros |= *format == '0';
	}
	format = read_width(format, conversion, arguments);
	conversion->bytes = sizeof(int);
	if (format[0] == 'l' && format[1] == 'l') {
		conversion->bytes = sizeof(long long);
		return format + 2;
	}
	if (*format == 'l' || *format == 'z') {
		conversion->bytes = sizeof(long);
		return format + 1;
	}
	return format;
}

static uint64_t take_unsigned(const struct conversion *conversion, va_list *arguments)
{
	if (conversion->bytes == sizeof(long long))
		return va_arg(*arguments, unsigned long long);
	return va_arg(*arguments, unsigned int);
}

static int64_t take_signed(const struct conversion *conversion, va_list *arguments)
{
	if (conversion->bytes == sizeof(long long))
		return va_arg(*arguments, long long);
	return va_arg(*arguments, int);
}

static void put_string(struct sink *sink, const struct conversion *conversion, const char *text)
{
	put_field(sink, conversion, "", text != NULL ? text : "(null)");
}

/* A letter that is none of ours is printed as it stands. */
static void put_conversion(struct sink *sink, char letter, const struct conversion *conversion,
			   va_list *arguments)
{
	char character[2] = {letter, '\0'};

	switch (letter) {
	case 'd':
	case 'i':
		put_signed(sink, conversion, take_signed(conversion, arguments));
		break;
	case 'u':
		put_number(sink, conversion, "", take_unsigned(conversion, arguments), 10);
		break;
	case 'x':
		put_number(sink, conversion, "", take_unsigned(conversion, arguments), 16);
		break;
	case 'p':
		put_number(sink, conversion, "0x", (uintptr_t)va_arg(*arguments, void *), 16);
		break;
	case 's':
		put_string(sink, conversion, va_arg(*arguments, const char *));
		break;
	case 'c':
		character[0] = (char)va_arg(*arguments, int);
		put_field(sink, conversion, "", character);
		break;
	default:
		put_field(sink, conversion, "", character);
	}
}

static void put_list(struct sink *sink, const char *format, va_list list)
{
	/* A copy, for the address of a parameter of this type has another type. */
	va_list arguments;

	va_copy(arguments, list);
	for (; *format != '\0'; format++) {
		struct conversion conversion = {0};

		if (*format != '%') {
			sink_put(sink, *format);
			continue;
		}
		format = read_conversion(format + 1, &conversion, &arguments);
		if (*format == '\0')
			break;
		put_conversion(sink, *format, &conversion, &arguments);
	}
	va_end(arguments);
}

void print_list(const char *format, va_list arguments)
{
	char buffer[PRINT_CHUNK];
	struct sink sink = {.buffer = buffer, .room = sizeof(buffer), .flushes = true};

	put_list(&sink, format, arguments);
	if (sink.used > 0)
		sink_flush(&sink);
}

void print(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_list(format, arguments);
	va_end(arguments);
}

size_t format_list(char *buffer, size_t room, const char *format, va_list arguments)
{
	struct sink sink = {.buffer = buffer, .room = room};

	put_list(&sink, format, arguments);
	if (room > 0)
		buffer[sink.used] = '\0';
	return sink.total;
}

size_t format(char *buffer, size_t room, const char *format, ...)
{
	size_t total;
	va_list arguments;

	va_start(arguments, format);
	total = format_list(buffer, room, format, arguments);
	va_end(arguments);
	return total;
}
