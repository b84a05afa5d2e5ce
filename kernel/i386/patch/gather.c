/* SPDX-License-Identifier: MIT */
/* Counters that are moved often: see gather.h. */
#include "i386/patch/gather.h"

#include <stdbool.h>

#include "base/assert.h"
#include "i386/patch/call_sites.h"
#include "i386/patch/counters.h"
#include "i386/patch/hold.h"
#include "i386/patch/text.h"
#include "i386/patch/thunk.h"
#include "thread/cpu_state.h"

/* The last page has so many counters at least that are no site's own. */
#define ROOM 512u

/* Sites that are gathered after one move; more are found by the next. */
#define AT_ONCE 64u

/* Words that are looked at together where nearly all are 0. */
#define IN_ROW 8u

_Static_assert(COUNTERS_IN_PAGE % IN_ROW == 0, "a page is whole rows");

static uint32_t gathered; /* Sites that have been. */

uint32_t gather_end(void)
{
	uint32_t least = site_count() + ROOM;

	return least + (COUNTERS_IN_PAGE - least % COUNTERS_IN_PAGE) % COUNTERS_IN_PAGE;
}

/* The first counter on the last page: gathered ones lie there, and maybe the last sites' own. */
static uint32_t gather_page_first(void)
{
	return gather_end() - COUNTERS_IN_PAGE;
}

/* The first that is no site's own. */
static uint32_t gather_first(void)
{
	return site_count() > gather_page_first() ? site_count() : gather_page_first();
}

/* A thunk that counts in the last page says so itself. */
uint32_t machine_call_counter_of(uint32_t n)
{
	uint32_t first = gather_page_first();
	uint32_t distance = call_thunks[n].counter - counters_distance(first);

	return distance < COUNTERS_IN_PAGE * sizeof(uint32_t) ? first + distance / sizeof(uint32_t)
							      : n;
}

/* ---------------- Gathering ---------------- */

/* Sites that a move has come across. */
struct found {
	uint32_t n;
	uint32_t sites[AT_ONCE];
};

static void gather_note(struct found *found, uint32_t site)
{
	if (found->n < AT_ONCE)
		found->sites[found->n++] = site;
}

/* Points the site's thunk to the next counter, unless another CPU's counter had it found, too. */
static void gather_site(uint32_t site)
{
	uint32_t counter = gather_first() + gathered;

	if (counter == gather_end() || machine_call_counter_of(site) != site)
		return;
	text_write((uint32_t)&call_thunks[site].counter, counters_distance(counter));
	gathered++;
}

static void gather_found(const struct found *found)
{
	bool opened = text_open();

	assert(opened); /* Its table is there since counting began. */
	hold_begin();
	for (uint32_t i = 0; i < found->n; i++)
		gather_site(found->sites[i]);
	hold_end();
	text_close();
}

/* ---------------- Moving ---------------- */

/*
 * No CPU is shown `from` but those that are held.  An NMI may count in `to` meanwhile, which is why
 * one instruction adds.
 */
static inline void gather_move_word(uint32_t *to, uint32_t *from)
{
	if (*from == 0)
		return;
	__atomic_fetch_add(to, *from, __ATOMIC_RELAXED);
	*from = 0;
}

static bool gather_row_is_empty(const uint32_t *row)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < IN_ROW; i++)
		any |= row[i];
	return any == 0;
}

/* Of a page with sites' own counters, the first of which is `first`. */
static void gather_move_page(uint32_t *to, uint32_t *from, uint32_t first, struct found *found)
{
	for (uint32_t n = 0; n < COUNTERS_IN_PAGE; n++) {
		if (n % IN_ROW == 0 && gather_row_is_empty(from + n)) {
			n += IN_ROW - 1;
			continue;
		}
		if (from[n] != 0)
			gather_note(found, first + n);
		gather_move_word(to + n, from + n);
	}
}

/* Of the last page what is in use. */
static void gather_move_last(uint32_t *to, uint32_t *from)
{
	uint32_t used = gather_first() + gathered - gather_page_first();

	for (uint32_t n = 0; n < used; n++)
		gather_move_word(to + n, from + n);
}

static bool gather_is_written(const struct machine_call_counters *counters)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t n = 0; n < counters_pages(); n++)
			if (counters_are_written(counters, cpu, n))
				return true;
	return false;
}

static void gather_move_all(struct machine_call_counters *to, struct machine_call_counters *from,
			    uint32_t cpu, struct found *found)
{
	uint32_t last = counters_pages() - 1;

	for (uint32_t n = 0; n <= last; n++) {
		if (!counters_are_written(from, cpu, n))
			continue;
		from->written[cpu][n] = false;
		/* Not through the window, which would say so. */
		to->written[cpu][n] = to->is_touched = to->mark != 0;
		if (n == last)
			gather_move_last(to->pages[cpu][n], from->pages[cpu][n]);
		else
			gather_move_page(to->pages[cpu][n], from->pages[cpu][n],
					 n * COUNTERS_IN_PAGE, found);
	}
}

/* Most times that something is attributed nothing has come for nobody. */
bool machine_calls_are_to_move(const struct machine_call_counters *from)
{
	return from->is_touched && gather_is_written(from);
}

void machine_calls_move(struct machine_call_counters *to, struct machine_call_counters *from)
{
	struct found found = {.n = 0};

	assert(from->mark != 0);
	hold_begin();
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		gather_move_all(to, from, cpu, &found);
	counters_end_move(from);
	hold_end();
	if (found.n > 0 && gather_first() + gathered < gather_end())
		gather_found(&found);
}
