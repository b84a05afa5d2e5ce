/* SPDX-License-Identifier: MIT */
/*
 * What the two halves of the C library ask of each other.  The portable half (stdio, string,
 * stdlib, ctype, math, malloc) knows neither Mach nor UX: what it needs of them is the second group
 * here and the calls of POSIX.
 */
#ifndef LIBC_INTERNAL_H
#define LIBC_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* ---------------- Of the portable half ---------------- */

extern char **environ;

/* Writes out what every stream holds; exit() does it after the functions of atexit(). */
void __stdio_flush_all(void);

/* The same at the end of a program, where unread input is also given back to its file. */
void __stdio_exit(void);

/* fork() calls the first of each pair before, the second after, in the parent and in the child. */
void __stdio_before_fork(void);
void __stdio_after_fork(int in_child);
void __malloc_before_fork(void);
void __malloc_after_fork(int in_child);

void __run_atexit(void);

/* ---------------- Of a profiling library, if one is linked in ---------------- */

/* exit() calls it last, fork() in the child when all is as it should be. */
void __profile_exit(void) __attribute__((weak));
void __profile_fork_child(void) __attribute__((weak));

/* Before another program takes this one's place. */
void __profile_exec(void) __attribute__((weak));

/* What a signal calls by default; SIG_DFL: nothing. */
void (*__profile_handler(int signal))(int) __attribute__((weak));

/* moncontrol() and monitor(0): parts that are not to be profiled, and the file. */
void __profile_control(bool is_on) __attribute__((weak));
void __profile_write(void) __attribute__((weak));

/* ---------------- Of the half that knows the system ---------------- */

typedef struct {
	int word;
} libc_lock_t;

#define LIBC_LOCK_INITIALIZER \
	{                     \
		0             \
	}

void __lock(libc_lock_t *lock);
void __unlock(libc_lock_t *lock);

/* Names the calling thread; never 0.  The same number all its life, another one after a fork. */
int __thread_id(void);

/* Zero-filled memory by the page: `bytes` is a multiple of LIBC_PAGE.  NULL if there is none. */
#define LIBC_PAGE 4096
void *__pages_allocate(size_t bytes);
void __pages_free(void *pages, size_t bytes);

_Noreturn void _exit(int status);

#endif
