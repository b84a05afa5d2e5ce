/* SPDX-License-Identifier: MIT */
/*
 * A collector of samples for the tests: it receives the messages of one stream and checks of each
 * that its records are as <mach/prof.h> says, in order, and that the counts prove it whole.
 */
#ifndef TEST_SAMPLES_H
#define TEST_SAMPLES_H

#include <mach.h>
#include <mach/prof.h>

#include "ipc.h"

#define SAMPLES_KEPT 8192u
#define SAMPLE_CPUS  8u

struct kept_sample {
	uint32_t pc;
	uint32_t kernel_pc;
	uint32_t thread;
	uint32_t task;
	uint32_t label;
	uint16_t flavor;
	uint8_t flags;
	uint8_t kernel_frames;
	uint8_t user_frames;
	uint32_t caller; /* The first of the user's frames. */
	uint64_t time;
};

struct kept_wait {
	uint32_t pc;
	uint32_t kernel_pc;
	uint32_t thread;
	uint32_t task;
	uint32_t label;
	uint16_t reason;
	uint8_t kernel_frames;
	uint8_t user_frames;
	uint32_t caller; /* The first of the user's frames. */
	uint64_t begin;
	uint64_t end;
};

/* What has come of a stream. */
struct collected {
	mach_port_t port;
	uint32_t messages;
	uint32_t words;   /* Of the last message. */
	uint64_t samples; /* All of them; the first SAMPLES_KEPT are kept. */
	uint32_t waits;   /* So with these, */
	uint64_t waited;  /* and how long they are together. */
	bool begun;
	bool ended;
	struct prof_begin begin;
	struct prof_clock clocks[SAMPLE_CPUS]; /* Those of the last message, */
	struct prof_stream stream;
	struct prof_waits times;
	struct prof_end end;
};

extern struct kept_sample kept[SAMPLES_KEPT]; /* Of the collector that was begun last. */
extern struct kept_wait kept_waits[SAMPLES_KEPT];

/* A new port with nothing received from it; samples_forget() destroys it. */
void samples_new(struct collected *collected);
void samples_forget(struct collected *collected);

/* Receives one message, or nothing if none comes in so many milliseconds: whether one came. */
bool samples_receive(struct collected *collected, uint32_t limit);

/* Receives until the stream has ended; false, and the test has failed, if it does not. */
bool samples_receive_all(struct collected *collected);

/* Samples of a flavor among those that are kept. */
uint32_t samples_of(const struct collected *collected, uint32_t flavor);

/* More than `least` samples are between these places, and each has one of two callers. */
void samples_expect_callers(const struct collected *collected, const char *from, const char *to,
			    const char *one, const char *other, uint32_t least);

/* One term of all CPUs' clocks, by its place in struct prof_clock. */
#define samples_sum(collected, term)                                            \
	({                                                                      \
		uint64_t sum_ = 0;                                              \
		for (uint32_t cpu_ = 0; cpu_ < (collected)->begin.cpus; cpu_++) \
			sum_ += prof_u64((collected)->clocks[cpu_].term);       \
		sum_;                                                           \
	})

#endif
