/* SPDX-License-Identifier: MIT */
/*
 * Due times where an emulator runs the CPUs in turn (thread/holder.h): each is one CPU's.
 *
 * CPUs that run at once each walk the schedules by themselves, and each has a sample of its own at
 * each due time.  Of CPUs that run in turn all but one are parked then, and would be sampled where
 * they were parked: in a handler, in the kernel lock's queue, wherever turns are taken away.  So
 * the first CPU whose sampling interrupt comes after a shot goes through the schedules for all,
 * with the cursors of CPU 0.  A due time is owed to the CPU that had the turn at the shot, which
 * takes its sample when its own interrupt comes, at the place where the shot found it; that the
 * interrupt comes late is no matter, for the CPU has executed nothing meanwhile.  For the others it
 * is parked.  So what all CPUs take, times the interval, is what was executed.
 *
 * One CPU at a time is in here, and keeps its turn but for a timer's being due just now.  Others
 * that come then wait until it has shared (sampler_sharer_is_away()).
 */
#include "base/cpu.h"
#include "base/machine.h"
#include "prof/sampler_cpu.h"
#include "thread/holder.h"

static uint32_t sharing; /* Odd while somebody is in here. */

uint32_t sampler_sharing_sequence(void)
{
	return __atomic_load_n(&sharing, __ATOMIC_ACQUIRE);
}

/* How many due times of the schedule have come. */
static uint32_t turns_take_due(struct sampler_cursor *walk, uint64_t now)
{
	uint32_t n = 0;

	while (walk->due <= now && n < SAMPLER_DUE_AT_ONCE) {
		walk->due += schedule_interval(&walk->schedule);
		n++;
	}
	walk->came += n;
	return n;
}

/*
 * Whether the CPU, which had the turn at the moment, was in the sampling interrupt then: a shot may
 * come soon after the one before it.  Such a due time is missed, as it is where it comes during the
 * interrupt of an only CPU: the place to which this one goes back was not what it executed.
 */
static bool turns_was_inside(const struct sampler_cpu *cpu, uint64_t moment)
{
	bool is_inside = (cpu->sequence & 1) != 0;

	return cpu->left >= moment || (is_inside && cpu->entered < moment);
}

/*
 * The moment, of which the clock's lower half is known, is less than half of that away from `now`;
 * behind it, if this CPU lost its turn since it read the clock.
 */
static uint64_t turns_moment_near(uint64_t now)
{
	return now + (uint64_t)(int32_t)(holder_moment(HOLDER_AT_SHOT) - (uint32_t)now);
}

static void turns_share_slot(uint32_t slot, uint32_t due, uint32_t holder, bool inside)
{
	for (uint32_t n = 0; n < cpu_count(); n++) {
		struct sampler_cursor *cursor = &cpu_sampler_of(n)->cursors[slot];

		if (n != holder)
			cursor->parked += due;
		else if (inside)
			cursor->inside += due;
		else
			__atomic_fetch_add(&cursor->owed, due, __ATOMIC_RELAXED);
	}
}

static void turns_share_all(uint64_t now, uint32_t holder)
{
	struct sampler_cpu *walker = cpu_sampler_of(0);
	bool inside = turns_was_inside(cpu_sampler_of(holder), turns_moment_near(now));

	for (struct sampler_cursor *walk = walker->first; walk != NULL; walk = walk->next) {
		uint32_t due = turns_take_due(walk, now);

		if (due != 0)
			turns_share_slot((uint32_t)(walk - walker->cursors), due, holder, inside);
	}
}

void sampler_share(uint64_t now)
{
	uint32_t even = sampler_sharing_sequence(), holder;

	if ((even & 1) != 0 || !__atomic_compare_exchange_n(&sharing, &even, even + 1, false,
							    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	holder = holder_take(HOLDER_AT_SHOT);
	if (holder != HOLDER_NOBODY)
		turns_share_all(now, holder);
	__atomic_store_n(&sharing, even + 2, __ATOMIC_RELEASE);
}
