/* SPDX-License-Identifier: MIT */
/* Bytes and strings. */
#ifndef _STRING_H
#define _STRING_H

#include <stddef.h>
#include <strings.h>

void *memcpy(void *to, const void *from, size_t size);
void *mempcpy(void *to, const void *from, size_t size);
void *memccpy(void *to, const void *from, int last, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);
void *memchr(const void *bytes, int byte, size_t size);
void *memrchr(const void *bytes, int byte, size_t size);
void *rawmemchr(const void *bytes, int byte);
void *memmem(const void *bytes, size_t size, const void *wanted, size_t wanted_size);

size_t strlen(const char *string);
size_t strnlen(const char *string, size_t limit);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t size);
char *stpcpy(char *to, const char *from);
char *stpncpy(char *to, const char *from, size_t size);
size_t strlcpy(char *to, const char *from, size_t size);
char *strcat(char *to, const char *from);
char *strncat(char *to, const char *from, size_t limit);
size_t strlcat(char *to, const char *from, size_t size);
char *strdup(const char *string) __attribute__((malloc));
char *strndup(const char *string, size_t limit) __attribute__((malloc));

int strcmp(const char *one, const char *other);
int strncmp(const char *one, const char *other, size_t limit);
int strcoll(const char *one, const char *other);
size_t strxfrm(char *to, const char *from, size_t size);

char *strchr(const char *string, int character);
char *strrchr(const char *string, int character);
char *strchrnul(const char *string, int character);
size_t strspn(const char *string, const char *accepted);
size_t strcspn(const char *string, const char *rejected);
char *strpbrk(const char *string, const char *accepted);
char *strstr(const char *string, const char *wanted);
char *strcasestr(const char *string, const char *wanted);
char *strtok(char *string, const char *separators);
char *strtok_r(char *string, const char *separators, char **rest);
char *strsep(char **rest, const char *separators);

char *strerror(int number);
int strerror_r(int number, char *to, size_t size);
char *strsignal(int number);

#endif
