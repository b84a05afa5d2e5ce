/* SPDX-License-Identifier: MIT */
/* Characters, lines and blocks read from a stream. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

int getc_unlocked(FILE *file)
{
	return __file_get(file);
}

int getchar_unlocked(void)
{
	return __file_get(stdin);
}

int fgetc(FILE *file)
{
	int character;

	flockfile(file);
	character = __file_get(file);
	funlockfile(file);
	return character;
}

int getc(FILE *file)
{
	return fgetc(file);
}

int getchar(void)
{
	return fgetc(stdin);
}

int ungetc(int character, FILE *file)
{
	bool done;

	flockfile(file);
	done = __file_unget(file, character);
	funlockfile(file);
	return done ? (unsigned char)character : EOF;
}

/* Elements that were read whole; the bytes of a last part are gone. */
size_t fread(void *to, size_t size, size_t count, FILE *file)
{
	size_t bytes;
	size_t done;

	if (size == 0 || count == 0)
		return 0;
	if (__builtin_mul_overflow(size, count, &bytes)) {
		errno = EOVERFLOW;
		return 0;
	}
	flockfile(file);
	done = __file_read(file, to, bytes);
	funlockfile(file);
	return done / size;
}

/* Bytes up to a line's end, or as many as there is room for; whether the line has ended. */
static bool read_line(FILE *file, int delimiter, char *to, size_t room, size_t *count)
{
	int character = 0;

	for (*count = 0; *count < room && character != delimiter;) {
		character = __file_get(file);
		if (character == EOF)
			return true;
		to[(*count)++] = (char)character;
	}
	return character == delimiter;
}

char *fgets(char *line, int size, FILE *file)
{
	size_t count;
	bool failed;

	if (size < 1)
		return NULL;
	flockfile(file);
	failed = file->flags & FILE_FAILED;
	file->flags &= ~(unsigned)FILE_FAILED;
	read_line(file, '\n', line, (size_t)size - 1, &count);
	if (file->flags & FILE_FAILED || (count == 0 && size > 1))
		line = NULL;
	else
		line[count] = '\0';
	file->flags |= failed ? FILE_FAILED : 0;
	funlockfile(file);
	return line;
}

static bool grow(char **line, size_t *size)
{
	size_t larger = *line == NULL || *size < 64 ? 128 : *size * 2;
	char *block = realloc(*line, larger);

	if (block == NULL)
		return false;
	*line = block;
	*size = larger;
	return true;
}

/* The length of the line; 0 at the end, -1 if there is no memory for it. */
static ssize_t read_growing(FILE *file, int delimiter, char **line, size_t *size)
{
	size_t length = 0;
	size_t count;
	bool ended;

	do {
		if ((*line == NULL || length + 2 > *size) && !grow(line, size))
			return -1;
		ended = read_line(file, delimiter, *line + length, *size - length - 1, &count);
		length += count;
	} while (!ended);
	(*line)[length] = '\0';
	return (ssize_t)length;
}

ssize_t getdelim(char **line, size_t *size, int delimiter, FILE *file)
{
	ssize_t length;

	if (line == NULL || size == NULL) {
		errno = EINVAL;
		return -1;
	}
	flockfile(file);
	length = read_growing(file, delimiter, line, size);
	funlockfile(file);
	return length > 0 ? length : -1;
}

ssize_t getline(char **line, size_t *size, FILE *file)
{
	return getdelim(line, size, '\n', file);
}
