/* SPDX-License-Identifier: MIT */
/*
 * Strings (base/string.h).  None of these is called where speed matters.  Null pointers are not
 * looked for: page 0 is never mapped, so that reading through one is a panic that says where.
 */
#include "base/string.h"

#include "base/assert.h"

size_t strlen(const char *string)
{
	const char *end = string;

	while (*end != '\0') {
		end++;
		/* Keeps the compiler from turning this loop into a call of strlen(). */
		__asm__ volatile("" : "+r"(end));
	}
	return (size_t)(end - string);
}

/* How two characters compare: as C says, without sign. */
static int string_order(char one, char other)
{
	return (unsigned char)one - (unsigned char)other;
}

/* Not strncmp() without a limit: the compiler's checks take such a limit for a mistake. */
int strcmp(const char *one, const char *other)
{
	while (*one == *other && *one != '\0') {
		one++;
		other++;
	}
	return string_order(*one, *other);
}

int strncmp(const char *one, const char *other, size_t limit)
{
	for (; limit > 0; limit--, one++, other++) {
		if (*one != *other || *one == '\0')
			return string_order(*one, *other);
	}
	return 0;
}

/* The zero at the end counts as part of the string, as in C. */
char *strchr(const char *string, int character)
{
	for (; *string != (char)character; string++) {
		if (*string == '\0')
			return NULL;
	}
	return (char *)string;
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	size_t length = strlen(from);
	size_t n;

	assert(to != NULL || size == 0);
	if (size == 0)
		return length;
	n = length < size ? length : size - 1;
	memcpy(to, from, n);
	to[n] = '\0';
	return length;
}
