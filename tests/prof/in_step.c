/* SPDX-License-Identifier: MIT */
/*
 * Whether a profile is true of a program in step with the tick.  That goes by time, and an
 * instruction may take longer than one nanosecond.
 *
 * machine: cpus=1 ns=8 append="inject=1" arguments="${host-port}"
 */
#include "sampled_work.h"

#define TICK_RATE 100u
#define STEPS     600u
#define CALLS     1250u /* In a step: 3.6 ms in step, 5.4 ms after it, and then idle. */

FUNCTION(in_step, 36);
FUNCTION(after_it, 54);

/* The loop around them, which is in neither, takes as long for both. */
static const struct shares steps = {.places = 2, .truth = {0.4, 0.6}};

static void call(const char *function)
{
	for (uint32_t n = 0; n < CALLS; n++)
		((void (*)(void))(uintptr_t)function)();
}

/* Each wait ends with the next tick. */
static void work_in_step(uint32_t rounds)
{
	for (uint32_t n = 0; n < rounds; n++) {
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, 0);
		call(in_step);
		call(after_it);
	}
}

static void count_step(struct tally *tally, const struct prof_sample *sample)
{
	uint32_t place = is_in(sample->pc, in_step, in_step_end)     ? 0
			 : is_in(sample->pc, after_it, after_it_end) ? 1
								     : 2;

	((struct shares *)tally->data)->counts[place]++;
}

/*
 * Within three points, which are more than four standard errors of so many samples.  The last
 * stream's intervals are all of one length: the control, which is wrong.
 */
TEST(a_program_in_step_with_the_clock)
{
	static const struct work work = {work_in_step, STEPS};
	struct shares results[STREAMS], pooled = steps;

	begin(&work, STREAMS, count_step);
	set_seed(1);
	for (uint32_t n = 0; n < STREAMS; n++) {
		results[n] = steps;
		tallies[n].data = &results[n];
		begin_stream(n, TICK_RATE, n == STREAMS - 1 ? SAMPLE_FIXED : 0);
	}
	collect(STREAMS);
	for (uint32_t n = 0; n < STREAMS - 1; n++)
		shares_add(&pooled, &results[n]);
	shares_print("random", &pooled);
	shares_print("fixed", &results[STREAMS - 1]);
	EXPECT_LT(4500, shares_total(&pooled));
	EXPECT_LE(370, first_of(&pooled));
	EXPECT_LE(first_of(&pooled), 430);
	EXPECT_LT(2 * SHARES_ERRORS, shares_worst(&results[STREAMS - 1]));
}
