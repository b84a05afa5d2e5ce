/* SPDX-License-Identifier: MIT */
/*
 * Memory and strings.  The compiler calls the first four on its own account, for structures that it
 * copies, clears or compares, so they must be here, and must not be turned into calls of
 * themselves.
 */
#include <assay.h>

#define WORD sizeof(uint32_t)

/* Word by word, which is what most copies are made of. */
void *memcpy(void *to, const void *from, size_t size)
{
	void *start = to;
	size_t words = size / WORD, rest = size % WORD;

	__asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest) : : "memory");
	return start;
}

/* Goes backwards only when going forwards would overwrite what is still to be read. */
void *memmove(void *to, const void *from, size_t size)
{
	char *target = (char *)to + size;
	const char *source = (const char *)from + size;

	if ((uintptr_t)to - (uintptr_t)from >= size)
		return memcpy(to, from, size);
	while (size-- > 0) {
		*--target = *--source;
		__asm__ volatile("" : : : "memory"); /* Keeps this loop from becoming memmove. */
	}
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	void *start = to;
	size_t words = size / WORD, rest = size % WORD;
	uint32_t word = (uint8_t)byte * 0x01010101u;

	__asm__ volatile("rep stosl" : "+D"(to), "+c"(words) : "a"(word) : "memory");
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(rest) : "a"(word) : "memory");
	return start;
}

int memcmp(const void *one, const void *other, size_t size)
{
	const unsigned char *left = one;
	const unsigned char *right = other;

	for (; size > 0; size--, left++, right++) {
		if (*left != *right)
			return *left - *right;
	}
	return 0;
}

size_t strlen(const char *string)
{
	const char *end = string;

	while (*end != '\0') {
		end++;
		__asm__ volatile("" : "+r"(end)); /* Keeps this loop from becoming strlen. */
	}
	return (size_t)(end - string);
}

int strcmp(const char *one, const char *other)
{
	return strncmp(one, other, SIZE_MAX);
}

int strncmp(const char *one, const char *other, size_t limit)
{
	for (; limit > 0; limit--, one++, other++) {
		if (*one != *other || *one == '\0')
			return (unsigned char)*one - (unsigned char)*other;
	}
	return 0;
}

char *strchr(const char *string, int character)
{
	for (; *string != (char)character; string++) {
		if (*string == '\0')
			return NULL;
	}
	return (char *)(uintptr_t)string;
}

/* The value of one digit, in any base up to 36; 36 if it is none. */
static unsigned digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return (unsigned)(digit - '0');
	if (digit >= 'a' && digit <= 'z')
		return (unsigned)(digit - 'a') + 10;
	if (digit >= 'A' && digit <= 'Z')
		return (unsigned)(digit - 'A') + 10;
	return 36;
}

/* Base 0 takes 0x for hexadecimal and all else for decimal.  A number too large wraps. */
unsigned long strtoul(const char *string, char **end, int base)
{
	unsigned long value = 0;

	if ((base == 0 || base == 16) && string[0] == '0' && (string[1] | 0x20) == 'x' &&
	    digit_value(string[2]) < 16) {
		string += 2;
		base = 16;
	}
	if (base == 0)
		base = 10;
	for (; digit_value(*string) < (unsigned)base; string++)
		value = value * (unsigned)base + digit_value(*string);
	if (end != NULL)
		*end = (char *)(uintptr_t)string;
	return value;
}
