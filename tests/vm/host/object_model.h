/* SPDX-License-Identifier: MIT */
/*
 * Maps, faults and pagers, as simple as can be, for tests of objects (vm/object/object.h) on the
 * host.
 *
 * A page holds one number.  A view stands for a map entry and its page table, and has an array of
 * what it ought to see; the functions of the kernel that objects call work on these.
 */
#ifndef OBJECT_MODEL_H
#define OBJECT_MODEL_H

#include "vm/object/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/zone.h"
#include "host/kernel.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/page/page_queue.h"
#include "vm/pager/pager.h"

#define VIEWS         24
#define SIZE_MAX_VIEW 40u

/* ---------------- Memory and pages ---------------- */

/* A page that holds one number. */
struct test_page {
	struct page page;
	uint32_t value;
	struct object *was; /* Whose it was at the last look of count_moves(). */
	struct test_page *next;
};

static struct test_page *pages;
static uint32_t n_pages;
static struct zone *object_zone;
static uint32_t failures; /* One of so many allocations fails; 0: none does. */
static uint32_t fail_seed = 1;
static uint32_t copies; /* Pages copied, */
static uint32_t wakes;  /* and calls of thread_wake_waiters() and thread_wake_all_soon(). */

static inline bool fails(void)
{
	return failures != 0 && host_random_below(&fail_seed, failures) == 0;
}

/* ---------------- Payers ---------------- */

#define ALICE 100

static uint32_t n_payers; /* Of users; 0: nobody pays. */
static uint32_t payer_seed = 1;

/* Who pays for what comes next: the system or a user, each of whom has a share in the model. */
static inline struct owner *a_payer(void)
{
	uint32_t n = n_payers == 0 ? 0 : host_random_below(&payer_seed, n_payers + 1);

	return n == 0 ? NULL : owner_find(ALICE + n);
}

/* Users are there as long as each has a task. */
static inline void make_payers(uint32_t n, uint32_t limit)
{
	for (n_payers = 0; n_payers < n; n_payers++) {
		struct owner *owner = owner_obtain(ALICE + n_payers + 1);

		owner_burden(owner, OWNER_TASKS, 1);
		owner_set_limit(owner, OWNER_PAGES, limit);
	}
}

static inline void end_payers(void)
{
	for (; n_payers > 0; n_payers--)
		owner_uncharge(owner_find(ALICE + n_payers), OWNER_TASKS, 1);
}

/* What is charged to all users together. */
static inline uint32_t charged(enum owner_kind kind)
{
	return owner_find(OWNER_OTHERS)->uses[kind].used;
}

void zone_init(struct zone *zone, const char *name, size_t size, size_t alignment)
{
	(void)alignment;
	*zone = (struct zone){.name = name, .element_size = (uint32_t)size};
	if (strcmp(name, "objects") == 0)
		object_zone = zone;
}

void *(zone_alloc)(struct zone *zone)
{
	if (fails())
		return NULL;
	zone->taken++;
	return malloc(zone->element_size);
}

void zone_free(struct zone *zone, void *element)
{
	zone->taken--;
	free(element);
}

struct page *(page_alloc)(enum page_use use)
{
	struct test_page *page;

	if (fails())
		return NULL;
	page = calloc(1, sizeof(*page));
	page_init_user(&page->page);
	page->page.use = use;
	page->next = pages;
	pages = page;
	n_pages++;
	return &page->page;
}

void page_free(struct page *page)
{
	struct test_page **place = &pages;

	EXPECT(page->object == NULL && page->queue == PAGE_QUEUE_NONE && page->mappings == 0);
	while (&(*place)->page != page)
		place = &(*place)->next;
	*place = (*place)->next;
	n_pages--;
	free(page);
}

void *page_data(const struct page *page)
{
	return &((struct test_page *)page)->value;
}

void page_copy(void *to, const void *from)
{
	copies++;
	*(uint32_t *)to = *(const uint32_t *)from;
}

static inline uint32_t value_of(const struct page *page)
{
	return *(uint32_t *)page_data(page);
}

/* How many pages have changed hands since the last call. */
static inline uint32_t count_moves(void)
{
	uint32_t moves = 0;

	for (struct test_page *page = pages; page != NULL; page = page->next) {
		moves += page->was != NULL && page->was != page->page.object;
		page->was = page->page.object;
	}
	return moves;
}

void page_activate(struct page *page)
{
	if (page->wirings == 0)
		page->queue = PAGE_QUEUE_ACTIVE;
}

void page_unqueue(struct page *page)
{
	page->queue = PAGE_QUEUE_NONE;
}

uint32_t pause_turns_left = 1;

void kernel_pause(void)
{
}

void wait_queue_init(struct wait_queue *queue)
{
	list_init(&queue->waiters);
}

void thread_wake_waiters(struct wait_queue *queue)
{
	wakes++;
	list_init(&queue->waiters);
}

void thread_wake_all_soon(struct wait_queue *queue)
{
	thread_wake_waiters(queue);
}

/* ---------------- Maps ---------------- */

/* What memory ought to hold: one for all views that share it. */
struct memory {
	uint32_t refs;
	uint32_t values[SIZE_MAX_VIEW];
};

/* A map entry and the page table below it. */
struct view {
	struct object *object; /* NULL: a free view. */
	uint32_t index, size;
	bool pending, shared;
	struct memory *memory;
	uint32_t base; /* Of its first page in `memory`. */
	struct {
		struct page *page;
		bool writable;
	} table[SIZE_MAX_VIEW];
};

static struct view views[VIEWS];

static inline void note_mappings(struct page *page)
{
	page->mappings = 0;
	for (uint32_t v = 0; v < VIEWS; v++) {
		for (uint32_t i = 0; i < SIZE_MAX_VIEW; i++)
			page->mappings += views[v].table[i].page == page;
	}
}

static inline void map_page(struct view *view, uint32_t i, struct page *page, bool writable)
{
	struct page *old = view->table[i].page;

	view->table[i].page = page;
	view->table[i].writable = writable;
	if (page != NULL)
		note_mappings(page);
	if (old != NULL)
		note_mappings(old);
}

void pmap_page_remove(struct page *page)
{
	for (uint32_t v = 0; v < VIEWS; v++) {
		for (uint32_t i = 0; i < SIZE_MAX_VIEW; i++) {
			if (views[v].table[i].page == page)
				views[v].table[i].page = NULL;
		}
	}
	page->mappings = 0;
}

void pmap_page_protect(struct page *page, uint32_t rights)
{
	EXPECT_EQ(rights & PMAP_WRITE, 0);
	for (uint32_t v = 0; v < VIEWS; v++) {
		for (uint32_t i = 0; i < SIZE_MAX_VIEW; i++) {
			if (views[v].table[i].page == page)
				views[v].table[i].writable = false;
		}
	}
}

/* ---------------- Pagers ---------------- */

/* A program's pager, or swap, with what it holds. */
struct test_pager {
	struct pager pager;
	uint32_t values[SIZE_MAX_VIEW];
};

static uint32_t ended; /* Pagers that have been told of the end, */
static uint32_t asked; /* and pagers that were asked for a copy. */

static inline struct test_pager *new_pager(bool is_swap)
{
	struct test_pager *pager = calloc(1, sizeof(*pager));

	pager->pager.is_swap = is_swap;
	pager->pager.strategy = MEMORY_OBJECT_COPY_DELAY;
	return pager;
}

kern_return_t pager_await_ready(struct object *object)
{
	return object->pager->state == PAGER_DEAD ? KERN_ABORTED : KERN_SUCCESS;
}

bool pager_keep(struct object *object)
{
	return object->pager->may_cache;
}

void pager_terminate(struct pager *pager)
{
	ended++;
	free(pager);
}

kern_return_t pager_copy(struct object *object, uint32_t index, uint32_t size, struct object **copy)
{
	(void)object;
	(void)index;
	asked++;
	*copy = object_create(size);
	return *copy != NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

/* Nothing is in the copies: no test looks into them. */
kern_return_t object_copy_now(struct owner *payer, struct object *object, uint32_t index,
			      uint32_t size, struct object **copy)
{
	(void)object;
	(void)index;
	*copy = object_create_for(payer, size);
	return *copy != NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

static inline void swap_out(struct object *object, uint32_t index)
{
	struct page *page = object_slot(object, index);

	if (!slot_is_page(page) || object->pager != NULL)
		return;
	if (object->swap == NULL)
		object->swap = &new_pager(true)->pager;
	((struct test_pager *)object->swap)->values[index] = value_of(page);
	object_free_page(page, SLOT_SWAPPED);
}

/* ---------------- Faults ---------------- */

/* A page with this value in a slot that has none; NULL when there is no memory. */
static inline struct page *insert(struct object *object, uint32_t index, uint32_t value)
{
	struct page *page = page_alloc(PAGE_USER);

	if (page == NULL)
		return NULL;
	*(uint32_t *)page_data(page) = value;
	if (object_insert(object, index, page))
		return page;
	page_free(page);
	return NULL;
}

/*
 * The page that a view sees, brought in if that takes a pager, in *page; NULL for zeroes.
 * *movable: it may move to the view's object.  False when there is no memory.
 */
static inline bool find(const struct view *view, uint32_t i, struct page **page, bool *movable)
{
	struct object *object = view->object;
	uint32_t index = view->index + i;

	*movable = true;
	for (;;) {
		struct pager *pager = object->pager;

		*page = object_slot(object, index);
		if (slot_is_page(*page))
			return true;
		if (*page == SLOT_SWAPPED || *page == SLOT_REQUESTED)
			pager = object->swap;
		if (pager != NULL) {
			uint32_t value = ((struct test_pager *)pager)->values[index];

			*page = insert(object, index, value);
			if (*page != NULL)
				(*page)->in_swap = pager == object->swap;
			return *page != NULL;
		}
		*page = NULL;
		if (object->shadow == NULL)
			return true;
		index += object->shadow_index;
		object = object->shadow;
		*movable &= object_can_move_from(object);
	}
}

/* Brings the page of a view's own object that it is about to write to; NULL without memory. */
static inline struct page *own_page(struct view *view, uint32_t i)
{
	struct object *front = view->object;
	struct page *page;
	bool movable;

	if (!find(view, i, &page, &movable))
		return NULL;
	if (page == NULL)
		return insert(front, view->index + i, 0);
	if (page->object == front)
		return page;
	if (movable)
		return object_move_page(page, front, view->index + i) ? page : NULL;
	copies++;
	pmap_page_remove(page);
	return insert(front, view->index + i, value_of(page));
}

static inline bool write_fault(struct view *view, uint32_t i)
{
	struct page *page;

	if (view->pending && !object_make_own(a_payer(), &view->object, &view->index, view->size))
		return false;
	view->pending = false;
	page = own_page(view, i);
	if (page == NULL)
		return false;
	object_drop_shadow_if_full(view->object);
	if (view->object->copy != NULL &&
	    object_push(view->object, view->index + i, n_payers == 0) != KERN_SUCCESS)
		return false;
	page->dirty = true;
	map_page(view, i, page, true);
	return true;
}

static inline void write_view(struct view *view, uint32_t i, uint32_t value)
{
	if (view->table[i].page == NULL || !view->table[i].writable) {
		if (!write_fault(view, i))
			return;
	}
	*(uint32_t *)page_data(view->table[i].page) = value;
	view->memory->values[view->base + i] = value;
}

static inline void read_view(struct view *view, uint32_t i)
{
	struct page *page = view->table[i].page;
	bool movable;

	if (page == NULL) {
		if (!find(view, i, &page, &movable))
			return;
		if (page != NULL)
			map_page(view, i, page, false);
	}
	EXPECT_EQ(page == NULL ? 0 : value_of(page), view->memory->values[view->base + i]);
}

static inline void read_all(void)
{
	for (uint32_t v = 0; v < VIEWS; v++) {
		for (uint32_t i = 0; views[v].object != NULL && i < views[v].size; i++)
			read_view(&views[v], i);
	}
}

/* ---------------- What maps do ---------------- */

static inline struct view *free_view(void)
{
	for (uint32_t v = 0; v < VIEWS; v++) {
		if (views[v].object == NULL)
			return &views[v];
	}
	return NULL;
}

/* A view of an object whose reference it takes. */
static inline struct view *new_view(struct object *object, uint32_t index, uint32_t size)
{
	struct view *view = free_view();

	*view = (struct view){.object = object, .index = index, .size = size};
	view->memory = calloc(1, sizeof(*view->memory));
	view->memory->refs = 1;
	return view;
}

static inline struct view *allocate(uint32_t size)
{
	struct object *object = free_view() == NULL ? NULL : object_create_for(a_payer(), size);

	return object == NULL ? NULL : new_view(object, 0, size);
}

/* The same, but others may show it too and are to see what is written. */
static inline struct view *allocate_shared(uint32_t size)
{
	struct view *view = allocate(size);

	view->shared = true;
	return view;
}

/* Writes to each page, `first` and the numbers after it. */
static inline void write_all(struct view *view, uint32_t first)
{
	for (uint32_t i = 0; i < view->size; i++)
		write_view(view, i, first + i);
}

/* A memory object of a program's. */
static inline struct object *paged_object(uint32_t size)
{
	struct object *object = object_create_for(a_payer(), size);

	object->pager = &new_pager(false)->pager;
	return object;
}

static inline void release(struct view *view)
{
	for (uint32_t i = 0; i < SIZE_MAX_VIEW; i++)
		map_page(view, i, NULL, false);
	object_release(view->object);
	view->object = NULL;
	if (--view->memory->refs == 0)
		free(view->memory);
}

/* Another view of [first, first + size), as a copy; NULL when that failed. */
static inline struct view *copy_view(struct view *view, uint32_t first, uint32_t size)
{
	struct object *object;
	struct view *copy;
	uint32_t index;
	bool pending;

	if (free_view() == NULL)
		return NULL;
	object_unite(&view->object, &view->index);
	if (object_copy(a_payer(), view->object, view->index + first, size, view->shared, &object,
			&index, &pending) != KERN_SUCCESS)
		return NULL;
	for (uint32_t i = 0; pending && i < view->size; i++)
		view->table[i].writable = false;
	view->pending |= pending;
	copy = new_view(object, index, size);
	copy->pending = true;
	memcpy(copy->memory->values, view->memory->values + view->base + first, size * 4);
	return copy;
}

static inline struct view *fork_view(struct view *view)
{
	return copy_view(view, 0, view->size);
}

/* Another view of the same memory, from `first` on. */
static inline struct view *same_view(struct view *view, uint32_t first)
{
	struct view *other = free_view();

	*other = *view;
	memset(other->table, 0, sizeof(other->table));
	object_reference(view->object);
	view->memory->refs++;
	other->index += first;
	other->base += first;
	other->size -= first;
	return other;
}

static inline struct view *share_view(struct view *view)
{
	if (free_view() == NULL ||
	    (view->pending && !object_make_own(a_payer(), &view->object, &view->index, view->size)))
		return NULL;
	view->pending = false;
	view->shared = true;
	return same_view(view, 0);
}

static inline void split_view(struct view *view)
{
	uint32_t half = view->size / 2;

	if (free_view() == NULL || half == 0)
		return;
	same_view(view, half);
	for (uint32_t i = half; i < view->size; i++)
		map_page(view, i, NULL, false);
	view->size = half;
}

/* ---------------- What is always true ---------------- */

#define OBJECTS_MAX 4000

static const struct object *found[OBJECTS_MAX];
static uint32_t n_found;
static uint32_t refs_found[OBJECTS_MAX];

static inline void find_chain(const struct object *object)
{
	for (; object != NULL; object = object->shadow) {
		for (uint32_t i = 0; i < n_found; i++) {
			if (found[i] == object) {
				refs_found[i]++;
				return;
			}
		}
		found[n_found] = object;
		refs_found[n_found++] = 1;
	}
}

static inline void check_slots(const struct object *object)
{
	uint32_t counts[6] = {0}; /* By mark; those of pages come first. */

	for (uint32_t i = 0; i < object->size; i++) {
		struct page *slot = object_slot(object, i);

		if (slot_is_page(slot)) {
			counts[0]++;
			EXPECT(slot->object == object && slot->index == i);
			EXPECT(slot->queue != PAGE_QUEUE_NONE || slot->wirings > 0);
			EXPECT(!slot->in_swap || object->swap != NULL);
		} else if (slot != SLOT_EMPTY) {
			counts[(uintptr_t)slot]++;
		}
	}
	EXPECT_EQ(counts[0], object->n_pages);
	EXPECT_EQ(counts[(uintptr_t)SLOT_SWAPPED] + counts[(uintptr_t)SLOT_LOST],
		  object->n_swapped);
	EXPECT_EQ(counts[(uintptr_t)SLOT_REQUESTED] + counts[(uintptr_t)SLOT_FAILED],
		  object->n_unsettled);
}

/* Objects are those that the views lead to, and `also`, to which the test has a reference. */
static inline void check_objects(const struct object *also)
{
	uint32_t total = 0, paid = 0;

	n_found = 0;
	find_chain(also);
	for (uint32_t v = 0; v < VIEWS; v++)
		find_chain(views[v].object);
	for (uint32_t i = 0; i < n_found; i++) {
		EXPECT_EQ(found[i]->refs, refs_found[i]);
		EXPECT(found[i]->copy == NULL || found[i]->copy->shadow == found[i]);
		check_slots(found[i]);
		total += found[i]->n_pages;
		if (found[i]->payer != NULL) {
			paid += found[i]->n_pages + found[i]->n_swapped + found[i]->n_unsettled;
		}
	}
	EXPECT_EQ(zone_in_use(object_zone), n_found);
	EXPECT_EQ(charged(OWNER_PAGES), paid);
	EXPECT_EQ(n_pages, total);
}

static inline void begin(void)
{
	static bool begun;

	if (!begun) {
		page_tree_module_init();
		owner_module_init();
		object_module_init();
		begun = true;
	}
	failures = 0;
	ended = asked = wakes = copies = 0;
}

static inline void finish(void)
{
	for (uint32_t v = 0; v < VIEWS; v++) {
		if (views[v].object != NULL)
			release(&views[v]);
	}
	EXPECT_EQ(zone_in_use(object_zone), 0);
	EXPECT_EQ(n_pages, 0);
	EXPECT_EQ(charged(OWNER_PAGES), 0);
	end_payers();
}

#endif
