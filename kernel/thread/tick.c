/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's tick: see tick.h.
 *
 * What few ticks need is not inlined, here, in work.c and in sched_charge_apart(): if it is, each
 * tick takes 215 instructions instead of 198 (tools/bench tick).
 */
#include "thread/tick.h"

#include "base/arguments.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/divide.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/random.h"
#include "base/timer.h"
#include "device/time.h"
#include "thread/cpu_state.h"
#include "thread/holder.h"
#include "thread/sched.h"
#include "thread/turn.h"

/* Constant after tick_init(). */
static uint32_t interval;    /* Between ticks, in cycles. */
static uint64_t start;       /* In cycles: tick n of every CPU is due n intervals later. */
static uint32_t jitter_seed; /* 0: no jitter was asked for. */
static uint32_t limit_ticks; /* A CPU that has counted so many ends the run. */

/* Reasons for jitter: jitter= is one, each task with a virtual timer another.  Kernel lock. */
static uint32_t jitter_wanted;

void tick_init(void)
{
	uint32_t limit = argument_number("limit", 0);

	interval = (uint32_t)clock_ns_to_cycles(NS_PER_SECOND / TICK_HZ);
	start = machine_cycles();
	turn_init(interval);
	jitter_seed = argument_number("jitter", 0);
	jitter_wanted = jitter_seed != 0;
	limit_ticks = limit == 0 || limit > UINT32_MAX / TICK_HZ ? UINT32_MAX : limit * TICK_HZ;
}

void tick_want_jitter(bool want)
{
	assert(kernel_locked());
	assert(want || jitter_wanted > 0);
	jitter_wanted += want ? 1 : -1u;
}

/* How much later than scheduled the next tick is to come: less than half an interval. */
static __attribute__((noinline)) uint32_t tick_jitter(struct cpu *cpu)
{
	return (uint32_t)(((uint64_t)random_next(&cpu->jitter_state) * (interval / 2)) >> 32);
}

/* Whether ticks that are moved are moved by as much on all CPUs. */
static bool tick_is_jitter_common(void)
{
	return cpus_in_turn && jitter_seed == 0;
}

/* Out of the tick's number (the last steps of MurmurHash3). */
static uint32_t tick_common_jitter(uint32_t tick)
{
	uint32_t x = tick * 0x9e3779b9u;

	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return (uint32_t)(((uint64_t)(x ^ x >> 16) * (interval / 2)) >> 32);
}

static __attribute__((noinline)) uint32_t tick_jitter_of_next(struct cpu *cpu)
{
	return tick_is_jitter_common() ? tick_common_jitter(cpu->ticks + 1) : tick_jitter(cpu);
}

static inline void tick_arm(struct cpu *cpu, uint32_t delay)
{
	machine_timer_arm(jitter_wanted == 0 ? delay : delay + tick_jitter_of_next(cpu));
}

void tick_start(struct cpu *cpu)
{
	uint64_t cycles;

	/* Any two seeds and any two CPUs begin at different, non-zero states. */
	cpu->jitter_state = (jitter_seed * MAX_CPUS + cpu->number) * 2654435761u | 1;
	if (jitter_seed != 0) {
		cpu->race_state = random_next(&cpu->jitter_state);
		cpu_set_work(cpu, WORK_RACE);
	}
	cycles = machine_cycles();
	cpu->ticks = (uint32_t)divide(cycles - start, interval);
	cpu->next_tick = start + (uint64_t)(cpu->ticks + 1) * interval;
	tick_arm(cpu, (uint32_t)(cpu->next_tick - cycles));
}

/*
 * Whoever waits for other CPUs here gives up after so many tries: one with its interrupts off does
 * not come.
 */
#define TRIES 8

/* The last tick whose turn has begun: written by the CPU whose turn it is, read by all. */
static uint32_t turn_begun;

static bool tick_have_all_come_to(uint32_t tick)
{
	for (uint32_t n = 0; n < n_cpus; n++)
		if ((int32_t)(__atomic_load_n(&cpus[n].ticks, __ATOMIC_RELAXED) - tick) < 0)
			return false;
	return true;
}

static bool tick_has_turn_begun(uint32_t tick)
{
	return (int32_t)(__atomic_load_n(&turn_begun, __ATOMIC_RELAXED) - tick) >= 0;
}

/*
 * An emulator may run the CPUs in turn, in one thread.  When a timer is due it begins again with
 * the first CPU, which it lets run until it halts, executes a `pause`, or the next timer is due:
 * the others would never come to run, nor have their interrupts.  So at every tick there is one CPU
 * whose turn it is, and another at the next.  It waits until all have come to the tick, and they,
 * unless they idle and halt anyway, until it goes on: waiting is `pause`.  Ticks with jitter are
 * apart, so there nobody waits for a tick that is still to come.
 */
static void tick_take_turns(const struct cpu *cpu)
{
	uint32_t tick = cpu->ticks;
	bool mine = tick % n_cpus == cpu->number;

	if (jitter_wanted != 0 && !tick_is_jitter_common()) {
		if (!mine)
			machine_relax();
	} else if (mine) {
		for (int i = 0; i < TRIES && !tick_have_all_come_to(tick); i++)
			machine_relax();
		__atomic_store_n(&turn_begun, tick, __ATOMIC_RELAXED);
	} else if (cpu->thread != cpu->idle_thread) {
		for (int i = 0; i < TRIES && !tick_has_turn_begun(tick); i++)
			machine_relax();
	}
}

/*
 * All work on a tick under the kernel lock, one after the other, and the last of them would have
 * what is left of the turn, again and again: it gives that to the CPU whose turn it is.  Not
 * inlined: whoever goes back to user mode would save three registers for it (tools/bench tick: 204,
 * not 198).
 */
__attribute__((noinline)) void tick_give_back_turn(const struct cpu *cpu)
{
	uint32_t tick = cpu->ticks;

	if (jitter_seed != 0 || tick % n_cpus == cpu->number)
		return;
	for (int i = 0; i < TRIES && cpu->ticks == tick; i++)
		machine_relax();
}

/* ---------------- Whose tick it was ---------------- */

static uint32_t watched_tick; /* The number of the tick that is shared out next. */

/* Late by so many, a machine that stood still goes on with the present. */
#define LATE_TICKS 8

static void tick_watch_tick(uint32_t tick)
{
	uint64_t cycles = start + (uint64_t)tick * interval;

	watched_tick = tick;
	if (jitter_wanted != 0)
		cycles += tick_common_jitter(tick);
	holder_watch(HOLDER_AT_TICK, cycles);
}

/*
 * Where the CPUs run in turn, the first to come after a tick's time shares it out: it is charged to
 * the CPU that executed then, and the others were parked.  With jitter=, which moves each CPU's
 * interrupts by themselves, what counts is still one time for all, and they may come before it.
 */
static void tick_share_tick(uint32_t tick)
{
	uint32_t holder = holder_take(HOLDER_AT_TICK);

	if (holder == HOLDER_NOBODY)
		return;
	for (uint32_t n = 0; n < n_cpus; n++)
		__atomic_fetch_add(n == holder ? &cpus[n].charged_ticks : &cpus[n].parked_ticks, 1,
				   __ATOMIC_RELAXED);
	tick_watch_tick((int32_t)(tick - watched_tick) < LATE_TICKS ? watched_tick + 1 : tick + 1);
}

void tick_share_from_now_on(void)
{
	tick_watch_tick(cpus[0].ticks + 1);
}

uint32_t tick_take_charged(struct cpu *cpu)
{
	return __atomic_exchange_n(&cpu->charged_ticks, 0, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void tick_several(const struct cpu *cpu)
{
	if (cpus_in_turn) {
		holder_note();
		tick_share_tick(cpu->ticks);
	}
	tick_take_turns(cpu);
}

/* Counts a tick that has come, `late` cycles after its time, and arms the next. */
static inline void tick_count(struct cpu *cpu, uint32_t late)
{
	cpu->next_tick += interval;
	cpu->ticks++;
	tick_arm(cpu, interval - late);
	cpu_set_work(cpu, WORK_TICK);
	if (n_cpus > 1)
		tick_several(cpu);
	if (cpu->ticks >= limit_ticks)
		machine_time_is_over("the time limit of the run (limit=) is over");
}

/*
 * An interrupt that may be out of its time.  The timer and the time stamp counter may differ a
 * little: one that comes early is no tick.  After one that comes very late, whole ticks have passed
 * unserved.
 */
static __attribute__((noinline)) void tick_irregular(struct cpu *cpu, uint64_t behind)
{
	uint64_t passed;

	if (behind >> 63 != 0) { /* Too early to be a moment, so nothing is noted. */
		machine_timer_arm(-(uint32_t)behind);
		return;
	}
	passed = divide(behind, interval);
	cpu->ticks += (uint32_t)passed;
	cpu->next_tick += passed * interval;
	tick_count(cpu, (uint32_t)(behind - passed * interval));
}

/* Nearly always the upper halves are equal, and the lower ones say how late it is. */
void tick_interrupt(struct cpu *cpu)
{
	uint64_t now = machine_cycles();
	uint32_t late = (uint32_t)now - (uint32_t)cpu->next_tick;

	if (now >> 32 == cpu->next_tick >> 32 && late < interval)
		tick_count(cpu, late);
	else
		tick_irregular(cpu, now - cpu->next_tick);
}

/* The timers' ticks are CPU 0's, in 64 bits. */
void tick_work(struct cpu *cpu)
{
	sched_tick(cpu);
	if (cpu->number == 0) {
		uint64_t now = timer_now();

		timer_advance(now + (cpu->ticks - (uint32_t)now));
		if (time_device_used)
			time_device_update();
	}
}

/*
 * The tick that runs now is partly over: one more than the duration takes.  The timers may be
 * behind the schedule, when the tick is late (jitter=) or CPU 0 has not worked on it: signed, for
 * the time stamp counters of two CPUs may differ a little.
 */
uint64_t tick_after_ms(uint32_t ms)
{
	const uint32_t ms_per_tick = 1000 / TICK_HZ;
	uint64_t now = timer_now();
	uint64_t due = now + ms / ms_per_tick + (ms % ms_per_tick != 0) + 1;
	int64_t behind = (int64_t)(machine_cycles() - start - now * interval);

	for (; behind >= interval; behind -= interval)
		due++;
	return due;
}
