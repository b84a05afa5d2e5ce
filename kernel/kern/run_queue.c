/* SPDX-License-Identifier: MIT */
/* Run queues: see run_queue.h.  Guarded by the kernel lock. */
#include "kern/run_queue.h"

#include "kern/assert.h"

void run_queue_init(struct run_queue *queue)
{
	queue->occupied[0] = 0;
	queue->occupied[1] = 0;
	for (unsigned priority = 0; priority < PRIORITIES; priority++)
		list_init(&queue->lists[priority]);
}

static void note_added(struct run_queue *queue, unsigned priority)
{
	queue->occupied[priority / 32] |= 1u << (priority % 32);
}

void run_queue_add(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(priority < PRIORITIES);
	assert(list_empty(link));
	list_add_last(&queue->lists[priority], link);
	note_added(queue, priority);
}

void run_queue_add_first(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(priority < PRIORITIES);
	assert(list_empty(link));
	list_add_first(&queue->lists[priority], link);
	note_added(queue, priority);
}

static inline void take(struct run_queue *queue, struct list *link, unsigned priority)
{
	list_remove(link);
	if (list_empty(&queue->lists[priority]))
		queue->occupied[priority / 32] &= ~(1u << (priority % 32));
}

void run_queue_remove(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(!list_empty(link));
	take(queue, link, priority);
}

struct list *run_queue_take(struct run_queue *queue, unsigned priority)
{
	struct list *link = queue->lists[priority].next;

	assert(link != &queue->lists[priority]);
	take(queue, link, priority);
	return link;
}
