/* SPDX-License-Identifier: MIT */
/*
 * A run queue: runnable threads in order of priority, first come first served within one.
 *
 * Priority 0 is the best.  A bitmap says which lists are not empty, so that finding the best thread
 * takes the same few instructions however many there are.  Guarded by the kernel lock.
 */
#ifndef KERN_RUN_QUEUE_H
#define KERN_RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/list.h>
#include "kern/config.h"

#define PRIORITIES      64
#define PRIORITY_BEST   0
#define PRIORITY_WORST  (PRIORITIES - 1)
#define PRIORITY_SYSTEM 6  /* Kernel threads. */
#define PRIORITY_USER   25 /* Programs, unless they ask for another. */

/*
 * What is left of a turn, in ticks.  It is `over` if these follow a whole one, because nobody
 * waited who was good enough: whoever is as good has the CPU before it as soon as that changes
 * hands.
 */
struct turn {
	uint8_t left;
	bool over;
};

#define TURN_NEW ((struct turn){.left = QUANTUM, .over = false})

struct run_queue {
	uint32_t occupied[PRIORITIES / 32];
	struct list lists[PRIORITIES];
};

void run_queue_init(struct run_queue *queue);
/* Behind its equals, or before them. */
void run_queue_add(struct run_queue *queue, struct list *link, unsigned priority);
void run_queue_add_first(struct run_queue *queue, struct list *link, unsigned priority);

static inline bool run_queue_is_empty(const struct run_queue *queue)
{
	return (queue->occupied[0] | queue->occupied[1]) == 0;
}

/* The best priority that is queued, PRIORITIES if the queue is empty. */
static inline unsigned run_queue_best(const struct run_queue *queue)
{
	if (queue->occupied[0] != 0)
		return (unsigned)__builtin_ctz(queue->occupied[0]);
	if (queue->occupied[1] != 0)
		return 32 + (unsigned)__builtin_ctz(queue->occupied[1]);
	return PRIORITIES;
}

static inline bool run_queue_has(const struct run_queue *queue, unsigned priority)
{
	return (queue->occupied[priority / 32] & 1u << (priority % 32)) != 0;
}

/* Takes a link away that is queued with `priority`. */
void run_queue_remove(struct run_queue *queue, struct list *link, unsigned priority);

/* Takes the first link of `priority`, which must be there. */
struct list *run_queue_take(struct run_queue *queue, unsigned priority);

#endif
