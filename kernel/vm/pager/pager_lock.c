/* SPDX-License-Identifier: MIT */
/*
 * What pagers ask of the kernel (<mach/mach.defs>): that their pages are returned, given up or
 * locked, and how their object is to be kept.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "base/assert.h"
#include "i386/mmu/pmap.h"
#include "ipc/ipc_port.h"
#include "mach/mach_server.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/fault.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/pager/pageout.h"
#include "vm/pager/pager.h"
#include "vm/pager/pager_internal.h"
#include "vm/pager/pager_messages.h"

/* ---------------- Pages ---------------- */

void pager_range(const struct object *object, uint32_t offset, uint32_t size, uint32_t *first,
		 uint32_t *end)
{
	uint64_t last = ((uint64_t)offset + size + PAGE_MASK) / PAGE_SIZE;

	*first = offset / PAGE_SIZE;
	*end = last < object->size ? (uint32_t)last : object->size;
	if (*first > *end)
		*first = *end;
}

/* What stays is mapped with what is allowed at most, and who waited for more looks again. */
static void pager_lock_set_lock(struct page *page, uint32_t lock)
{
	if (lock == VM_PROT_NO_CHANGE)
		return;
	page->lock = lock;
	page->unlocking = false;
	if ((lock & VM_PROT_EXECUTE) != 0)
		pmap_page_remove(page);
	else if (lock != 0)
		pmap_page_protect(page, VM_PROT_ALL & ~lock);
}

/*
 * Does what the order says to a page.  A wired one stays, whatever it says.  False when there is no
 * memory: nothing has changed.
 */
static bool pager_lock_obey(struct pager_batch *batch, struct page *page,
			    const struct pager_order *order)
{
	bool dirty = pmap_page_is_dirty(page) || page->in_swap;
	bool precious = page->precious && order->should_return == MEMORY_OBJECT_RETURN_ALL;
	bool stays = !order->flush || page->wirings > 0;

	if (order->should_return != MEMORY_OBJECT_RETURN_NONE && (dirty || precious)) {
		if (!pager_batch_add(batch, page, dirty, stays))
			return false;
	} else if (!stays) {
		object_free_page(page, SLOT_EMPTY);
	}
	if (stays)
		pager_lock_set_lock(page, order->lock);
	return true;
}

/* Waits for memory, with nothing in hand. */
static kern_return_t pager_lock_await_memory(void)
{
	if (page_wait())
		return KERN_SUCCESS;
	return thread_is_interrupted(current_thread()) ? KERN_ABORTED : KERN_RESOURCE_SHORTAGE;
}

/*
 * What the pager wrote last is at the default pager: it is brought in, as it can be returned only
 * from here; or it is forgotten.
 */
static kern_return_t pager_lock_obey_in_swap(struct object *object, uint32_t index,
					     const struct pager_order *order)
{
	struct page *page;

	if (slot_is_away(object_slot(object, index)) &&
	    order->should_return == MEMORY_OBJECT_RETURN_NONE) {
		if (order->flush)
			object_mark(object, index, SLOT_EMPTY);
		return KERN_SUCCESS;
	}
	return fault_object_page(object, index, &page);
}

/* Whether an order can wait for what is in the slot, or has something to do with it.  What is lost
 * can be forgotten, but not returned. */
static bool pager_order_waits_for(const struct object *object, uint32_t index,
				  const struct pager_order *order)
{
	const struct page *slot = object_slot(object, index);

	if (slot_is_away(slot))
		return slot == SLOT_SWAPPED || order->should_return == MEMORY_OBJECT_RETURN_NONE;
	return pager_swap_asked(object, index) &&
	       (order->flush || order->should_return != MEMORY_OBJECT_RETURN_NONE);
}

/*
 * One slot.  *done says whether it need not be looked at again.  What is in hand is sent before
 * any wait.
 */
static kern_return_t pager_lock_obey_slot(struct pager_batch *batch, uint32_t index,
					  const struct pager_order *order, bool *done)
{
	struct page *slot = object_slot(batch->object, index);

	*done = true;
	if (slot_is_page(slot)) {
		if (pager_lock_obey(batch, slot, order))
			return KERN_SUCCESS;
		*done = false;
		pager_batch_send(batch);
		return pager_lock_await_memory();
	}
	if (!pager_order_waits_for(batch->object, index, order))
		return KERN_SUCCESS;
	*done = slot_is_away(slot) && order->should_return == MEMORY_OBJECT_RETURN_NONE;
	if (!*done && !pager_batch_send(batch))
		return pager_lock_await_memory();
	return pager_lock_obey_in_swap(batch->object, index, order);
}

kern_return_t pager_lock_pages(struct object *object, const struct pager_order *order)
{
	struct pager_batch batch = {.object = object};
	kern_return_t result = KERN_SUCCESS;
	bool returns = order->should_return != MEMORY_OBJECT_RETURN_NONE;
	uint32_t index = order->first;
	bool done, lost = false;
	struct page *slot;

	assert(object->refs > 0 && object->pager != NULL);
	if (order->lock != VM_PROT_NO_CHANGE && object->swap != NULL)
		object->pager->lock_in_swap |= order->lock;
	while (result == KERN_SUCCESS &&
	       (slot = page_tree_next(&object->slots, &index, order->end)) != SLOT_EMPTY) {
		if (!pager_is_live(object->pager))
			return KERN_MEMORY_FAILURE;
		lost |= returns && slot == SLOT_LOST;
		result = pager_lock_obey_slot(&batch, index, order, &done);
		index += done;
		pause_each_page();
	}
	if (pager_is_live(object->pager) && !pager_batch_send(&batch) && result == KERN_SUCCESS)
		result = KERN_RESOURCE_SHORTAGE;
	thread_wake_all(&object->waiters);
	return result == KERN_SUCCESS && lost ? KERN_MEMORY_FAILURE : result;
}

kern_return_t memory_object_lock_request(ipc_port_t control, vm_offset_t offset, vm_size_t size,
					 memory_object_return_t should_return,
					 boolean_t should_flush, vm_prot_t lock,
					 ipc_port_t reply_to, mach_msg_type_name_t reply_type)
{
	struct pager_reply reply = {reply_to, reply_type};
	struct pager *pager = pager_of_control(control);
	struct pager_order order = {
		.should_return = should_return,
		.flush = should_flush != 0,
		.lock = (uint32_t)lock,
	};
	struct object *object;

	if (!pager_is_live(pager) || pager->is_swap || !pager_reply_is_valid(&reply))
		return KERN_INVALID_ARGUMENT;
	if (should_return < MEMORY_OBJECT_RETURN_NONE || should_return > MEMORY_OBJECT_RETURN_ALL)
		return KERN_INVALID_ARGUMENT;
	if (lock != VM_PROT_NO_CHANGE && (lock & ~VM_PROT_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	if (!pager_takes_order(pager, should_return))
		return KERN_RESOURCE_SHORTAGE;
	pager_reply_limit(&reply);
	pager_reference(pager);
	object = pager_hold_object(pager);
	pager_range(object, offset, size, &order.first, &order.end);
	pager_lock_pages(object, &order);
	pager_reply_locked(&reply, pager, offset, size);
	object_release(object);
	pager_release(pager);
	return KERN_SUCCESS;
}

/* ---------------- The object ---------------- */

static bool pager_lock_strategy_is_valid(memory_object_copy_strategy_t strategy)
{
	return strategy >= MEMORY_OBJECT_COPY_NONE && strategy <= MEMORY_OBJECT_COPY_TEMPORARY;
}

/* An object in the cache that may not be kept any more ends. */
static void pager_lock_set_attributes(struct pager *pager, bool may_cache,
				      memory_object_copy_strategy_t strategy)
{
	struct object *object = pager->object;

	pager->may_cache = may_cache;
	pager->strategy = strategy;
	pager->temporary = strategy == MEMORY_OBJECT_COPY_TEMPORARY;
	if (!may_cache && object->refs == 0) {
		pager_cache_remove(object);
		object_terminate(object);
	}
}

kern_return_t memory_object_ready(ipc_port_t control, boolean_t may_cache,
				  memory_object_copy_strategy_t strategy)
{
	struct pager *pager = pager_of_control(control);

	if (pager == NULL || pager->is_swap || !pager_lock_strategy_is_valid(strategy))
		return KERN_INVALID_ARGUMENT;
	pager->state = PAGER_READY;
	thread_wake_all(&pager->object->waiters);
	pager_lock_set_attributes(pager, may_cache != 0, strategy);
	return KERN_SUCCESS;
}

kern_return_t memory_object_change_attributes(ipc_port_t control, boolean_t may_cache,
					      memory_object_copy_strategy_t strategy,
					      ipc_port_t reply_to, mach_msg_type_name_t reply_type)
{
	struct pager_reply reply = {reply_to, reply_type};
	struct pager *pager = pager_of_control(control);

	if (pager == NULL || pager->is_swap || !pager_lock_strategy_is_valid(strategy) ||
	    !pager_reply_is_valid(&reply))
		return KERN_INVALID_ARGUMENT;
	pager_reply_limit(&reply);
	pager_reference(pager);
	pager_lock_set_attributes(pager, may_cache != 0, strategy);
	pager_reply_changed(&reply, pager);
	pager_release(pager);
	return KERN_SUCCESS;
}

kern_return_t memory_object_get_attributes(ipc_port_t control, boolean_t *ready,
					   boolean_t *may_cache,
					   memory_object_copy_strategy_t *strategy)
{
	const struct pager *pager = pager_of_control(control);

	if (pager == NULL)
		return KERN_INVALID_ARGUMENT;
	*ready = pager->state == PAGER_READY;
	*may_cache = pager->may_cache;
	*strategy = pager->strategy;
	return KERN_SUCCESS;
}

/* Whatever the reason: who touches a page that is not here finds no pager any more. */
kern_return_t memory_object_destroy(ipc_port_t control, kern_return_t reason)
{
	struct pager *pager = pager_of_control(control);

	(void)reason;
	if (pager == NULL)
		return KERN_INVALID_ARGUMENT;
	pager_reference(pager);
	pager_part(pager);
	pager_release(pager);
	return KERN_SUCCESS;
}
