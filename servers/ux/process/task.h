/* SPDX-License-Identifier: MIT */
/* The kernel's tasks, which processes run in, as far as the server makes, watches and ends them. */
#ifndef UX_TASK_H
#define UX_TASK_H

#include "core/ux.h"
#include "process/process.h"

/*
 * A task with the memory of `parent`, or with none; a send right.  0, or EAGAIN, ENOMEM.  It is to
 * be told of its end, but is no process's yet.
 */
int task_new(mach_port_t parent, bool inherit, mach_port_t *task);

/* What the kernel calls it, in labels and samples. */
uint32_t task_id(mach_port_t task);

/* The user who pays for what the kernel keeps for it; 0, or EAGAIN without memory. */
int task_charge(mach_port_t task, uid_t uid);

/* Gives up the right; with task_end() the task ends first. */
void task_forget(mach_port_t task);
void task_end(mach_port_t task);

/*
 * The kernel has told that a port of this name is dead: whether it was a task's, which somebody has
 * ended; its process ends then, and that unlocks.
 */
bool task_port_died(mach_port_t name);

/* The name that people see. */
void task_call(mach_port_t task, const char *name);

/* Adds what the task has used so far. */
void task_add_usage(mach_port_t task, struct rusage *usage);

/* The sum of two processes' usage. */
void usage_add(struct rusage *sum, const struct rusage *usage);

#endif
