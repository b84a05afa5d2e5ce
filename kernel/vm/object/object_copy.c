/* SPDX-License-Identifier: MIT */
/*
 * Copies of objects (vm/object/object.h).  Guarded by the kernel lock.
 *
 * Which way an object is copied is decided by who may write to it afterwards:
 *
 *   nobody's memory, shown by one entry   both sides are pending, and who writes first has a shadow
 *   nobody's memory, shared by entries    a copy object: those entries go on writing to the object
 *   mapped from a pager: DELAY            a copy object, as the pager is to see what is written
 *   TEMPORARY                             the same.  Its pager need not see what is written, but
 *                                         who maps the same memory object later is to see it, so a
 *                                         shadow in front of the source's entry would be wrong
 *   CALL                                  the pager makes the copy
 *   NONE, and the kernel's own            page by page, at once: object_copy_now.c
 */
#include "vm/object/object.h"

#include <stddef.h>

#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/pager/pager.h"

/*
 * A write fault comes here, of a test's own memory too, so that it is not for tests to let the
 * allocation fail.  Memory of another payer's stays so, and is behind: its pages move as they are
 * touched, and are charged one by one.
 */
bool object_make_own(struct owner *payer, struct object **object, uint32_t *index, uint32_t size)
{
	struct object *back = *object;
	struct object *front;

	assert(back->magic == OBJECT_MAGIC && size > 0 && *index + size <= back->size);
	if (object_can_move_from(back) && back->payer == payer) {
		back->written = true;
		return true;
	}
	front = (object_create_for)(payer, size);
	if (front == NULL)
		return false;
	front->written = true;
	front->shadow = back;
	front->shadow_index = *index;
	*object = front;
	*index = 0;
	return true;
}

/* ---------------- Copy objects ---------------- */

/* Whether a copy object is as good as a new one: nothing of what is behind it has changed. */
static bool object_copy_is_untouched(const struct object *copy)
{
	return page_tree_is_empty(&copy->slots) && !copy->written;
}

/* From now on writes to these pages of an object fault. */
static void object_copy_protect_pages(const struct object *object, uint32_t first, uint32_t end)
{
	uint32_t index = first;
	struct page *slot;

	for (; (slot = page_tree_next(&object->slots, &index, end)) != SLOT_EMPTY; index++) {
		if (slot_is_page(slot) && pmap_page_is_mapped(slot))
			pmap_page_protect(slot, PMAP_READ | PMAP_EXECUTE);
		pause_each();
	}
}

/* Makes an untouched copy object reach up to `end` if it does not. */
static void object_copy_extend(struct object *copy, uint32_t end)
{
	uint32_t old_end = copy->shadow_index + copy->size;

	if (end > old_end) {
		object_copy_protect_pages(copy->shadow, old_end, end);
		copy->size = end - copy->shadow_index;
	}
}

/*
 * Puts a new copy object between the object and the copy object that it has, `old`.  What has not
 * been pushed to `old` is then what the new one has, so that the new one must reach as far.
 */
static struct object *object_copy_insert(struct owner *payer, struct object *object, uint32_t first,
					 uint32_t end)
{
	struct object *old = object->copy;
	struct object *copy;

	if (old != NULL && old->shadow_index < first)
		first = old->shadow_index;
	if (old != NULL && old->shadow_index + old->size > end)
		end = old->shadow_index + old->size;
	copy = object_create_for(payer, end - first);
	if (copy == NULL)
		return NULL;
	copy->shadow = object_reference(object);
	copy->shadow_index = first;
	object->copy = copy;
	if (old != NULL) {
		old->shadow = object_reference(copy);
		old->shadow_index -= first;
		copy->copy = old;
		object->refs--; /* The reference of `old`. */
	}
	object_copy_protect_pages(object, first, end);
	return copy;
}

/* A copy object for such pages of the object, with a reference for the caller, or NULL. */
static struct object *copy_object(struct owner *payer, struct object *object, uint32_t first,
				  uint32_t end)
{
	struct object *copy = object->copy;

	if (copy == NULL || copy->shadow_index > first || !object_copy_is_untouched(copy))
		return object_copy_insert(payer, object, first, end);
	object_copy_extend(copy, end);
	return object_reference(copy);
}

static kern_return_t copy_delayed(struct owner *payer, struct object *object, uint32_t index,
				  uint32_t size, struct object **copy, uint32_t *copy_index)
{
	*copy = copy_object(payer, object, index, index + size);
	if (*copy == NULL)
		return KERN_RESOURCE_SHORTAGE;
	*copy_index = index - (*copy)->shadow_index;
	return KERN_SUCCESS;
}

/* Whether the copy object has what it needs of a page of the object behind it. */
static bool object_copy_needs_no_page(const struct object *copy, uint32_t index)
{
	struct page *slot;

	if (index < copy->shadow_index || index - copy->shadow_index >= copy->size)
		return true;
	slot = object_slot(copy, index - copy->shadow_index);
	return slot != SLOT_EMPTY && slot != SLOT_ABSENT;
}

kern_return_t object_push(struct object *object, uint32_t index, bool anyway)
{
	struct object *copy = object->copy;
	struct page *page = object_slot(object, index);
	struct page *own;

	assert(copy != NULL && copy->shadow == object && slot_is_page(page));
	if (object_copy_needs_no_page(copy, index))
		return KERN_SUCCESS;
	own = (page_alloc)(PAGE_USER);
	if (own == NULL)
		return KERN_RESOURCE_SHORTAGE;
	page_copy(page_data(own), page_data(page));
	own->dirty = true;
	if (anyway ? !object_insert_anyway(copy, index - copy->shadow_index, own)
		   : !object_insert(copy, index - copy->shadow_index, own)) {
		page_free(own);
		return KERN_RESOURCE_SHORTAGE;
	}
	pmap_page_remove(page);
	object_drop_shadow_if_full(copy);
	return KERN_SUCCESS;
}

/* ---------------- The choice ---------------- */

/*
 * A pager that is dead has no strategy; what it has left behind is copied like any memory, and what
 * it has not cannot be read in the copy either.
 */
static kern_return_t copy_paged(struct owner *payer, struct object *object, uint32_t index,
				uint32_t size, struct object **copy, uint32_t *copy_index)
{
	kern_return_t result = KERN_SUCCESS;

	if (!object->dead)
		result = pager_await_ready(object);
	if (object->dead)
		return copy_delayed(payer, object, index, size, copy, copy_index);
	if (result != KERN_SUCCESS)
		return result;
	*copy_index = 0;
	switch (object->pager->strategy) {
	case MEMORY_OBJECT_COPY_NONE:
		return object_copy_now(payer, object, index, size, copy);
	case MEMORY_OBJECT_COPY_CALL:
		return pager_copy(object, index, size, copy);
	default:
		return copy_delayed(payer, object, index, size, copy, copy_index);
	}
}

kern_return_t object_copy(struct owner *payer, struct object *object, uint32_t index, uint32_t size,
			  bool shared, struct object **copy, uint32_t *copy_index, bool *pending)
{
	kern_return_t result;

	assert(object->magic == OBJECT_MAGIC && size > 0 && index + size <= object->size);
	*pending = false;
	if (object->pager == NULL && !object->kernel) {
		if (shared)
			return copy_delayed(payer, object, index, size, copy, copy_index);
		*pending = true;
		*copy = object_reference(object);
		*copy_index = index;
		return KERN_SUCCESS;
	}
	/* The object is to be there after a wait, whatever becomes of the entry. */
	object_reference(object);
	if (object->kernel) {
		*copy_index = 0;
		result = object_copy_now(payer, object, index, size, copy);
	} else {
		result = copy_paged(payer, object, index, size, copy, copy_index);
	}
	object_release(object);
	return result;
}
