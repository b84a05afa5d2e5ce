/* SPDX-License-Identifier: MIT */
/*
 * links: vm/object/object.c vm/object/object_chain.c vm/object/object_copy.c vm/page/page_tree.c
 * links: base/owner.c
 */
/* Objects (vm/object/object.h): their slots, their end, and copies of them. */
#include "object_model.h"

/* ---------------- Slots ---------------- */

TEST(object_slots_are_counted)
{
	struct object *object;
	struct page *page;

	begin();
	object = object_create(8);
	page = insert(object, 3, 7);
	EXPECT_EQ(object->n_pages, 1);
	EXPECT_EQ(page->queue, PAGE_QUEUE_ACTIVE);
	EXPECT(object_mark(object, 4, SLOT_REQUESTED));
	EXPECT(object_mark(object, 5, SLOT_FAILED));
	EXPECT(object_mark(object, 2, SLOT_LOST));
	EXPECT(object_mark(object, 6, SLOT_SWAPPED));
	EXPECT(object_mark(object, 7, SLOT_ABSENT));
	EXPECT_EQ(object->n_unsettled, 2);
	EXPECT_EQ(object->n_swapped, 2);
	check_slots(object);
	object_remove(page, SLOT_SWAPPED);
	EXPECT(page->object == NULL && object_slot(object, 3) == SLOT_SWAPPED);
	page_free(page);
	object_free_range(object, 0, 8);
	EXPECT(object_slot(object, 4) == SLOT_REQUESTED);
	EXPECT_EQ(object->n_swapped, 0);
	EXPECT_EQ(object->n_unsettled, 1);
	check_slots(object);
	object_release(object);
	finish();
}

TEST(object_wakes_waiters_of_a_request)
{
	struct object *object;
	struct list waiter;

	begin();
	object = object_create(4);
	list_add_last(&object->waiters.waiters, &waiter);
	EXPECT(object_mark(object, 0, SLOT_REQUESTED));
	insert(object, 1, 0);
	EXPECT_EQ(wakes, 0);
	insert(object, 0, 0);
	EXPECT_EQ(wakes, 1);
	object_mark(object, 2, SLOT_REQUESTED);
	list_add_last(&object->waiters.waiters, &waiter);
	object_mark(object, 2, SLOT_FAILED);
	EXPECT_EQ(wakes, 2);
	object_mark(object, 3, SLOT_REQUESTED);
	list_add_last(&object->waiters.waiters, &waiter);
	object_release(object);
	EXPECT_EQ(wakes, 3);
	finish();
}

TEST(object_mistakes_of_the_kernel)
{
	struct object *object;

	begin();
	object = object_create(2);
	EXPECT_PANIC(object_mark(object, 2, SLOT_ABSENT));
	insert(object, 1, 0);
	EXPECT_PANIC(object_mark(object, 1, SLOT_ABSENT));
	EXPECT_PANIC(object_insert(object, 0, object_slot(object, 1)));
	object_free_page(object_slot(object, 1), SLOT_EMPTY);
	object_release(object);
	EXPECT_PANIC(object_reference(object));
	EXPECT_PANIC(object_release(object));
	finish();
}

/* A wired page cannot go with its object.  (The object is not put together again.) */
TEST(object_with_a_wired_page_cannot_end)
{
	struct object *object;
	struct page *page;

	begin();
	object = object_create(1);
	page = insert(object, 0, 0);
	page->wirings = 1;
	EXPECT_PANIC(object_free_page(page, SLOT_EMPTY));
	page->wirings = 0;
	page_unqueue(page);
	page->object = NULL;
	page_free(page);
	object_release(object);
	finish();
}

/* ---------------- Ends ---------------- */

TEST(object_ends_of_long_chains_are_flat)
{
	struct object *object;
	uint32_t index = 0;

	begin();
	object = object_create(1);
	for (uint32_t i = 1; i < 200000; i++) {
		struct object *back = object_reference(object);

		EXPECT(object_make_own(NULL, &object, &index, 1));
		object_release(back);
	}
	EXPECT_EQ(object_chain_length(object), 200000);
	object_release(object);
	finish();
}

TEST(object_end_tells_pagers)
{
	struct object *object;
	struct view *view;

	begin();
	object = paged_object(4);
	object->pager->may_cache = true;
	insert(object, 2, 0);
	object_release(object);
	EXPECT_EQ(object->refs, 0);
	EXPECT_EQ(ended, 0);
	object_terminate(object);
	EXPECT_EQ(ended, 1);
	view = allocate(4);
	write_view(view, 1, 5);
	swap_out(view->object, 1);
	finish();
	EXPECT_EQ(ended, 2);
}

/* ---------------- Copies ---------------- */

TEST(object_own_needs_no_shadow)
{
	struct object *object, *same;
	uint32_t index = 3;

	begin();
	same = object = object_create(8);
	EXPECT(object_make_own(NULL, &object, &index, 4));
	EXPECT(object == same && index == 3);
	object_reference(same);
	EXPECT(object_make_own(NULL, &object, &index, 4));
	EXPECT(object != same && index == 0);
	EXPECT(object->shadow == same && object->shadow_index == 3 && object->size == 4);
	object_release(object);
	object_release(same);
	finish();
}

/* A copy of four pages in the middle, for an entry that is not pending then. */
static struct object *copy_middle(struct object *object)
{
	struct object *copy = NULL;
	uint32_t index;
	bool pending;

	EXPECT_EQ(object_copy(NULL, object, 2, 4, false, &copy, &index, &pending), KERN_SUCCESS);
	EXPECT(index == 0 && !pending);
	return copy;
}

TEST(object_copies_by_strategy)
{
	struct object *object, *copy;

	begin();
	object = paged_object(8);
	object->pager->strategy = MEMORY_OBJECT_COPY_NONE;
	copy = copy_middle(object);
	EXPECT(copy->shadow == NULL && copy->size == 4);
	object_release(copy);
	object->pager->strategy = MEMORY_OBJECT_COPY_CALL;
	copy = copy_middle(object);
	EXPECT_EQ(asked, 1);
	object_release(copy);
	object->pager->strategy = MEMORY_OBJECT_COPY_TEMPORARY;
	copy = copy_middle(object);
	EXPECT(copy->shadow == object && object->copy == copy);
	object_release(copy);
	EXPECT(object->copy == NULL);
	object_release(object);
	finish();
}

/* A pager that is not ready is waited for, and what a dead one has left needs none. */
TEST(object_copies_without_a_pager)
{
	struct object *object, *copy;
	uint32_t index;
	bool pending;

	begin();
	object = paged_object(8);
	object->pager->state = PAGER_DEAD;
	EXPECT_EQ(object_copy(NULL, object, 2, 4, false, &copy, &index, &pending), KERN_ABORTED);
	object->dead = true;
	copy = copy_middle(object);
	EXPECT(copy->shadow == object);
	object_release(copy);
	EXPECT_EQ(object->refs, 1);
	object_release(object);
	finish();
}

TEST(object_copies_of_the_kernels_own)
{
	struct object *object, *copy;

	begin();
	object = object_create(8);
	object->kernel = true;
	copy = copy_middle(object);
	EXPECT(copy->shadow == NULL);
	object_release(copy);
	object_release(object);
	finish();
}

/* Pieces of one object that are copied one after the other have one copy object. */
TEST(object_pieces_share_a_copy_object)
{
	struct view *view, *first, *second, *third;

	begin();
	view = allocate_shared(12);
	write_all(view, 1);
	first = copy_view(view, 2, 3);
	second = copy_view(view, 6, 4);
	EXPECT(first->object == second->object);
	EXPECT_EQ(first->object->shadow_index, 2);
	EXPECT_EQ(first->object->size, 8);
	write_view(view, 3, 100);
	write_view(view, 9, 100);
	write_view(view, 10, 100); /* Which nobody has copied. */
	EXPECT_EQ(first->object->n_pages, 2);
	third = copy_view(view, 0, 12);
	EXPECT(third->object != first->object && first->object->shadow == third->object);
	EXPECT(view->object->copy == third->object);
	write_view(view, 3, 101);
	write_view(view, 4, 101);
	EXPECT_EQ(first->object->n_pages, 2);
	EXPECT_EQ(third->object->n_pages, 2);
	read_all();
	check_objects(NULL);
	finish();
}

/* Who may write to a copy object has it for himself, even if it is still empty. */
TEST(object_copy_that_is_written_to_is_not_shared)
{
	struct view *view, *first, *second;

	begin();
	view = allocate_shared(4);
	write_view(view, 0, 1);
	first = fork_view(view);
	EXPECT(object_make_own(NULL, &first->object, &first->index, 4));
	first->pending = false;
	second = fork_view(view);
	write_view(first, 0, 2);
	read_all();
	EXPECT(second->object != first->object);
	check_objects(NULL);
	finish();
}

/* And so it stays if what was put in front of it is united with it. */
TEST(object_copy_that_was_united_is_not_shared)
{
	struct view *view, *first, *second;

	begin();
	view = allocate_shared(4);
	write_view(view, 0, 1);
	first = fork_view(view);
	second = fork_view(first);
	EXPECT(object_make_own(NULL, &first->object, &first->index, 4));
	first->pending = false;
	release(second);
	object_unite(&first->object, &first->index);
	EXPECT_EQ(object_chain_length(first->object), 2);
	second = fork_view(view);
	EXPECT(second->object != first->object);
	check_objects(NULL);
	finish();
}

/* A memory object may be mapped again, and written to, when only its copy is left. */
TEST(object_copy_of_a_pager_outlives_its_mappings)
{
	struct object *object;
	struct view *view, *child;

	begin();
	object = paged_object(4);
	view = new_view(object, 0, 4);
	write_view(view, 1, 7);
	child = fork_view(view);
	release(view);
	EXPECT_EQ(object->refs, 1);
	view = new_view(object_reference(object), 0, 4);
	view->memory->values[1] = 7;
	write_view(view, 1, 8);
	read_all();
	EXPECT_EQ(child->object->n_pages, 1);
	check_objects(NULL);
	finish();
}

/* What was shared once is the last copy's own, page by page as it is touched. */
TEST(object_copy_that_is_alone_takes_the_pages)
{
	struct view *view, *child;

	begin();
	view = allocate_shared(4);
	write_view(view, 1, 7);
	child = fork_view(view);
	release(view);
	count_moves();
	copies = 0;
	write_view(child, 1, 8);
	EXPECT_EQ(copies, 0);
	EXPECT_EQ(count_moves(), 1);
	check_objects(NULL);
	finish();
}

TEST(object_copy_object_full_of_pages_forgets_what_is_behind)
{
	struct view *view, *child;

	begin();
	view = allocate_shared(4);
	write_view(view, 3, 1);
	child = fork_view(view);
	write_all(view, 11);
	EXPECT_EQ(object_chain_length(child->object), 1);
	EXPECT(view->object->copy == NULL);
	EXPECT_EQ(view->object->refs, 1);
	read_all();
	check_objects(NULL);
	finish();
}

TEST(object_full_of_pages_forgets_what_is_behind)
{
	struct view *view, *child;

	begin();
	view = allocate(4);
	write_all(view, 1);
	child = fork_view(view);
	write_all(child, 11);
	EXPECT_EQ(object_chain_length(child->object), 1);
	EXPECT_EQ(view->object->refs, 1);
	read_all();
	check_objects(NULL);
	finish();
}
