/* SPDX-License-Identifier: MIT */
/*
 * Patching the kernel that runs, so that its calls are counted (base/machine.h).
 *
 * The image is written to through a window that is there only meanwhile; where it is executed it
 * can never be written to.  A displacement may lie across the end of a cache line, so while sites
 * get another target no other CPU executes any call (hold.h); this CPU itself may be interrupted,
 * by an NMI too, and finds each site as it was or as it is to be.  A few sites at a time: what is
 * half done is right as well, and nobody waits long.
 *
 * A kernel that tools/kpatch has changed comes with thunks that count from its first call on, each
 * in a word of the image, by `lock incl`: there are no structures of CPUs yet, and no %fs.
 */
#include "base/assert.h"
#include "base/machine.h"
#include "base/string.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/call_sites.h"
#include "i386/patch/hold.h"
#include "i386/patch/thunk.h"
#include "thread/work.h"

/* Sites that are changed while the other CPUs wait: some ten thousand instructions. */
#define SITES_AT_ONCE 256u

/* ---------------- Writing ---------------- */

static uint32_t window_page; /* That it shows; 0: none. */

/* Where what begins at `address` can be written to, some words of it, until the next call. */
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

/* The first three bytes of a thunk, and with them the lowest of its counter's address. */
#define COUNT 0x0005ff64u /* incl %fs:ADDRESS */
#define SKIP  0x00801f0fu /* A nop of that length, with the same address in it. */
#define JUMP  0xe9

static uint32_t patch_target_of(const struct thunk *thunk)
{
	return thunk_see_through((uint32_t)thunk);
}

/* A thunk that was silenced is good code after each word: what makes it count comes last. */
static void patch_write_thunk(const struct thunk *thunk, const struct thunk *contents)
{
	const uint32_t *words = (const uint32_t *)contents;
	volatile struct unaligned *to = patch_window_for((uint32_t)thunk);

	for (uint32_t n = sizeof *thunk / sizeof *words; n-- > 0;)
		to[n].word = words[n];
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

uint32_t machine_call_count(void)
{
	return site_count();
}

static void patch_make_thunk(const struct site *site, const struct thunk *thunk, uint32_t offset)
{
	struct thunk contents = {.count = {COUNT & 0xff, COUNT >> 8 & 0xff, COUNT >> 16},
				 .counter = offset + patch_counter_offset(site->number),
				 .jump = JUMP,
				 .distance = site_target(site) - (uint32_t)(thunk + 1)};

	patch_write_thunk(thunk, &contents);
}

/*
 * A thunk of the file's goes on with a counter of each CPU's: the first one's has what was counted
 * so far.  While it is silent the others are held, and this CPU calls nothing.  An NMI that samples
 * would, and miss its calls; but that comes only if there was no memory for counters when the first
 * program was about to run, and somebody begins to count while another samples.
 */
static void patch_take_over(const struct site *site, const struct thunk *thunk, uint32_t offset)
{
	const uint32_t counter = offset + patch_counter_offset(site->number);
	volatile struct unaligned *to = patch_window_for((uint32_t)thunk);

	to[0].word = SKIP | (thunk->counter & 0xff) << 24;
	*(uint32_t *)((uint32_t)cpus + counter) = call_counters[site->number];
	to[1].word = counter >> 8 | (uint32_t)JUMP << 24;
	to[0].word = COUNT | counter << 24;
}

static void patch_point_at_thunk(const struct site *site, const struct thunk *thunk,
				 uint32_t unused)
{
	(void)unused;
	patch_write(site->address, site_word_for(site, (uint32_t)thunk));
}

static void patch_point_back(const struct site *site, const struct thunk *thunk, uint32_t unused)
{
	(void)unused;
	patch_write(site->address, site_word_for(site, patch_target_of(thunk)));
}

static void patch_silence_thunk(const struct site *site, const struct thunk *thunk, uint32_t unused)
{
	(void)site;
	(void)unused;
	patch_write((uint32_t)thunk, SKIP | (thunk->counter & 0xff) << 24);
}

/* Changes something of each site, or of its thunk, a few while the other CPUs are held. */
static void patch_each(void (*change)(const struct site *site, const struct thunk *thunk,
				      uint32_t offset),
		       uint32_t offset)
{
	struct site site;
	bool more = site_first(&site);

	while (more) {
		hold_begin();
		for (uint32_t n = 0; n < SITES_AT_ONCE && more; n++) {
			change(&site, &call_thunks[site.number], offset);
			more = site_next(&site);
		}
		hold_end();
		kernel_pause();
	}
}

bool machine_calls_are_counted(void)
{
	struct site site;

	return site_first(&site) && thunk_see_through(site_target(&site)) != site_target(&site);
}

bool machine_calls_count(void *counters)
{
	const uint32_t offset = (uint32_t)counters - (uint32_t)cpus;

	if (!patch_begin())
		return false;
	if (machine_calls_are_counted()) {
		patch_each(patch_take_over, offset);
	} else {
		patch_each(patch_make_thunk, offset);
		patch_each(patch_point_at_thunk, 0);
	}
	patch_end();
	return true;
}

void machine_calls_end(void)
{
	bool opened = patch_begin();

	assert(opened); /* Its table is there since counting began. */
	patch_each(patch_point_back, 0);
	patch_each(patch_silence_thunk, 0);
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
