/* SPDX-License-Identifier: MIT */
/* Tasks: see task.h.  Guarded by the kernel lock. */
#include "task/task.h"

#include "base/assert.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/string.h"
#include "base/zone.h"
#include "boot/bootstrap.h"
#include "ipc/port.h"
#include "ipc/space.h"
#include "prof/stream.h"
#include "prof/profil.h"
#include "task/task_notify.h"
#include "thread/run_queue.h"
#include "thread/sched.h"
#include "thread/work.h"
#include "vm/map/map.h"

struct list all_tasks = LIST_INITIALIZER(all_tasks);

static struct zone task_zone;
static uint32_t n_ending; /* Tasks that have ended and are not over. */
static uint32_t last_id;

/* Tasks by their ids, which follow one another: no list is long before there are very many. */
#define ID_LISTS 256u

static struct list by_id[ID_LISTS];

void task_module_init(void)
{
	for (unsigned n = 0; n < ID_LISTS; n++)
		list_init(&by_id[n]);
	zone_init(&task_zone, "tasks", sizeof(struct task), 4);
	profil_module_init();
}

/* ---------------- Making ---------------- */

/* What a child has from its parent. */
static void task_inherit(struct task *task, const struct task *parent)
{
	task->priority = parent->priority;
	task->max_priority = parent->max_priority;
	task->jobs = parent->jobs;
	task->exception_port = port_copy_send(parent->exception_port);
	task->bootstrap_port = port_copy_send(parent->bootstrap_port);
	for (unsigned n = 0; n < TASK_REGISTERED_PORTS; n++)
		task->registered[n] = port_copy_send(parent->registered[n]);
}

/* The structure and its ports; NULL when there is no memory. */
static struct task *task_alloc(struct space *space)
{
	struct port *port = port_create(OBJECT_TASK, NULL);
	struct task *task;

	if (port == NULL)
		return NULL;
	task = zone_alloc(&task_zone);
	if (task == NULL) {
		port_destroy(port);
		return NULL;
	}
	*task = (struct task){
		.magic = TASK_MAGIC,
		.id = ++last_id,
		.maker = current_thread()->label,
		.refs = 1,
		.space = space,
		.port = port,
		.self_port = port_make_send(port),
		.priority = PRIORITY_USER,
		.max_priority = PRIORITY_USER,
		.created = machine_cycles(),
	};
	port->object = task;
	return task;
}

struct task *task_new(struct task *parent, const char *name, struct vm_map *map, int module)
{
	struct space *space = space_create();
	struct task *task;

	assert(kernel_locked());
	if (space == NULL)
		return NULL;
	task = task_alloc(space);
	if (task == NULL) {
		space_terminate(space);
		space_release(space);
		return NULL;
	}
	task->map = map;
	task->module = module;
	strlcpy(task->name, name, sizeof task->name);
	list_init(&task->threads);
	wait_queue_init(&task->thread_gone);
	if (parent != NULL)
		task_inherit(task, parent);
	list_add_last(&all_tasks, &task->link);
	list_add_last(&by_id[task->id % ID_LISTS], &task->id_link);
	return task;
}

/* The processor set's limit counts, whatever the task's. */
unsigned task_first_priority(const struct task *task)
{
	return task->priority > sched_max_priority ? task->priority : sched_max_priority;
}

struct task *task_find(uint32_t id)
{
	list_for_each_object (struct task, task, &by_id[id % ID_LISTS], id_link) {
		if (task->id == id)
			return task;
	}
	return NULL;
}

void task_free(struct task *task)
{
	assert(task->map == NULL && task->n_threads == 0);
	assert(list_empty(&task->thread_gone.waiters));
	task->magic = 0;
	zone_free(&task_zone, task);
}

/* ---------------- Ending ---------------- */

static void task_release_special(struct port **port)
{
	struct port *special = *port;

	*port = PORT_NULL;
	port_release_send(special);
}

/* Nobody finds the task any more, and it finds nobody. */
static void task_lose_ports(struct task *task)
{
	struct port *port = task->port;

	task->port = NULL;
	port_destroy(port);
	task_release_special(&task->self_port);
	task_release_special(&task->exception_port);
	task_release_special(&task->bootstrap_port);
	for (unsigned n = 0; n < TASK_REGISTERED_PORTS; n++)
		task_release_special(&task->registered[n]);
	space_terminate(task->space);
	task_notify_forget();
}

uint32_t tasks_ending(void)
{
	return n_ending;
}

/*
 * The task has ended and has no thread any more: the rest goes, and the reference for that it was
 * there.
 */
static void task_over(struct task *task)
{
	int module = task->module;
	int status = task->status;

	assert(task->ending && task->n_threads == 0);
	map_terminate(task->map);
	map_release(task->map);
	task->map = NULL;
	space_release(task->space);
	task->space = NULL;
	list_remove(&task->link);
	list_remove(&task->id_link);
	profil_forget(task);
	vtimer_forget(task);
	stream_task_ended(task);
	task_release(task);
	n_ending--;
	bootstrap_task_ended(module, status);
}

/* Those at the edge of user mode are gone when this returns, and the task with the last of them. */
static void task_kill_threads(struct task *task)
{
	task_reference(task);
	list_for_each_object_removable (struct thread, thread, after, &task->threads, task_link) {
		thread_kill(thread);
		pause_each();
	}
	task_release(task);
}

void task_end(struct task *task, int status)
{
	assert(task->magic == TASK_MAGIC);
	assert(kernel_locked());
	if (task->ending)
		return;
	task->ending = true;
	task->status = status;
	n_ending++;
	task_lose_ports(task);
	if (task->n_threads == 0)
		task_over(task);
	else
		task_kill_threads(task);
}

void task_lose_thread(struct task *task)
{
	assert(task->magic == TASK_MAGIC);
	assert(task->n_threads > 0);
	task->n_threads--;
	thread_wake_all(&task->thread_gone);
	if (task->n_threads > 0)
		return;
	if (task->ending)
		task_over(task);
	else if (task->module >= 0)
		task_end(task, 0);
}
