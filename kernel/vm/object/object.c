/* SPDX-License-Identifier: MIT */
/*
 * Objects (vm/object/object.h): their beginning and end, and what is in their slots.  Copying is in
 * object_copy.c, what keeps chains short in object_chain.c.  Guarded by the kernel lock.
 */
#include "vm/object/object.h"

#include <stddef.h>

#include "base/owner.h"
#include "base/zone.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/page/page_queue.h"
#include "vm/pager/pager.h"

/* Objects that have ended are kept, so that the next one costs a few instructions: but for `shadow`
 * they are as objects begin. */
static struct zone object_zone;

#define KEPT_LINK offsetof(struct object, shadow)

void object_module_init(void)
{
	zone_init(&object_zone, "objects", sizeof(struct object), sizeof(void *));
	zone_init_kept(&object_zone, KEPT_LINK, ZONE_KEPT);
	owner_set_price(OWNER_PAGES, PAGE_SIZE);
}

/* ---------------- Beginning and end ---------------- */

static struct object *object_alloc(void)
{
	struct object *object = (zone_alloc)(&object_zone);

	if (object == NULL)
		return NULL;
	*object = (struct object){0};
	wait_queue_init(&object->waiters);
	list_init(&object->cache_link);
	return object;
}

static inline struct object *object_take_object(void)
{
	struct object *object = zone_take_kept(&object_zone, KEPT_LINK);

	if (object == NULL)
		return object_alloc();
	object->shadow = NULL;
	return object;
}

static inline void object_keep_object(struct object *object)
{
	assert(object->slots.height == 0);
	object->magic = 0;
	object->kernel = false;
	object->dead = false;
	object->terminating = false;
	object->written = false;
	if (!zone_keep(&object_zone, object, KEPT_LINK))
		zone_free(&object_zone, object);
}

struct object *(object_create)(uint32_t size)
{
	struct object *object = object_take_object();

	if (object == NULL)
		return NULL;
	object->magic = OBJECT_MAGIC;
	object->refs = 1;
	object->size = size;
	object->label = page_caller_label();
	return object;
}

struct object *object_create_paid(struct owner *payer, uint32_t size)
{
	struct object *object = (object_create)(size);

	if (object != NULL) {
		object->payer = payer;
		owner_hold(payer);
	}
	return object;
}

/* Slots that are charged. */
static inline uint32_t object_paid_slots(const struct object *object)
{
	return object->n_pages + object->n_swapped + object->n_unsettled;
}

void object_change_payer(struct object *object, struct owner *payer)
{
	struct owner *old = object->payer;
	uint32_t paid = object_paid_slots(object);

	assert(object->magic == OBJECT_MAGIC);
	if (payer != NULL) {
		owner_hold(payer);
		owner_burden(payer, OWNER_PAGES, paid);
	}
	object->payer = payer;
	if (old == NULL)
		return;
	if (paid > 0)
		owner_uncharge(old, OWNER_PAGES, paid);
	owner_let_go(old);
}

/* Ends the object, and gives the caller its reference to what was behind it, or NULL. */
static struct object *object_end(struct object *object)
{
	struct object *shadow;

	assert(object->magic == OBJECT_MAGIC && object->refs == 0);
	assert(object->copy == NULL && !object->terminating);
	object->terminating = true;
	if (object->pager != NULL) {
		pager_terminate(object->pager);
		object->pager = NULL;
	}
	if (object->swap != NULL) {
		pager_terminate(object->swap);
		object->swap = NULL;
	}
	object_free_range(object, 0, object->size);
	assert(page_tree_is_empty(&object->slots));
	assert((object->n_pages | object->n_swapped | object->n_unsettled) == 0);
	thread_wake_all(&object->waiters);
	shadow = object_leave_shadow(object);
	if (object->payer != NULL)
		object_change_payer(object, NULL);
	object_keep_object(object);
	return shadow;
}

void object_release(struct object *object)
{
	while (object != NULL) {
		assert(object->magic == OBJECT_MAGIC && object->refs > 0);
		if (--object->refs > 0) {
			if (object->refs == 1 && object->copy != NULL)
				object_left_to_copy(object);
			return;
		}
		if (object->pager != NULL && pager_keep(object))
			return;
		object = object_end(object);
	}
}

void object_terminate(struct object *object)
{
	object_release(object_end(object));
}

/* ---------------- Slots ---------------- */

/* Where marks like this are counted, or NULL. */
static uint32_t *object_count_of(struct object *object, const struct page *mark)
{
	if (slot_is_away(mark))
		return &object->n_swapped;
	if (mark == SLOT_REQUESTED || mark == SLOT_FAILED)
		return &object->n_unsettled;
	return NULL;
}

/* A slot has lost what it had. */
static inline void object_lost(struct object *object, const struct page *slot)
{
	uint32_t *count;

	if (slot == SLOT_EMPTY)
		return;
	count = slot_is_page(slot) ? &object->n_pages : object_count_of(object, slot);
	if (count != NULL) {
		assert(*count > 0);
		--*count;
	}
	if (slot == SLOT_REQUESTED)
		thread_wake_all_soon(&object->waiters);
}

/* A slot has got something. */
static inline void object_gained(struct object *object, const struct page *slot)
{
	uint32_t *count = slot_is_page(slot) ? &object->n_pages : object_count_of(object, slot);

	if (count != NULL)
		++*count;
}

/* Whether a slot like this is charged: it has something, or had and is to have it again. */
static inline bool object_slot_is_paid(const struct page *slot)
{
	return slot != SLOT_EMPTY && slot != SLOT_ABSENT;
}

/* Puts `new` into the slot, which has `old`; false when there is no memory for an empty one's. */
static inline bool object_set(struct object *object, uint32_t index, struct page *old,
			      struct page *new)
{
	if (!page_tree_set(&object->slots, index, new))
		return false;
	object_lost(object, old);
	object_gained(object, new);
	return true;
}

/* As object_set(), of an object with a payer, who may also have no more. */
static bool object_set_paid(struct object *object, uint32_t index, struct page *old,
			    struct page *new)
{
	bool more = !object_slot_is_paid(old) && object_slot_is_paid(new);
	bool less = object_slot_is_paid(old) && !object_slot_is_paid(new);

	if (more && !owner_charge(object->payer, OWNER_PAGES, 1))
		return false;
	if (object_set(object, index, old, new)) {
		if (less)
			owner_uncharge(object->payer, OWNER_PAGES, 1);
		return true;
	}
	if (more)
		owner_uncharge(object->payer, OWNER_PAGES, 1);
	return false;
}

/*
 * Changes the slot from `old`, which is in it; false when there is no memory for an empty one's, or
 * for a payer who may have no more.
 */
static inline bool object_change(struct object *object, uint32_t index, struct page *old,
				 struct page *new)
{
	assert(index < object->size);
	if (__builtin_expect(object->payer != NULL, 0))
		return object_set_paid(object, index, old, new);
	return object_set(object, index, old, new);
}

bool object_mark(struct object *object, uint32_t index, struct page *mark)
{
	struct page *old = object_slot(object, index);

	assert(!slot_is_page(old) && !slot_is_page(mark));
	return old == mark || object_change(object, index, old, mark);
}

bool object_insert(struct object *object, uint32_t index, struct page *page)
{
	struct page *old = object_slot(object, index);

	assert(page->use == PAGE_USER && page->object == NULL);
	assert(!slot_is_page(old));
	if (!object_change(object, index, old, page))
		return false;
	page->object = object;
	page->index = index;
	page_activate(page);
	return true;
}

/* The slot is one that was not charged. */
bool object_insert_anyway(struct object *object, uint32_t index, struct page *page)
{
	struct owner *payer = object->payer;
	bool inserted;

	object->payer = NULL;
	inserted = object_insert(object, index, page);
	object->payer = payer;
	if (inserted && payer != NULL)
		owner_burden(payer, OWNER_PAGES, 1);
	return inserted;
}

/* Makes a page that is in no slot any more nobody's. */
static inline void object_let_go(struct page *page)
{
	assert(page->wirings == 0);
	if (pmap_page_is_mapped(page))
		pmap_page_remove(page);
	page_unqueue(page);
	page->object = NULL;
}

/* Takes a page out of its slot, which cannot fail, as that is not empty. */
static inline void object_take_out(struct object *object, struct page *page, struct page *mark)
{
	object_change(object, page->index, page, mark);
	object_let_go(page);
}

void object_remove(struct page *page, struct page *mark)
{
	struct object *object = page->object;

	assert(page->use == PAGE_USER && object->magic == OBJECT_MAGIC);
	assert(object_slot(object, page->index) == page && !slot_is_page(mark));
	object_take_out(object, page, mark);
}

void object_free_page(struct page *page, struct page *mark)
{
	object_remove(page, mark);
	page_free(page);
}

void object_free_range(struct object *object, uint32_t first, uint32_t end)
{
	uint32_t index = first, freed = 0;
	struct page *slot;

	for (; (slot = page_tree_next(&object->slots, &index, end)) != SLOT_EMPTY; index++) {
		if (slot_is_page(slot)) {
			assert(slot->object == object && slot->index == index);
			page_tree_set(&object->slots, index, SLOT_EMPTY);
			object->n_pages--;
			freed++;
			object_let_go(slot);
			page_free(slot);
		} else if (slot != SLOT_REQUESTED || object->terminating) {
			object_change(object, index, slot, SLOT_EMPTY);
		}
		pause_each();
	}
	if (object->payer != NULL && freed > 0)
		owner_uncharge(object->payer, OWNER_PAGES, freed);
}

bool object_move_page(struct page *page, struct object *to, uint32_t index)
{
	struct object *from = page->object;
	struct page *old = object_slot(to, index);

	assert(object_slot(from, page->index) == page && from->pager == NULL);
	if (!object_change(to, index, old, page))
		return false;
	object_change(from, page->index, page, SLOT_EMPTY);
	page->object = to;
	page->index = index;
	page->dirty = true; /* The swap that it may have been in is the other object's. */
	page->in_swap = false;
	if (slot_is_page(old)) {
		object_let_go(old);
		page_free(old);
	}
	return true;
}
