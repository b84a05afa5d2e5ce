/* SPDX-License-Identifier: MIT */
/* links: base/timer.c */
/* The timer wheel (base/timer.h) alone and against a list that is searched for the next timer. */
#include "base/timer.h"

#include "host/kernel.h"

#define TURN   256 /* Ticks in which the wheel comes round. */
#define TIMERS 48
#define STEPS  20000

/* The wheel goes on from test to test: the tick that it has reached. */
static uint64_t now;

/* The timers that have run, in order. */
static struct timer *ran[16];
static unsigned n_ran;

static void note(struct timer *timer)
{
	EXPECT(!timer_is_set(timer));
	if (n_ran < COUNT_OF(ran))
		ran[n_ran] = timer;
	n_ran++;
}

static void advance(uint64_t ticks)
{
	n_ran = 0;
	now += ticks;
	timer_advance(now);
}

TEST(timer_runs_at_its_tick)
{
	struct timer timer;

	timer_init(&timer, note);
	EXPECT(!timer_is_set(&timer));
	timer_set(&timer, now + 3);
	EXPECT(timer_is_set(&timer));
	EXPECT_EQ(timer_count(), 1);
	advance(2);
	EXPECT_EQ(n_ran, 0);
	advance(1);
	EXPECT_EQ(n_ran, 1);
	EXPECT_EQ(timer_count(), 0);
	advance(2 * TURN);
	EXPECT_EQ(n_ran, 0);
}

TEST(timer_in_the_past_runs_at_the_next_tick)
{
	struct timer timer;

	advance(10);
	timer_init(&timer, note);
	timer_set(&timer, now - 5);
	timer_advance(now);
	EXPECT(timer_is_set(&timer));
	advance(1);
	EXPECT_EQ(n_ran, 1);
	timer_set(&timer, now);
	advance(1);
	EXPECT_EQ(n_ran, 1);
}

TEST(timer_waits_for_later_turns)
{
	struct timer timer;

	timer_init(&timer, note);
	timer_set(&timer, now + 3 * TURN);
	for (unsigned tick = 1; tick < 3 * TURN; tick++) {
		advance(1);
		EXPECT_EQ(n_ran, 0);
	}
	advance(1);
	EXPECT_EQ(n_ran, 1);
}

TEST(timer_beyond_32_bits_of_ticks)
{
	struct timer timer;

	timer_init(&timer, note);
	timer_set(&timer, now + (1ull << 32) + 2);
	advance(2);
	EXPECT_EQ(n_ran, 0);
	EXPECT(timer_cancel(&timer));
}

/* Long gaps must not take long when there is nothing to run in them: this is 30 years. */
TEST(timer_gap_without_timers)
{
	struct timer timer;

	timer_init(&timer, note);
	timer_set(&timer, now + 1);
	advance(100000000000);
	EXPECT_EQ(n_ran, 1);
	timer_set(&timer, now + 1);
	advance(1);
	EXPECT_EQ(n_ran, 1);
}

TEST(timer_order_within_a_gap)
{
	struct timer timers[4];

	for (unsigned i = 0; i < COUNT_OF(timers); i++)
		timer_init(&timers[i], note);
	timer_set(&timers[0], now + 2 * TURN);
	timer_set(&timers[1], now + 7);
	timer_set(&timers[2], now + 2 * TURN);
	timer_set(&timers[3], now + 1);
	advance(3 * TURN);
	EXPECT_EQ(n_ran, 4);
	EXPECT(ran[0] == &timers[3] && ran[1] == &timers[1]);
	EXPECT(ran[2] == &timers[0] && ran[3] == &timers[2]);
}

TEST(timer_cancel_tells_whether_it_was_set)
{
	struct timer timer;

	timer_init(&timer, note);
	EXPECT(!timer_cancel(&timer));
	timer_set(&timer, now + 1);
	EXPECT(timer_cancel(&timer));
	EXPECT(!timer_cancel(&timer));
	advance(1);
	EXPECT_EQ(n_ran, 0);
}

TEST(timer_misuse_is_caught)
{
	struct timer timer = {.due = 0};

	EXPECT_PANIC(timer_set(&timer, now + 1));
	EXPECT_PANIC(timer_is_set(&timer));
	EXPECT_PANIC(timer_init(&timer, NULL));
	timer_init(&timer, note);
	timer_set(&timer, now + 1);
	EXPECT_PANIC(timer_set(&timer, now + 2));
	timer_cancel(&timer);
}

static struct timer victim;

static void cancel_victim(struct timer *timer)
{
	note(timer);
	EXPECT(timer_cancel(&victim));
}

TEST(timer_callback_cancels_one_that_is_due)
{
	struct timer killer;

	timer_init(&killer, cancel_victim);
	timer_init(&victim, note);
	timer_set(&killer, now + 1);
	timer_set(&victim, now + 1);
	advance(1);
	EXPECT_EQ(n_ran, 1);
	EXPECT_EQ(timer_count(), 0);
}

static uint64_t next_due;

static void run_again(struct timer *timer)
{
	note(timer);
	timer_set(timer, ++next_due);
}

TEST(timer_callback_sets_itself)
{
	struct timer timer;

	timer_init(&timer, run_again);
	next_due = now + 1;
	timer_set(&timer, next_due);
	advance(10);
	EXPECT_EQ(n_ran, 10);
	next_due = 0;
	advance(1);
	advance(1); /* Set for a tick that has passed: the next one, once. */
	EXPECT_EQ(n_ran, 1);
	EXPECT(timer_cancel(&timer));
}

/* The model: which timers are set for when, and a number that tells which was set first. */
static struct {
	struct timer timer;
	bool set;
	uint64_t due;
	uint64_t order;
} model[TIMERS];

static uint64_t model_tick; /* Where the wheel is while it runs. */
static uint64_t model_order;
static uint32_t model_seed = 4;

/* The timer that is to run next, or -1. */
static int model_next(void)
{
	int next = -1;

	for (int i = 0; i < TIMERS; i++) {
		if (!model[i].set)
			continue;
		if (next < 0 || model[i].due < model[next].due ||
		    (model[i].due == model[next].due && model[i].order < model[next].order))
			next = i;
	}
	return next;
}

/* Mostly near, sometimes a few turns away, sometimes gone by. */
static uint64_t random_due(void)
{
	switch (host_random_below(&model_seed, 4)) {
	case 0:
		return model_tick + host_random_below(&model_seed, 5 * TURN);
	case 1:
		return model_tick - host_random_below(&model_seed, 3);
	default:
		return model_tick + host_random_below(&model_seed, 10);
	}
}

static void random_set_or_cancel(void)
{
	unsigned i = host_random_below(&model_seed, TIMERS);
	uint64_t due = random_due();

	EXPECT_EQ(timer_is_set(&model[i].timer), model[i].set);
	if (model[i].set) {
		EXPECT(timer_cancel(&model[i].timer));
		model[i].set = false;
		return;
	}
	timer_set(&model[i].timer, due);
	model[i].set = true;
	model[i].due = due > model_tick ? due : model_tick + 1;
	model[i].order = model_order++;
}

static void random_callback(struct timer *timer)
{
	int next = model_next();

	n_ran++;
	if (!EXPECT(next >= 0 && timer == &model[next].timer))
		return;
	EXPECT(model[next].due >= model_tick && model[next].due <= now);
	model_tick = model[next].due;
	model[next].set = false;
	for (unsigned n = host_random_below(&model_seed, 3); n > 0; n--)
		random_set_or_cancel();
}

static unsigned model_count(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TIMERS; i++)
		n += model[i].set;
	return n;
}

TEST(timer_random_against_list)
{
	unsigned total = 0;
	int next;

	for (unsigned i = 0; i < TIMERS; i++)
		timer_init(&model[i].timer, random_callback);
	for (unsigned step = 0; step < STEPS; step++) {
		model_tick = now;
		random_set_or_cancel();
		if (host_random_below(&model_seed, 2) == 0)
			continue;
		advance(host_random_below(&model_seed, step % 100 == 0 ? 3 * TURN : 4));
		total += n_ran;
		next = model_next();
		EXPECT(next < 0 || model[next].due > now);
		EXPECT_EQ(timer_count(), model_count());
	}
	EXPECT(total > STEPS / 10);
}
