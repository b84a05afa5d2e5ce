/* SPDX-License-Identifier: MIT */
/* links: vm/map/entry_tree.c */
/* The tree of map entries (vm/map/entry_tree.h) against an array of who covers what. */
#include "vm/map/entry_tree.h"

#include "host/kernel.h"
#include "vm/map/map.h"

#define PLACES 512
#define STEPS  60000

static struct map_entry entries[PLACES];
static bool present[PLACES];
static struct map_entry *root;

/* Entry `n` covers the first half of place `n`: between two there is always a gap. */
static uint32_t start_of(uint32_t n)
{
	return n * 2 * PAGE_SIZE;
}

static struct map_entry *neighbour(uint32_t n, int step)
{
	for (int i = (int)n + step; i >= 0 && i < PLACES; i += step)
		if (present[i])
			return &entries[i];
	return NULL;
}

static void insert(uint32_t n)
{
	entries[n].start = start_of(n);
	entries[n].end = start_of(n) + PAGE_SIZE;
	entry_tree_insert(&root, &entries[n], neighbour(n, -1), neighbour(n, 1));
	present[n] = true;
}

static void take_out(uint32_t n)
{
	entry_tree_remove(&root, &entries[n]);
	present[n] = false;
}

/* Order, parents, heights and balance of all below; returns the height. */
static uint32_t check_below(const struct map_entry *entry, const struct map_entry *parent,
			    uint32_t from, uint32_t to)
{
	uint32_t left, right;

	if (entry == NULL)
		return 0;
	EXPECT(entry->node.parent == parent);
	EXPECT(entry->start >= from && entry->end <= to);
	left = check_below(entry->node.below[ENTRY_LEFT], entry, from, entry->start);
	right = check_below(entry->node.below[ENTRY_RIGHT], entry, entry->end, to);
	EXPECT(left <= right + 1 && right <= left + 1);
	EXPECT(entry->node.height == (left > right ? left : right) + 1);
	return entry->node.height;
}

static void check_all(void)
{
	check_below(root, NULL, 0, UINT32_MAX);
	for (uint32_t n = 0; n < PLACES; n++) {
		struct map_entry *next = neighbour(n, 1);

		REQUIRE(entry_tree_from(root, start_of(n)) == (present[n] ? &entries[n] : next));
		REQUIRE(entry_tree_from(root, start_of(n) + PAGE_SIZE) == next);
	}
}

static void clear(void)
{
	root = NULL;
	for (uint32_t n = 0; n < PLACES; n++)
		present[n] = false;
}

TEST(entry_tree_empty)
{
	clear();
	EXPECT(entry_tree_from(root, 0) == NULL);
	insert(3);
	EXPECT(root == &entries[3]);
	take_out(3);
	EXPECT(root == NULL);
}

TEST(entry_tree_in_order)
{
	clear();
	for (uint32_t n = 0; n < PLACES; n++)
		insert(n);
	check_all();
	EXPECT_LE(root->node.height, 10);
	for (uint32_t n = PLACES; n > 0; n--)
		take_out(n - 1);
	EXPECT(root == NULL);
	for (uint32_t n = PLACES; n > 0; n--)
		insert(n - 1);
	check_all();
	for (uint32_t n = 0; n < PLACES; n++)
		take_out(n);
	EXPECT(root == NULL);
}

TEST(entry_tree_random_against_array)
{
	uint32_t seed = 7;

	clear();
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t n = host_random_below(&seed, PLACES);

		/* Now mostly full, now mostly empty. */
		if (present[n] && host_random_below(&seed, 8) < 3 + step / 10000 % 2 * 3)
			take_out(n);
		else if (!present[n] && host_random_below(&seed, 8) < 6 - step / 10000 % 2 * 3)
			insert(n);
		if (step % 50 == 0)
			check_all();
	}
	check_all();
}
