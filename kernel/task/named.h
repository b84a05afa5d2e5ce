/* SPDX-License-Identifier: MIT */
/*
 * What the current task's names stand for, in traps that take a name where a call has a port.
 *
 * All is NULL for a name that is no send right to an object of the kind.  The pointers come without
 * a reference.  Guarded by the kernel lock.
 */
#ifndef TASK_NAMED_H
#define TASK_NAMED_H

#include <stdint.h>

struct entry;
struct task;
struct thread;

/* The entry with a send right of this name. */
struct entry *named_send_right(uint32_t name);

struct task *named_task(uint32_t name);
struct thread *named_thread(uint32_t name);

#endif
