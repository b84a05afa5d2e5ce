/* SPDX-License-Identifier: MIT */
/* Clients: see clients.h.  Guarded by the kernel lock. */
#include "prof/clients.h"

#include "base/lock.h"
#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/space.h"
#include "prof/sampler.h"
#include "task/task.h"
#include "thread/thread.h"
#include "vm/object/object.h"
#include "vm/pager/pager.h"

/*
 * Where whoever asked waits: a call at the port that its answer goes to, a fault for a page of the
 * object that the pager's port stands for.  NULL for a name that is neither (any more).
 */
static const struct wait_queue *clients_queue(const struct entry *entry)
{
	const struct port *port;

	if (entry == NULL || (entry->type & MACH_PORT_TYPE_PORT_RIGHTS) == 0)
		return NULL;
	port = entry->port;
	if ((entry->type & MACH_PORT_TYPE_RECEIVE) == 0)
		return port->set != NULL ? &port->set->receivers : &port->receivers;
	if (port->pager == NULL || port->pager->object == NULL)
		return NULL;
	return &port->pager->object->waiters;
}

/* Who waits in the queue for what the thread does on behalf of the label; or NULL. */
static const struct thread *clients_in_queue(const struct wait_queue *queue,
					     const struct thread *thread, uint32_t label)
{
	list_for_each_object (const struct thread, client, &queue->waiters, wait_link) {
		if (client->label == label && client != thread)
			return client;
	}
	return NULL;
}

/* The thread's client; NULL if it does something else by now, or nobody waits. */
static const struct thread *clients_find(const struct thread *thread, uint32_t label)
{
	const struct wait_queue *queue =
		clients_queue(space_find(thread->task->space, thread->serves));

	return queue != NULL ? clients_in_queue(queue, thread, label) : NULL;
}

static uint32_t clients_write_one(const struct thread *thread, uint32_t depth, uint32_t *to)
{
	struct prof_client *client = (struct prof_client *)to;
	uint32_t frames;
	bool cut;

	frames = sampler_user_stack(thread, client->frames, depth, &cut);
	*client = (struct prof_client){
		.pc = thread_user_pc(thread),
		.thread = thread->id,
		.task = thread->home,
		.user_frames = (uint16_t)frames,
		.flags = cut ? PROF_STACK_CUT : 0,
	};
	return sizeof(*client) / sizeof(*to) + frames;
}

uint32_t clients_write(const struct thread *thread, const struct thread *answered, uint32_t label,
		       uint32_t depth, uint32_t *to, bool *cut)
{
	uint32_t words = 0;
	unsigned n = 0;

	assert(kernel_locked());
	*cut = false;
	while (label != thread->home) {
		thread = clients_find(thread, label);
		if (thread == NULL && n == 0 && answered != NULL && answered->label == label)
			thread = answered;
		*cut = thread == NULL || n++ == SAMPLE_CLIENTS_MAX;
		if (*cut)
			break;
		words += clients_write_one(thread, depth, to + words);
	}
	return words;
}
