/* SPDX-License-Identifier: MIT */
/*
 * The sampling clock's schedule, its interrupt, and starting it anew.
 *
 * The timer is one shot, sent to all CPUs; the boot CPU's interrupt arms it for the boot CPU's next
 * due time.  An interrupt is only a hint to look at the clock: it may come early (the timer's steps
 * for long intervals), late, twice, or once for several due times, on any CPU before any other.
 * What has come due is decided by clock_now() and this CPU's cursor alone.
 *
 * Starting again while it runs.  The interrupt may be an NMI, so no lock can keep it out.  Each
 * cursor has a sequence number, odd while the interrupt of its CPU is inside.  The interrupt makes
 * it odd and then looks at `running`; sample_clock_stop() clears `running` and then looks at every
 * sequence number until it has seen each even once.  Both sides put a full fence between their
 * store and their load, so at least one of them sees the other: an interrupt either finds the clock
 * stopped and touches nothing, or is waited for.  The wait is bounded by the length of one
 * interrupt, which waits for nobody.  After it the cursors and the timer are the starter's alone. A
 * late interrupt of the old schedule that arrives after the new start finds the new schedule and
 * nothing due in it.
 *
 * The same number makes reading consistent: a copy is good if the number was even and the same
 * before and after it.  64-bit counts cannot be seen half written.
 *
 * Guarded by the kernel lock: starting and reading.  Constant while `running`: the schedule.
 */
#include "prof/sample_clock.h"

#include "kern/assert.h"
#include "kern/clock.h"
#include "kern/cpu.h"
#include "kern/machine.h"

/*
 * Due times taken in one interrupt.  After a long absence (a debugger held the machine) the rest
 * waits for the next interrupt, so that none is long; those taken before it all count as missed.
 */
#define DUE_AT_ONCE 1000

#define ALL_FLAGS (ASSAY_SAMPLE_RANDOM | ASSAY_SAMPLE_NMI)

static struct {
	uint32_t running;
	uint32_t mean; /* Nanoseconds between due times, on average. */
	bool random;
	bool nmi_used; /* Never cleared: an NMI may be pending for long after the clock stopped. */
} schedule;

/* Programming the timer takes several stores; see arm(). */
static struct {
	uint32_t busy;
	uint32_t wanted;
	uint64_t due; /* Written by the boot CPU's interrupt; by the starter while stopped. */
} arming;

static bool is_running(void)
{
	return __atomic_load_n(&schedule.running, __ATOMIC_SEQ_CST) != 0;
}

/* Xorshift of 64 bits (Marsaglia); the upper half is the better one. */
static uint32_t generate(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (uint32_t)(x >> 32);
}

/* Spreads the seed over the state.  Never zero, where xorshift would stay: odd times non-zero. */
static uint64_t seeded(uint32_t seed)
{
	return ((uint64_t)seed + 1) * 0x9e3779b97f4a7c15ull;
}

/* The next interval: the mean, or uniform in [mean/2, 3*mean/2] by multiplication, not division. */
static uint32_t draw_interval(uint64_t *generator)
{
	uint32_t mean = schedule.mean;

	if (!schedule.random)
		return mean;
	return mean / 2 + (uint32_t)(((uint64_t)generate(generator) * (mean + 1)) >> 32);
}

static void cursor_advance(struct sample_cursor *cursor)
{
	uint32_t interval = draw_interval(&cursor->generator);

	if (interval < cursor->counts.interval_min)
		cursor->counts.interval_min = interval;
	if (interval > cursor->counts.interval_max)
		cursor->counts.interval_max = interval;
	cursor->next_due += interval;
}

/*
 * Puts the cursor before the first due time of a schedule that begins at `now`.  Its sequence
 * number goes on: an interrupt that finds the clock stopped may be inside, and touches only that.
 */
static void cursor_reset(struct sample_cursor *cursor, uint64_t now, uint32_t seed)
{
	assert(!is_running());
	cursor->counts = (struct assay_sample_counts){.interval_min = UINT64_MAX};
	cursor->generator = seeded(seed);
	cursor->next_due = now;
	cursor_advance(cursor);
}

static void count_fired(struct assay_sample_counts *counts, enum sample_place place)
{
	counts->fired++;
	switch (place) {
	case SAMPLE_IDLE:
		counts->idle++;
		break;
	case SAMPLE_USER:
		counts->user++;
		break;
	case SAMPLE_KERNEL:
		counts->kernel++;
		break;
	case SAMPLE_KERNEL_OFF:
		counts->kernel_off++;
		break;
	}
}

/* Takes the due times that have come: the last one fired, those before it were missed. */
static void serve(struct sample_cursor *cursor, enum sample_place place)
{
	uint64_t now = clock_now();
	unsigned taken = 0;

	while (cursor->next_due <= now && taken < DUE_AT_ONCE) {
		cursor->counts.due++;
		cursor_advance(cursor);
		if (cursor->next_due <= now)
			cursor->counts.missed++;
		else
			count_fired(&cursor->counts, place);
		taken++;
	}
}

/* How far to arm the timer for `due`: one that has passed at once, a distant one in steps. */
static uint32_t time_until(uint64_t due)
{
	uint64_t now = clock_now();

	if (due <= now)
		return 1;
	if (due - now > MACHINE_SAMPLE_TIMER_MAX_NS)
		return MACHINE_SAMPLE_TIMER_MAX_NS;
	return (uint32_t)(due - now);
}

/*
 * Arms the timer for `arming.due`.  The boot CPU's interrupt may come while the starter, on this
 * CPU or another, is in the middle of programming the timer.  An NMI cannot wait; so whoever finds
 * the timer busy leaves word and goes, and whoever is busy with it does it again, for the due time
 * as it is then.  (For the one it began with, it would arm in the past, and the interrupt would
 * find it busy again, for ever on a slow emulator.)  If the starter reads a due time that is half
 * written, then word is left after it and the next turn arms for the whole one.
 */
static void arm(void)
{
	__atomic_store_n(&arming.wanted, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&arming.wanted, __ATOMIC_SEQ_CST) &&
	       !__atomic_exchange_n(&arming.busy, 1, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&arming.wanted, 0, __ATOMIC_SEQ_CST);
		machine_sample_timer_arm(time_until(arming.due));
		__atomic_store_n(&arming.busy, 0, __ATOMIC_SEQ_CST);
	}
}

static void cursor_enter(struct sample_cursor *cursor)
{
	/* A full fence, before `running` is looked at. */
	__atomic_fetch_add(&cursor->sequence, 1, __ATOMIC_SEQ_CST);
}

static void cursor_leave(struct sample_cursor *cursor)
{
	__atomic_store_n(&cursor->sequence, cursor->sequence + 1, __ATOMIC_RELEASE);
}

/*
 * An NMI can find this CPU inside the handler: a late interrupt of a clock that has since been
 * started anew by NMI.  It leaves at once; what is due waits for the next interrupt, and the
 * handler below it arms the timer.  The same is true between looking at the number and making it
 * odd: an NMI there is over, and the number even again, before the handler goes on.
 */
void sample_clock_interrupt(enum sample_place place)
{
	struct sample_cursor *cursor = cpu_sample_cursor();

	if (cursor->sequence & 1)
		return;
	cursor_enter(cursor);
	if (is_running()) {
		serve(cursor, place);
		if (cpu_number() == 0) {
			arming.due = cursor->next_due;
			arm();
		}
	}
	cursor_leave(cursor);
}

bool sample_clock_uses_nmi(void)
{
	return schedule.nmi_used;
}

/* After this no CPU is inside the interrupt with the clock running, and none will be. */
static void sample_clock_stop(void)
{
	assert((cpu_sample_cursor()->sequence & 1) == 0);
	__atomic_store_n(&schedule.running, 0, __ATOMIC_SEQ_CST);
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++) {
		const struct sample_cursor *cursor = cpu_sample_cursor_of(cpu);

		while (__atomic_load_n(&cursor->sequence, __ATOMIC_SEQ_CST) & 1)
			machine_relax();
	}
	machine_sample_timer_silence();
}

/* The clock is stopped: everything here belongs to the caller. */
static void schedule_set(uint32_t mean, uint32_t flags, uint32_t seed)
{
	uint64_t now = clock_now();

	schedule.mean = mean;
	schedule.random = flags & ASSAY_SAMPLE_RANDOM;
	schedule.nmi_used = schedule.nmi_used || (flags & ASSAY_SAMPLE_NMI);
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		cursor_reset(cpu_sample_cursor_of(cpu), now, seed);
	arming.due = cpu_sample_cursor_of(0)->next_due;
}

kern_return_t sample_clock_start(uint32_t hz, uint32_t flags, uint32_t seed)
{
	if (hz > ASSAY_SAMPLE_HZ_MAX || (flags & ~ALL_FLAGS) != 0)
		return KERN_INVALID_ARGUMENT;
	sample_clock_stop();
	if (hz == 0)
		return KERN_SUCCESS;
	schedule_set(NS_PER_SECOND / hz, flags, seed);
	machine_sample_timer_route(flags & ASSAY_SAMPLE_NMI ? SAMPLE_BY_NMI : SAMPLE_BY_IRQ);
	/* Before arming: an interrupt that found the clock stopped would not arm the next. */
	__atomic_store_n(&schedule.running, 1, __ATOMIC_SEQ_CST);
	arm();
	return KERN_SUCCESS;
}

kern_return_t sample_clock_read(uint32_t cpu, struct assay_sample_counts *counts)
{
	const struct sample_cursor *cursor;
	uint32_t sequence;

	if (cpu >= cpu_count())
		return KERN_INVALID_ARGUMENT;
	cursor = cpu_sample_cursor_of(cpu);
	for (;;) {
		sequence = __atomic_load_n(&cursor->sequence, __ATOMIC_ACQUIRE);
		*counts = cursor->counts;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if ((sequence & 1) == 0 &&
		    __atomic_load_n(&cursor->sequence, __ATOMIC_RELAXED) == sequence)
			break;
		machine_relax();
	}
	assert(counts->due == counts->fired + counts->missed);
	return KERN_SUCCESS;
}
