/* SPDX-License-Identifier: MIT */
/* links: libprof/core/arcs.c tests/lib/libprof/pages.c */
/* flags: -pthread */
/* Counting calls from several threads at once (libprof/core/arcs.h). */
#include "../../../libprof/core/arcs.h"

#include <pthread.h>
#include <stdbool.h>

#include "../../lib/libprof/pages.h"
#include "host/kernel.h"

#define THREADS 4
#define CALLS   50000u
#define SITES   5000u
#define TEXT    0x08048000u

static uint64_t total;
static uint32_t arcs;

static void add_up(const struct arc *arc, void *argument)
{
	(void)argument;
	total += (uint64_t)arc->high << 32 | arc->low;
	arcs++;
}

static void sum(void)
{
	total = 0;
	arcs = 0;
	__arcs_visit(add_up, NULL);
}

static void begin(void)
{
	test_pages_left = TEST_PAGES_ALL;
	__arcs_clear();
}

/* All threads make the same calls, each from another place on: new arcs meet. */
static void *call(void *argument)
{
	uint32_t start = (uint32_t)(uintptr_t)argument * 17;

	for (uint32_t n = 0; n < CALLS; n++)
		mcountaux(TEXT + (start + n) % SITES * 5, TEXT + (start + n) % 3);
	return NULL;
}

TEST(arcs_drops_no_call_under_contention)
{
	pthread_t threads[THREADS];

	begin();
	for (uintptr_t n = 0; n < THREADS; n++)
		EXPECT_EQ(pthread_create(&threads[n], NULL, call, (void *)n), 0);
	for (unsigned n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
	sum();
	EXPECT_EQ(total, (uint64_t)THREADS * CALLS);
	EXPECT_EQ(__arcs_lost(), 0);
}

static const struct arc *found;

static void find(const struct arc *arc, void *argument)
{
	if (arc->from == *(uint32_t *)argument)
		found = arc;
}

TEST(arcs_does_not_wrap)
{
	uint32_t from = TEXT + 0x100000;

	begin();
	mcountaux(from, TEXT);
	__arcs_visit(find, &from);
	EXPECT_EQ(found->low, 1);
	((struct arc *)(uintptr_t)found)->low = UINT32_MAX;
	mcountaux(from, TEXT);
	EXPECT_EQ(found->low, 0);
	EXPECT_EQ(found->high, 1);
	sum();
	EXPECT_EQ(total, 1ull << 32);
}

TEST(arcs_tells_one_call_from_another)
{
	begin();
	mcountaux(TEXT, TEXT + 1);
	mcountaux(TEXT, TEXT + 2);                   /* From the same place to another function, */
	mcountaux(TEXT + 4 * ARC_BUCKETS, TEXT + 1); /* and from another in the same bucket. */
	mcountaux(TEXT, TEXT + 1);
	sum();
	EXPECT_EQ(arcs, 3);
	EXPECT_EQ(total, 4);
}

TEST(arcs_counts_what_it_has_no_memory_for)
{
	begin();
	test_pages_left = 0;
	for (uint32_t n = 0; n < 1000; n++)
		mcountaux(TEXT + 0x200000 + n, TEXT);
	sum();
	EXPECT(__arcs_lost() > 0);
	EXPECT_EQ(total + __arcs_lost(), 1000);
	test_pages_left = TEST_PAGES_ALL;
	__arcs_clear();
	sum();
	EXPECT_EQ(arcs, 0);
	EXPECT_EQ(__arcs_lost(), 0);
}

/* Whatever was called from, in any of the buckets. */
TEST(arcs_clear_leaves_none)
{
	begin();
	for (uint32_t n = 0; n < ARC_BUCKETS; n++)
		mcountaux(TEXT + 4 * n, TEXT);
	sum();
	EXPECT_EQ(arcs, ARC_BUCKETS);
	EXPECT_EQ(total, ARC_BUCKETS);
	__arcs_clear();
	sum();
	EXPECT_EQ(arcs, 0);
	mcountaux(TEXT, TEXT); /* And counting begins anew. */
	sum();
	EXPECT_EQ(total, 1);
}
