/* SPDX-License-Identifier: MIT */
/*
 * Formatted text.  Understands %d %i %u %x %X %p %c %s %% with the flags `0` and `-`, a width or *,
 * a precision (or .*) for %s, and the lengths l, ll and z.  Needs no machine: tested on the host
 * too.
 */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

typedef void format_sink(void *context, char c);

/* Hands the text to `sink` one character at a time; returns how many. */
size_t format_to(format_sink *sink, void *context, const char *format, va_list args);

/* Writes at most `size` bytes with the terminating zero; returns the length it wanted. */
size_t format_string(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t format_string_va(char *buffer, size_t size, const char *format, va_list args);

#endif
