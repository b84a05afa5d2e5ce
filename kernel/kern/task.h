/* SPDX-License-Identifier: MIT */
/*
 * Tasks: an address space and the threads in it.
 *
 * A task ends when it is told to (task_exit) or with its last thread.  Its memory goes with the
 * last thread, when no CPU has the address space loaded any more.  Guarded by the kernel lock.
 */
#ifndef KERN_TASK_H
#define KERN_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/list.h"
#include "kern/thread.h"

struct vm_map;

#define TASK_MAGIC     0x5441534bu
#define TASK_NAME_SIZE 32

struct task {
	uint32_t magic; /* TASK_MAGIC */
	uint32_t id;    /* From 1, never used again. */
	char name[TASK_NAME_SIZE];
	struct list link; /* On the list of all tasks. */
	struct list threads;
	uint32_t n_threads;
	struct vm_map *map;
	bool ending;                   /* No new threads. */
	int status;                    /* What it ended with. */
	int module;                    /* Which boot module it is: whose status counts first. */
	struct wait_queue thread_gone; /* thread_join() waits here. */
};

void task_module_init(void);

/* A task without threads, with an empty address space; NULL when there is no memory. */
struct task *task_create(const char *name, int module);

/* Frees a task that has no thread: the way back when it could not be completed. */
void task_destroy(struct task *task);

/* Ends `task` with `status`: all its threads end on their way to user mode. */
void task_end(struct task *task, int status);

/* A thread of the task is gone, memory and all; frees the task with the last. */
void task_lose_thread(struct task *task);

/* Every task, by its `link`, in the order of their making. */
extern struct list all_tasks;

#endif
