/* SPDX-License-Identifier: MIT */
/*
 * Patching the kernel that runs, so that its calls are counted (base/machine.h).
 *
 * A displacement may lie across the end of a cache line, so while sites get another target no other
 * CPU executes any call (hold.h); this CPU itself may be interrupted, by an NMI too, and finds each
 * site as it was or as it is to be.  A few sites at a time: what is half done is right as well, and
 * nobody waits long.
 *
 * A kernel that tools/kpatch has changed comes with thunks that count from its first call on, each
 * in a word of the image, by `lock incl`: there are no structures of CPUs yet, and no %fs.
 */
#include "base/assert.h"
#include "base/machine.h"
#include "i386/patch/call_sites.h"
#include "i386/patch/counters.h"
#include "i386/patch/follow.h"
#include "i386/patch/hold.h"
#include "i386/patch/text.h"
#include "i386/patch/thunk.h"
#include "thread/cpu_state.h"
#include "thread/work.h"

/* Sites that are changed while the other CPUs wait: some ten thousand instructions. */
#define SITES_AT_ONCE 256u

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
	volatile struct unaligned *to = text_window_for((uint32_t)thunk);

	for (uint32_t n = sizeof *thunk / sizeof *words; n-- > 0;)
		to[n].word = words[n];
}

/* ---------------- The whole ---------------- */

uint32_t machine_call_count(void)
{
	return site_count();
}

static void patch_make_thunk(const struct site *site, const struct thunk *thunk)
{
	struct thunk contents = {.count = {COUNT & 0xff, COUNT >> 8 & 0xff, COUNT >> 16},
				 .counter =
					 counters_distance(machine_call_counter_of(site->number)),
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
static void patch_take_over(const struct site *site, const struct thunk *thunk)
{
	const uint32_t counter = counters_distance(site->number);
	volatile struct unaligned *to = text_window_for((uint32_t)thunk);

	to[0].word = SKIP | (thunk->counter & 0xff) << 24;
	*counters_word(cpus[0].machine.counts_in, 0, site->number) = call_counters[site->number];
	to[1].word = counter >> 8 | (uint32_t)JUMP << 24;
	to[0].word = COUNT | counter << 24;
}

static void patch_point_at_thunk(const struct site *site, const struct thunk *thunk)
{
	text_write(site->address, site_word_for(site, (uint32_t)thunk));
}

static void patch_point_back(const struct site *site, const struct thunk *thunk)
{
	text_write(site->address, site_word_for(site, patch_target_of(thunk)));
}

static void patch_silence_thunk(const struct site *site, const struct thunk *thunk)
{
	(void)site;
	text_write((uint32_t)thunk, SKIP | (thunk->counter & 0xff) << 24);
}

static void patch_redirect(const struct thunk *thunk, uint32_t function)
{
	if (function != patch_target_of(thunk))
		text_write((uint32_t)&thunk->distance, function - (uint32_t)(thunk + 1));
}

/*
 * Labels are followed from now on: stand-ins are called, and what they call in the place of others
 * is no more than what would be called without them, so it is not counted again.
 */
static void patch_stand_in(const struct site *site, const struct thunk *thunk)
{
	if (site->address >= (uint32_t)stand_ins && site->address < (uint32_t)stand_ins_end)
		patch_point_back(site, thunk);
	else
		patch_redirect(thunk, follow_stand_in(patch_target_of(thunk)));
}

static void patch_stand_back(const struct site *site, const struct thunk *thunk)
{
	(void)site;
	patch_redirect(thunk, follow_original(patch_target_of(thunk)));
}

/* Changes something of each site, or of its thunk, a few while the other CPUs are held. */
static void patch_each(void (*change)(const struct site *site, const struct thunk *thunk))
{
	struct site site;
	bool more = site_first(&site);

	while (more) {
		hold_begin();
		for (uint32_t n = 0; n < SITES_AT_ONCE && more; n++) {
			change(&site, &call_thunks[site.number]);
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

bool machine_calls_count(struct machine_call_counters *counters)
{
	if (!text_open())
		return false;
	follow_nobody(counters);
	if (machine_calls_are_counted()) {
		patch_each(patch_take_over);
	} else {
		patch_each(patch_make_thunk);
		patch_each(patch_point_at_thunk);
	}
	text_close();
	return true;
}

void machine_calls_follow(uint32_t label, struct machine_call_counters *counters)
{
	bool opened = text_open(), is_new = !follow_is_on;

	assert(opened); /* Its table is there since counting began. */
	follow_add(label, counters);
	if (is_new) {
		follow_begin();
		patch_each(patch_stand_in);
	}
	text_close();
	follow_refresh();
}

void machine_calls_end(void)
{
	bool opened = text_open();

	assert(opened);
	if (follow_is_on) {
		patch_each(patch_stand_back);
		follow_end();
	}
	patch_each(patch_point_back);
	patch_each(patch_silence_thunk);
	text_close();
	counters_hide();
}

void machine_calls_read(machine_call_reader *read, void *context)
{
	struct site site;

	for (bool more = site_first(&site); more; more = site_next(&site)) {
		uint32_t from = site_is_call(&site) ? site.address + sizeof(uint32_t) : 0;

		read(context, site.number, from,
		     follow_original(thunk_see_through(site_target(&site))));
		pause_each();
	}
}
