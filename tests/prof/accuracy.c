/* SPDX-License-Identifier: MIT */
/*
 * Whether a profile is true: programs whose shares are known to the instruction, sampled under the
 * instruction clock, where each instruction takes one nanosecond.
 *
 * Several streams sample one run, each with a seed of its own: to sample is cheap, to run is not.
 * But samples that are taken together find one place, so that their counts are further from the
 * truth than those of as many samples that have nothing to do with each other.  So there are not
 * many streams, and the functions are short: two samples that are near are seldom in one call.
 *
 * machine: cpus=1 limit=60 append="inject=1" arguments="${host-port}"
 */
#include "sampled_work.h"

#define FULL_RATE 10000u

/* ---------------- What is sampled ---------------- */

FUNCTION(ten, 10);
FUNCTION(twelve, 12);
FUNCTION(twenty, 20);
FUNCTION(thirty, 30);
FUNCTION(thirty_eight, 38);
FUNCTION(forty, 40);

/* Calls four functions so many times, by six instructions of its own. */
#define CALLER(name, one, two, three, four)                                                    \
	__asm__(".text\n.globl " #name "\n" #name ": movl 4(%esp), %edx\n1: call " #one        \
		"\ncall " #two "\ncall " #three "\ncall " #four "\ndecl %edx\njnz 1b\nret\n"); \
	void name(uint32_t rounds)

CALLER(call_known, ten, twenty, thirty, forty);
CALLER(call_moved, twelve, twenty, thirty, thirty_eight);

#define ROUND 1006.0 /* Instructions. */

static const struct shares known = {
	.places = 5,
	.truth = {100 / ROUND, 200 / ROUND, 300 / ROUND, 400 / ROUND, 6 / ROUND},
};

static uint32_t place_of(uint32_t pc)
{
	if (is_in(pc, ten, ten_end) || is_in(pc, twelve, twelve_end))
		return 0;
	if (is_in(pc, twenty, twenty_end))
		return 1;
	if (is_in(pc, thirty, thirty_end))
		return 2;
	return is_in(pc, forty, forty_end) || is_in(pc, thirty_eight, thirty_eight_end) ? 3 : 4;
}

static void count_place(struct tally *tally, const struct prof_sample *sample)
{
	((struct shares *)tally->data)->counts[place_of(sample->pc)]++;
}

/* ---------------- Sampling it ---------------- */

/* Samples one run with the seeds from `seed` on; `results` has a place for each. */
static void sample_run(const struct work *work, uint32_t seed, uint32_t streams,
		       struct shares *results)
{
	begin(work, streams, count_place);
	for (uint32_t n = 0; n < streams; n++) {
		results[n] = known;
		tallies[n].data = &results[n];
		set_seed(seed + n);
		begin_stream(n, FULL_RATE, 0);
	}
	collect(streams);
}

/* ---------------- Known shares ---------------- */

#define ROUNDS_A_SECOND 1000000u
#define AT_ONCE         4u /* The slower the kernel, the more samples are taken together. */

static void expect_each_true(const struct shares *results)
{
	for (uint32_t n = 0; n < AT_ONCE; n++) {
		EXPECT_LE(10000, shares_total(&results[n]));
		EXPECT_LE(shares_worst(&results[n]), SHARES_ERRORS);
	}
}

/* Seeds 1 to 20, of which none was chosen. */
TEST(shares_by_construction)
{
	static const struct work work = {call_known, ROUNDS_A_SECOND * 103 / 100};
	struct shares results[AT_ONCE], pooled = known;

	for (uint32_t seed = 1; seed <= 20; seed += AT_ONCE) {
		sample_run(&work, seed, AT_ONCE, results);
		expect_each_true(results);
		for (uint32_t n = 0; n < AT_ONCE; n++)
			shares_add(&pooled, &results[n]);
	}
	shares_print("pooled", &pooled);
	EXPECT_LE(shares_worst(&pooled), SHARES_POOLED);
	EXPECT_LT(shares_chi_square(&pooled), CHI_SQUARE_4);
}

/*
 * The control: two points from one function to another, and the same test fails.  One stream alone
 * finds that at seven standard errors on average, so not always at five: all of them at twenty.
 */
TEST(a_share_that_is_moved_is_found)
{
	static const struct work work = {call_moved, ROUNDS_A_SECOND * 103 / 100};
	struct shares results[STREAMS], pooled = known;

	sample_run(&work, 1, STREAMS, results);
	for (uint32_t n = 0; n < STREAMS; n++)
		shares_add(&pooled, &results[n]);
	shares_print("moved", &pooled);
	EXPECT_LT(2 * SHARES_ERRORS, shares_worst(&pooled));
	EXPECT_LT(2 * CHI_SQUARE_4, shares_chi_square(&pooled));
}

/* ---------------- With interrupts off ---------------- */

#define OFF_US     30u
#define OFF_ROUNDS 20000u

static uint64_t time_off, time_in_all;

static void work_with_interrupts_off(uint32_t rounds)
{
	uint64_t began = cycles(), before;

	for (uint32_t n = 0; n < rounds; n++) {
		call_known(30);
		before = cycles();
		EXPECT_EQ(assay_interrupts_off(OFF_US), KERN_SUCCESS);
		time_off += cycles() - before;
	}
	time_in_all = cycles() - began;
}

static void count_off(struct tally *tally, const struct prof_sample *sample)
{
	bool off = (sample->flags & PROF_INTERRUPTS_OFF) != 0;

	((struct shares *)tally->data)->counts[off ? 0 : 1]++;
}

/* The samples with interrupts off, and with interrupts on. */
static struct shares sample_off(uint32_t flags)
{
	static const struct work work = {work_with_interrupts_off, OFF_ROUNDS};
	struct shares result = {.places = 2};

	time_off = 0;
	set_seed(1);
	begin(&work, 1, count_off);
	tallies[0].data = &result;
	begin_stream(0, FULL_RATE, flags);
	collect(1);
	result.truth[0] = (double)time_off / (double)time_in_all;
	result.truth[1] = 1 - result.truth[0];
	EXPECT(result.truth[0] > 0.4 && result.truth[0] < 0.6);
	shares_print("off", &result);
	return result;
}

/* Half of the time, within two points: more than four standard errors of so many samples. */
TEST(an_nmi_sees_code_with_interrupts_off)
{
	struct shares result = sample_off(SAMPLE_NMI);

	EXPECT_LT(10000, shares_total(&result));
	EXPECT_LE(480, first_of(&result));
	EXPECT_LE(first_of(&result), 520);
	EXPECT_LE(shares_worst(&result), SHARES_ERRORS);
}

/* An interrupt waits, and then finds whoever comes next: half of the samples are where none was. */
TEST(an_interrupt_does_not)
{
	struct shares result = sample_off(0);

	EXPECT_LT(10000, shares_total(&result));
	EXPECT_EQ(result.counts[0], 0);
}
