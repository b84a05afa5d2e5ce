/* SPDX-License-Identifier: MIT */
/* The family of printf: the formatter with a stream, a descriptor or memory as its sink. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "print.h"

#define CHUNK 512 /* What an unbuffered stream gets at once. */

struct file_sink {
	struct sink sink;
	FILE *file;
	bool failed;
};

struct memory_sink {
	struct sink sink;
	char *to;
	size_t room; /* Without the zero at the end. */
};

static void write_to_file(struct sink *sink, const char *from, size_t size)
{
	struct file_sink *to = (struct file_sink *)sink;

	if (!to->failed)
		to->failed = __file_write(to->file, (const unsigned char *)from, size) != size;
}

static void write_to_memory(struct sink *sink, const char *from, size_t size)
{
	struct memory_sink *memory = (struct memory_sink *)sink;
	size_t kept = size < memory->room ? size : memory->room;

	memcpy(memory->to, from, kept);
	memory->to += kept;
	memory->room -= kept;
}

static int print_to_file(FILE *file, const char *format, va_list arguments)
{
	struct file_sink to = {.sink.write = write_to_file, .file = file};
	int count;

	if (!__file_begin_write(file))
		return -1;
	count = __print_list(&to.sink, format, arguments);
	return to.failed ? -1 : count;
}

/* An unbuffered stream is lent a buffer, so that a message goes out in one piece. */
static int print_with_buffer(FILE *file, const char *format, va_list arguments)
{
	unsigned char buffer[CHUNK];
	int count;

	if (!__file_begin_write(file))
		return -1;
	file->buffer = buffer;
	file->size = sizeof(buffer);
	count = print_to_file(file, format, arguments);
	if (!__file_flush(file))
		count = -1;
	file->buffer = &file->single;
	file->size = 1;
	file->used = 0;
	return count;
}

int vfprintf(FILE *file, const char *format, va_list arguments)
{
	int count;

	flockfile(file);
	if (file->flags & FILE_UNBUFFERED)
		count = print_with_buffer(file, format, arguments);
	else
		count = print_to_file(file, format, arguments);
	funlockfile(file);
	return count;
}

int vdprintf(int descriptor, const char *format, va_list arguments)
{
	FILE file = {.flags = FILE_WRITABLE | FILE_UNBUFFERED, .descriptor = descriptor};

	return print_with_buffer(&file, format, arguments);
}

int vsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
	char nothing;
	struct memory_sink memory = {
		.sink.write = write_to_memory,
		.to = size > 0 ? to : &nothing,
		.room = size > 0 ? size - 1 : 0,
	};
	int count = __print_list(&memory.sink, format, arguments);

	*memory.to = '\0';
	return count;
}

int vsprintf(char *to, const char *format, va_list arguments)
{
	return vsnprintf(to, (size_t)INT_MAX + 1, format, arguments);
}

int vasprintf(char **text, const char *format, va_list arguments)
{
	va_list again;
	int length;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	*text = length >= 0 ? malloc((size_t)length + 1) : NULL;
	if (*text == NULL)
		return -1;
	return vsnprintf(*text, (size_t)length + 1, format, arguments);
}

int vprintf(const char *format, va_list arguments)
{
	return vfprintf(stdout, format, arguments);
}

int printf(const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vfprintf(stdout, format, arguments);
	va_end(arguments);
	return count;
}

int fprintf(FILE *file, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vfprintf(file, format, arguments);
	va_end(arguments);
	return count;
}

int dprintf(int descriptor, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vdprintf(descriptor, format, arguments);
	va_end(arguments);
	return count;
}

int sprintf(char *to, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsprintf(to, format, arguments);
	va_end(arguments);
	return count;
}

int snprintf(char *to, size_t size, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsnprintf(to, size, format, arguments);
	va_end(arguments);
	return count;
}

int asprintf(char **text, const char *format, ...)
{
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vasprintf(text, format, arguments);
	va_end(arguments);
	return count;
}
