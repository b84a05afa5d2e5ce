/* SPDX-License-Identifier: MIT */
/*
 * Assertions state what must be true; they stay in every build.
 *
 * A failed assertion is a bug of the kernel, never of a caller in user mode: what a user can cause
 * is answered with an error code.
 */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include <stdnoreturn.h>

noreturn void assert_failed(const char *expression, const char *file, int line);

/* Stops the machine with a message, the registers of the caller and its backtrace. */
noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define assert(expression)                                              \
	do {                                                            \
		if (__builtin_expect(!(expression), 0))                 \
			assert_failed(#expression, __FILE__, __LINE__); \
	} while (0)

#endif
