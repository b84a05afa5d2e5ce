/* SPDX-License-Identifier: MIT */
/* links: thread/turn.c */
/* What is left of a turn (thread/turn.h) for threads that lose the CPU. */
#include "thread/turn.h"

#include "base/lock.h"
#include "host/kernel.h"

#define TICK     1000
#define LENGTH   (QUANTUM * TICK)
#define PRIORITY 40

/* Held all the while. */
uint32_t kernel_lock_word = 1;

static struct cpu cpu;
static struct thread thread;
static uint64_t now;

uint64_t machine_cycles(void)
{
	return now;
}

static void reset(void)
{
	turn_init(TICK);
	now = 0xfffffff0; /* The lower half comes round. */
	thread.priority = PRIORITY;
	thread.turn = (struct turn){0};
	turn_begin(&cpu, &thread);
}

/* It has run on for `over` cycles since its turn was used up, and no tick has come. */
static void run_over(uint32_t over)
{
	now += turn_new + over;
}

TEST(the_rest_of_a_turn_is_kept)
{
	reset();
	now += 300;
	turn_keep(&cpu, &thread, true);
	EXPECT_EQ(thread.turn.kind, TURN_KEPT);
	EXPECT_EQ(thread.turn.left, turn_new - 300);
	now += 5000;
	turn_begin(&cpu, &thread);
	EXPECT_EQ(turn_left(&cpu), turn_new - 300);
}

TEST(what_was_run_beyond_a_turn_is_taken_from_the_next)
{
	reset();
	run_over(700);
	turn_keep(&cpu, &thread, true);
	EXPECT_EQ(thread.turn.kind, TURN_NEXT);
	EXPECT_EQ(thread.turn.left, LENGTH - 700);
	reset();
	run_over(700);
	turn_keep_waiting(&cpu, &thread);
	EXPECT_EQ(thread.turn.kind, TURN_NEXT);
	EXPECT_EQ(thread.turn.left, LENGTH - 700);
	turn_begin(&cpu, &thread);
	EXPECT_EQ(turn_left(&cpu), LENGTH - 700);
}

/* Beyond a whole turn there is nothing to make up for: the machine stood still. */
TEST(nobody_pays_for_more_than_a_turn)
{
	reset();
	run_over(LENGTH);
	turn_keep(&cpu, &thread, true);
	EXPECT_EQ(thread.turn.left, turn_new);
	reset();
	run_over(0);
	turn_keep(&cpu, &thread, true);
	EXPECT_EQ(thread.turn.left, LENGTH);
}
