/* SPDX-License-Identifier: MIT */
/* A thread that only the kernel knows. */
#ifndef LIBPROF_PROF_THREAD_H
#define LIBPROF_PROF_THREAD_H

#include <stdint.h>

#include <mach/kern_return.h>

/* Begins run(), which never returns, on a stack that ends at `top`; `id` is set before it runs. */
kern_return_t __prof_thread_start(void (*run)(void), void *top, uint32_t *id);

#endif
