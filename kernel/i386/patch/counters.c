/* SPDX-License-Identifier: MIT */
/* Counters of calls: see counters.h.  Guarded by the kernel lock, but for counters_show(). */
#include "i386/patch/counters.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/string.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/call_sites.h"
#include "i386/patch/hold.h"
#include "thread/cpu_state.h"
#include "thread/work.h"
#include "vm/page/kernel_memory.h"
#include "vm/page/page.h"

/*
 * The windows of all CPUs lie in rows as their structures do, each as long as one of those, which
 * consists of whole pages.
 */
#define ROW_PAGES ((uint32_t)(sizeof(struct cpu) / PAGE_SIZE))
#define ROW_SIZE  (MAX_CPUS * (uint32_t)sizeof(struct cpu))

_Static_assert(sizeof(struct cpu) % PAGE_SIZE == 0, "a page of a window is one CPU's");
_Static_assert((COUNTER_PAGES + ROW_PAGES - 1) / ROW_PAGES * ROW_SIZE <= COUNTERS_WINDOW_SIZE,
	       "the window has room");

static uint32_t counters_pages(void)
{
	uint32_t n = (site_count() + COUNTERS_IN_PAGE - 1) / COUNTERS_IN_PAGE;

	assert(n <= COUNTER_PAGES);
	return n;
}

/* Where the first CPU has page `n` of a set; the next CPU's is a structure further. */
static uint32_t counters_window_of(uint32_t n)
{
	return COUNTERS_WINDOW + n / ROW_PAGES * ROW_SIZE + n % ROW_PAGES * PAGE_SIZE;
}

uint32_t counters_distance(uint32_t n)
{
	return counters_window_of(n / COUNTERS_IN_PAGE) - (uint32_t)cpus +
	       n % COUNTERS_IN_PAGE * sizeof(uint32_t);
}

/* ---------------- The window ---------------- */

void counters_show(uint32_t cpu, struct machine_call_counters *counters)
{
	counters->is_used = true;
	for (uint32_t n = 0; n < counters_pages(); n++)
		pmap_window_show_page(counters_window_of(n) + cpu * sizeof(struct cpu),
				      counters->pages[cpu][n]);
}

void counters_tell(void)
{
	pmap_window_tell(COUNTERS_WINDOW, COUNTERS_WINDOW_SIZE);
}

void counters_hide(void)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < counters_pages(); n++)
			pmap_window_hide_page(counters_window_of(n) + cpu * sizeof(struct cpu));
	counters_tell();
}

/* ---------------- Sets ---------------- */

void machine_call_counters_free(struct machine_call_counters *counters)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < counters_pages(); n++)
			if (counters->pages[cpu][n] != NULL)
				kernel_memory_free(counters->pages[cpu][n], PAGE_SIZE);
	kernel_memory_free(counters, sizeof *counters);
}

static bool counters_add_page(struct machine_call_counters *counters, uint32_t cpu, uint32_t n)
{
	uint32_t *page = kernel_memory_alloc(PAGE_SIZE);

	if (page != NULL)
		memset(page, 0, PAGE_SIZE);
	kernel_pause();
	counters->pages[cpu][n] = page;
	return page != NULL;
}

struct machine_call_counters *machine_call_counters_make(void)
{
	struct machine_call_counters *counters = kernel_memory_alloc(sizeof *counters);

	if (counters == NULL)
		return NULL;
	memset(counters, 0, sizeof *counters);
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < counters_pages(); n++)
			if (!counters_add_page(counters, cpu, n)) {
				machine_call_counters_free(counters);
				return NULL;
			}
	return counters;
}

uint32_t machine_call_counter(const struct machine_call_counters *counters, uint32_t cpu,
			      uint32_t n)
{
	return *(const volatile uint32_t *)counters_word(counters, cpu, n);
}

/* Never inlined, nor is the next: tools/hot finds the two moments by their addresses. */
__attribute__((noinline)) void machine_calls_clear(struct machine_call_counters *counters)
{
	hold_begin();
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < counters_pages(); n++)
			memset(counters->pages[cpu][n], 0, PAGE_SIZE);
	hold_end();
}

__attribute__((noinline)) void machine_calls_copy(struct machine_call_counters *to,
						  const struct machine_call_counters *from)
{
	hold_begin();
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < counters_pages(); n++)
			memcpy(to->pages[cpu][n], from->pages[cpu][n], PAGE_SIZE);
	hold_end();
}

/* Words that are looked at together: nearly all are 0. */
#define MOVED_AT_ONCE 8u

_Static_assert(COUNTERS_IN_PAGE % MOVED_AT_ONCE == 0, "a page is whole rows");

/*
 * No CPU is shown `from` but those that are held.  An NMI may count in `to` meanwhile, which is why
 * one instruction adds.
 */
static void counters_move_page(uint32_t *to, uint32_t *from)
{
	for (uint32_t n = 0; n < COUNTERS_IN_PAGE; n += MOVED_AT_ONCE) {
		uint32_t any = 0;

		for (uint32_t i = 0; i < MOVED_AT_ONCE; i++)
			any |= from[n + i];
		if (any == 0)
			continue;
		for (uint32_t i = 0; i < MOVED_AT_ONCE; i++) {
			__atomic_fetch_add(&to[n + i], from[n + i], __ATOMIC_RELAXED);
			from[n + i] = 0;
		}
	}
}

static bool counters_are_shown(const struct machine_call_counters *counters)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		if (cpus[cpu].machine.counts_in == counters)
			return true;
	return false;
}

void machine_calls_move(struct machine_call_counters *to, struct machine_call_counters *from)
{
	if (!from->is_used)
		return;
	hold_begin();
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < counters_pages(); n++)
			counters_move_page(to->pages[cpu][n], from->pages[cpu][n]);
	from->is_used = counters_are_shown(from);
	hold_end();
}
