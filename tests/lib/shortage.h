/* SPDX-License-Identifier: MIT */
/*
 * Scenarios for tests of shortage: sequences of calls, each of which may fail for want of memory
 * and then ends its scenario.  shortage_restore() takes away what a scenario has left, complete or
 * not.
 */
#ifndef TEST_SHORTAGE_H
#define TEST_SHORTAGE_H

#include "ipc.h"

struct scenario {
	const char *name;
	void (*run)(void);
	void (*undo)(void); /* What shortage_restore() cannot know of, or NULL. */
};

extern const struct scenario scenarios[];
extern const uint32_t n_scenarios;

/* Those of large pieces of memory, shortage_memory.c, of memory objects, shortage_pagers.c, of
 * sampling, shortage_sampling.c, and of long messages, shortage_calls.c. */
void shortage_long_calls(void);
void shortage_large_copies(void);
void shortage_more_kernel_memory_than_ever(void);
void shortage_memory_objects(void);
void shortage_proxies(void);
void shortage_streams(void);
void shortage_kept_samples(void);
void shortage_forget_kept_samples(void);
void shortage_counted_calls(void);
void shortage_forget_calls(void);

/* Whether an allocation is going to fail: else every call must succeed. */
extern bool shortage_expected;

/*
 * Whether the call went well.  If it did not, the test fails, unless it says that there was no
 * memory and that is expected.
 */
bool went_well(kern_return_t result, const char *call, int line);

/* A call of a scenario, which ends if there was no memory for it. */
#define TRY(call)                                      \
	do {                                           \
		if (!went_well(call, #call, __LINE__)) \
			return;                        \
	} while (0)

/* Notes what this task has: names and memory. */
void shortage_note(void);

/* Ends all tasks and threads but the caller's, and gives up all names and memory not noted. */
void shortage_restore(void);

#endif
