/* SPDX-License-Identifier: MIT */
/*
 * What keeps chains of objects short (vm/object/object.h).  Guarded by the kernel lock.
 *
 * Two objects, one in front of the other, can be one when nobody else knows the second.  The pages
 * of one move to the other and stay what they are: who has them mapped has them mapped still.
 */
#include "vm/object/object.h"

#include <stddef.h>

#include "thread/work.h"

struct object *object_leave_shadow(struct object *object)
{
	struct object *shadow = object->shadow;

	object->shadow = NULL;
	object->shadow_index = 0;
	if (shadow != NULL && shadow->copy == object)
		shadow->copy = NULL;
	return shadow;
}

/*
 * What is requested may turn out to be behind the object, so only pages and swap count.
 */
void object_drop_shadow_if_full(struct object *object)
{
	assert(object->magic == OBJECT_MAGIC);
	if (object->shadow != NULL && object->n_pages + object->n_swapped == object->size)
		object_release(object_leave_shadow(object));
}

uint32_t object_chain_length(const struct object *object)
{
	uint32_t length = 0;

	for (; object != NULL; object = object->shadow)
		length++;
	return length;
}

/* ---------------- Uniting ---------------- */

/*
 * Whether the two can be one as far as their slots and others who know of them are concerned; an
 * answer that is on its way is for one of them.
 */
static bool chain_can_unite(const struct object *front, const struct object *back)
{
	if (back->refs != 1 || back->pager != NULL || back->kernel)
		return false;
	assert(back->copy == NULL || back->copy == front);
	return front->n_unsettled == 0 && back->n_unsettled == 0;
}

/* Frees what is in the back where the front does not reach; nobody can see it. */
static void chain_free_outside(const struct object *front, struct object *back)
{
	object_free_range(back, 0, front->shadow_index);
	object_free_range(back, front->shadow_index + front->size, back->size);
}

/* Moves a page of the back to the front, or frees it if the front has its own; false: no memory. */
static bool chain_move_one_to_front(struct object *front, struct page *page)
{
	uint32_t index = page->index - front->shadow_index;
	struct page *own = object_slot(front, index);

	if (own == SLOT_EMPTY || own == SLOT_ABSENT)
		return object_move_page(page, front, index);
	object_free_page(page, SLOT_EMPTY);
	return true;
}

/*
 * Moves the pages of the back to the front, whose own hide them.  False when there is no memory:
 * what has moved is as good where it is.
 */
static bool chain_move_to_front(struct object *front, struct object *back)
{
	uint32_t index = 0;
	struct page *slot;

	for (; (slot = page_tree_next(&back->slots, &index, back->size)) != SLOT_EMPTY; index++) {
		if (slot_is_page(slot) && !chain_move_one_to_front(front, slot))
			return false;
		pause_each();
	}
	return true;
}

/* Moves the pages of the front to the back, in the place of what they hide.  As above. */
static bool chain_move_to_back(struct object *front, struct object *back)
{
	uint32_t index = 0;
	struct page *slot;

	for (; (slot = page_tree_next(&front->slots, &index, front->size)) != SLOT_EMPTY; index++) {
		if (slot_is_page(slot) &&
		    !object_move_page(slot, back, index + front->shadow_index))
			return false;
		pause_each();
	}
	return true;
}

/* Ends an object whose last reference was for one that has taken its place. */
static void chain_dissolve(struct object *object)
{
	assert(object->refs == 1 && object->n_pages == 0 && object->n_swapped == 0);
	object->refs = 0;
	object->copy = NULL;
	object_terminate(object);
}

/* Only the front is left; false when it cannot be. */
static bool chain_keep_front(struct object *front, struct object *back)
{
	struct object *behind = back->shadow;

	if (back->n_swapped > 0 || !chain_move_to_front(front, back))
		return false;
	if (behind != NULL && behind->copy == back)
		behind->copy = front;
	front->shadow = behind;
	front->shadow_index += back->shadow_index;
	if (behind == NULL)
		front->shadow_index = 0;
	back->shadow = NULL;
	chain_dissolve(back);
	return true;
}

/* Only the back is left, with the caller's reference; false when it cannot be. */
static bool chain_keep_back(struct object *front, struct object *back)
{
	if (front->payer != back->payer || front->n_swapped > 0 || !chain_move_to_back(front, back))
		return false;
	back->written |= front->written;
	back->copy = NULL;
	front->shadow = NULL;
	chain_dissolve(front);
	return true;
}

/* One step of object_unite(): says whether there is one object less. */
static bool chain_unite(struct object **object, uint32_t *index)
{
	struct object *front = *object;
	struct object *back = front->shadow;
	uint32_t offset = front->shadow_index;

	if (back == NULL || !chain_can_unite(front, back))
		return false;
	chain_free_outside(front, back);
	if (back->n_pages < front->n_pages && chain_keep_front(front, back))
		return true;
	if (chain_keep_back(front, back)) {
		*object = back;
		*index += offset;
		return true;
	}
	return chain_keep_front(front, back);
}

/*
 * Unites each object of the chain with the one behind it, if nobody else refers to that.  It is
 * always the front that is left: that is the one which others may refer to.
 *
 * This is for a task that forks again and again, and always before the child of the time before has
 * ended.  Its first object is never alone with the second, as the living child refers to that; but
 * of the objects that were made for earlier children, which have ended, each is referred to by the
 * one in front of it alone.  Without this there would be one more of them with each fork.
 */
static void chain_unite_behind(struct object *object)
{
	while (object->shadow != NULL) {
		struct object *back = object->shadow;
		bool united = false;

		if (object->pager == NULL && !object->kernel && chain_can_unite(object, back)) {
			chain_free_outside(object, back);
			united = chain_keep_front(object, back);
		}
		if (!united)
			object = back;
		pause_each();
	}
}

void object_unite(struct object **object, uint32_t *index)
{
	assert((*object)->magic == OBJECT_MAGIC);
	if ((*object)->refs == 1 && !(*object)->kernel && (*object)->pager == NULL)
		while (chain_unite(object, index))
			;
	chain_unite_behind(*object);
}

/*
 * A copy object that is left to the one before it is worth moving its pages at once: they are those
 * that were written to between two copies, and if it stayed each copy would lengthen the chain of
 * whoever still has the first one.  The pages of what was copied are not moved: a fault does that,
 * with those that are touched.  An object with a pager can be mapped again and then written to.
 */
void object_left_to_copy(struct object *object)
{
	struct object *copy = object->copy;

	assert(copy->shadow == object && object->refs == 1);
	if (object->pager != NULL)
		return;
	if (object->shadow == NULL || object->shadow->copy != object) {
		object->copy = NULL;
		return;
	}
	if (chain_can_unite(copy, object)) {
		chain_free_outside(copy, object);
		chain_keep_front(copy, object);
	}
}
