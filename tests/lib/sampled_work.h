/* SPDX-License-Identifier: MIT */
/*
 * Work of a known share in each function, done by a thread that several streams sample: what
 * accuracy.c and in_step.c of tests/prof have in common.
 */
#ifndef TEST_SAMPLED_WORK_H
#define TEST_SAMPLED_WORK_H

#include "block.h"
#include "check.h"
#include "ipc.h"
#include "shares.h"
#include "tally.h"

#define STREAMS 10u                  /* One task may have two more. */
#define WORSE   (PRIORITY_USUAL + 5) /* So that who collects runs when a message comes. */
#define GO      1

/* A function of 10 instructions for each percent. */
#define FUNCTION(name, percent)                                             \
	__asm__(".text\n.globl " #name ", " #name "_end\n" #name            \
		":\n" NOPS_TEXT(percent * 10 - 1) "ret\n" #name "_end:\n"); \
	extern char name[], name##_end[]

static inline bool is_in(uint32_t pc, const char *from, const char *to)
{
	return pc >= (uint32_t)from && pc < (uint32_t)to;
}

/* Of the first place, in thousandths. */
static inline uint32_t first_of(const struct shares *result)
{
	return result->counts[0] * 1000 / shares_total(result);
}

static struct tally tallies[STREAMS];
static mach_port_t start_port;

struct work {
	void (*run)(uint32_t);
	uint32_t rounds;
};

/* It waits to be told to go, and so executes nothing else once it is sampled. */
static inline void do_work(void *work)
{
	struct message message;

	message_get(&message, start_port, LONG_WAIT);
	((const struct work *)work)->run(((const struct work *)work)->rounds);
}

static inline void set_seed(uint32_t seed)
{
	EXPECT_EQ(host_sample_control(check_number(0), 0, seed), KERN_SUCCESS);
}

static inline void begin_stream(uint32_t n, uint32_t rate, uint32_t flags)
{
	sample_options_t options = {.flags = flags, .age_ms = 500};

	EXPECT_EQ(thread_sample_start(worker_port(0), SAMPLED_PC_PERIODIC, rate, options,
				      tallies[n].port),
		  KERN_SUCCESS);
}

static inline void begin(const struct work *work, uint32_t streams,
			 void (*take)(struct tally *, const struct prof_sample *))
{
	start_port = port_new();
	worker_start(0, do_work, (void *)work);
	EXPECT_EQ(thread_priority(worker_port(0), WORSE, FALSE), KERN_SUCCESS);
	sleep_ms(1);
	tally_new(tallies, streams, take);
}

/* The streams end with their thread. */
static inline void collect(uint32_t streams)
{
	EXPECT_EQ(message_send_id(start_port, MACH_MSG_TYPE_MAKE_SEND, GO), MACH_MSG_SUCCESS);
	tally_all(tallies, streams);
	worker_join(0);
	port_destroy(start_port);
}

#endif
