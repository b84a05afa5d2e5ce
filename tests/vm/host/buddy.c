/* SPDX-License-Identifier: MIT */
/* links: vm/page/buddy.c */
/* The buddy allocator (vm/page/buddy.h) against a plain array of what is taken. */
#include "vm/page/buddy.h"

#include <string.h>

#include "host/kernel.h"

#define UNITS 256
#define STEPS 50000
#define HELD  64

static uint8_t tree[2 * UNITS];
static struct buddy buddy;

static uint32_t rounded(uint32_t count)
{
	uint32_t power = 1;

	while (power < count)
		power *= 2;
	return power;
}

TEST(buddy_first_place_first)
{
	buddy_init(&buddy, tree, UNITS);
	EXPECT_EQ(buddy_alloc(&buddy, 2), 0);
	EXPECT_EQ(buddy_alloc(&buddy, 1), 2);
	EXPECT_EQ(buddy_alloc(&buddy, 3), 4);
	EXPECT_EQ(buddy_alloc(&buddy, 1), 3);
	EXPECT_EQ(buddy.in_use, 8);
	buddy_free(&buddy, 4, 3);
	EXPECT_EQ(buddy_alloc(&buddy, 4), 4);
}

TEST(buddy_all_and_too_much)
{
	buddy_init(&buddy, tree, UNITS);
	EXPECT_EQ(buddy_alloc(&buddy, UNITS + 1), BUDDY_NONE);
	EXPECT_EQ(buddy_alloc(&buddy, UNITS), 0);
	EXPECT_EQ(buddy_alloc(&buddy, 1), BUDDY_NONE);
	buddy_free(&buddy, 0, UNITS);
	EXPECT_EQ(buddy.in_use, 0);
	for (unsigned n = 0; n < UNITS; n++)
		EXPECT_EQ(buddy_alloc(&buddy, 1), n);
	EXPECT_EQ(buddy_alloc(&buddy, 1), BUDDY_NONE);
	for (unsigned n = 0; n < UNITS; n += 2)
		buddy_free(&buddy, n, 1);
	EXPECT_EQ(buddy_alloc(&buddy, 2), BUDDY_NONE);
	for (unsigned n = 1; n < UNITS; n += 2)
		buddy_free(&buddy, n, 1);
	EXPECT_EQ(buddy_alloc(&buddy, UNITS), 0);
}

TEST(buddy_mistakes_are_caught)
{
	buddy_init(&buddy, tree, UNITS);
	EXPECT_PANIC(buddy_init(&buddy, tree, 3));
	EXPECT_PANIC(buddy_alloc(&buddy, 0));
	EXPECT_EQ(buddy_alloc(&buddy, 2), 0);
	EXPECT_PANIC(buddy_free(&buddy, UNITS, 1));
	EXPECT_PANIC(buddy_free(&buddy, 1, 2));
	buddy_free(&buddy, 0, 2);
	EXPECT_PANIC(buddy_free(&buddy, 0, 2));
}

/* What is handed out, and by whom each unit is held. */
static struct {
	uint32_t first, count;
} held[HELD];
static uint8_t owner[UNITS];

static uint32_t largest_free(void)
{
	for (uint32_t size = UNITS; size > 0; size /= 2) {
		for (uint32_t first = 0; first < UNITS; first += size) {
			uint32_t n = 0;

			while (n < size && owner[first + n] == 0)
				n++;
			if (n == size)
				return size;
		}
	}
	return 0;
}

static void take(unsigned i, uint32_t count)
{
	uint32_t first = buddy_alloc(&buddy, count);
	bool fits = rounded(count) <= largest_free();

	EXPECT_EQ(first != BUDDY_NONE, fits);
	if (first == BUDDY_NONE)
		return;
	EXPECT_EQ(first % rounded(count), 0);
	for (uint32_t n = 0; n < rounded(count); n++) {
		REQUIRE(owner[first + n] == 0);
		owner[first + n] = (uint8_t)(i + 1);
	}
	held[i].first = first;
	held[i].count = count;
}

static void give_back(unsigned i)
{
	memset(&owner[held[i].first], 0, rounded(held[i].count));
	buddy_free(&buddy, held[i].first, held[i].count);
	held[i].count = 0;
}

TEST(buddy_random_against_array)
{
	uint32_t seed = 5;

	buddy_init(&buddy, tree, UNITS);
	for (unsigned step = 0; step < STEPS; step++) {
		unsigned i = host_random_below(&seed, HELD);

		if (held[i].count != 0)
			give_back(i);
		else
			take(i, 1 + host_random_below(&seed, 24));
	}
	for (unsigned i = 0; i < HELD; i++)
		if (held[i].count != 0)
			give_back(i);
	EXPECT_EQ(buddy.in_use, 0);
	EXPECT_EQ(buddy_alloc(&buddy, UNITS), 0);
}
