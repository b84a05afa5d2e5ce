/* SPDX-License-Identifier: MIT */
/*
 * What the tables of wrong calls have in common: the Unix server is called by its stubs, without
 * the library, so that what is told is the server's own.
 */
#ifndef WRONG_H
#define WRONG_H

#include <limits.h>
#include <mach.h>
#include <sys/ux.h>
#include <ux/bsd.h>

#include "help.h"

#define UX      ux_server_port()
#define STUDENT 100

/* A call of the server, and the one error that it must give. */
#define WRONG(call, error)                                                                    \
	do {                                                                                  \
		kern_return_t result_ = (call);                                               \
		if (result_ != (error))                                                       \
			check_fail("%s gives %d, not %s, %d", #call, result_, #error, error); \
	} while (0)

/* Descriptors that nobody has. */
static const int no_fds[] = {-1, 40, UX_OPEN_MAX, INT_MAX, INT_MIN};

#define WITH_NO_FD(call)                                                   \
	for (size_t n_ = 0; n_ < sizeof no_fds / sizeof no_fds[0]; n_++) { \
		const int fd = no_fds[n_];                                 \
		WRONG(call, EBADF);                                        \
	}

static inline void become_student(void)
{
	EXPECT_EQ(bsd_setgroups(UX, NULL, 0), 0);
	EXPECT_EQ(bsd_setgid(UX, STUDENT), 0);
	EXPECT_EQ(bsd_setuid(UX, STUDENT), 0);
}

#endif
