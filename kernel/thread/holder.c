/* SPDX-License-Identifier: MIT */
/*
 * Who executes: see holder.h.
 *
 * No lock guards this: notes are made in NMIs.  One CPU executes at a time, and loses its turn
 * between any two instructions at most.  Each word has one meaning by itself, and a moment is ended
 * by one compare and exchange.
 */
#include "thread/holder.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/machine.h"
#include "thread/cpu_state.h"
#include "thread/sched.h"
#include "thread/tick.h"

/* Whoever noted last that it has the turn, or was said to be next. */
static uint32_t holder;

#define PENDING (HOLDER_NOBODY - 1) /* The moment is still to come, as far as anybody noted. */

static struct {
	uint32_t cycles; /* When it is: the lower half. */
	uint32_t holder; /* PENDING, who it was, or HOLDER_NOBODY. */
} moments[HOLDER_MOMENTS] = {{.holder = HOLDER_NOBODY}, {.holder = HOLDER_NOBODY}};

/* By each CPU itself, the second by whoever gave it its turn. */
static struct {
	bool halts;
	uint32_t given; /* The number of the last turn that it was given up to a shot. */
} each[MAX_CPUS];

static uint32_t turns_given;

void holder_start(void)
{
	cpus_in_turn = n_cpus > 1 && machine_runs_cpus_in_turn();
	if (!cpus_in_turn)
		return;
	klog("cpus: in turn, as the emulator has one clock of instructions for all of them: "
	     "who has not the turn is neither sampled nor charged\n");
	sched_charges_apart++;
	tick_share_from_now_on();
}

/* ---------------- Moments ---------------- */

/* Ends the moment if it has passed: until now `before` held the turn. */
static inline void holder_end_if_past(enum holder_moment moment, uint32_t now, uint32_t before)
{
	uint32_t pending = PENDING;

	if (__atomic_load_n(&moments[moment].holder, __ATOMIC_RELAXED) == PENDING &&
	    (int32_t)(now - moments[moment].cycles) >= 0)
		__atomic_compare_exchange_n(&moments[moment].holder, &pending, before, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/*
 * The clock is read after the exchange: whoever is interrupted in between as it notes that it has
 * the turn has held it till then.  Who passes it on names the next some twenty instructions early.
 */
static void holder_change(uint32_t to)
{
	uint32_t before = __atomic_exchange_n(&holder, to, __ATOMIC_SEQ_CST);
	uint32_t now = (uint32_t)machine_cycles();

	holder_end_if_past(HOLDER_AT_SHOT, now, before);
	holder_end_if_past(HOLDER_AT_TICK, now, before);
}

void holder_watch(enum holder_moment moment, uint64_t cycles)
{
	__atomic_store_n(&moments[moment].cycles, (uint32_t)cycles, __ATOMIC_RELAXED);
	__atomic_store_n(&moments[moment].holder, PENDING, __ATOMIC_SEQ_CST);
}

uint32_t holder_take(enum holder_moment moment)
{
	uint32_t who = __atomic_load_n(&moments[moment].holder, __ATOMIC_SEQ_CST);

	if (who >= PENDING)
		return HOLDER_NOBODY;
	if (!__atomic_compare_exchange_n(&moments[moment].holder, &who, HOLDER_NOBODY, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return HOLDER_NOBODY;
	assert(who < n_cpus);
	return who;
}

uint32_t holder_moment(enum holder_moment moment)
{
	return __atomic_load_n(&moments[moment].cycles, __ATOMIC_RELAXED);
}

/* ---------------- Turns ---------------- */

/* Whoever has work is about to be woken, or is awake already. */
static inline bool holder_is_halted(uint32_t cpu)
{
	return each[cpu].halts && __atomic_load_n(&cpus[cpu].work, __ATOMIC_RELAXED) == 0;
}

/* The next in the order of their numbers that does not halt; this one, if all others do. */
static uint32_t holder_next_of(uint32_t cpu)
{
	uint32_t next = cpu;

	do
		next = next + 1 < n_cpus ? next + 1 : 0;
	while (next != cpu && holder_is_halted(next));
	return next;
}

void holder_note(void)
{
	holder_change(cpu_number());
}

void holder_pass(void)
{
	holder_change(holder_next_of(cpu_number()));
}

void holder_halts(void)
{
	each[cpu_number()].halts = true;
	holder_pass();
}

void holder_wakes(void)
{
	each[cpu_number()].halts = false;
	holder_note();
}

void holder_pause(void)
{
	holder_pass();
	machine_pause();
	holder_note();
}

bool holder_next_is_first(void)
{
	uint32_t next = holder_next_of(cpu_number());

	for (uint32_t n = 0; n < n_cpus; n++)
		if ((int32_t)(each[n].given - each[next].given) < 0 && !holder_is_halted(n))
			return false;
	return true;
}

void holder_give(void)
{
	each[holder_next_of(cpu_number())].given = ++turns_given;
	holder_pass();
}
