/* SPDX-License-Identifier: MIT */
/* Tasks: see task.h.  Guarded by the kernel lock. */
#include "kern/task.h"

#include "kern/assert.h"
#include "kern/bootstrap.h"
#include "kern/lock.h"
#include "kern/sched.h"
#include "kern/string.h"
#include "kern/work.h"
#include "kern/zone.h"
#include "vm/map.h"

struct list all_tasks = LIST_INITIALIZER(all_tasks);

static struct zone task_zone;
static uint32_t last_id;

void task_module_init(void)
{
	zone_init(&task_zone, "tasks", sizeof(struct task), 4);
}

struct task *task_create(const char *name, int module)
{
	struct vm_map *map = map_create();
	struct task *task;

	assert(kernel_locked());
	if (map == NULL)
		return NULL;
	task = zone_alloc(&task_zone);
	if (task == NULL) {
		map_destroy(map);
		return NULL;
	}
	*task = (struct task){.magic = TASK_MAGIC, .id = ++last_id, .map = map, .module = module};
	strlcpy(task->name, name, sizeof task->name);
	list_init(&task->threads);
	wait_queue_init(&task->thread_gone);
	list_add_last(&all_tasks, &task->link);
	return task;
}

void task_destroy(struct task *task)
{
	assert(task->magic == TASK_MAGIC);
	assert(task->n_threads == 0);
	assert(list_empty(&task->thread_gone.waiters));
	map_destroy(task->map);
	list_remove(&task->link);
	task->magic = 0;
	zone_free(&task_zone, task);
}

void task_end(struct task *task, int status)
{
	struct list *link;
	unsigned turn = 0;

	assert(task->magic == TASK_MAGIC);
	if (task->ending)
		return;
	task->ending = true;
	task->status = status;
	list_for_each (link, &task->threads) {
		thread_kill(list_object(link, struct thread, task_link));
		if (++turn % 64 == 0)
			kernel_pause();
	}
}

void task_lose_thread(struct task *task)
{
	assert(task->magic == TASK_MAGIC);
	assert(task->n_threads > 0);
	task->n_threads--;
	thread_wake_all(&task->thread_gone);
	if (task->n_threads == 0) {
		int module = task->module;
		int status = task->status;

		task_destroy(task);
		bootstrap_task_ended(module, status);
	}
}
