/* SPDX-License-Identifier: MIT */
/* Characters, strings and blocks written to a stream. */
#include <string.h>

#include "file.h"

static size_t write_bytes(FILE *file, const void *from, size_t size)
{
	size_t done;

	flockfile(file);
	done = __file_write(file, from, size);
	funlockfile(file);
	return done;
}

int putc_unlocked(int character, FILE *file)
{
	unsigned char byte = (unsigned char)character;

	return __file_write(file, &byte, 1) == 1 ? byte : EOF;
}

int putchar_unlocked(int character)
{
	return putc_unlocked(character, stdout);
}

int fputc(int character, FILE *file)
{
	unsigned char byte = (unsigned char)character;

	return write_bytes(file, &byte, 1) == 1 ? byte : EOF;
}

int putc(int character, FILE *file)
{
	return fputc(character, file);
}

int putchar(int character)
{
	return fputc(character, stdout);
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *file)
{
	size_t bytes;

	if (size == 0 || count == 0)
		return 0;
	if (__builtin_mul_overflow(size, count, &bytes)) {
		errno = EOVERFLOW;
		return 0;
	}
	return write_bytes(file, from, bytes) / size;
}

int fputs(const char *text, FILE *file)
{
	size_t length = strlen(text);

	return write_bytes(file, text, length) == length ? 0 : EOF;
}

int puts(const char *text)
{
	int result;

	flockfile(stdout);
	result = fputs(text, stdout) == EOF || putc_unlocked('\n', stdout) == EOF ? EOF : 0;
	funlockfile(stdout);
	return result;
}
