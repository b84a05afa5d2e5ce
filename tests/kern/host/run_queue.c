/* SPDX-License-Identifier: MIT */
/* links: thread/run_queue.c */
/*
 * The order of threads in a run queue (thread/run_queue.h): those that have woken, and all others.
 */
#include "thread/run_queue.h"

#include "host/kernel.h"

#define PRIORITY 40

static struct run_queue queue;
static struct list links[6];

static void reset(void)
{
	run_queue_init(&queue);
	for (unsigned n = 0; n < COUNT_OF(links); n++)
		list_init(&links[n]);
}

/* The next that is taken is this one. */
static void expect_next(unsigned n)
{
	EXPECT_EQ(run_queue_best(&queue), PRIORITY);
	EXPECT(run_queue_take(&queue, PRIORITY) == &links[n]);
}

static void expect_empty(void)
{
	EXPECT(run_queue_is_empty(&queue));
	EXPECT(!run_queue_has_woken(&queue, PRIORITY));
	EXPECT_EQ(run_queue_best(&queue), PRIORITIES);
}

TEST(the_woken_are_before_the_first_and_those_before_the_others)
{
	reset();
	run_queue_add(&queue, &links[4], PRIORITY);
	run_queue_add_first(&queue, &links[3], PRIORITY);
	run_queue_add_woken(&queue, &links[0], PRIORITY);
	run_queue_add_woken(&queue, &links[1], PRIORITY);
	run_queue_add(&queue, &links[5], PRIORITY);
	run_queue_add_first(&queue, &links[2], PRIORITY);
	for (unsigned n = 0; n < COUNT_OF(links); n++) {
		EXPECT_EQ(run_queue_has_woken(&queue, PRIORITY), n < 2);
		expect_next(n);
	}
	expect_empty();
}

/* Those that were woken before it are still before all that follow. */
TEST(the_last_of_the_woken_is_taken_away)
{
	reset();
	run_queue_add(&queue, &links[4], PRIORITY);
	run_queue_add_woken(&queue, &links[0], PRIORITY);
	run_queue_add_woken(&queue, &links[5], PRIORITY);
	run_queue_remove(&queue, &links[5], PRIORITY);
	EXPECT(run_queue_has_woken(&queue, PRIORITY));
	run_queue_add_woken(&queue, &links[1], PRIORITY);
	run_queue_add_first(&queue, &links[2], PRIORITY);
	run_queue_remove(&queue, &links[0], PRIORITY);
	expect_next(1);
	expect_next(2);
	expect_next(4);
	expect_empty();
}

/* What was queued as woken may be queued again as any other. */
TEST(the_only_one_of_the_woken_is_taken)
{
	reset();
	run_queue_add_woken(&queue, &links[0], PRIORITY);
	expect_next(0);
	expect_empty();
	run_queue_add(&queue, &links[1], PRIORITY);
	run_queue_add(&queue, &links[0], PRIORITY);
	EXPECT(!run_queue_has_woken(&queue, PRIORITY));
	run_queue_add_woken(&queue, &links[2], PRIORITY);
	expect_next(2);
	expect_next(1);
	expect_next(0);
	expect_empty();
}
