/* SPDX-License-Identifier: MIT */
/* links: vm/page/page_tree.c */
/*
 * Trees of slots (vm/page/page_tree.h): rules, then random steps against an array, with failures.
 */
#include "vm/page/page_tree.h"

#include <stdlib.h>

#include "base/zone.h"
#include "host/kernel.h"

#define MODEL_SIZE 5000
#define STEPS      200000

/* The tree's only zone: nodes that exist, and how many more there is memory for. */
static uint32_t nodes;
static uint32_t room;

void zone_init(struct zone *zone, const char *name, size_t size, size_t alignment)
{
	(void)alignment;
	*zone = (struct zone){.name = name, .element_size = (uint32_t)size};
}

void *(zone_alloc)(struct zone *zone)
{
	if (room == 0)
		return NULL;
	room--;
	nodes++;
	return malloc(zone->element_size);
}

void zone_free(struct zone *zone, void *element)
{
	(void)zone;
	nodes--;
	free(element);
}

static void begin(void)
{
	page_tree_module_init();
	EXPECT_EQ(nodes, 0);
	room = UINT32_MAX;
}

/* Something to put into a slot. */
static struct page *value(uint32_t n)
{
	return (struct page *)(uintptr_t)(n + 1);
}

TEST(page_tree_one_slot_needs_no_node)
{
	struct page_tree tree = {0};

	begin();
	room = 0;
	EXPECT(page_tree_set(&tree, 0, value(7)));
	EXPECT(page_tree_get(&tree, 0) == value(7));
	EXPECT(page_tree_get(&tree, 1) == NULL);
	EXPECT(!page_tree_set(&tree, 1, value(8)));
	EXPECT(page_tree_get(&tree, 0) == value(7));
	EXPECT(page_tree_set(&tree, 0, NULL));
	EXPECT(page_tree_is_empty(&tree));
	EXPECT_EQ(nodes, 0);
}

TEST(page_tree_any_index)
{
	static const uint32_t indices[] = {0,     1,       31,       32,         1023,      1024,
					   32768, 1048576, 33554432, 1073741824, UINT32_MAX};
	struct page_tree tree = {0};
	uint32_t index = 0;

	begin();
	for (uint32_t i = 0; i < COUNT_OF(indices); i++)
		EXPECT(page_tree_set(&tree, indices[i], value(i)));
	for (uint32_t i = 0; i < COUNT_OF(indices); i++)
		EXPECT(page_tree_get(&tree, indices[i]) == value(i));
	for (uint32_t i = 0; i < COUNT_OF(indices) - 1; i++, index++) {
		EXPECT(page_tree_next(&tree, &index, UINT32_MAX) == value(i));
		EXPECT_EQ(index, indices[i]);
	}
	EXPECT(page_tree_next(&tree, &index, UINT32_MAX) == NULL);
	EXPECT(page_tree_set(&tree, UINT32_MAX, NULL));
	EXPECT(page_tree_next(&tree, &index, UINT32_MAX) == NULL);
	for (uint32_t i = COUNT_OF(indices); i-- > 0;)
		EXPECT(page_tree_set(&tree, indices[i], NULL));
	EXPECT(page_tree_is_empty(&tree));
	EXPECT_EQ(nodes, 0);
}

TEST(page_tree_shrinks)
{
	struct page_tree tree = {0};

	begin();
	EXPECT(page_tree_set(&tree, 3, value(1)));
	EXPECT(page_tree_set(&tree, 1024, value(2)));
	EXPECT_EQ(tree.height, 3);
	EXPECT(page_tree_set(&tree, 1024, NULL));
	EXPECT_EQ(tree.height, 1);
	EXPECT_EQ(nodes, 1);
	EXPECT(page_tree_set(&tree, 0, value(3)));
	EXPECT(page_tree_set(&tree, 3, NULL));
	EXPECT_EQ(tree.height, 0);
	EXPECT_EQ(nodes, 0);
	EXPECT(page_tree_get(&tree, 0) == value(3));
}

/* A failure at any of the nodes that are needed changes nothing. */
TEST(page_tree_failure_leaves_no_trace)
{
	struct page_tree tree = {0};
	uint32_t before;

	begin();
	EXPECT(page_tree_set(&tree, 5, value(5)));
	before = nodes;
	for (room = 0;; room++) {
		uint32_t had = room;

		if (page_tree_set(&tree, 100000, value(6)))
			break;
		EXPECT_EQ(room, 0);
		EXPECT_EQ(nodes, before);
		EXPECT_EQ(tree.height, 1);
		EXPECT(page_tree_get(&tree, 5) == value(5));
		room = had;
	}
	EXPECT(page_tree_get(&tree, 100000) == value(6));
	room = 0;
	EXPECT(page_tree_set(&tree, 100000, value(7)));
	EXPECT(page_tree_set(&tree, 100000, NULL));
	EXPECT(page_tree_set(&tree, 99999, NULL));
	EXPECT(page_tree_set(&tree, 5, NULL));
	EXPECT_EQ(nodes, 0);
}

/* ---------------- Against an array ---------------- */

static struct page *model[MODEL_SIZE];

/* An index: near others most of the time, so that nodes become full and empty. */
static uint32_t random_index(uint32_t *seed)
{
	uint32_t end = MODEL_SIZE >> host_random_below(seed, 10);

	return host_random_below(seed, end);
}

static void random_set(struct page_tree *tree, uint32_t *seed)
{
	uint32_t index = random_index(seed);
	struct page *slot = host_random_below(seed, 2) == 0 ? NULL : value(index);
	bool must = slot == NULL || model[index] != NULL;

	room = host_random_below(seed, 3) == 0 ? host_random_below(seed, 3) : UINT32_MAX;
	must |= room == UINT32_MAX;
	if (page_tree_set(tree, index, slot))
		model[index] = slot;
	else
		EXPECT(!must);
	EXPECT(page_tree_get(tree, index) == model[index]);
}

static void random_next(struct page_tree *tree, uint32_t *seed)
{
	uint32_t first = random_index(seed);
	uint32_t end = host_random_below(seed, 2) == 0 ? MODEL_SIZE : random_index(seed);
	uint32_t index = first;
	struct page *slot = page_tree_next(tree, &index, end);

	while (first < end && model[first] == NULL)
		first++;
	EXPECT(slot == (first < end ? model[first] : NULL));
	if (slot != NULL)
		EXPECT_EQ(index, first);
}

/* No more nodes than slots in use make necessary: three levels cover the model. */
static void check_all(const struct page_tree *tree)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < MODEL_SIZE; i++) {
		EXPECT(page_tree_get(tree, i) == model[i]);
		used += model[i] != NULL;
	}
	EXPECT_LE(nodes, used * 3);
	EXPECT_EQ(page_tree_is_empty(tree), used == 0);
}

TEST(page_tree_random_steps)
{
	struct page_tree tree = {0};
	uint32_t seed = 1;

	begin();
	for (uint32_t step = 0; step < STEPS && !check_failed(); step++) {
		random_set(&tree, &seed);
		random_next(&tree, &seed);
		if (step % 5000 == 0)
			check_all(&tree);
	}
	for (uint32_t i = 0; i < MODEL_SIZE; i++)
		EXPECT(page_tree_set(&tree, i, NULL));
	EXPECT_EQ(nodes, 0);
}
