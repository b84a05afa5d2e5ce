/* SPDX-License-Identifier: MIT */
/* Counters of calls: see counters.h.  Guarded by the kernel lock, but for counters_show(). */
#include "i386/patch/counters.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/string.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/gather.h"
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

_Static_assert(COUNTERS_IN_PAGE % MACHINE_CALL_RUN == 0, "a run lies on one page");
_Static_assert(sizeof(struct cpu) % PAGE_SIZE == 0, "a page of a window is one CPU's");
_Static_assert(ROW_PAGES == PMAP_WINDOW_ROW, "what is shown at once");
_Static_assert(COUNTER_VIEWS % ROW_PAGES == 0 && COUNTER_VIEWS >= COUNTER_PAGES, "in whole rows");
_Static_assert(ROW_PAGES *PMAP_WINDOW_MARK_BITS <= 32, "the marks of a row are a word");
_Static_assert((COUNTER_PAGES + ROW_PAGES - 1) / ROW_PAGES * ROW_SIZE <= COUNTERS_WINDOW_SIZE,
	       "the window has room");

/* Sets with a mark, by it. */
static struct machine_call_counters *marked[PMAP_WINDOW_MARKS + 1];

static uint32_t n_pages; /* Of each CPU's; known when the first set is made. */

uint32_t counters_pages(void)
{
	return n_pages;
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

static uint32_t counters_row(uint32_t cpu, uint32_t first)
{
	return counters_window_of(first) + cpu * sizeof(struct cpu);
}

/* Where a page is shown to a CPU. */
static struct pmap_window *counters_place(uint32_t cpu, uint32_t n)
{
	return pmap_window_at(counters_row(cpu, n));
}

/* Of a set with a mark. */
static void counters_note(uint32_t mark, uint32_t cpu, uint32_t n)
{
	if (mark == 0)
		return;
	marked[mark]->written[cpu][n] = true;
	marked[mark]->is_touched = true;
}

static void counters_note_row(uint32_t marks, uint32_t cpu, uint32_t first)
{
	for (; marks != 0; marks >>= PMAP_WINDOW_MARK_BITS)
		counters_note(marks & ((1u << PMAP_WINDOW_MARK_BITS) - 1), cpu, first++);
}

/*
 * A set with a mark is shown no longer.  It is noted before it is not there to be seen any more,
 * and again if it was written to in between, so that it is known to the next who looks, or to the
 * one after.
 */
static void counters_leave_marked(uint32_t cpu, const struct machine_call_counters *counters)
{
	for (uint32_t first = 0; first < n_pages; first += ROW_PAGES) {
		struct pmap_window *row = counters_place(cpu, first);

		counters_note_row(pmap_window_written(row, ROW_PAGES), cpu, first);
		counters_note_row(pmap_window_show(row, &counters->views[cpu][first], ROW_PAGES),
				  cpu, first);
	}
}

static inline void counters_show_rows(uint32_t cpu, const struct machine_call_counters *counters)
{
	uint32_t address = counters_row(cpu, 0);
	const uint32_t *views = counters->views[cpu], *end = views + n_pages;

	do {
		pmap_window_show_row(address, views);
		address += ROW_SIZE;
		views += ROW_PAGES;
	} while (views < end);
}

static inline bool counters_have_mark(const struct machine_call_counters *counters)
{
	return counters != NULL && counters->mark != 0;
}

/*
 * In one step for interrupts, which would find some pages of a set with a mark, and others not.
 * One that came before may have shown the same set, and counted in it.
 */
static __attribute__((noinline)) void counters_show_marked(struct cpu *cpu,
							   struct machine_call_counters *counters)
{
	bool were_on = interrupts_are_on(), leaves;

	interrupts_off();
	leaves = counters_have_mark(cpu->machine.counts_in);
	cpu->machine.counts_in = counters;
	counters->is_touched = counters->mark != 0;
	if (leaves)
		counters_leave_marked(cpu->number, counters);
	else
		counters_show_rows(cpu->number, counters);
	if (were_on)
		interrupts_on();
}

/*
 * May be interrupted by what shows others meanwhile, and then again what it finds in `counts_in`:
 * as long as none has a mark, it is enough to say it again.
 */
void counters_show(struct cpu *cpu, struct machine_call_counters *counters)
{
	if (counters_have_mark(cpu->machine.counts_in) || counters->mark != 0) {
		counters_show_marked(cpu, counters);
		return;
	}
	cpu->machine.counts_in = counters;
	counters_show_rows(cpu->number, counters);
}

void counters_end_move(struct machine_call_counters *counters)
{
	counters->is_touched = false;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		if (cpus[cpu].machine.counts_in == counters)
			counters->is_touched = true;
}

bool counters_are_written(const struct machine_call_counters *counters, uint32_t cpu, uint32_t n)
{
	return counters->written[cpu][n] ||
	       pmap_window_written(counters_place(cpu, n), 1) == counters->mark;
}

void counters_tell(void)
{
	pmap_window_tell(COUNTERS_WINDOW, COUNTERS_WINDOW_SIZE);
}

void counters_hide(void)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		for (uint32_t n = 0; n < n_pages; n++) {
			counters_note(pmap_window_written(counters_place(cpu, n), 1), cpu, n);
			pmap_window_hide(counters_place(cpu, n));
		}
		cpus[cpu].machine.counts_in = NULL;
	}
	counters_tell();
}

/* ---------------- Sets ---------------- */

void machine_call_counters_free(struct machine_call_counters *counters)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < n_pages; n++)
			if (counters->pages[cpu][n] != NULL)
				kernel_memory_free(counters->pages[cpu][n], PAGE_SIZE);
	if (counters->mark != 0)
		marked[counters->mark] = NULL;
	kernel_memory_free(counters, sizeof *counters);
}

static bool counters_add_page(struct machine_call_counters *counters, uint32_t cpu, uint32_t n)
{
	uint32_t *page = kernel_memory_alloc(PAGE_SIZE);

	if (page != NULL)
		memset(page, 0, PAGE_SIZE);
	kernel_pause();
	counters->pages[cpu][n] = page;
	if (page != NULL)
		counters->views[cpu][n] = pmap_window_view(page, 0);
	return page != NULL;
}

struct machine_call_counters *machine_call_counters_make(void)
{
	struct machine_call_counters *counters =
		pmap_window_open() ? kernel_memory_alloc(sizeof *counters) : NULL;

	n_pages = gather_end() / COUNTERS_IN_PAGE;
	assert(n_pages <= COUNTER_PAGES);
	if (counters == NULL)
		return NULL;
	memset(counters, 0, sizeof *counters);
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < n_pages; n++)
			if (!counters_add_page(counters, cpu, n)) {
				machine_call_counters_free(counters);
				return NULL;
			}
	return counters;
}

void machine_call_counters_watch(struct machine_call_counters *counters)
{
	uint32_t mark = 1;

	while (mark <= PMAP_WINDOW_MARKS && marked[mark] != NULL)
		mark++;
	assert(mark <= PMAP_WINDOW_MARKS && counters->mark == 0);
	counters->mark = mark;
	marked[mark] = counters;
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < n_pages; n++)
			counters->views[cpu][n] = pmap_window_view(counters->pages[cpu][n], mark);
}

uint32_t machine_call_counters_of_each(void)
{
	return n_pages * COUNTERS_IN_PAGE;
}

const volatile uint32_t *machine_call_run(const struct machine_call_counters *counters,
					  uint32_t cpu, uint32_t first)
{
	assert(first % MACHINE_CALL_RUN == 0);
	return counters_word(counters, cpu, first);
}

/* Never inlined, nor is the next: tools/hot finds the two moments by their addresses. */
__attribute__((noinline)) void machine_calls_clear(struct machine_call_counters *counters)
{
	hold_begin();
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < n_pages; n++)
			memset(counters->pages[cpu][n], 0, PAGE_SIZE);
	hold_end();
}

__attribute__((noinline)) void machine_calls_copy(struct machine_call_counters *to,
						  const struct machine_call_counters *from)
{
	hold_begin();
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < n_pages; n++)
			memcpy(to->pages[cpu][n], from->pages[cpu][n], PAGE_SIZE);
	hold_end();
}
