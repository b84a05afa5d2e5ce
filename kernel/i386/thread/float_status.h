/* SPDX-License-Identifier: MIT */
/*
 * A thread's FPU in the formats of i386_FLOAT_STATE and i386_XFLOAT_STATE.
 *
 * The thread is the current one or stands still, and `state` has room for the whole flavor.  For
 * thread_get_state() and its like.  Guarded by the kernel lock; nothing here blocks.
 */
#ifndef I386_THREAD_FLOAT_STATUS_H
#define I386_THREAD_FLOAT_STATUS_H

#include <stdint.h>

#include <mach/kern_return.h>

struct thread;

/* Words of the extended state. */
#define XFLOAT_WORDS ((16 + 576) / sizeof(uint32_t))

kern_return_t float_state_get(struct thread *thread, uint32_t *state);
kern_return_t float_state_set(struct thread *thread, const uint32_t *state);
kern_return_t xfloat_state_get(struct thread *thread, uint32_t *state);
kern_return_t xfloat_state_set(struct thread *thread, const uint32_t *state);

#endif
