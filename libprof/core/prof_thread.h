/* SPDX-License-Identifier: MIT */
/* A thread that only the kernel knows. */
#ifndef LIBPROF_PROF_THREAD_H
#define LIBPROF_PROF_THREAD_H

#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/port.h>

/*
 * Begins run(argument), which never returns, on a stack that ends at `top`.  The right to the
 * thread is the caller's; it and the kernel's number `id` are set before it runs.
 */
kern_return_t __prof_thread_start(void (*run)(void *argument), void *argument, void *top,
				  mach_port_t *thread, uint32_t *id);

#endif
