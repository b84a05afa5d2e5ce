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
 * before and after it.  Numbers that change together cannot be seen apart.
 *
 * What few samples need is not inlined, here, in sampler_drain.c and in i386/sample: if it is, each
 * sample takes 4 instructions more, and one with 16 frames 27 (tools/bench sample sample-stack).
 */
#include "prof/sampler.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "base/machine.h"
#include "prof/sampler_cpu.h"
#include "thread/holder.h"

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
} timer;

/* The less of `ahead` and how far ahead something is due, which has not come yet. */
static inline uint32_t sampler_sooner(uint64_t wait, uint32_t ahead)
{
	return wait >> 32 == 0 && (uint32_t)wait < ahead ? (uint32_t)wait : ahead;
}

/* How far ahead the next due time of any slot is on this CPU; 0: it has come. */
static uint32_t sampler_next_ahead(const struct sampler_cpu *cpu, uint64_t now)
{
	uint32_t ahead = sampler_max_ahead;

	for (const struct sampler_cursor *cursor = cpu->first; cursor != NULL;
	     cursor = cursor->next)
		ahead = cursor->due <= now ? 0 : sampler_sooner(cursor->due - now, ahead);
	return ahead;
}

static void sampler_program(uint32_t ahead, uint64_t now)
{
	timer.until = (uint32_t)now + ahead;
	timer.by = cpu_number();
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
static void sampler_arm_timer(const struct sampler_cpu *cpu, uint32_t ahead, uint64_t now)
{
	__atomic_store_n(&timer.wanted, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_exchange_n(&timer.busy, 1, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&timer.wanted, 0, __ATOMIC_SEQ_CST);
		sampler_program(ahead, now);
		__atomic_store_n(&timer.busy, 0, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&timer.wanted, __ATOMIC_SEQ_CST))
			return;
		now = machine_cycles();
		ahead = sampler_next_ahead(cpu, now);
	}
}

/*
 * A shot that comes soon may take the turn from a CPU that is in the midst of what all wait for: of
 * sharing out what the shot before it brought, or of arming.  All others come to their interrupts
 * then.  If they went on nobody would arm the next shot until that CPU had its turn again, perhaps
 * by the next tick.  So they let it come to its turn, which it does within a round but for other
 * timers' being due.
 */
#define AWAY_ROUNDS 4

/*
 * As sampler_arm_timer(), where the CPUs run in turn, with CPU 0's cursors.  The last store to the
 * timer takes the turn away, perhaps for long: all is in order before it.  A timer's being due
 * between the last two lines before it could let another CPU store in the midst of this; then a
 * shot comes at a wrong time, and those after it as they are due.
 */
static void sampler_program_in_turn(void)
{
	uint64_t now = machine_cycles();
	uint32_t ahead = sampler_next_ahead(cpu_sampler_of(0), now), rest;

	timer.until = (uint32_t)now + ahead;
	timer.by = cpu_number();
	rest = machine_sample_timer_begin(ahead);
	holder_give();
	holder_watch(HOLDER_AT_SHOT, machine_cycles() + machine_sample_timer_least(ahead));
	__atomic_store_n(&timer.busy, 0, __ATOMIC_SEQ_CST);
	machine_sample_timer_end(rest);
	holder_note();
}

static void sampler_arm_in_turn(void)
{
	__atomic_store_n(&timer.wanted, 1, __ATOMIC_SEQ_CST);
	for (unsigned n = 0; n < AWAY_ROUNDS; n++) {
		while (!__atomic_exchange_n(&timer.busy, 1, __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&timer.wanted, 0, __ATOMIC_SEQ_CST);
			sampler_program_in_turn();
			if (!__atomic_load_n(&timer.wanted, __ATOMIC_SEQ_CST))
				return;
		}
		machine_relax();
		if (!__atomic_load_n(&timer.wanted, __ATOMIC_SEQ_CST))
			return;
	}
}

static void sampler_arm_here(void)
{
	uint64_t now = machine_cycles();
	const struct sampler_cpu *cpu = cpu_sampler();

	sampler_arm_timer(cpu, sampler_next_ahead(cpu, now), now);
}

void sampler_arm(void)
{
	if (cpus_in_turn)
		sampler_arm_in_turn();
	else
		sampler_arm_here();
}

/* Whether somebody has armed the timer since the shot that was served at `now`. */
static bool sampler_is_armed(uint64_t now)
{
	return (int32_t)(__atomic_load_n(&timer.until, __ATOMIC_RELAXED) - (uint32_t)now) > 0;
}

/*
 * With several CPUs somebody has to arm the next shot: whoever comes first, and who armed the last
 * in any case, for its interrupt may be an early one, and nobody else would know.
 */
static __attribute__((noinline)) void sampler_arm_shared(const struct sampler_cpu *cpu,
							 uint32_t ahead, uint64_t now)
{
	if (!sampler_is_armed(now) || timer.by == cpu_number())
		sampler_arm_timer(cpu, ahead, now);
}

/* The only CPU's interrupt is not interrupted here (sampler_interrupt()), so it needs no turn. */
static inline void sampler_arm_next(const struct sampler_cpu *cpu, uint32_t ahead, uint64_t now)
{
	if (cpu_count() > 1)
		sampler_arm_shared(cpu, ahead, now);
	else if (timer.busy != 0)
		timer.wanted = 1;
	else
		machine_sample_timer_arm(ahead);
}

/* ---------------- Samples ---------------- */

static __attribute__((noinline)) void
sampler_add_user_stack(struct prof_sample *sample, const struct frame *frame, uint32_t depth)
{
	bool cut;

	sample->user_frames = (uint8_t)machine_user_stack(frame, sample->frames, depth, &cut);
	sample->record.words = (uint16_t)(RING_SAMPLE_WORDS + sample->user_frames);
	sample->flags = cut ? PROF_STACK_CUT : 0;
}

/* The user's frames are read before the thread goes on in user mode; there is room for them. */
static __attribute__((noinline)) void
sampler_add_kernel_stack(struct prof_sample *sample, const struct frame *frame, uint32_t depth)
{
	bool cut;

	sample->kernel_frames = (uint8_t)machine_kernel_stack(frame, sample->frames, depth, &cut);
	sample->record.words = (uint16_t)(RING_SAMPLE_WORDS + sample->kernel_frames);
	if (cut)
		sample->flags |= PROF_STACK_CUT;
	if ((sample->flags & PROF_NO_USER_PC) == 0) {
		sample->record.words = (uint16_t)(sample->record.words + depth);
		machine_sample_work();
	}
}

/* The ring has no room that is known of: it wants to be read, and perhaps has been. */
static __attribute__((noinline)) bool sampler_make_room(struct ring *ring, uint32_t words)
{
	machine_sample_work();
	return ring_make_room(ring, words);
}

static inline void sampler_write_time(struct prof_sample *sample, uint64_t now)
{
	sample->time[0] = (uint32_t)now;
	sample->time[1] = (uint32_t)(now >> 32);
}

static inline void sampler_write_place(struct prof_sample *sample,
				       const struct sampler_cursor *cursor,
				       const struct machine_place *place)
{
	sample->pc = place->pc;
	sample->record = cursor->record;
	sample->kernel_pc = place->kernel_pc;
	sample->thread = place->who[SAMPLER_WHO_THREAD];
	sample->task = place->who[SAMPLER_WHO_TASK];
	sample->label = place->who[SAMPLER_WHO_LABEL];
	sample->kind[0] = cursor->kind[0] | place->flags << PROF_FLAGS_SHIFT;
	sample->kind[1] = cursor->kind[1];
}

/* The sample at the ring's end, with the frames of what was interrupted if they are asked for. */
static inline void sampler_commit(struct sampler_cpu *cpu, const struct sampler_cursor *cursor,
				  const struct frame *frame, bool user)
{
	struct prof_sample *sample = (struct prof_sample *)cpu->ring.next;
	uint32_t words = RING_SAMPLE_WORDS;

	if (cursor->depth != 0) {
		if (user)
			sampler_add_user_stack(sample, frame, cursor->depth);
		else
			sampler_add_kernel_stack(sample, frame, cursor->depth);
		words = sample->record.words;
	}
	ring_commit(&cpu->ring, words);
}

/* Whether what the CPU was found doing is the slot's. */
static inline bool sampler_is_target(const struct sampler_cursor *cursor,
				     const struct machine_place *place)
{
	return ((place->who[cursor->who] ^ cursor->id) & cursor->mask) == 0;
}

/* A due time has fired: whose is what this CPU was found doing? */
static inline __attribute__((always_inline)) void
sampler_take(struct sampler_cpu *cpu, struct sampler_cursor *cursor, const struct frame *frame,
	     const struct machine_place *place, uint64_t now)
{
	struct prof_sample *sample;

	if (place->who == NULL) {
		cursor->idle++;
	} else if (!sampler_is_target(cursor, place)) {
		cursor->elsewhere++;
	} else if (!ring_has_room(&cpu->ring, cursor->room) &&
		   !sampler_make_room(&cpu->ring, cursor->room)) {
		cursor->ring_lost++;
	} else {
		cursor->ringed++;
		sample = (struct prof_sample *)cpu->ring.next;
		sampler_write_place(sample, cursor, place);
		sampler_write_time(sample, now);
		sampler_commit(cpu, cursor, frame, place->kernel_pc == 0);
		/* Its clients' frames are read before it can answer them. */
		if (cursor->clients && sample->label != sample->task)
			machine_sample_work();
	}
}

/* ---------------- Due times ---------------- */

/* The cursor's numbers go into its counts before one can be too large for its 32 bits. */
static __attribute__((noinline)) void sampler_fold(struct sampler_cursor *cursor)
{
	cursor->counts = sampler_own_sum(cursor);
	cursor->left = SAMPLER_FOLD;
	cursor->missed = 0;
	cursor->idle = 0;
	cursor->elsewhere = 0;
	cursor->ringed = 0;
	cursor->ring_lost = 0;
}

/* A due time has come; what becomes of it is counted next. */
static inline void sampler_count_due(struct sampler_cursor *cursor)
{
	if (__builtin_expect(--cursor->left == 0, 0))
		sampler_fold(cursor);
}

/*
 * Takes a slot's due times that have come: the last one fired, those before it were missed.
 * Returns how far ahead the next is, but at most `ahead`.
 */
static inline __attribute__((always_inline)) uint32_t
sampler_serve_slot(struct sampler_cpu *cpu, struct sampler_cursor *cursor,
		   const struct frame *frame, const struct machine_place *place, uint64_t now,
		   uint32_t ahead)
{
	int64_t wait = (int64_t)(cursor->due - now);
	unsigned missed = 0;

	while (wait <= 0) {
		sampler_count_due(cursor);
		wait += (int64_t)schedule_interval(&cursor->schedule);
		cursor->due = now + (uint64_t)wait;
		if (wait > 0) {
			sampler_take(cpu, cursor, frame, place, now);
			break;
		}
		cursor->missed++;
		if (++missed == SAMPLER_DUE_AT_ONCE)
			return 0;
	}
	return sampler_sooner((uint64_t)wait, ahead);
}

static inline __attribute__((always_inline)) void sampler_serve(struct sampler_cpu *cpu,
								struct sampler_cursor *cursor,
								const struct frame *frame,
								const struct machine_place *place)
{
	uint64_t now = machine_cycles();
	uint32_t ahead = sampler_max_ahead;

	do {
		ahead = sampler_serve_slot(cpu, cursor, frame, place, now, ahead);
		cursor = cursor->next;
	} while (cursor != NULL);
	sampler_arm_next(cpu, ahead, now);
}

static void sampler_find_place(const struct frame *frame, struct machine_place *place)
{
	if (machine_is_user(frame))
		machine_find_user_place(frame, place);
	else
		machine_find_kernel_place(frame, place);
}

/* ---------------- CPUs in turn ---------------- */

/* The due times at which this CPU executed: one fired, and if there are others they were missed. */
static void sampler_serve_owed(struct sampler_cpu *cpu, struct sampler_cursor *cursor,
			       const struct frame *frame, uint64_t now)
{
	uint32_t owed = __atomic_exchange_n(&cursor->owed, 0, __ATOMIC_SEQ_CST);
	struct machine_place place;

	sampler_find_place(frame, &place);
	for (uint32_t n = 0; n < owed; n++)
		sampler_count_due(cursor);
	cursor->missed += owed - 1;
	sampler_take(cpu, cursor, frame, &place, now);
}

/* Who goes on regardless would be found by what is owed to it where it is by then. */
static bool sampler_sharer_is_away(void)
{
	for (unsigned n = 0; sampler_is_sharing(); n++) {
		if (n == AWAY_ROUNDS)
			return true;
		machine_relax();
	}
	return false;
}

/*
 * The first CPU to come after a shot shares out what is due; each has what is its own of it.
 * Whoever finds the timer not armed is to arm it, and with that gives its turn to the next CPU.
 * That is to be the one that waited longest; if it is not, this one passes once, so that the CPU
 * before that one comes to arm.  It may come back after the next shot.  Who armed does so again if
 * an interrupt comes to it before its time, as above.
 */
static bool sampler_serve_shares(struct sampler_cpu *cpu, const struct frame *frame)
{
	for (unsigned turn = 0;; turn++) {
		uint64_t now = machine_cycles();

		sampler_share(now);
		if (sampler_sharer_is_away())
			return false;
		for (struct sampler_cursor *cursor = cpu->first; cursor != NULL;
		     cursor = cursor->next)
			if (cursor->owed != 0)
				sampler_serve_owed(cpu, cursor, frame, now);
		if (sampler_is_armed(now))
			return timer.by == cpu_number();
		if (turn != 0 || holder_next_is_first())
			return true;
		machine_relax();
	}
}

static __attribute__((noinline)) void sampler_serve_in_turn(struct sampler_cpu *cpu,
							    const struct frame *frame)
{
	holder_note();
	cpu->entered = machine_cycles();
	if (sampler_serve_shares(cpu, frame))
		sampler_arm_in_turn();
	cpu->left = machine_cycles();
}

/* ---------------- One schedule on one CPU ---------------- */

static inline uint32_t sampler_half_of(const uint64_t *value, unsigned half)
{
	return ((const uint32_t *)value)[half];
}

static inline uint32_t sampler_read_back(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/*
 * Shaped for speed, and the only function here that is: sampler_serve() for what is most frequent,
 * in 45 instructions less (tools/bench sample sample-traps).  There is an only schedule, of which
 * one due time has come in what is sampled, and the ring has room.  It does all of it, or nothing
 * and returns false.
 *
 * The sample is written before it is known whether it will be one, into what is free anyway, and
 * the time is read from there: then it needs no registers.  Times are compared by their lower
 * halves, where the upper ones are equal; the others are for sampler_serve().
 */
static inline __attribute__((always_inline)) bool
sampler_serve_quickly(struct sampler_cpu *cpu, const struct frame *frame,
		      const struct machine_place *place)
{
	struct sampler_cursor *cursor = cpu->only;
	struct prof_sample *sample = (struct prof_sample *)cpu->ring.next;
	uint32_t generator, interval, late, wait;

	if (!ring_has_room(&cpu->ring, cursor->room) || place->who == NULL ||
	    !sampler_is_target(cursor, place))
		return false;
	sampler_write_place(sample, cursor, place);
	sampler_write_time(sample, machine_cycles());
	if (sampler_read_back(&sample->time[1]) != sampler_half_of(&cursor->due, 1) ||
	    __builtin_sub_overflow(sampler_read_back(&sample->time[0]),
				   sampler_half_of(&cursor->due, 0), &late))
		return false;
	generator = schedule_next(&cursor->schedule);
	interval = schedule_more(&cursor->schedule, generator) + (uint32_t)cursor->schedule.least;
	if (__builtin_sub_overflow(interval, late, &wait))
		return false;
	cursor->schedule.generator = generator;
	cursor->due += interval;
	sampler_count_due(cursor);
	cursor->ringed++;
	sampler_commit(cpu, cursor, frame, place->kernel_pc == 0);
	machine_sample_timer_arm(wait);
	return true;
}

/* In user mode, where most samples are, it is done at once. */
static inline bool sampler_serve_user(struct sampler_cpu *cpu, const struct frame *frame)
{
	struct machine_place place;

	if (cpu->only == NULL || !machine_is_user(frame))
		return false;
	machine_find_user_place(frame, &place);
	return sampler_serve_quickly(cpu, frame, &place);
}

/* ---------------- The interrupt ---------------- */

/*
 * Whatever is due, wherever the interrupt came.  The list is looked at once: another CPU may take
 * the last cursor off it meanwhile, which stays what it was until this one has left.
 */
static __attribute__((noinline)) void sampler_serve_all(const struct frame *frame)
{
	struct sampler_cpu *cpu = cpu_sampler();
	struct sampler_cursor *first = __atomic_load_n(&cpu->first, __ATOMIC_RELAXED);
	struct machine_place place;

	if (first == NULL)
		return;
	if (cpus_in_turn) {
		sampler_serve_in_turn(cpu, frame);
		return;
	}
	sampler_find_place(frame, &place);
	if (cpu->only == NULL || place.kernel_pc == 0 || !sampler_serve_quickly(cpu, frame, &place))
		sampler_serve(cpu, first, frame, &place);
}

static __attribute__((noinline)) void sampler_look_again(const struct frame *frame)
{
	cpu_sampler()->again = 0;
	sampler_interrupt(frame);
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
	/* A full fence, before the list is looked at. */
	__atomic_fetch_add(&cpu->sequence, 1, __ATOMIC_SEQ_CST);
	if (!sampler_serve_user(cpu, frame))
		sampler_serve_all(frame);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	cpu->sequence++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (cpu->again != 0)
		sampler_look_again(frame);
}
