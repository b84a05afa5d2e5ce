/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a word of memory: gsync_wait() and those that end its waits.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=4
 */
#include "check.h"
#include <assay.h>
#include <mach.h>

#define SELF    mach_task_self()
#define WAITERS 3

static volatile uint32_t word[2] __attribute__((aligned(8)));
static volatile uint32_t other;
static volatile uint32_t begun, ended;
static uint8_t stacks[WAITERS][8192] __attribute__((aligned(16)));

#define AT(place) ((vm_address_t)(place))

TEST(wait_returns_at_once)
{
	word[0] = 5;
	word[1] = 6;
	EXPECT_EQ(gsync_wait(SELF, AT(word), 4, 0, 0, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(gsync_wait(SELF, AT(word), 5, 7, 0, GSYNC_QUAD), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(gsync_wait(SELF, AT(word) + 2, 5, 0, 0, 0), KERN_INVALID_ADDRESS);
	EXPECT_EQ(gsync_wait(SELF, 0xc0000000, 0, 0, 0, 0), KERN_INVALID_ADDRESS);
	EXPECT_EQ(gsync_wait(SELF, 0xbffffffc, 0, 0, 0, GSYNC_QUAD), KERN_INVALID_ADDRESS);
	EXPECT_EQ(gsync_wait(SELF, AT(word), 5, 0, 5, GSYNC_TIMED), KERN_TIMEDOUT);
	EXPECT_EQ(gsync_wait(SELF, AT(word), 5, 6, 5, GSYNC_TIMED | GSYNC_QUAD | GSYNC_SHARED),
		  KERN_TIMEDOUT);
}

static void waiter(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
	if (gsync_wait(SELF, AT(word), 0, 0, 0, 0) != KERN_SUCCESS)
		check_fail("a wait failed");
	__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST);
}

/* Long enough for threads that can run to come to a rest. */
static void rest(void)
{
	thread_switch(0, SWITCH_OPTION_WAIT, 30);
}

static void start_waiters(uint32_t *ids)
{
	word[0] = begun = ended = 0;
	for (unsigned n = 0; n < WAITERS; n++)
		EXPECT_EQ(thread_start(waiter, NULL, stacks[n], sizeof stacks[n], PRIORITY_USUAL,
				       &ids[n]),
			  KERN_SUCCESS);
	rest();
	EXPECT_EQ(begun, WAITERS);
	EXPECT_EQ(ended, 0);
}

static void join_waiters(const uint32_t *ids)
{
	for (unsigned n = 0; n < WAITERS; n++)
		EXPECT_EQ(assay_thread_join(ids[n], TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(ended, WAITERS);
}

TEST(wake_one_then_all)
{
	uint32_t ids[WAITERS];

	start_waiters(ids);
	gsync_wake(SELF, AT(word), 0, 0);
	rest();
	EXPECT_EQ(ended, 1);
	gsync_wake(SELF, AT(word), 9, GSYNC_BROADCAST | GSYNC_MUTATE);
	join_waiters(ids);
	EXPECT_EQ(word[0], 9);
}

TEST(requeue)
{
	uint32_t ids[WAITERS];

	start_waiters(ids);
	gsync_requeue(SELF, AT(word), AT(&other), 1, 0);
	rest();
	EXPECT_EQ(ended, 1);
	gsync_wake(SELF, AT(&other), 0, 0);
	rest();
	EXPECT_EQ(ended, 2);
	gsync_requeue(SELF, AT(word), AT(&other), 0, GSYNC_BROADCAST);
	gsync_wake(SELF, AT(word), 0, GSYNC_BROADCAST);
	rest();
	EXPECT_EQ(ended, 2);
	gsync_wake(SELF, AT(&other), 0, GSYNC_BROADCAST);
	join_waiters(ids);
}
