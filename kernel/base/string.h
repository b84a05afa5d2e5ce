/* SPDX-License-Identifier: MIT */
/*
 * Memory and strings, as far as the kernel needs them, with the meaning that C gives them.
 *
 * The mem functions are machine code (i386/cpu/string.c); the compiler calls them on its own
 * account too.  There is no strcpy: whoever copies text knows how much room there is.
 */
#ifndef BASE_STRING_H
#define BASE_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);

size_t strlen(const char *string);
int strcmp(const char *one, const char *other);
int strncmp(const char *one, const char *other, size_t limit);
char *strchr(const char *string, int character);

/*
 * Copies at most size - 1 characters and always ends them with a zero, unless `size` is 0.  Returns
 * the length of `from`: the copy is whole if that is less than `size`.
 */
size_t strlcpy(char *to, const char *from, size_t size);

#endif
