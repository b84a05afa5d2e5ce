/* SPDX-License-Identifier: MIT */
/*
 * Patching the kernel that runs, so that its calls are counted (base/machine.h).
 *
 * The image is written to through a window that is there only meanwhile; where it is executed it
 * can never be written to.  A displacement may lie across the end of a cache line, so while sites
 * get another target no other CPU executes any call (hold.h); this CPU itself may be interrupted,
 * by an NMI too, and finds each site as it was or as it is to be.  A few sites at a time: what is
 * half done is right as well, and nobody waits long.
 */
#include "base/assert.h"
#include "base/machine.h"
#include "base/string.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/call_sites.h"
#include "i386/patch/hold.h"
#include "i386/patch/thunk.h"
#include "thread/work.h"

extern const char kernel_start[], kernel_text_end[];

/* Sites that are changed while the other CPUs wait: some ten thousand instructions. */
#define SITES_AT_ONCE 256u

/* ---------------- Writing ---------------- */

static uint32_t window_page; /* That it shows; 0: none. */

/* Where the word at `address` can be written to until the next call. */
static volatile struct unaligned *patch_window_for(uint32_t address)
{
	if (page_trunc(address) != window_page) {
		window_page = page_trunc(address);
		pmap_window_show(window_page);
	}
	return (volatile struct unaligned *)(PATCH_WINDOW + (address - window_page));
}

static void patch_write(uint32_t address, uint32_t word)
{
	patch_window_for(address)->word = word;
}

static bool patch_begin(void)
{
	window_page = 0;
	return pmap_window_open();
}

static void patch_end(void)
{
	pmap_window_close();
}

/* ---------------- Thunks ---------------- */

static const struct thunk counting = {.count = {0x64, 0xff, 0x05}, .jump = 0xe9};
static const struct thunk silent = {.count = {0x0f, 0x1f, 0x80}, .jump = 0xe9};

static uint32_t patch_target_of(const struct thunk *thunk)
{
	return thunk_see_through((uint32_t)thunk);
}

/* Word by word; the whole is there before anybody is led to it. */
static void patch_thunk(const struct thunk *thunk, const struct thunk *contents)
{
	const uint32_t *words = (const uint32_t *)contents;

	for (uint32_t n = 0; n < sizeof *thunk / sizeof *words; n++)
		patch_write((uint32_t)thunk + n * sizeof *words, words[n]);
}

/* ---------------- Counters ---------------- */

/*
 * A counter has the same offset from each CPU's structure, so the counters of all CPUs lie in rows
 * as those structures do: a row has as many of each CPU's as fit the size of one.
 */
#define ROW_COUNTERS (sizeof(struct cpu) / sizeof(uint32_t))

_Static_assert(sizeof(struct cpu) % sizeof(uint32_t) == 0, "rows have no gaps");

static uint32_t patch_counter_offset(uint32_t n)
{
	return n / ROW_COUNTERS * n_cpus * sizeof(struct cpu) + n % ROW_COUNTERS * sizeof(uint32_t);
}

uint32_t machine_call_counters_size(void)
{
	uint32_t rows = (site_count() + ROW_COUNTERS - 1) / ROW_COUNTERS;

	return rows * n_cpus * sizeof(struct cpu);
}

uint32_t machine_call_counter(const void *counters, uint32_t cpu, uint32_t n)
{
	const char *first = (const char *)counters + cpu * sizeof(struct cpu);

	return *(const volatile uint32_t *)(first + patch_counter_offset(n));
}

/* ---------------- The whole ---------------- */

void machine_text(uint32_t *first, uint32_t *end)
{
	*first = (uint32_t)kernel_start;
	*end = (uint32_t)kernel_text_end;
}

uint32_t machine_call_count(void)
{
	return site_count();
}

static void patch_make_thunks(const void *counters)
{
	uint32_t offset = (uint32_t)counters - (uint32_t)cpus;
	struct site site;

	for (bool more = site_first(&site); more; more = site_next(&site)) {
		const struct thunk *thunk = &call_thunks[site.number];
		struct thunk contents = counting;

		contents.counter = offset + patch_counter_offset(site.number);
		contents.distance = site_target(&site) - (uint32_t)(thunk + 1);
		patch_thunk(thunk, &contents);
		pause_each();
	}
}

static void patch_silence(const struct thunk *thunk)
{
	struct thunk contents = silent;

	contents.distance = thunk->distance;
	patch_thunk(thunk, &contents);
}

/* Points each site at its thunk, or at what the thunk leads to, and silences that. */
static void patch_point_sites(bool at_thunks)
{
	struct site site;
	bool more = site_first(&site);

	while (more) {
		hold_begin();
		for (uint32_t n = 0; n < SITES_AT_ONCE && more; n++) {
			const struct thunk *thunk = &call_thunks[site.number];
			uint32_t target = at_thunks ? (uint32_t)thunk : patch_target_of(thunk);

			patch_write(site.address, site_word_for(&site, target));
			if (!at_thunks)
				patch_silence(thunk);
			more = site_next(&site);
		}
		hold_end();
		kernel_pause();
	}
}

bool machine_calls_count(const void *counters)
{
	if (!patch_begin())
		return false;
	patch_make_thunks(counters);
	patch_point_sites(true);
	patch_end();
	return true;
}

void machine_calls_end(void)
{
	bool opened = patch_begin();

	assert(opened); /* Its table is there since counting began. */
	patch_point_sites(false);
	patch_end();
}

/* Never inlined, nor is the next: tools/hot finds the two moments by their addresses. */
__attribute__((noinline)) void machine_calls_clear(void *counters)
{
	hold_begin();
	memset(counters, 0, machine_call_counters_size());
	hold_end();
}

__attribute__((noinline)) void machine_calls_copy(void *to, const void *counters)
{
	hold_begin();
	memcpy(to, counters, machine_call_counters_size());
	hold_end();
}

void machine_calls_read(machine_call_reader *read, void *context)
{
	struct site site;

	for (bool more = site_first(&site); more; more = site_next(&site)) {
		uint32_t from = site_is_call(&site) ? site.address + sizeof(uint32_t) : 0;

		read(context, site.number, from, thunk_see_through(site_target(&site)));
		pause_each();
	}
}
