/* SPDX-License-Identifier: MIT */
/*
 * Files and folders with new names.  The six X at the end of a path become letters made of the
 * process's number and a counter; what is there already is passed over.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../internal.h"

#define LETTERS  6
#define ATTEMPTS 1000

static libc_lock_t lock = LIBC_LOCK_INITIALIZER;
static uint32_t counter; /* By the lock. */

static uint32_t next_number(void)
{
	uint32_t number;

	__lock(&lock);
	number = counter++;
	__unlock(&lock);
	return number * 2654435761u + (uint32_t)getpid() * 40503u;
}

static void write_letters(char *letters)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz012345";
	uint32_t number = next_number();

	for (int i = 0; i < LETTERS; i++, number >>= 5)
		letters[i] = alphabet[number % 32];
}

static int make_file(const char *path, int flags)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
}

static int make_folder(const char *path, int flags)
{
	(void)flags;
	return mkdir(path, 0700);
}

/* Tries names until one is new; what the maker returned for that, -1 for failure. */
static int make_named(char *path, int flags, int (*make)(const char *path, int flags))
{
	size_t length = strlen(path);

	if (length < LETTERS || strcmp(path + length - LETTERS, "XXXXXX") != 0) {
		errno = EINVAL;
		return -1;
	}
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		int made;

		write_letters(path + length - LETTERS);
		made = make(path, flags);
		if (made >= 0 || errno != EEXIST)
			return made;
	}
	return -1;
}

int mkostemp(char *path, int flags)
{
	return make_named(path, flags, make_file);
}

int mkstemp(char *path)
{
	return mkostemp(path, 0);
}

char *mkdtemp(char *path)
{
	return make_named(path, 0, make_folder) == 0 ? path : NULL;
}
