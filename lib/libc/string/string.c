/* SPDX-License-Identifier: MIT */
/* Strings: their length, copies and order. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t strlen(const char *string)
{
	const char *end = string;

	while (*end != '\0') {
		end++;
		__asm__ volatile("" : "+r"(end)); /* Keeps this loop from becoming strlen. */
	}
	return (size_t)(end - string);
}

size_t strnlen(const char *string, size_t limit)
{
	const char *end = memchr(string, '\0', limit);

	return end != NULL ? (size_t)(end - string) : limit;
}

char *stpcpy(char *to, const char *from)
{
	size_t length = strlen(from);

	memcpy(to, from, length + 1);
	return to + length;
}

char *strcpy(char *to, const char *from)
{
	memcpy(to, from, strlen(from) + 1);
	return to;
}

/* Fills the rest of `size` with zeros; there is none at the end of a string that is too long. */
char *stpncpy(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size);

	memcpy(to, from, length);
	memset(to + length, 0, size - length);
	return to + length;
}

char *strncpy(char *to, const char *from, size_t size)
{
	stpncpy(to, from, size);
	return to;
}

/* The length that was wanted: `size` or more says that the copy was cut. */
size_t strlcpy(char *to, const char *from, size_t size)
{
	size_t length = strlen(from);
	size_t copied = length < size ? length : size - 1;

	if (size == 0)
		return length;
	memcpy(to, from, copied);
	to[copied] = '\0';
	return length;
}

char *strcat(char *to, const char *from)
{
	strcpy(to + strlen(to), from);
	return to;
}

char *strncat(char *to, const char *from, size_t limit)
{
	char *end = to + strlen(to);
	size_t length = strnlen(from, limit);

	memcpy(end, from, length);
	end[length] = '\0';
	return to;
}

size_t strlcat(char *to, const char *from, size_t size)
{
	size_t length = strnlen(to, size);

	return length + strlcpy(to + length, from, size - length);
}

char *strndup(const char *string, size_t limit)
{
	size_t length = strnlen(string, limit);
	char *copy = malloc(length + 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, string, length);
	copy[length] = '\0';
	return copy;
}

char *strdup(const char *string)
{
	size_t size = strlen(string) + 1;
	char *copy = malloc(size);

	return copy != NULL ? memcpy(copy, string, size) : NULL;
}

int strncmp(const char *one, const char *other, size_t limit)
{
	for (; limit > 0; limit--, one++, other++) {
		if (*one != *other || *one == '\0')
			return (unsigned char)*one - (unsigned char)*other;
	}
	return 0;
}

int strcmp(const char *one, const char *other)
{
	for (; *one == *other && *one != '\0'; one++)
		other++;
	return (unsigned char)*one - (unsigned char)*other;
}

int strcoll(const char *one, const char *other)
{
	return strcmp(one, other);
}

size_t strxfrm(char *to, const char *from, size_t size)
{
	return strlcpy(to, from, size);
}

int strncasecmp(const char *one, const char *other, size_t limit)
{
	for (; limit > 0; limit--, one++, other++) {
		int left = tolower((unsigned char)*one);
		int right = tolower((unsigned char)*other);

		if (left != right || left == '\0')
			return left - right;
	}
	return 0;
}

int strcasecmp(const char *one, const char *other)
{
	return strncasecmp(one, other, SIZE_MAX);
}
