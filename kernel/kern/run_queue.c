/* SPDX-License-Identifier: MIT */
/* Run queues: see run_queue.h.  Guarded by the kernel lock. */
#include "kern/run_queue.h"

#include "kern/assert.h"

void run_queue_init(struct run_queue *queue)
{
	queue->occupied[0] = 0;
	queue->occupied[1] = 0;
	queue->count = 0;
	for (unsigned priority = 0; priority < PRIORITIES; priority++)
		list_init(&queue->lists[priority]);
}

void run_queue_add(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(priority < PRIORITIES);
	assert(list_empty(link));
	list_add_last(&queue->lists[priority], link);
	queue->occupied[priority / 32] |= 1u << (priority % 32);
	queue->count++;
}

void run_queue_remove(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(!list_empty(link));
	assert(queue->count > 0);
	list_remove(link);
	if (list_empty(&queue->lists[priority]))
		queue->occupied[priority / 32] &= ~(1u << (priority % 32));
	queue->count--;
}

struct list *run_queue_take(struct run_queue *queue, unsigned priority)
{
	struct list *link = queue->lists[priority].next;

	assert(link != &queue->lists[priority]);
	run_queue_remove(queue, link, priority);
	return link;
}
