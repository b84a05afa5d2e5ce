/* SPDX-License-Identifier: MIT */
/*
 * Tasks that have ended: of processes that are no more, and of those that have executed something
 * else since.  A profiler hears of a task by the samples that it left, and that may be after its
 * end.
 *
 * Whose child a task was, and what it was called, is known of many (a shell's loop makes two with
 * each command); which file it executed, of the last ones.
 */
#ifndef UX_PAST_H
#define UX_PAST_H

#include <sys/types.h>
#include <sys/ux.h>

struct process;

/* The task whose parent the next one of the process is: its own before, or its parent's. */
uint32_t past_parent(const struct process *process);

/* What there is to be told of the process's task, which it still has. */
struct ux_task_life past_life(const struct process *process);

/* The process's task is about to end, and the process with it or not: UX_LIFE_*. */
void past_note(const struct process *process, uint32_t state);

struct past {
	struct ux_task_life life;
	uid_t owner; /* owner_of() it was. */
};

/* Null: none that had the number has ended lately. */
const struct past *past_find(uint32_t task_id);

/* The file that it executed; "": it is not known any more, is long, or nothing was executed. */
const char *past_path(uint32_t task_id);

#endif
