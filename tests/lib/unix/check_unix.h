/* SPDX-License-Identifier: MIT */
/*
 * Tests of the Unix server from inside: programs that make calls and look at what comes of them.
 *
 * They are written as all tests are (check.h), and a call that must fail has a word of its own:
 *
 *     TEST(pipes_are_closed)
 *     {
 *             EXPECT_EQ(close(pipe_in), 0);
 *             EXPECT_FAILS(close(pipe_in), EBADF);
 *     }
 *
 * Such a program is linked with main.c.  Each test runs in a process of its own, so that what one
 * leaves behind does not reach the next, and prints one line; tests/ux/test_programs.py reads
 * those.  A program with a main() of its own may check too: it links check_unix.c alone, and looks
 * at check_failures.
 */
#ifndef CHECK_UNIX_H
#define CHECK_UNIX_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

extern int check_failures;         /* Of the test that runs. */
extern const char *check_argument; /* The program's own, or an empty string. */

/* A call that must fail with this error. */
#define EXPECT_FAILS(call, error)                                                               \
	({                                                                                      \
		errno = 0;                                                                      \
		check_error(__FILE__, __LINE__, #call " fails with " #error, (long long)(call), \
			    (error));                                                           \
	})

/* Behind it, as behind those of check.h; reads errno. */
bool check_error(const char *file, int line, const char *text, long long result, int error);

#endif
