/* SPDX-License-Identifier: MIT */
/*
 * What tasks ran that have ended: of processes that are no more, and of those that have executed
 * something else since.  A profiler hears of a task by the samples that it left, and that may be
 * after its end.
 */
#ifndef UX_PAST_H
#define UX_PAST_H

#include <sys/types.h>

struct process;

/* A copy of the path, so that no memory is held for what has ended: most are short. */
#define PAST_PATH 96

struct past {
	uint32_t task_id;
	pid_t pid;
	uid_t owner; /* owner_of() it was. */
	char command[20];
	char path[PAST_PATH]; /* "": it is longer, or nothing was ever executed. */
};

/* The process's task, which it still has, is about to end. */
void past_note(const struct process *process);

/* Null: none that had the number has ended lately. */
const struct past *past_find(uint32_t task_id);

#endif
