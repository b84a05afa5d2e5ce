/* SPDX-License-Identifier: MIT */
/*
 * Bytes.  The compiler calls memcpy, memmove, memset and memcmp on its own account; none of these
 * may be written so that it turns them into calls of themselves.  That is what the empty assembler
 * statements are for.
 */
#include <stdint.h>
#include <string.h>

#define WORD sizeof(uint32_t)

void *memcpy(void *to, const void *from, size_t size)
{
	void *start = to;
	size_t words = size / WORD;
	size_t rest = size % WORD;

	__asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest) : : "memory");
	return start;
}

void *mempcpy(void *to, const void *from, size_t size)
{
	return (char *)memcpy(to, from, size) + size;
}

/* From the last byte to the first: the bytes beyond the last whole word, then words. */
static void copy_backwards(char *to, const char *from, size_t size)
{
	size_t words = size / WORD;
	size_t rest = size % WORD;
	char *last = to + size - 1;
	const char *source = from + size - 1;

	__asm__ volatile("std\n\t"
			 "rep movsb\n\t"
			 "sub $3, %0\n\t"
			 "sub $3, %1\n\t"
			 "mov %3, %2\n\t"
			 "rep movsl\n\t"
			 "cld"
			 : "+D"(last), "+S"(source), "+c"(rest)
			 : "r"(words)
			 : "memory", "cc");
}

/* Goes backwards only when going forwards would overwrite what is still to be read. */
void *memmove(void *to, const void *from, size_t size)
{
	if ((uintptr_t)to - (uintptr_t)from >= size)
		return memcpy(to, from, size);
	copy_backwards(to, from, size);
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	void *start = to;
	size_t words = size / WORD;
	size_t rest = size % WORD;
	uint32_t pattern = (uint8_t)byte * 0x01010101u;

	__asm__ volatile("rep stosl" : "+D"(to), "+c"(words) : "a"(pattern) : "memory");
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(rest) : "a"(pattern) : "memory");
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

void *memchr(const void *bytes, int byte, size_t size)
{
	const unsigned char *next = bytes;

	for (; size > 0; size--, next++) {
		if (*next == (unsigned char)byte)
			return (void *)(uintptr_t)next;
	}
	return NULL;
}

void *memrchr(const void *bytes, int byte, size_t size)
{
	const unsigned char *next = (const unsigned char *)bytes + size;

	while (next != bytes) {
		if (*--next == (unsigned char)byte)
			return (void *)(uintptr_t)next;
	}
	return NULL;
}

void *rawmemchr(const void *bytes, int byte)
{
	const unsigned char *next = bytes;

	while (*next != (unsigned char)byte)
		next++;
	return (void *)(uintptr_t)next;
}

/* Copies up to and with the byte `last`; returns what follows its copy, NULL if it is not there. */
void *memccpy(void *to, const void *from, int last, size_t size)
{
	const unsigned char *end = memchr(from, last, size);

	if (end == NULL) {
		memcpy(to, from, size);
		return NULL;
	}
	return mempcpy(to, from, (size_t)(end - (const unsigned char *)from) + 1);
}

int bcmp(const void *one, const void *other, size_t size)
{
	return memcmp(one, other, size);
}

void bcopy(const void *from, void *to, size_t size)
{
	memmove(to, from, size);
}

void bzero(void *to, size_t size)
{
	memset(to, 0, size);
}
