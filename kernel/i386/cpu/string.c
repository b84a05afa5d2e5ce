/* SPDX-License-Identifier: MIT */
/*
 * Memory functions (base/string.h) by the CPU's string instructions.
 *
 * The compiler emits calls of these four when it copies, clears or compares structures, after the
 * point where it decides what is needed: `used` keeps them in a kernel that is linked as one unit.
 * The kernel runs with the direction flag clear; every entry from user mode sees to that.
 */
#include "base/string.h"

#include <stdint.h>

#define WORD     sizeof(uint32_t)
#define NEEDED   __attribute__((used))
#define ALL_OF_4 0x01010101u /* Times a byte: that byte four times. */

/* Whole words first: `rep movsb` is a quarter as fast where the CPU does not join bytes. */
NEEDED void *memcpy(void *to, const void *from, size_t size)
{
	void *target = to;
	size_t words = size / WORD;
	size_t bytes = size % WORD;

	__asm__ volatile("rep movsl" : "+D"(target), "+S"(from), "+c"(words)::"memory");
	__asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(bytes)::"memory");
	return to;
}

/*
 * Goes backwards only where going forwards would overwrite what is still to be read; the difference
 * is taken without sign, so that a target below the source counts as far away.
 */
NEEDED void *memmove(void *to, const void *from, size_t size)
{
	char *target = (char *)to + size;
	const char *source = (const char *)from + size;

	if ((uintptr_t)to - (uintptr_t)from >= size)
		return memcpy(to, from, size);
	while (size-- > 0) {
		*--target = *--source;
		/* Keeps the compiler from turning this loop into a call of memmove(). */
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

NEEDED void *memset(void *to, int byte, size_t size)
{
	void *target = to;
	uint32_t pattern = (uint8_t)byte * ALL_OF_4;
	size_t words = size / WORD;
	size_t bytes = size % WORD;

	__asm__ volatile("rep stosl" : "+D"(target), "+c"(words) : "a"(pattern) : "memory");
	__asm__ volatile("rep stosb" : "+D"(target), "+c"(bytes) : "a"(pattern) : "memory");
	return to;
}

NEEDED int memcmp(const void *one, const void *other, size_t size)
{
	const uint8_t *a = one;
	const uint8_t *b = other;

	for (; size > 0; size--, a++, b++) {
		if (*a != *b)
			return *a - *b;
	}
	return 0;
}
