/* SPDX-License-Identifier: MIT */
/*
 * A run queue: runnable threads in order of priority, first come first served within one.
 *
 * Priority 0 is the best.  A bitmap says which lists are not empty, so that finding the best thread
 * takes the same few instructions however many there are.  Guarded by the kernel lock.
 */
#ifndef THREAD_RUN_QUEUE_H
#define THREAD_RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/list.h>
#include "base/assert.h"

#define PRIORITIES      64
#define PRIORITY_BEST   0
#define PRIORITY_WORST  (PRIORITIES - 1)
#define PRIORITY_SYSTEM 6  /* Kernel threads. */
#define PRIORITY_USER   25 /* Programs, unless they ask for another. */

/*
 * What a thread that does not run has of a turn, and so its place among its equals.  A turn is over
 * for those who have had a whole one, and have it on because nobody waited who was good enough:
 * their equals have the CPU before them as soon as that changes hands.
 */
enum turn_kind {
	TURN_WHOLE, /* A new one, of the usual length: behind them. */
	TURN_NEXT,  /* A new one, less what it ran beyond the last: behind them. */
	TURN_KEPT,  /* The rest of one: before them. */
	TURN_SHARE, /* What a new thread was given of the turn of who made it: before them. */
	TURN_OVER,  /* One that is over: before them. */
};

struct turn {
	uint32_t left; /* In cycles; means nothing in a TURN_WHOLE. */
	enum turn_kind kind : 8;
	uint8_t over_from; /* For whom it is over; of one that is not new. */
};

struct share;

/* What waits in the common run queue: a thread, or a group of a user's (thread/share.h). */
struct run_entry {
	struct list link;
	struct share *group_of; /* NULL of a thread. */
};

struct run_queue {
	uint32_t occupied[PRIORITIES / 32];
	struct list lists[PRIORITIES];
	struct list *woken[PRIORITIES]; /* The last that was added as woken, or the list itself. */
};

void run_queue_init(struct run_queue *queue);
/* Behind its equals; before them, but behind those that have woken; or as the last of these. */
void run_queue_add(struct run_queue *queue, struct list *link, unsigned priority);
void run_queue_add_first(struct run_queue *queue, struct list *link, unsigned priority);
void run_queue_add_woken(struct run_queue *queue, struct list *link, unsigned priority);

static inline bool run_queue_is_empty(const struct run_queue *queue)
{
	return (queue->occupied[0] | queue->occupied[1]) == 0;
}

/* The best priority that is queued, in a queue that is not empty. */
static inline unsigned run_queue_first(const struct run_queue *queue)
{
	if (queue->occupied[0] != 0)
		return (unsigned)__builtin_ctz(queue->occupied[0]);
	return 32 + (unsigned)__builtin_ctz(queue->occupied[1]);
}

/* As run_queue_first(), and PRIORITIES of an empty one. */
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

/* Whether the first of `priority` was added as woken. */
static inline bool run_queue_has_woken(const struct run_queue *queue, unsigned priority)
{
	return queue->woken[priority] != &queue->lists[priority];
}

/* Takes a link away that is queued with `priority`. */
void run_queue_remove(struct run_queue *queue, struct list *link, unsigned priority);

static inline void run_queue_take_away(struct run_queue *queue, struct list *link,
				       unsigned priority)
{
	if (queue->woken[priority] == link)
		queue->woken[priority] = link->prev;
	list_remove(link);
	if (list_empty(&queue->lists[priority]))
		queue->occupied[priority / 32] &= ~(1u << (priority % 32));
}

/* Takes the first link of `priority`, which must be there; in line, as every switch needs it. */
static inline struct list *run_queue_take(struct run_queue *queue, unsigned priority)
{
	struct list *link = queue->lists[priority].next;

	assert(link != &queue->lists[priority]);
	run_queue_take_away(queue, link, priority);
	return link;
}

#endif
