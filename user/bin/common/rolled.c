/* SPDX-License-Identifier: MIT */
/* Processes in tables of samples: see rolled.h. */
#include <pwd.h>
#include <string.h>
#include <sys/ux.h>

#include "rolled.h"

#define TASK_KERNEL 0 /* Whose threads are the kernel's own. */

_Static_assert(sizeof(((struct ux_task_life *)NULL)->command) < ROLLUP_NAME, "whole");

static void describe(struct rollup_task *row, const struct ux_task_life *life)
{
	memcpy(row->name, life->command, sizeof(life->command));
	row->pid = life->pid;
	row->ppid = life->ppid;
	row->uid = (int32_t)life->uid;
}

/* Each is looked up once. */
static void name_user(struct rollup *rollup, uid_t uid)
{
	const struct passwd *entry;

	if (rollup_user_name(rollup, (int32_t)uid) != NULL)
		return;
	entry = getpwuid(uid);
	rollup_name_user(rollup, (int32_t)uid, entry != NULL ? entry->pw_name : "");
}

/* Ancestors are asked for when a task is new: those that ended are forgotten in time. */
struct rollup_task *rolled_task(struct rollup *rollup, uint32_t task)
{
	struct rollup_task *row = rollup_task(rollup, task);
	struct ux_task_life life;

	if (row->name[0] != '\0')
		return row;
	if (task == TASK_KERNEL) {
		strcpy(row->name, "the system");
		return row;
	}
	if (ux_task_life(task, &life) != 0) {
		snprintf(row->name, sizeof(row->name), "task %lu", (unsigned long)task);
		return row;
	}
	describe(row, &life);
	name_user(rollup, life.uid);
	if (life.parent_task != 0 && life.parent_task < task)
		rolled_task(rollup, life.parent_task);
	return rollup_task(rollup, task);
}
