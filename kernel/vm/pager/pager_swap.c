/* SPDX-License-Identifier: MIT */
/*
 * What page-out asks (vm/pager/pager.h), and the default pager: the program that has the memory of
 * nobody's when there is no room for it.  Guarded by the kernel lock.
 *
 * An object whose page goes there for the first time is given a memory object of its own, its swap,
 * by memory_object_create.  Nothing here waits: messages to the default pager find a place in its
 * queue in any case.  The daemon alone comes here, whose allocations are none of those that tests
 * let fail.
 */
#include <stddef.h>

#include "base/assert.h"
#include "host/host.h"
#include "i386/mmu/pmap.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "mach/mach_server.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/pager/pageout.h"
#include "vm/pager/pager.h"
#include "vm/pager/pager_internal.h"
#include "vm/pager/pager_messages.h"

/* A send right, or PORT_NULL. */
static struct port *manager;

uint32_t pager_swap_flights;

struct port *default_pager_port(void)
{
	return manager;
}

void default_pager_died(const struct port *port)
{
	struct port *old = manager;

	if (port != old)
		return;
	manager = PORT_NULL;
	port_release_send(old);
}

/* Exchanges the manager for the one that is given; without one the old one stays, and is told. */
kern_return_t vm_set_default_memory_manager(host_t host, ipc_port_t *port)
{
	struct port *old;

	if (host == NULL)
		return KERN_INVALID_HOST;
	old = manager;
	if (!port_is_valid(*port)) {
		*port = port_copy_send(old);
		return KERN_SUCCESS;
	}
	if (!port_is_alive(*port) || (*port)->kind != OBJECT_NONE)
		return KERN_INVALID_ARGUMENT;
	manager = *port;
	*port = old;
	pageout_wake();
	return KERN_SUCCESS;
}

/* ---------------- Swap ---------------- */

/* What a slot has is not in swap any more, and if it was only there it is nowhere. */
static void pager_swap_lose_slot(struct object *object, uint32_t index, struct page *slot)
{
	bool unsettled = slot == SLOT_REQUESTED || slot == SLOT_FAILED;

	if (slot_is_page(slot)) {
		slot->dirty |= slot->in_swap;
		slot->in_swap = false;
	} else if (slot == SLOT_SWAPPED || (unsettled && pager_swap_asked(object, index))) {
		object_mark(object, index, SLOT_LOST);
	}
}

void pager_lose_swap(struct pager *swap)
{
	struct object *object = swap->object;
	uint32_t index = 0;
	struct page *slot;

	assert(swap->state == PAGER_DEAD && object->swap == swap && !object->terminating);
	for (; (slot = page_tree_next(&object->slots, &index, object->size)) != SLOT_EMPTY;
	     index++) {
		pager_swap_lose_slot(object, index, slot);
		pause_each();
	}
	pager_forget_asked(swap);
	object->swap = NULL;
	swap->object = NULL;
	thread_wake_all(&object->waiters);
	pager_release(swap);
}

static struct pager *pager_swap_make_swap(struct object *object, struct port *to)
{
	struct message *message = (message_alloc)(PAGER_MESSAGE_SIZE);
	struct port *port = port_create(OBJECT_NONE, NULL, NULL);
	struct pager *swap = NULL;

	if (message != NULL && port != NULL)
		swap = pager_create(object, port_make_send(port), true);
	if (swap != NULL) {
		pager_send_create(to, message, swap, object->size);
		swap->state = PAGER_READY;
		return swap;
	}
	if (message != NULL && port != NULL)
		port_release_send(port);
	if (message != NULL)
		message_free(message);
	if (port != NULL)
		port_destroy(port);
	return NULL;
}

/* The object's swap, made with its first use; NULL if there is no default pager, or no memory. */
static struct pager *swap_of(struct object *object)
{
	struct port *to = default_pager_port();

	if (object->swap == NULL && to != PORT_NULL)
		object->swap = pager_swap_make_swap(object, to);
	return object->swap;
}

/* The page itself is in the message: it is free when the default pager has put it away. */
static bool swap_out(struct page *page)
{
	struct object *object = page->object;
	struct pager *swap = swap_of(object);
	struct pager_data data = {.index = page->index, .dirty = true};
	struct message *message;
	bool known = page->in_swap;

	if (swap == NULL)
		return false;
	message = (message_alloc)(PAGER_MESSAGE_SIZE);
	data.copy = message != NULL ? copy_for_pages(PAGE_SIZE) : NULL;
	if (data.copy == NULL) {
		if (message != NULL)
			message_free(message);
		return false;
	}
	if (object->pager != NULL)
		object->pager->lock_in_swap |= page->lock;
	object_remove(page, SLOT_SWAPPED);
	page_init_user(page); /* What its own pager has said of it is not for the default pager. */
	copy_add_page(data.copy, page);
	if (known)
		pager_send_return(swap, message, &data);
	else
		pager_send_initialize(swap, message, &data);
	return true;
}

/* ---------------- Page-out ---------------- */

/* Whether the page is its pager's business: else it is nobody's but the default pager's. */
static bool pager_swap_goes_to_pager(const struct pager *pager)
{
	return pager_is_live(pager) && !pager->temporary;
}

bool pager_can_take(const struct page *page)
{
	return pager_swap_goes_to_pager(page->object->pager) || pager_is_live(page->object->swap) ||
	       default_pager_port() != PORT_NULL;
}

bool pager_take_page(struct page *page)
{
	struct object *object = page->object;
	struct pager_batch batch = {.object = object};
	bool dirty = pmap_page_is_dirty(page) || page->in_swap;

	assert(page->use == PAGE_USER && page->wirings == 0 && !object->kernel);
	if (!pager_swap_goes_to_pager(object->pager) || object->pager->in_flight >= PAGER_IN_FLIGHT)
		return swap_out(page);
	return pager_batch_add(&batch, page, dirty, false) && pager_batch_send(&batch);
}
