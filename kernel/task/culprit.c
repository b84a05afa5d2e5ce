/* SPDX-License-Identifier: MIT */
/* Who ends when memory is out: see culprit.h.  Guarded by the kernel lock. */
#include "task/culprit.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/owner.h"
#include "task/task.h"
#include "thread/work.h"
#include "vm/map/map.h"
#include "vm/object/object.h"

/* What its parent is told if no server says better: 128 and SIGKILL. */
#define STATUS_OF_CULPRIT 137

/* The task that was ended last: what it had is not free before it is over. */
static uint32_t last_id;

struct culprit {
	struct task *task; /* NULL: none is known yet. */
	uint32_t owner_pages;
	uint32_t pages;
};

/* ---------------- What a task has ---------------- */

/* What the payer has in the object, of `shown` pages at most: a part of it if others see it too. */
static uint32_t culprit_pages_in(const struct object *object, const struct owner *payer,
				 uint32_t shown)
{
	uint32_t pages = object->n_pages + object->n_swapped;

	if (object->payer != payer)
		return 0;
	return (pages < shown ? pages : shown) / object->refs;
}

/* In memory and in swap, which are both out. */
static uint32_t culprit_pages_of(const struct vm_map *map)
{
	uint32_t pages = 0;

	list_for_each_object (struct map_entry, entry, &map->entries, link) {
		for (const struct object *object = entry->object; object != NULL;
		     object = object->shadow) {
			pages += culprit_pages_in(object, map->payer, map_entry_pages(entry));
			pause_each();
		}
		pause_each();
	}
	return pages;
}

/* ---------------- Which task ---------------- */

static bool culprit_may_be(const struct task *task)
{
	return task->owner->all != NULL && !task->ending && !task->essential;
}

/* Puts the task in the place of one that is less to blame: its user has fewer pages, or it has. */
static void culprit_compare(struct culprit *culprit, struct task *task)
{
	uint32_t owner_pages = task->owner->uses[OWNER_PAGES].used;
	uint32_t pages;

	if (owner_pages < culprit->owner_pages)
		return;
	pages = culprit_pages_of(task->map);
	if (pages == 0 || (owner_pages == culprit->owner_pages && pages <= culprit->pages))
		return;
	*culprit = (struct culprit){task, owner_pages, pages};
}

uint32_t culprit_last(void)
{
	assert(kernel_locked());
	return last_id;
}

bool culprit_end(void)
{
	struct culprit culprit = {.task = NULL};

	assert(kernel_locked());
	if (task_find(last_id) != NULL)
		return true;
	list_for_each_object (struct task, task, &all_tasks, link) {
		if (culprit_may_be(task))
			culprit_compare(&culprit, task);
		pause_each();
	}
	if (culprit.task == NULL)
		return false;
	last_id = culprit.task->id;
	klog("memory is out: task %u \"%s\" ends, which has %u of the %u pages of user %u\n",
	     last_id, culprit.task->name, culprit.pages, culprit.owner_pages,
	     culprit.task->owner->id);
	task_end(culprit.task, STATUS_OF_CULPRIT);
	return true;
}
