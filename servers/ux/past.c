/* SPDX-License-Identifier: MIT */
/* Tasks that have ended: see past.h.  The oldest are forgotten.  Guarded by the server's lock. */
#include "past.h"

#include "executed.h"
#include "process.h"
#include "ux.h"

#define PAST_MAX 256u

static struct past past[PAST_MAX];
static unsigned noted;

void past_note(const struct process *process)
{
	struct past *entry = &past[noted++ % PAST_MAX];
	const char *path = process->executed != NULL ? executed_path(process->executed) : "";

	assert(ux_lock_held() && process->task != MACH_PORT_NULL);
	*entry = (struct past){
		.task_id = process->task_id,
		.pid = process->pid,
		.owner = owner_of(process),
	};
	memcpy(entry->command, process->command, sizeof entry->command);
	if (strlen(path) < sizeof entry->path)
		memcpy(entry->path, path, strlen(path) + 1);
}

const struct past *past_find(uint32_t task_id)
{
	assert(ux_lock_held());
	for (unsigned n = 0; n < PAST_MAX && task_id != 0; n++)
		if (past[n].task_id == task_id)
			return &past[n];
	return NULL;
}
