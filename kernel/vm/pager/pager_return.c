/* SPDX-License-Identifier: MIT */
/*
 * Pages on their way back to the pager of their object (memory_object_data_return).  Guarded by the
 * kernel lock.
 *
 * A message has its pages in an object of its own, the holder, to which they are moved or copied.
 * There they are memory of nobody's, dirty, until the pager has received them: a pager that does
 * not only makes swap fuller.
 */
#include <stddef.h>

#include "base/assert.h"
#include "base/log.h"
#include "i386/mmu/pmap.h"
#include "ipc/message.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/pager/pager.h"
#include "vm/pager/pager_internal.h"
#include "vm/pager/pager_messages.h"

/* ---------------- Batches ---------------- */

/* What a batch leaves in the slot of a page that it has taken, until the message is sent: a mark,
 * so that putting the page back takes no memory. */
#define SLOT_TAKEN SLOT_FAILED

/* Whether the page can be in one message with those that are there. */
static bool pager_return_fits(const struct pager_batch *batch, uint32_t index, bool dirty,
			      bool kernel_copy)
{
	return batch->n < PAGER_BATCH && index == batch->first + batch->n &&
	       dirty == batch->dirty && kernel_copy == batch->kernel_copy;
}

static bool pager_return_start(struct pager_batch *batch, uint32_t index, bool dirty,
			       bool kernel_copy)
{
	batch->holder = object_create(PAGER_BATCH);
	if (batch->holder == NULL)
		return false;
	batch->first = index;
	batch->n = 0;
	batch->dirty = dirty;
	batch->kernel_copy = kernel_copy;
	return true;
}

/* Puts a page into the next slot of the holder, which has been marked. */
static void pager_return_batch_put(struct pager_batch *batch, struct page *page)
{
	bool inserted = object_insert(batch->holder, batch->n, page);

	assert(inserted);
	batch->n++;
}

/* Copies the page for the message.  It is clean first, so that no write is missed. */
static bool pager_return_add_copy(struct pager_batch *batch, struct page *page)
{
	struct page *copy = page_alloc(PAGE_USER);

	if (copy == NULL)
		return false;
	pmap_page_clean(page);
	page->in_swap = false;
	page->precious = false;
	page_copy(page_data(copy), page_data(page));
	pager_return_batch_put(batch, copy);
	return true;
}

bool pager_batch_add(struct pager_batch *batch, struct page *page, bool dirty, bool kernel_copy)
{
	uint32_t index = page->index;

	assert(page->object == batch->object && (kernel_copy || page->wirings == 0));
	if (batch->holder != NULL && !pager_return_fits(batch, index, dirty, kernel_copy) &&
	    !pager_batch_send(batch))
		return false;
	if (batch->holder == NULL && !pager_return_start(batch, index, dirty, kernel_copy))
		return false;
	if (!object_mark(batch->holder, batch->n, SLOT_ABSENT)) {
		/* Slots after the first may need a node: the page begins a message of its own. */
		assert(batch->n > 0);
		if (!pager_batch_send(batch) ||
		    !pager_return_start(batch, index, dirty, kernel_copy))
			return false;
		object_mark(batch->holder, 0, SLOT_ABSENT);
	}
	if (kernel_copy)
		return pager_return_add_copy(batch, page);
	object_remove(page, SLOT_TAKEN);
	pager_return_batch_put(batch, page);
	return true;
}

/* There is no memory for a message: all is as it was, and what was copied is dirty again. */
static void pager_batch_take_back(const struct pager_batch *batch, struct object *holder)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		struct page *page = object_slot(holder, i);

		if (batch->kernel_copy) {
			object_slot(batch->object, batch->first + i)->dirty = true;
		} else {
			object_remove(page, SLOT_EMPTY);
			object_insert(batch->object, batch->first + i, page);
		}
	}
	object_release(holder);
}

/*
 * The message can be sent: the pages are nobody's memory now, dirty, of which the object knows
 * nothing.
 */
static void pager_return_batch_let_go(const struct pager_batch *batch, const struct object *holder)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		struct page *page = object_slot(holder, i);

		page->dirty = true;
		page->in_swap = false;
		page->precious = false;
		page->lock = 0;
		page->unlocking = false;
		if (!batch->kernel_copy)
			object_mark(batch->object, batch->first + i, SLOT_EMPTY);
	}
}

bool pager_batch_send(struct pager_batch *batch)
{
	struct pager_data data = {
		.index = batch->first,
		.dirty = batch->dirty,
		.kernel_copy = batch->kernel_copy,
	};
	struct object *holder = batch->holder;
	struct message *message;

	if (holder == NULL)
		return true;
	assert(pager_is_live(batch->object->pager));
	batch->holder = NULL;
	if (batch->n == 0) {
		object_release(holder);
		return true;
	}
	object_free_range(holder, batch->n, holder->size);
	holder->size = batch->n;
	message = message_alloc(PAGER_MESSAGE_SIZE);
	data.copy = message != NULL ? copy_of_object(holder) : NULL;
	if (data.copy == NULL) {
		if (message != NULL)
			message_free(message);
		pager_batch_take_back(batch, holder);
		return false;
	}
	pager_return_batch_let_go(batch, holder);
	pager_send_return(batch->object->pager, message, &data);
	return true;
}

/* ---------------- The end of an object ---------------- */

/* Frees what the pager has too, and sends the rest.  False when there is no memory for that. */
static bool return_page(struct pager_batch *batch, struct page *page)
{
	bool dirty = pmap_page_is_dirty(page) || page->in_swap;

	if (dirty || page->precious)
		return pager_batch_add(batch, page, dirty, false);
	object_free_page(page, SLOT_EMPTY);
	return true;
}

static bool return_pages(struct object *object)
{
	struct pager_batch batch = {.object = object};
	uint32_t index = 0;
	bool all = true;
	struct page *slot;

	for (; (slot = page_tree_next(&object->slots, &index, object->size)) != SLOT_EMPTY;
	     index++) {
		if (slot_is_page(slot))
			all &= return_page(&batch, slot);
		pause_each_page();
	}
	return pager_batch_send(&batch) && all;
}

/* Whether the slot has what its pager has not: at the default pager, or on its way from there. */
static bool pager_return_is_in_swap(const struct object *object, uint32_t index)
{
	return object_slot(object, index) == SLOT_SWAPPED || pager_swap_asked(object, index);
}

/*
 * The swap of an object that ends goes to `rest`, with the slots that are there; others are left
 * behind.
 */
static void pager_return_move_swap(struct object *object, struct object *rest)
{
	uint32_t index = 0;

	for (; page_tree_next(&object->slots, &index, object->size) != SLOT_EMPTY; index++) {
		if (!pager_return_is_in_swap(object, index) &&
		    !slot_is_page(object_slot(object, index)))
			object_mark(object, index, SLOT_EMPTY);
		else if (slot_is_page(object_slot(object, index)))
			object_free_page(object_slot(object, index), SLOT_EMPTY);
		pause_each();
	}
	rest->slots = object->slots;
	rest->n_swapped = object->n_swapped;
	rest->n_unsettled = object->n_unsettled;
	rest->swap = object->swap;
	rest->swap->object = rest;
	object->slots = (struct page_tree){0};
	object->n_swapped = 0;
	object->n_unsettled = 0;
	object->swap = NULL;
}

/* Sends [first, first + n) of `rest` to the pager, as a copy that shows it; or no memory. */
static bool pager_return_send_part(struct pager *pager, struct object *rest, uint32_t first,
				   uint32_t n)
{
	struct pager_data data = {.index = first, .dirty = true};
	struct message *message = (message_alloc)(PAGER_MESSAGE_SIZE);
	struct object *part = (object_create)(n);

	if (message != NULL && part != NULL) {
		part->shadow = object_reference(rest);
		part->shadow_index = first;
		data.copy = copy_of_object(part);
	}
	if (data.copy != NULL) {
		pager_send_return(pager, message, &data);
		return true;
	}
	if (message != NULL)
		message_free(message);
	if (part != NULL)
		object_release(part);
	return false;
}

/*
 * What is only in swap goes back without being brought in: the messages show an object that has it,
 * and the pager's first look at them does the rest.
 */
static bool return_swapped(struct object *object)
{
	struct object *rest = (object_create_for)(object->payer, object->size);
	uint32_t index = 0;
	bool all = true;

	if (rest == NULL)
		return false;
	pager_return_move_swap(object, rest);
	while (all && page_tree_next(&rest->slots, &index, rest->size) != SLOT_EMPTY) {
		uint32_t n = 1;

		while (index + n < rest->size && pager_return_is_in_swap(rest, index + n) &&
		       n < PAGER_BATCH)
			n++;
		all = pager_return_send_part(object->pager, rest, index, n);
		index += n;
		kernel_pause();
	}
	object_release(rest);
	return all;
}

void pager_return_all(struct object *object)
{
	bool all = return_pages(object);

	if (object->swap != NULL && (object->n_swapped > 0 || object->n_unsettled > 0))
		all &= return_swapped(object);
	if (!all)
		klog("vm: no memory for messages: a pager does not get back all that was "
		     "written\n");
}
