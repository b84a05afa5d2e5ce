/* SPDX-License-Identifier: MIT */
/*
 * What a process may have (docs/owners.md).  Children and programs that it executes have the same.
 */
#ifndef UX_LIMITS_H
#define UX_LIMITS_H

#include <stdbool.h>

#include <sys/resource.h>

#include "core/ux.h"

struct process;

/* What the first process has. */
void limits_init(struct rlimit *limits);

/*
 * Whether the process may make another one, or one thread more: unless it is root's, its real user
 * has not as many yet as it may have.
 */
bool limits_allow_process(const struct process *parent);
bool limits_allow_thread(const struct process *process);

/* Has the kernel hold the process's task to its limit of memory; 0, or ENOMEM. */
int limits_of_task(const struct process *process, mach_port_t task);

#endif
