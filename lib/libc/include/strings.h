/* SPDX-License-Identifier: MIT */
/* What BSD has beside <string.h>. */
#ifndef _STRINGS_H
#define _STRINGS_H

#include <stddef.h>

int bcmp(const void *one, const void *other, size_t size);
void bcopy(const void *from, void *to, size_t size);
void bzero(void *to, size_t size);
char *index(const char *string, int character);
char *rindex(const char *string, int character);
int strcasecmp(const char *one, const char *other);
int strncasecmp(const char *one, const char *other, size_t limit);
int ffs(int number);
int ffsl(long number);
int ffsll(long long number);

#endif
