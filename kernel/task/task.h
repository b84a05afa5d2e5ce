/* SPDX-License-Identifier: MIT */
/*
 * Tasks: an address space, a space of names for ports, and the threads that use both.
 *
 * A task ends when it is told to (task_terminate, task_exit); a boot program's also with its last
 * thread, while one made by task_create() may have none.  Its names go at once, by the hand of
 * whoever ends it, and so do all tasks that it has made, and those that they have: what nobody is
 * left to answer for does not run.  Its memory goes when it has ended and has no thread left, so
 * that no CPU has the address space loaded any more.  The structure lives as long as something
 * points to it.  Guarded by the kernel lock.
 */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/list.h>
#include "task/vtimer.h"
#include "thread/thread.h"
#include "vm/map/fault.h"

struct owner;
struct port;
struct profil;
struct space;
struct vm_map;

#define TASK_REGISTERED_PORTS 4

#define TASK_MAGIC     0x5441534bu
#define TASK_NAME_SIZE 32

struct task {
	uint32_t magic; /* TASK_MAGIC */
	uint32_t id;    /* From 1, never used again. */
	uint32_t maker; /* The label of the thread that made it; 0: the system. */
	char name[TASK_NAME_SIZE];
	struct owner *owner; /* Who pays for what it has: base/owner.h. */
	struct list link;    /* On the list of all tasks, */
	struct list id_link; /* and on one of those by which task_find() finds it. */
	struct list threads;
	uint32_t n_threads;
	struct task *made_by; /* It ends with this one, which has not ended before it; or NULL. */
	uint32_t jobs;        /* Which of the streams that follow children are its: prof/job.h. */
	uint32_t calls_era;   /* In which its children's calls are told apart: prof/calls.h. */
	struct vm_map *map;   /* NULL when it is over: ended, and without threads. */
	struct space *space;  /* NULL when `map` is; without names from the moment that it ends. */
	uint32_t refs;        /* Pointers to it, and one until it is over; the last frees it. */

	/*
	 * Ports: the one that stands for it, NULL once it ends, and send rights that it was given.
	 */
	struct port *port;
	struct port *self_port; /* What mach_task_self() gives: usually a right to `port`. */
	struct port *exception_port;
	struct port *bootstrap_port;
	struct port *registered[TASK_REGISTERED_PORTS];

	uint32_t suspend_count;
	uint8_t priority;     /* Of its new threads, */
	uint8_t max_priority; /* and the best that they may have. */
	bool has_made;        /* Tasks, which are behind it on the list of all. */
	bool essential;       /* A server: people are told when it ends by an exception. */

	/* What it used: threads that are gone, and messages. */
	uint32_t ended_ticks;
	uint32_t ended_system_ticks;
	uint32_t messages_sent;
	uint32_t messages_received;
	struct fault_counts faults;
	uint32_t served_ticks;        /* Of threads of other tasks, on its behalf; */
	uint32_t served_system_ticks; /* and of these, in kernel mode. */
	struct vtimer vtimers[TASK_VTIMERS];
	struct profil *profil; /* Its own histogram: prof/profil.h; NULL: none. */
	bool timed;            /* It is one reason of sched_charges_apart. */
	uint64_t created;      /* In cycles. */

	bool ending; /* It has ended: no new threads. */
	int status;  /* What it ended with. */
	int module;  /* Which boot module it is: whose status counts first; -1: none. */
	struct wait_queue thread_gone; /* thread_join() waits here. */
};

static inline struct task *current_task(void)
{
	return current_thread()->task;
}

void task_module_init(void);

/*
 * A task named `name` without threads, with an empty space; it has its port and copies of its
 * parent's special ports and its owner (`parent` may be NULL: none, and the system).  It ends with
 * the current task, if there is one.  The map and its reference are the task's on success.  NULL
 * when there is no memory, or the owner may not have it.  The caller gets no reference.
 */
struct task *task_new(struct task *parent, const char *name, struct vm_map *map, int module);

/* The task with this id, which has not gone; or NULL.  The caller gets no reference. */
struct task *task_find(uint32_t id);

/*
 * Who pays for the task from now on: what it has counts there, whatever the limits.  Ports that it
 * made are paid by who did until then.  False when there is no memory.
 */
bool task_change_owner(struct task *task, uint32_t id);

/*
 * Who pays for what the current thread makes to be given away: its task's owner, or if that is the
 * system the owner of the task on whose behalf it runs (label.h).
 */
struct owner *task_payer(void);

/* References: each pointer that outlives a wait is one. */
static inline struct task *task_reference(struct task *task)
{
	task->refs++;
	return task;
}

/* For task_release(): nothing points to the task any more, which has ended. */
void task_free(struct task *task);

static inline void task_release(struct task *task)
{
	if (task == NULL)
		return;
	assert(task->magic == TASK_MAGIC && task->refs > 0);
	if (--task->refs == 0)
		task_free(task);
}

/* What a thread begins with that is made without a word of its priority. */
unsigned task_first_priority(const struct task *task);

/*
 * Ends `task` with `status`: its port is dead, its names are gone, and its threads end on their way
 * to user mode.  Without threads it is over at once: the caller must have a reference to look at it
 * again.  Does not block.
 */
void task_end(struct task *task, int status);

/* How many have ended and have threads yet, or are about to lose their memory. */
uint32_t tasks_ending(void);

/* A thread of the task is gone, memory and all. */
void task_lose_thread(struct task *task);

/* Every task, by its `link`, in the order of their making. */
extern struct list all_tasks;

/* Has all tasks give empty page tables back. */
void tasks_trim(void);

#endif
