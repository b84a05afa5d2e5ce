/* SPDX-License-Identifier: MIT */
/* Run queues: see run_queue.h.  Guarded by the kernel lock. */
#include "thread/run_queue.h"

void run_queue_init(struct run_queue *queue)
{
	queue->occupied[0] = 0;
	queue->occupied[1] = 0;
	for (unsigned priority = 0; priority < PRIORITIES; priority++) {
		queue->woken[priority] = &queue->lists[priority];
		list_init(&queue->lists[priority]);
	}
}

static void run_queue_note_added(struct run_queue *queue, unsigned priority)
{
	queue->occupied[priority / 32] |= 1u << (priority % 32);
}

void run_queue_add(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(priority < PRIORITIES);
	assert(list_empty(link));
	list_add_last(&queue->lists[priority], link);
	run_queue_note_added(queue, priority);
}

void run_queue_add_first(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(priority < PRIORITIES);
	assert(list_empty(link));
	list_add_first(queue->woken[priority], link);
	run_queue_note_added(queue, priority);
}

void run_queue_add_woken(struct run_queue *queue, struct list *link, unsigned priority)
{
	run_queue_add_first(queue, link, priority);
	queue->woken[priority] = link;
}

void run_queue_remove(struct run_queue *queue, struct list *link, unsigned priority)
{
	assert(!list_empty(link));
	run_queue_take_away(queue, link, priority);
}
