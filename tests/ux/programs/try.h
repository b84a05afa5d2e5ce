/* SPDX-License-Identifier: MIT */
/*
 * Tests of the Unix server from inside: programs that make calls and look at what comes of them.
 *
 *     TRY(pipes_carry_bytes) { CHECK(...); CHECK_EQ(write(...), 3); CHECK_FAILS(close(77), EBADF);
 * }
 *
 * A program of such tests has no main().  Each test runs in a process of its own, so that what one
 * leaves behind does not reach the next, and prints one line; tests/ux/test_programs.py reads
 * those.
 */
#ifndef TRY_H
#define TRY_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct
try {
	const char *name;
	void (*run)(void);
	struct try *next;
};

extern struct try *tries;
extern int try_failures;         /* Of the test that runs. */
extern const char *try_argument; /* The program's own, or an empty string. */

#define TRY(name)                                                      \
	static void name(void);                                        \
	static __attribute__((constructor)) void register_##name(void) \
	{                                                              \
		static struct try entry = {#name, name, NULL};         \
		struct try **last = &tries;                            \
		while (*last != NULL)                                  \
			last = &(*last)->next;                         \
		*last = &entry;                                        \
	}                                                              \
	static void name(void)

#define TRY_FAILED(...)                                  \
	do {                                             \
		printf("  %s:%d: ", __FILE__, __LINE__); \
		printf(__VA_ARGS__);                     \
		printf("\n");                            \
		try_failures++;                          \
	} while (0)

#define CHECK(condition)                                        \
	do {                                                    \
		if (!(condition))                               \
			TRY_FAILED("%s is not so", #condition); \
	} while (0)

#define CHECK_EQ(value, expected)                                                                \
	do {                                                                                     \
		long long value_ = (long long)(value), expected_ = (long long)(expected);        \
		if (value_ != expected_)                                                         \
			TRY_FAILED("%s is %lld, not %lld (errno %d)", #value, value_, expected_, \
				   errno);                                                       \
	} while (0)

/* A call that must fail with this error. */
#define CHECK_FAILS(call, error)                                                                \
	do {                                                                                    \
		errno = 0;                                                                      \
		long long result_ = (long long)(call);                                          \
		if (result_ != -1 || errno != (error))                                          \
			TRY_FAILED("%s gives %lld and errno %d, not -1 and %s", #call, result_, \
				   errno, #error);                                              \
	} while (0)

/* Ends the test if something is not so that it needs. */
#define NEED(condition)                                                           \
	do {                                                                      \
		if (!(condition)) {                                               \
			TRY_FAILED("%s is not so (errno %d)", #condition, errno); \
			return;                                                   \
		}                                                                 \
	} while (0)

#endif
