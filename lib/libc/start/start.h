/* SPDX-License-Identifier: MIT */
/* The beginning of a program, and of the child of a fork, which begins in a way too. */
#ifndef LIBC_START_H
#define LIBC_START_H

#include <stdint.h>

#include "tcb.h"

/* Room that programs with few `__thread` variables need. */
#define FIRST_BLOCK_SIZE 512

#define FIRST_THREAD 1 /* The id of a process's first thread. */

/* Makes the block that the calling thread has had in its parent its own.  0 on failure. */
int __libc_begin_again(struct tcb *block);

_Noreturn void __libc_start(uintptr_t *stack);

#endif
