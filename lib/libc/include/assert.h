/* SPDX-License-Identifier: MIT */
/* Assertions.  The guard leaves out assert() itself: each inclusion looks at NDEBUG anew. */
#ifndef _ASSERT_H
#define _ASSERT_H

_Noreturn void __assert_fail(const char *condition, const char *file, unsigned line,
			     const char *function);

#define static_assert _Static_assert

#endif

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
	((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#endif
