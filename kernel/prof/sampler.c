/* SPDX-License-Identifier: MIT */
/*
 * The sampling interrupt: what is due, whose it is, and the next shot of the timer.
 *
 * The timer is one shot, sent to all CPUs.  An interrupt is only a hint to look at the clock: it
 * may come early (the timer's steps for long intervals), late, twice, or once for several due
 * times, on any CPU before any other.  What has come due is decided by the time stamp counter and
 * this CPU's cursors alone.  All times here are in cycles; whoever reads a sample makes nanoseconds
 * of them.
 *
 * Slots come and go while it runs.  The interrupt may be an NMI, so no lock can keep it out.  Each
 * CPU has a sequence number, odd while its interrupt is inside.  The interrupt makes it odd and
 * then goes through its list of cursors; sampler_end() takes a slot's cursors off the lists and
 * then looks at every sequence number until it has seen each even once.  Both sides put a full
 * fence between their store and their load, so at least one of them sees the other: an interrupt
 * either does not find the cursor, or is waited for.  The wait is bounded by the length of one
 * interrupt, which waits for nobody.  After it the slot's cursors are the caller's alone.  Nothing
 * else stops for that: the other slots' cursors say when they are due, whoever looks when.
 *
 * The same number makes reading consistent: a copy is good if the number was even and the same
 * before and after it.  64-bit counts cannot be seen half written.
 */
#include "prof/sampler.h"

#include "kern/assert.h"
#include "kern/cpu.h"
#include "kern/machine.h"
#include "prof/sampler_cpu.h"

/*
 * Due times taken in one interrupt.  After a long absence (a debugger held the machine) the rest
 * waits for the next interrupt, so that none is long; those taken before it all count as missed.
 */
#define DUE_AT_ONCE 1000

uint32_t sampler_max_ahead;

/* ---------------- The timer ---------------- */

/*
 * Programming the timer takes two stores to ports, by one CPU at a time: the one that made `busy`
 * true.  The others are written by it and read by all.
 */
static struct {
	uint32_t busy;
	uint32_t wanted;
	uint32_t until; /* When the last shot comes: the low half of the time. */
	uint32_t by;    /* The CPU that armed it. */
	uint32_t shots; /* How many there were. */
} timer;

/* The less of `ahead` and how far ahead something is due, which has not come yet. */
static inline uint32_t sooner(uint64_t wait, uint32_t ahead)
{
	return wait >> 32 == 0 && (uint32_t)wait < ahead ? (uint32_t)wait : ahead;
}

/* How far ahead the next due time of any slot is on this CPU; 0: it has come. */
static uint32_t next_ahead(const struct sampler_cpu *cpu, uint64_t now)
{
	uint32_t ahead = sampler_max_ahead;

	for (const struct sampler_cursor *cursor = cpu->first; cursor != NULL;
	     cursor = cursor->next)
		ahead = cursor->due <= now ? 0 : sooner(cursor->due - now, ahead);
	return ahead;
}

static void program(uint32_t ahead, uint64_t now)
{
	timer.until = (uint32_t)now + ahead;
	timer.by = cpu_number();
	timer.shots++;
	machine_sample_timer_arm(ahead);
}

/*
 * Arms the timer.  Another CPU, or on this one an NMI, may come while somebody is in the middle of
 * programming it, and cannot wait; so whoever finds the timer busy leaves word and goes, and
 * whoever is busy with it does it again, for what is due next as it is then.  (For what it began
 * with, it would arm in the past, and the interrupt would find it busy again, for ever on a slow
 * emulator.)  If it reads a due time that is half written, then word is left after it and the next
 * turn arms for the whole one.
 */
static void arm(const struct sampler_cpu *cpu, uint32_t ahead, uint64_t now)
{
	__atomic_store_n(&timer.wanted, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_exchange_n(&timer.busy, 1, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&timer.wanted, 0, __ATOMIC_SEQ_CST);
		program(ahead, now);
		__atomic_store_n(&timer.busy, 0, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&timer.wanted, __ATOMIC_SEQ_CST))
			return;
		now = machine_cycles();
		ahead = next_ahead(cpu, now);
	}
}

void sampler_arm(void)
{
	uint64_t now = machine_cycles();
	const struct sampler_cpu *cpu = cpu_sampler();

	arm(cpu, next_ahead(cpu, now), now);
}

/* Whether somebody has armed the timer since the shot that was served at `now`. */
static bool is_armed(uint64_t now)
{
	return (int32_t)(__atomic_load_n(&timer.until, __ATOMIC_RELAXED) - (uint32_t)now) > 0;
}

/*
 * An emulator may run the CPUs in turn, in one thread, and give up a CPU's turn when it programs a
 * timer; the next CPU then has it until the timer is due.  So who arms must be another CPU from
 * shot to shot, or that one would never come to do anything else; and all CPUs must have had their
 * interrupt before somebody arms, or the rest would have theirs late.  On a machine whose CPUs all
 * run this is two instructions of no effect.
 */
static void take_turns(uint64_t now)
{
	bool last = timer.shots % cpu_count() == cpu_number();

	for (int turn = last ? 1 : 0; turn < 2 && !is_armed(now); turn++)
		machine_relax();
}

/*
 * With several CPUs somebody has to arm the next shot: whoever comes first, and who armed the last
 * in any case, for its interrupt may be an early one, and nobody else would know.
 */
static __attribute__((noinline)) void arm_shared(const struct sampler_cpu *cpu, uint32_t ahead,
						 uint64_t now)
{
	bool early = timer.by == cpu_number() && is_armed(now);

	if (!early) {
		take_turns(now);
		if (is_armed(now))
			return;
	}
	arm(cpu, ahead, now);
}

/* The only CPU's interrupt is not interrupted here (sampler_interrupt()), so it needs no turn. */
static inline void arm_next(const struct sampler_cpu *cpu, uint32_t ahead, uint64_t now)
{
	if (cpu_count() > 1)
		arm_shared(cpu, ahead, now);
	else if (timer.busy != 0)
		timer.wanted = 1;
	else
		machine_sample_timer_arm(ahead);
}

/* ---------------- Samples ---------------- */

/* The kernel's frames; the sample's words with them. */
static __attribute__((noinline)) uint32_t add_stack(struct prof_sample *sample,
						    const struct frame *frame, uint32_t depth)
{
	bool cut = false;
	uint32_t n = 0;

	if (sample->kernel_pc != 0)
		n = machine_kernel_stack(frame, sample->frames, depth, &cut);
	sample->kernel_frames = (uint8_t)n;
	if (cut)
		sample->flags |= PROF_STACK_CUT;
	/* The user's are read before the thread goes on in user mode. */
	if ((sample->flags & PROF_NO_USER_PC) == 0)
		machine_sample_work();
	sample->record.words = (uint16_t)(RING_SAMPLE_WORDS + n);
	return RING_SAMPLE_WORDS + n;
}

/* The ring has no room that is known of: it wants to be read, and perhaps has been. */
static __attribute__((noinline)) bool make_room(struct ring *ring, uint32_t words)
{
	machine_sample_work();
	return ring_make_room(ring, words);
}

/* In the ring, `reserved` says which slot's it is, and the time is in cycles. */
static inline void write_sample(struct ring *ring, const struct sampler_cursor *cursor,
				const struct frame *frame, const struct machine_place *place,
				uint64_t now)
{
	struct prof_sample *sample = (struct prof_sample *)ring->next;

	sample->record = (struct prof_record){
		.words = RING_SAMPLE_WORDS,
		.type = PROF_SAMPLE,
		.version = PROF_VERSION,
	};
	sample->pc = place->pc;
	sample->kernel_pc = place->kernel_pc;
	sample->thread = place->who[SAMPLER_WHO_THREAD];
	sample->task = place->who[SAMPLER_WHO_TASK];
	sample->label = place->who[SAMPLER_WHO_LABEL];
	sampler_set_kind(sample, cursor->kind | place->flags << SAMPLER_FLAGS_SHIFT);
	sampler_set_slot(sample, cursor->slot);
	sample->time[0] = (uint32_t)now;
	sample->time[1] = (uint32_t)(now >> 32);
	if (cursor->depth == 0)
		ring_commit(ring, RING_SAMPLE_WORDS);
	else
		ring_commit(ring, add_stack(sample, frame, cursor->depth));
}

/* A due time has fired: whose is what this CPU was found doing? */
static inline __attribute__((always_inline)) void
take(struct sampler_cpu *cpu, struct sampler_cursor *cursor, const struct frame *frame,
     const struct machine_place *place, uint64_t now)
{
	cursor->counts.fired++;
	if (place->who == NULL) {
		cursor->counts.idle++;
		return;
	}
	if (((place->who[cursor->who] ^ cursor->id) & cursor->mask) != 0) {
		cursor->counts.elsewhere++;
		return;
	}
	cursor->counts.taken++;
	if (!ring_has_room(&cpu->ring, cursor->room) && !make_room(&cpu->ring, cursor->room)) {
		cursor->counts.ring_lost++;
		return;
	}
	cursor->counts.ringed++;
	write_sample(&cpu->ring, cursor, frame, place, now);
}

/* ---------------- The interrupt ---------------- */

/*
 * Takes a slot's due times that have come: the last one fired, those before it were missed.
 * Returns how far ahead the next is, but at most `ahead`.
 */
static inline __attribute__((always_inline)) uint32_t
serve_slot(struct sampler_cpu *cpu, struct sampler_cursor *cursor, const struct frame *frame,
	   const struct machine_place *place, uint64_t now, uint32_t ahead)
{
	int64_t wait = (int64_t)(cursor->due - now);
	unsigned missed = 0;

	while (wait <= 0) {
		cursor->counts.due++;
		wait += (int64_t)schedule_interval(&cursor->schedule);
		cursor->due = now + (uint64_t)wait;
		if (wait > 0) {
			take(cpu, cursor, frame, place, now);
			break;
		}
		cursor->counts.missed++;
		if (++missed == DUE_AT_ONCE)
			return 0;
	}
	return sooner((uint64_t)wait, ahead);
}

static inline __attribute__((always_inline)) void
serve(struct sampler_cpu *cpu, const struct frame *frame, const struct machine_place *place)
{
	uint64_t now = machine_cycles();
	uint32_t ahead = sampler_max_ahead;
	struct sampler_cursor *cursor = cpu->first;

	do {
		ahead = serve_slot(cpu, cursor, frame, place, now, ahead);
		cursor = cursor->next;
	} while (cursor != NULL);
	arm_next(cpu, ahead, now);
}

/* The same twice: what is known of a place in user mode makes its half quicker. */
static __attribute__((noinline)) void serve_kernel(struct sampler_cpu *cpu,
						   const struct frame *frame)
{
	struct machine_place place;

	machine_find_kernel_place(frame, &place);
	serve(cpu, frame, &place);
}

static inline void serve_user(struct sampler_cpu *cpu, const struct frame *frame)
{
	struct machine_place place;

	machine_find_user_place(frame, &place);
	serve(cpu, frame, &place);
}

/*
 * An NMI can find this CPU inside the handler: that of an interrupt from before the clock's
 * interrupts were made NMIs.  It leaves at once, and the handler below it looks again when it is
 * through, for what the NMI was about.  The same is true between looking at the number and making
 * it odd: an NMI there is over, and the number even again, before the handler goes on.
 */
void sampler_interrupt(const struct frame *frame)
{
	struct sampler_cpu *cpu = cpu_sampler();

	if ((cpu->sequence & 1) != 0) {
		cpu->again = 1;
		return;
	}
	for (;;) {
		/* A full fence, before the list is looked at. */
		__atomic_fetch_add(&cpu->sequence, 1, __ATOMIC_SEQ_CST);
		if (cpu->first != NULL) {
			if (machine_is_user(frame))
				serve_user(cpu, frame);
			else
				serve_kernel(cpu, frame);
		}
		__atomic_thread_fence(__ATOMIC_RELEASE);
		cpu->sequence++;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (__builtin_expect(cpu->again == 0, 1))
			return;
		cpu->again = 0;
	}
}
