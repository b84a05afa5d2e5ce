/* SPDX-License-Identifier: MIT */
/* Tasks that have ended: see past.h.  The oldest are forgotten.  Guarded by the server's lock. */
#include "process/past.h"

#include "core/ux.h"
#include "process/executed.h"
#include "process/process.h"

#define PAST_MAX  2048u /* A task is found at its number: numbers are given in turn. */
#define PATHS_MAX 1024u /* Profilers ask four times a second: fewer end in between. */

/* A copy of the path, so that no memory is held for what has ended: most are short. */
#define PATH_ROOM 96

static struct past past[PAST_MAX];

static struct {
	uint32_t task_id;
	char text[PATH_ROOM];
} paths[PATHS_MAX];

/* ---------------- Of a process that lives ---------------- */

uint32_t past_parent(const struct process *process)
{
	if (process->task_id != 0)
		return process->task_id;
	return process->parent != NULL ? process->parent->task_id : 0;
}

static void past_put_time(uint32_t words[2], uint64_t time)
{
	words[0] = (uint32_t)time;
	words[1] = (uint32_t)(time >> 32);
}

struct ux_task_life past_life(const struct process *process)
{
	struct ux_task_life life = {
		.task_id = process->task_id,
		.parent_task = process->parent_task,
		.pid = process->pid,
		.ppid = process->parent_pid,
		.pgrp = process->pgrp,
		.uid = process->credentials.uid,
		.state = UX_LIFE_LIVES,
		.children = process->task_children,
	};

	past_put_time(life.begun, process->task_begun);
	memcpy(life.command, process->command, sizeof life.command);
	return life;
}

/* ---------------- Of what has ended ---------------- */

static void past_note_path(const struct process *process)
{
	const char *path = process->executed != NULL ? executed_path(process->executed) : "";
	unsigned n = process->task_id % PATHS_MAX;

	paths[n].task_id = process->task_id;
	paths[n].text[0] = '\0';
	if (strlen(path) < PATH_ROOM)
		memcpy(paths[n].text, path, strlen(path) + 1);
}

void past_note(const struct process *process, uint32_t state)
{
	struct past *entry = &past[process->task_id % PAST_MAX];

	assert(ux_lock_held() && process->task != MACH_PORT_NULL);
	*entry = (struct past){.life = past_life(process), .owner = owner_of(process)};
	entry->life.state = state;
	past_put_time(entry->life.ended, ux_now());
	past_note_path(process);
}

const struct past *past_find(uint32_t task_id)
{
	const struct past *entry = &past[task_id % PAST_MAX];

	assert(ux_lock_held());
	return task_id != 0 && entry->life.task_id == task_id ? entry : NULL;
}

const char *past_path(uint32_t task_id)
{
	assert(ux_lock_held());
	return paths[task_id % PATHS_MAX].task_id == task_id ? paths[task_id % PATHS_MAX].text : "";
}
