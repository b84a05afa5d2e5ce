/* SPDX-License-Identifier: MIT */
/* Tasks: see task.h.  Guarded by the kernel lock. */
#include "task/task.h"

#include "base/assert.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/owner.h"
#include "base/string.h"
#include "base/zone.h"
#include "boot/bootstrap.h"
#include "i386/mmu/pmap.h"
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
	owner_set_price(OWNER_TASKS,
			sizeof(struct task) + sizeof(struct space) + sizeof(struct vm_map));
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

/* The structure; NULL when there is no memory, or the owner may not have it. */
static struct task *task_alloc_for(struct owner *owner)
{
	struct task *task;

	if (!owner_charge(owner, OWNER_TASKS, 1))
		return NULL;
	task = zone_alloc(&task_zone);
	if (task == NULL)
		owner_uncharge(owner, OWNER_TASKS, 1);
	return task;
}

/* The structure and its ports; NULL as above. */
static struct task *task_alloc(struct space *space)
{
	struct port *port = port_create(OBJECT_TASK, NULL, space->owner);
	struct task *task;

	if (port == NULL)
		return NULL;
	task = task_alloc_for(space->owner);
	if (task == NULL) {
		port_destroy(port);
		return NULL;
	}
	*task = (struct task){
		.magic = TASK_MAGIC,
		.id = ++last_id,
		.maker = current_thread()->label,
		.refs = 1,
		.owner = space->owner,
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
	struct space *space = space_create(parent == NULL ? &owner_system : parent->owner);
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
	space->task = task->id;
	task->map = map;
	if (map->payer != owner_limited(task->owner))
		map_change_payer(map, owner_limited(task->owner));
	task->module = module;
	strlcpy(task->name, name, sizeof task->name);
	list_init(&task->threads);
	wait_queue_init(&task->thread_gone);
	if (parent != NULL)
		task_inherit(task, parent);
	list_add_last(&all_tasks, &task->link);
	list_add_last(&by_id[task->id % ID_LISTS], &task->id_link);
	task->made_by = current_task();
	if (task->made_by != NULL)
		task->made_by->has_made = true;
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
	owner_uncharge(task->owner, OWNER_TASKS, 1);
	zone_free(&task_zone, task);
}

/* ---------------- Who pays ---------------- */

static void task_burden(struct task *task, struct owner *from, struct owner *to)
{
	const uint32_t held[OWNER_KINDS] = {
		[OWNER_NAMES] = task->space->charged,
		[OWNER_TASKS] = 1,
		[OWNER_THREADS] = task->n_threads,
	};

	for (unsigned kind = 0; kind < OWNER_KINDS; kind++)
		owner_burden(to, kind, held[kind]);
	list_for_each_object (struct thread, thread, &task->threads, task_link)
		sched_set_owner(thread, to);
	for (unsigned kind = 0; kind < OWNER_KINDS; kind++)
		if (held[kind] > 0)
			owner_uncharge(from, kind, held[kind]);
}

bool task_change_owner(struct task *task, uint32_t id)
{
	struct owner *owner = owner_obtain(id);

	assert(task->magic == TASK_MAGIC && !task->ending);
	if (owner == NULL)
		return false;
	if (owner != task->owner)
		task_burden(task, task->owner, owner);
	task->owner = owner;
	task->space->owner = owner;
	map_change_payer(task->map, owner_limited(owner));
	return true;
}

struct owner *task_payer(void)
{
	const struct task *task = current_task(), *served = task_find(current_thread()->label);

	return task->owner == &owner_system && served != NULL ? served->owner : task->owner;
}

/* Interrupts' work, which is done in between, ends no task. */
void tasks_trim(void)
{
	list_for_each_object (struct task, task, &all_tasks, link)
		if (task->map != NULL && task->map->active)
			pmap_trim(task->map->pmap);
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

/* Kills all threads.  Those at the edge of user mode are gone on return, the task with the last. */
static void task_kill_threads(struct task *task)
{
	task_reference(task);
	list_for_each_object_removable (struct thread, thread, after, &task->threads, task_link) {
		thread_kill(thread);
		pause_each_page(); /* Its stack may go with it, which takes as long. */
	}
	task_release(task);
}

/* From here on it makes nothing, and nobody makes anything for it. */
static void task_begin_end(struct task *task, int status)
{
	task->ending = true;
	task->status = status;
	n_ending++;
}

static void task_go(struct task *task)
{
	task_lose_ports(task);
	if (task->n_threads == 0)
		task_over(task);
	else
		task_kill_threads(task);
}

/*
 * Ends those that the task has made, those that they have made, and so on, which is one walk: they
 * are behind it in the order of their making.
 */
static void task_end_made(struct task *task)
{
	struct list *link = task->link.next;

	while (link != &all_tasks) {
		struct task *other = list_object(link, struct task, link);

		link = link->next;
		if (!other->ending && other->made_by != NULL && other->made_by->ending) {
			task_begin_end(other, 0);
			task_go(other);
			pause_each_page();
		}
		pause_each();
	}
}

/* The task goes after all that it made: everything is counted when the last boot program goes. */
void task_end(struct task *task, int status)
{
	assert(task->magic == TASK_MAGIC);
	assert(kernel_locked());
	if (task->ending)
		return;
	task_begin_end(task, status);
	if (task->has_made)
		task_end_made(task);
	task_go(task);
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
