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
#include "check.h"
#include "ipc.h"
#include "shares.h"
#include "tally.h"

#define FULL_RATE 10000u
#define STREAMS   10u                  /* One task may have two more. */
#define WORSE     (PRIORITY_USUAL + 5) /* So that who collects runs when a message comes. */
#define GO        1

/* ---------------- What is sampled ---------------- */

/* A function of 10 instructions for each percent: a loop of two, and two more. */
#define FUNCTION(name, percent)                                                       \
	__asm__(".text\n.globl " #name ", " #name "_end\n" #name ": movl $(" #percent \
		" * 5 - 1), %ecx\n1: decl %ecx\njnz 1b\nret\n" #name "_end:\n");      \
	extern char name[], name##_end[]

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

static bool is_in(uint32_t pc, const char *from, const char *to)
{
	return pc >= (uint32_t)from && pc < (uint32_t)to;
}

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

static struct tally tallies[STREAMS];
static mach_port_t start_port;

struct work {
	void (*run)(uint32_t);
	uint32_t rounds;
};

/* It waits to be told to go, and so executes nothing else once it is sampled. */
static void do_work(void *work)
{
	struct message message;

	message_get(&message, start_port, LONG_WAIT);
	((const struct work *)work)->run(((const struct work *)work)->rounds);
}

static void set_seed(uint32_t seed)
{
	EXPECT_EQ(host_sample_control(check_number(0), 0, seed), KERN_SUCCESS);
}

static void begin_stream(uint32_t n, uint32_t rate, uint32_t flags)
{
	sample_options_t options = {.flags = flags, .age_ms = 500};

	EXPECT_EQ(thread_sample_start(worker_port(0), SAMPLED_PC_PERIODIC, rate, options,
				      tallies[n].port),
		  KERN_SUCCESS);
}

static void begin(const struct work *work, uint32_t streams,
		  void (*take)(struct tally *, const struct prof_sample *))
{
	start_port = port_new();
	worker_start(0, do_work, (void *)work);
	EXPECT_EQ(thread_priority(worker_port(0), WORSE, FALSE), KERN_SUCCESS);
	sleep_ms(1);
	tally_new(tallies, streams, take);
}

/* The streams end with their thread. */
static void collect(uint32_t streams)
{
	EXPECT_EQ(message_send_id(start_port, MACH_MSG_TYPE_MAKE_SEND, GO), MACH_MSG_SUCCESS);
	tally_all(tallies, streams);
	worker_join(0);
	port_destroy(start_port);
}

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

/* ---------------- In step with the tick ---------------- */

#define TICK_RATE 100u
#define STEPS     600u
#define CALLS     10000u /* In a step: 3.6 ms in step, 5.4 ms after it, and then idle. */

FUNCTION(in_step, 36);
FUNCTION(after_it, 54);

/* The loop around them, which is in neither, takes as long for both. */
static const struct shares steps = {.places = 2, .truth = {0.4, 0.6}};

/* Of the first place, in thousandths. */
static uint32_t first_of(const struct shares *result)
{
	return result->counts[0] * 1000 / shares_total(result);
}

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
