/* SPDX-License-Identifier: MIT */
/* What the files of pagers (vm/pager*.c) have in common.  Guarded by the kernel lock. */
#ifndef VM_PAGER_PAGER_INTERNAL_H
#define VM_PAGER_PAGER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/memory_object.h>

#include "vm/object/object.h"
#include "vm/pager/pager.h"

struct message;
struct page;
struct port;

/*
 * A pager for `object`, MAPPED, whose memory object is `port`, with the caller's send right, which
 * goes over on success.  NULL when there is no memory.
 */
struct pager *pager_create(struct object *object, struct port *port, bool is_swap);

/* Undoes that before anybody was told: the send right is the caller's again. */
void pager_undo(struct pager *pager);

static inline struct pager *pager_reference(struct pager *pager)
{
	assert(pager->magic == PAGER_MAGIC);
	pager->refs++;
	return pager;
}

/* With the last reference the pager is freed; its object has ended by then. */
void pager_release(struct pager *pager);

/* What a control or a name port stands for, not dead and with its object; or NULL. */
struct pager *pager_of_control(const struct port *port);
struct pager *pager_of_name(const struct port *port);

/*
 * A reference to the pager's object for a caller that may wait, taken out of the cache if it was
 * there; for object_release().
 */
struct object *pager_hold_object(struct pager *pager);

/* Whether pages can be sent there. */
static inline bool pager_is_live(const struct pager *pager)
{
	return pager != NULL && pager->state == PAGER_READY;
}

/* Whether the slot was asked for from the default pager: it is SLOT_REQUESTED, or SLOT_FAILED. */
static inline bool pager_swap_asked(const struct object *object, uint32_t index)
{
	return object->swap != NULL && page_tree_get(&object->swap->asked, index) != SLOT_EMPTY;
}

/* What was asked for from `pager` is over and done with; for a swap that is noted. */
static inline void pager_answered(struct pager *pager, uint32_t index)
{
	if (pager->is_swap)
		page_tree_set(&pager->asked, index, SLOT_EMPTY);
}

/* Forgets what was asked of a swap whose object has no use for it any more. */
void pager_forget_asked(struct pager *pager);

/*
 * Ends what was between the kernel and the memory object: tells it, if it lives, and gives up the
 * ports.  The state is PAGER_DEAD, and whoever waits for the object knows.  The caller has a
 * reference of its own if the object does not end.
 */
void pager_part(struct pager *pager);

/*
 * A swap is dead before its object: that leaves it, with a reference, and what was only there is
 * SLOT_LOST.
 */
void pager_lose_swap(struct pager *swap);

/* ---------------- pager_return.c ---------------- */

/* Pages of consecutive indexes that are to be one message to the object's pager. */
#define PAGER_BATCH 32u

struct pager_batch {
	struct object *object; /* Whose pages they are. */
	struct object *holder; /* Has the pages on their way; NULL: there are none. */
	uint32_t first;
	uint32_t n;
	bool dirty;
	bool kernel_copy;
};

/*
 * Adds a page of batch->object: to be taken away, not wired, or with `kernel_copy` copied and clean
 * from now on.  Sends first what cannot be in one message with it.  False when there is no memory:
 * the page is as it was.
 */
bool pager_batch_add(struct pager_batch *batch, struct page *page, bool dirty, bool kernel_copy);

/* Sends what there is.  False when there is no memory: the pages are where they were, dirty. */
bool pager_batch_send(struct pager_batch *batch);

/* Returns all that is dirty or precious of an object that ends, as far as there is memory. */
void pager_return_all(struct object *object);

/* ---------------- pager_lock.c ---------------- */

struct pager_order {
	uint32_t first, end; /* Of the object's pages. */
	memory_object_return_t should_return;
	bool flush;
	uint32_t lock; /* VM_PROT_*: what is forbidden from now on; or VM_PROT_NO_CHANGE. */
};

/*
 * Whether an order to return pages can be given now: all it returns is sent in any case, and is no
 * more than the object has pages, so that the pager needs room only for the first.
 */
static inline bool pager_takes_order(const struct pager *pager,
				     memory_object_return_t should_return)
{
	return should_return == MEMORY_OBJECT_RETURN_NONE || pager_has_room(pager);
}

/*
 * Does with the pages of an object with a pager, which the caller keeps, what memory_object_lock_
 * request() says.  KERN_MEMORY_FAILURE when the pager dies or a page to be returned is lost,
 * KERN_RESOURCE_SHORTAGE, KERN_ABORTED, what the default pager says; part may be done then.  May
 * block.
 */
kern_return_t pager_lock_pages(struct object *object, const struct pager_order *order);

/* The pages of an object that bytes [offset, offset + size) touch, as far as it goes. */
void pager_range(const struct object *object, uint32_t offset, uint32_t size, uint32_t *first,
		 uint32_t *end);

/* ---------------- pager_cache.c ---------------- */

/* Takes an object without references out of the cache: it gets one, or ends. */
void pager_cache_remove(struct object *object);

#endif
