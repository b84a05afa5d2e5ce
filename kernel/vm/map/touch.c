/* SPDX-License-Identifier: MIT */
/*
 * Finding a page along a chain of objects: see touch.h.  Guarded by the kernel lock.
 *
 * Allocations here are none of those that tests let fail: they can be for any store of a program's,
 * the test's own among them.
 */
#include "vm/map/touch.h"

#include <stddef.h>

#include "base/assert.h"
#include "i386/mmu/pmap.h"
#include "thread/exchange.h"
#include "thread/thread.h"
#include "vm/map/fault.h"
#include "vm/map/map.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/page/page_queue.h"
#include "vm/pager/pageout.h"
#include "vm/pager/pager.h"

/* ---------------- Waiting ---------------- */

kern_return_t touch_shortage(void)
{
	if (page_wait())
		return TOUCH_AGAIN;
	return thread_is_interrupted(current_thread()) ? KERN_ABORTED : KERN_RESOURCE_SHORTAGE;
}

/*
 * Waits until something has happened to a slot of the object, which lives until then.  `woken`, if
 * not NULL, goes on instead: the pager.
 */
static kern_return_t touch_await_object(struct touch *touch, struct object *object,
					struct thread *woken)
{
	enum wait_result result;

	touch->worked = true;
	object_reference(object);
	if (woken == NULL)
		result = thread_wait(&object->waiters, WAIT_FOREVER, WAIT_PAGE);
	else
		result = thread_exchange(&object->waiters, WAIT_PAGE, woken);
	object_release(object);
	return result == WAIT_INTERRUPTED ? KERN_ABORTED : TOUCH_AGAIN;
}

/* ---------------- Pagers ---------------- */

static kern_return_t touch_await_pager(struct touch *touch, struct object *object)
{
	kern_return_t result;

	touch->worked = true;
	object_reference(object);
	result = pager_await_ready(object);
	object_release(object);
	return result == KERN_SUCCESS ? TOUCH_AGAIN : result;
}

/*
 * Each answer of a default pager's takes a page, which it may take from the last ones; but those it
 * needs for what is sent to it meanwhile.  So it is not asked for more than users may have.
 */
static struct {
	uint32_t due;            /* Threads that wait for one. */
	struct wait_queue given; /* Threads that wait until there are fewer. */
} answers = {
	.given.waiters = LIST_INITIALIZER(answers.given.waiters),
};

static bool touch_has_room_for_answer(void)
{
	return page_count(PAGE_FREE) > page_level(page_caller_class()) + answers.due ||
	       current_thread()->vm_privileged;
}

static kern_return_t touch_await_room(struct touch *touch)
{
	enum wait_result result;

	touch->worked = true;
	if (!page_is_free_for(page_caller_class()))
		return touch_shortage();
	result = thread_wait(&answers.given, WAIT_FOREVER, WAIT_PAGE);
	return result == WAIT_INTERRUPTED ? KERN_ABORTED : TOUCH_AGAIN;
}

static kern_return_t touch_await_answer(struct touch *touch, struct object *object,
					struct thread *woken)
{
	kern_return_t result;

	answers.due++;
	result = touch_await_object(touch, object, woken);
	answers.due--;
	thread_wake_all(&answers.given);
	return result;
}

/*
 * What a server reads for a user takes pages that the server may have when the user may not: so he
 * waits before he asks, and no thread of a server's does for him.
 */
static bool touch_would_take_reserve(void)
{
	return page_count(PAGE_FREE) <= page_levels.few && page_caller_class() == PAGE_FOR_USER &&
	       !page_is_free_for(PAGE_FOR_USER);
}

/* The pager has it, or the default pager.  It is asked, and the answer waited for. */
static kern_return_t touch_page_in(struct touch *touch, struct object *object, uint32_t index,
				   const struct page *mark, uint32_t rights)
{
	bool swapped = mark == SLOT_SWAPPED;
	struct thread *woken;
	kern_return_t result;

	if (!swapped && object->dead)
		return KERN_MEMORY_FAILURE;
	if (!swapped && object->pager->state == PAGER_MAPPED)
		return touch_await_pager(touch, object);
	if (swapped && !touch_has_room_for_answer())
		return touch_await_room(touch);
	if (!swapped && touch_would_take_reserve())
		return touch_shortage();
	if (!pager_has_room(swapped ? object->swap : object->pager))
		return touch_await_object(touch, object, NULL);
	result = pager_request(object, index, mark, rights, &woken);
	if (result == KERN_RESOURCE_SHORTAGE)
		return touch_shortage();
	if (result != KERN_SUCCESS)
		return result;
	if (!touch->asked) {
		touch->asked = true;
		fault_event(FAULT_PAGEIN);
	}
	return swapped ? touch_await_answer(touch, object, woken)
		       : touch_await_object(touch, object, woken);
}

/*
 * The page is locked against what is needed: by its pager, or by the kernel, which never unlocks.
 */
static kern_return_t touch_unlock(struct touch *touch, struct page *page, uint32_t rights)
{
	struct object *object = page->object;
	struct thread *woken;
	kern_return_t result;

	if (object->pager == NULL)
		return object->dead ? KERN_MEMORY_FAILURE : KERN_PROTECTION_FAILURE;
	if (!pager_has_room(object->pager))
		return touch_await_object(touch, object, NULL);
	result = pager_unlock(page, rights, &woken);
	if (result == KERN_RESOURCE_SHORTAGE)
		return touch_shortage();
	return result == KERN_SUCCESS ? touch_await_object(touch, object, woken) : result;
}

/* ---------------- Pages that are there ---------------- */

/* Inactive pages are mapped nowhere, so that no touch of one is missed here. */
static inline void touch_reactivate(struct touch *touch, struct page *page)
{
	if (page->queue != PAGE_QUEUE_INACTIVE)
		return;
	touch->worked = true;
	fault_event(FAULT_REACTIVATION);
	page_activate(page);
}

/* The page is in the object that was touched: before a write its copy object gets it. */
static inline kern_return_t touch_grant(struct touch *touch, struct object *object, uint32_t index,
					struct page *page)
{
	touch->page = page;
	touch->allowed = VM_PROT_ALL & ~(uint32_t)page->lock;
	if (object->copy == NULL)
		return KERN_SUCCESS;
	if ((touch->rights & VM_PROT_WRITE) == 0) {
		touch->allowed &= ~(uint32_t)VM_PROT_WRITE;
		return KERN_SUCCESS;
	}
	if (object_push(object, index, touch->map->payer == NULL) == KERN_SUCCESS)
		return KERN_SUCCESS;
	return touch_shortage();
}

static inline kern_return_t touch_use_first(struct touch *touch, struct object *object,
					    uint32_t index, struct page *page)
{
	if ((page->lock & touch->rights) != 0)
		return touch_unlock(touch, page, touch->rights);
	touch_reactivate(touch, page);
	return touch_grant(touch, object, index, page);
}

/* Whether nobody but `first` sees what is in `back`, a page of which may move then. */
static bool touch_is_only_for(const struct object *first, const struct object *back)
{
	for (const struct object *object = first->shadow; object_can_move_from(object);
	     object = object->shadow)
		if (object == back)
			return true;
	return false;
}

/* Keeps a wiring that is the toucher's at what he sees from now on. */
static void touch_move_wiring(struct page *from, struct page *to)
{
	page_wire(to);
	page_unwire(from);
}

/*
 * Others that show the first object may have the old page mapped, and are to see what is written to
 * the new one.
 */
static kern_return_t touch_copy(struct touch *touch, struct object *first, uint32_t index,
				struct page *page)
{
	struct page *own = (page_alloc)(PAGE_USER);

	if (own == NULL)
		return touch_shortage();
	page_copy(page_data(own), page_data(page));
	own->dirty = true;
	if (!object_insert(first, index, own)) {
		page_free(own);
		return touch_shortage();
	}
	fault_event(FAULT_COW);
	touch->worked = true;
	touch->copied = true;
	if (touch->wired)
		touch_move_wiring(page, own);
	if (first->refs > 1)
		pmap_page_remove(page);
	object_drop_shadow_if_full(first);
	return touch_grant(touch, first, index, own);
}

/* The page is in `back`, behind the object that was touched. */
static kern_return_t touch_use_behind(struct touch *touch, struct object *first, uint32_t index,
				      struct object *back, struct page *page)
{
	uint32_t rights = touch->rights & ~(uint32_t)VM_PROT_WRITE;

	if ((page->lock & rights) != 0)
		return touch_unlock(touch, page, rights);
	touch_reactivate(touch, page);
	if (!touch->own) {
		touch->page = page;
		touch->allowed = VM_PROT_ALL & ~(uint32_t)(page->lock | VM_PROT_WRITE);
		return KERN_SUCCESS;
	}
	if (!touch_is_only_for(first, back))
		return touch_copy(touch, first, index, page);
	if (!object_move_page(page, first, index))
		return touch_shortage();
	touch->worked = true;
	object_drop_shadow_if_full(first);
	return touch_grant(touch, first, index, page);
}

/* ---------------- Pages that are nowhere ---------------- */

/* A cleared page is clean: what nobody has written to can be dropped again. */
static kern_return_t touch_zero_fill(struct touch *touch, struct object *object, uint32_t index)
{
	struct page *page;

	if (!touch->zero) {
		touch->page = NULL;
		return KERN_SUCCESS;
	}
	if (object->kernel)
		return KERN_MEMORY_ERROR;
	page = (page_alloc_zeroed)(PAGE_USER);
	if (page == NULL)
		return touch_shortage();
	if (!object_insert(object, index, page)) {
		page_free(page);
		return touch_shortage();
	}
	fault_event(FAULT_ZFILL);
	touch->worked = true;
	if (object->shadow != NULL)
		object_drop_shadow_if_full(object);
	return touch_grant(touch, object, index, page);
}

/* ---------------- The chain ---------------- */

/* A slot without a page, and not one that sends the search to the object behind. */
static kern_return_t touch_use_mark(struct touch *touch, struct object *object, uint32_t index,
				    const struct page *mark, bool is_first)
{
	uint32_t rights = is_first ? touch->rights : touch->rights & ~(uint32_t)VM_PROT_WRITE;

	if (mark == SLOT_REQUESTED)
		return touch_await_object(touch, object, NULL);
	if (mark == SLOT_LOST)
		return KERN_MEMORY_FAILURE;
	if (mark != SLOT_FAILED)
		return touch_page_in(touch, object, index, mark, rights);
	pager_failure_told(object, index);
	return KERN_MEMORY_ERROR;
}

/* Whether what the slot says is: look behind. */
static inline bool touch_is_behind(const struct object *object, const struct page *mark)
{
	if (mark == SLOT_EMPTY)
		return object->pager == NULL && !object->dead;
	return mark == SLOT_ABSENT;
}

kern_return_t touch_page(struct touch *touch, struct object *first, uint32_t first_index)
{
	struct object *object = first;
	uint32_t index = first_index;

	assert((touch->rights & VM_PROT_READ) != 0);
	for (;;) {
		struct page *slot = object_slot(object, index);

		if (slot_is_page(slot)) {
			if (object == first)
				return touch_use_first(touch, object, index, slot);
			return touch_use_behind(touch, first, first_index, object, slot);
		}
		if (!touch_is_behind(object, slot))
			return touch_use_mark(touch, object, index, slot, object == first);
		if (object->shadow == NULL)
			return touch_zero_fill(touch, first, first_index);
		index += object->shadow_index;
		object = object->shadow;
	}
}
