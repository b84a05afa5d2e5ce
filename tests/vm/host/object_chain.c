/* SPDX-License-Identifier: MIT */
/*
 * links: vm/object/object.c vm/object/object_chain.c vm/object/object_copy.c vm/page/page_tree.c
 * links: base/owner.c
 */
/*
 * Chains of objects (vm/object/object.h): uniting them, forks in a row, and random steps of
 * everything, with and without memory running out, against arrays of what ought to be seen.
 */
#include "object_model.h"

#define STEPS 60000
#define FEW   60u /* Pages that a user may have. */
#define FORKS 1000

/* ---------------- Uniting ---------------- */

/* A view with an object of its own in front of another of its own, with so many pages each. */
static struct view *two_objects(uint32_t front, uint32_t back)
{
	struct view *view = allocate(16);
	struct view *child;

	for (uint32_t i = 0; i < back; i++)
		write_view(view, i, i + 1);
	child = fork_view(view);
	for (uint32_t i = 0; i < front; i++)
		write_view(view, 15 - i, 100 + i);
	release(child);
	EXPECT_EQ(object_chain_length(view->object), 2);
	count_moves();
	return view;
}

TEST(object_unite_moves_the_fewer_pages)
{
	struct view *view;
	struct object *front, *back;

	begin();
	view = two_objects(3, 14);
	back = view->object->shadow;
	object_slot(view->object, 15)->dirty = false;
	object_unite(&view->object, &view->index);
	EXPECT(view->object == back && back->shadow == NULL);
	EXPECT_EQ(count_moves(), 3);
	EXPECT_EQ(view->object->n_pages, 16);
	EXPECT(object_slot(view->object, 15)->dirty);
	view = two_objects(14, 3);
	front = view->object;
	object_unite(&view->object, &view->index);
	EXPECT(view->object == front && front->shadow == NULL);
	EXPECT_EQ(count_moves(), 2);
	EXPECT_EQ(front->n_pages, 16);
	read_all();
	check_objects(NULL);
	finish();
}

TEST(object_unite_keeps_swap)
{
	struct view *view;
	struct object *front, *back;

	begin();
	view = two_objects(3, 9);
	front = view->object;
	swap_out(front, 15); /* So that the one in front, though smaller, must stay. */
	object_unite(&view->object, &view->index);
	EXPECT(view->object == front && front->shadow == NULL);
	read_all();
	check_objects(NULL);
	release(view);
	view = two_objects(9, 3);
	back = view->object->shadow;
	swap_out(back, 0);
	object_unite(&view->object, &view->index);
	EXPECT(view->object == back);
	read_all();
	check_objects(NULL);
	release(view);
	view = two_objects(3, 3);
	swap_out(view->object, 15);
	swap_out(view->object->shadow, 0);
	object_unite(&view->object, &view->index);
	EXPECT_EQ(object_chain_length(view->object), 2);
	read_all();
	check_objects(NULL);
	finish();
}

TEST(object_unite_frees_what_nobody_sees)
{
	struct view *view, *child;

	begin();
	view = allocate(16);
	write_all(view, 1);
	child = copy_view(view, 4, 8);
	write_view(child, 1, 100);
	release(view);
	object_unite(&child->object, &child->index);
	EXPECT_EQ(object_chain_length(child->object), 1);
	EXPECT_EQ(child->index, 4);
	EXPECT_EQ(n_pages, 8);
	read_all();
	check_objects(NULL);
	finish();
}

TEST(object_unite_waits_for_answers)
{
	struct view *view;

	begin();
	view = two_objects(3, 9);
	swap_out(view->object, 15);
	object_mark(view->object, 15, SLOT_REQUESTED);
	object_unite(&view->object, &view->index);
	EXPECT_EQ(object_chain_length(view->object), 2);
	read_all();
	object_unite(&view->object, &view->index);
	EXPECT_EQ(object_chain_length(view->object), 1);
	release(view);
	view = two_objects(9, 3);
	swap_out(view->object->shadow, 0);
	object_mark(view->object->shadow, 0, SLOT_REQUESTED);
	object_unite(&view->object, &view->index);
	EXPECT_EQ(object_chain_length(view->object), 2);
	read_all();
	check_objects(NULL);
	finish();
}

/* ---------------- Forks in a row ---------------- */

/* `late`: the child ends after its parent has written, else before. */
static void forks_in_a_row(bool late)
{
	struct view *parent, *child;
	uint32_t moves_max = 0, copies_max = 0, longest = 0;

	begin();
	parent = allocate(32);
	write_all(parent, 1);
	count_moves();
	for (uint32_t fork = 0; fork < FORKS; fork++) {
		uint32_t length;

		copies = 0;
		child = fork_view(parent);
		write_view(child, fork % 32, fork);
		if (!late)
			release(child);
		for (uint32_t i = 0; i < 3; i++)
			write_view(parent, (fork * 7 + i) % 32, fork + i);
		length = object_chain_length(parent->object);
		longest = length > longest ? length : longest;
		read_view(parent, fork % 32);
		if (late) {
			read_view(child, (fork * 7) % 32);
			release(child);
		}
		length = count_moves();
		moves_max = length > moves_max ? length : moves_max;
		copies_max = copies > copies_max ? copies : copies_max;
	}
	EXPECT_LE(longest, 2);
	EXPECT_LE(moves_max, 4);
	EXPECT_LE(copies_max, 4);
	read_all();
	check_objects(NULL);
	finish();
}

TEST(object_forks_in_a_row)
{
	forks_in_a_row(true);
	forks_in_a_row(false);
}

/* Each child is the parent of the next, and the parent goes. */
TEST(object_generations)
{
	struct view *view, *child;

	begin();
	view = allocate(32);
	write_all(view, 1);
	for (uint32_t fork = 0; fork < FORKS; fork++) {
		child = fork_view(view);
		write_view(view, fork % 32, fork);
		write_view(child, (fork + 1) % 32, fork);
		release(view);
		view = child;
		EXPECT_LE(object_chain_length(view->object), 2);
	}
	read_all();
	EXPECT_EQ(n_pages, 32 + object_chain_length(view->object) - 1);
	check_objects(NULL);
	finish();
}

/* Shared memory is copied again and again, and the first copy stays: it need not look far. */
TEST(object_copies_of_shared_memory)
{
	struct view *view, *first, *child;

	begin();
	view = allocate_shared(32);
	write_all(view, 1);
	first = fork_view(view);
	for (uint32_t fork = 0; fork < FORKS; fork++) {
		child = fork_view(view);
		write_view(view, fork % 8, fork);
		read_view(first, fork % 8);
		read_view(child, fork % 8);
		release(child);
		EXPECT_LE(object_chain_length(first->object), 3);
	}
	EXPECT_LE(n_pages, 32 + 8);
	read_all();
	check_objects(NULL);
	finish();
}

/* ---------------- Random steps ---------------- */

static void random_copy(struct view *view, uint32_t *seed)
{
	uint32_t first = host_random_below(seed, view->size);

	if (host_random_below(seed, 2) == 0)
		fork_view(view);
	else
		copy_view(view, first, 1 + host_random_below(seed, view->size - first));
}

/* Takes a page to swap, or begins to fetch one, anywhere in a view's chain. */
static void random_paging(const struct view *view, uint32_t *seed)
{
	struct object *object = view->object;
	uint32_t index;

	while (object->shadow != NULL && host_random_below(seed, 2) == 0)
		object = object->shadow;
	index = host_random_below(seed, object->size);
	if (object_slot(object, index) == SLOT_SWAPPED)
		object_mark(object, index, SLOT_REQUESTED);
	else
		swap_out(object, index);
}

static void random_step(struct view *view, struct view *file, uint32_t *seed)
{
	uint32_t i;

	if (view->object == NULL) {
		allocate(1 + host_random_below(seed, SIZE_MAX_VIEW));
		return;
	}
	i = host_random_below(seed, view->size);
	switch (host_random_below(seed, 24)) {
	case 0:
	case 1:
		if (view != file)
			release(view);
		break;
	case 2:
	case 3:
		random_copy(view, seed);
		break;
	case 4:
		random_copy(file, seed);
		break;
	case 5:
		if (view != file)
			share_view(view);
		break;
	case 6:
		if (view != file)
			split_view(view);
		break;
	case 7:
	case 8:
		random_paging(view, seed);
		break;
	case 9:
	case 10:
	case 11:
		read_view(view, i);
		break;
	default:
		write_view(view, i, 1 + host_random_below(seed, 1000000));
	}
}

/* `file` is a view of what a pager has, which stays. */
static void random_steps(uint32_t seed, uint32_t payers, bool with_failures)
{
	struct object *object;
	struct view *file;

	begin();
	object = paged_object(SIZE_MAX_VIEW);
	file = new_view(object, 0, SIZE_MAX_VIEW);
	for (uint32_t i = 0; i < SIZE_MAX_VIEW; i++) {
		((struct test_pager *)object->pager)->values[i] = 5000 + i;
		file->memory->values[i] = 5000 + i;
	}
	make_payers(payers, with_failures ? FEW : OWNER_NO_LIMIT);
	failures = with_failures ? 4 : 0;
	for (uint32_t step = 0; step < STEPS && !check_failed(); step++) {
		random_step(&views[host_random_below(&seed, VIEWS)], file, &seed);
		if (step % 16 == 0)
			check_objects(NULL);
		if (step % 256 == 0)
			read_all();
	}
	failures = 0;
	read_all();
	finish();
}

TEST(object_random_steps)
{
	random_steps(1, 0, false);
	random_steps(2, 0, false);
}

TEST(object_random_steps_with_failures)
{
	random_steps(3, 0, true);
	random_steps(4, 0, true);
}

/* What users pay is to the page what is there of theirs, whose memory others have copied, too. */
TEST(object_random_steps_of_payers)
{
	random_steps(5, 1, false);
	random_steps(6, 3, false);
	random_steps(7, 2, true);
	random_steps(8, 3, true);
}
