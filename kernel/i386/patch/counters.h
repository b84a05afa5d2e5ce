/* SPDX-License-Identifier: MIT */
/*
 * Counters of calls, and the window in which each CPU has some.
 *
 * A thunk counts in a word at the same distance from each CPU's structure.  What is there is a
 * window: pages of the set of counters that the CPU is shown, which are its own in every set.  So
 * whose calls are counted is a matter of what a few entries of the page table say, and a thunk need
 * not know.
 */
#ifndef I386_PATCH_COUNTERS_H
#define I386_PATCH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/machine.h"

struct cpu;

#define COUNTER_PAGES    41u /* Of each CPU's, at most: the checked kernel has 32,000 sites. */
#define COUNTER_VIEWS    45u /* The same in whole rows. */
#define COUNTERS_IN_PAGE (4096u / sizeof(uint32_t))

/*
 * A set.  All of its pages are there.  Of one with a mark each page is noted that a CPU has written
 * to where it was shown to it, when it is shown no longer; as long as `is_touched` is false, there
 * is none of them.
 */
struct machine_call_counters {
	uint32_t *pages[MAX_CPUS][COUNTER_PAGES];
	uint32_t views[MAX_CPUS][COUNTER_VIEWS]; /* How the window shows them (pmap.h). */
	uint32_t mark;                           /* Its own, or 0. */
	bool is_touched;
	bool written[MAX_CPUS][COUNTER_PAGES];
};

/* The pages of each CPU's. */
uint32_t counters_pages(void);

/* The distance of counter `n` from a CPU's structure, in the window. */
uint32_t counters_distance(uint32_t n);

/* The page with it in a set, for `cpu`, and its place there. */
static inline uint32_t *counters_word(const struct machine_call_counters *counters, uint32_t cpu,
				      uint32_t n)
{
	return &counters->pages[cpu][n / COUNTERS_IN_PAGE][n % COUNTERS_IN_PAGE];
}

/* Whether something has been counted on page `n`; may say so again of what was moved already. */
bool counters_are_written(const struct machine_call_counters *counters, uint32_t cpu, uint32_t n);

/* Has been moved, while the other CPUs are held: it is touched if it is shown to one of them. */
void counters_end_move(struct machine_call_counters *counters);

/*
 * Shows a CPU a set instead of the one before: page by page, and an interrupt or NMI in between
 * counts in one or the other.  Of another CPU, which is held, it is known there only after
 * counters_tell().
 */
void counters_show(struct cpu *cpu, struct machine_call_counters *counters);
void counters_tell(void);

/* No CPU counts any more: shows nothing. */
void counters_hide(void);

#endif
