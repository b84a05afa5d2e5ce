/* SPDX-License-Identifier: MIT */
/*
 * Counting calls by label: see follow.h.
 *
 * Labels with counters of their own are in a small table, looked up wherever a label is set; all
 * other labels are one, `others`.  The table changes under the kernel lock and grows by one entry
 * at a time, so that an interrupt handler may look at any moment.
 */
#include "i386/patch/follow.h"

#include <stddef.h>

#include <mach/calls.h>

#include "base/assert.h"
#include "base/string.h"
#include "device/interrupt.h"
#include "i386/cpu/frame.h"
#include "i386/cpu/vectors.h"
#include "i386/entry/entry.h"
#include "i386/patch/counters.h"
#include "i386/patch/hold.h"
#include "i386/patch/label_site.h"
#include "i386/patch/text.h"
#include "prof/requests.h"
#include "task/traps.h"
#include "thread/cpu_state.h"
#include "thread/work.h"

/* A power of two, twice as many as there can be labels. */
#define SLOTS (2u * HOST_CALLS_LABELS)

#define CALL_SIZE 5u

struct slot {
	uint32_t label;
	struct machine_call_counters *counters; /* NULL: free. */
};

static struct slot slots[SLOTS];
static struct machine_call_counters *others;
bool follow_is_on; /* Set and cleared while the other CPUs are held. */

_Static_assert(offsetof(struct thread, label) == THREAD_LABEL, "label_site.h");

extern const struct label_site label_sites[], label_sites_end[];

/* stand_in.S */
void interrupt_apart(struct frame *frame);
void interrupt_work_apart(void);
TRAP_ABI mach_msg_return_t mach_msg_apart(struct mach_msg_words words);

/* ---------------- Whose ---------------- */

static struct slot *follow_slot_of(uint32_t label)
{
	uint32_t n = label % SLOTS;

	while (slots[n].counters != NULL && slots[n].label != label)
		n = (n + 1) % SLOTS;
	return &slots[n];
}

static struct machine_call_counters *follow_counters_of(uint32_t label)
{
	const struct slot *slot = follow_slot_of(label);

	return slot->counters != NULL ? slot->counters : others;
}

/*
 * Says for whom before it looks up whose that is: who adds a label in between, and has this CPU
 * held, has it look again.
 */
static __attribute__((noinline)) void follow_look_up(struct cpu *cpu, uint32_t label)
{
	struct machine_call_counters *counters;

	if (!follow_is_on)
		return;
	cpu->machine.counts_for = label;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	counters = follow_counters_of(label);
	if (cpu->machine.counts_in != counters)
		counters_show(cpu, counters);
}

static inline void follow_show(struct cpu *cpu, uint32_t label)
{
	if (cpu->machine.counts_for != label)
		follow_look_up(cpu, label);
}

/* ---------------- What stands in ---------------- */

/* For whom the running thread works now. */
void follow_label(void)
{
	struct cpu *cpu = cpu_self();

	follow_show(cpu, cpu->thread->label);
}

/* For whom it counted until now: follow_end_event() wants to know. */
static uint32_t follow_begin_event(struct cpu *cpu, uint32_t label)
{
	uint32_t before = cpu->machine.counts_for;

	cpu->machine.event_depth++;
	follow_show(cpu, label);
	return before;
}

uint32_t follow_begin_interrupt(uint32_t vector)
{
	uint32_t number = vector - VECTOR_DEVICE;

	return follow_begin_event(cpu_self(), number < VECTOR_DEVICES
						      ? device_interrupt_label(number)
						      : HOST_CALLS_SYSTEM);
}

/*
 * What an interrupt has left to do, and does itself on its way out, is for whom the interrupt was,
 * unless there is anything that nobody has asked for.
 */
uint32_t follow_begin_work(void)
{
	struct cpu *cpu = cpu_self();

	if (cpu->machine.event_depth == 0 || (cpu->work & (WORK_TICK | WORK_SAMPLE)) != 0)
		return follow_begin_event(cpu, HOST_CALLS_SYSTEM);
	cpu->machine.event_depth++;
	return cpu->machine.counts_for;
}

/* Of an event in an event, as before that; else whose turn it is may be another's meanwhile. */
void follow_end_event(uint32_t before)
{
	struct cpu *cpu = cpu_self();

	if (cpu->machine.event_depth <= 1)
		before = cpu->thread->label;
	follow_show(cpu, before);
	if (cpu->machine.event_depth > 0)
		cpu->machine.event_depth--;
}

/*
 * interrupt() has come back.  From user mode it may have run other threads before this one; what is
 * shown then is a matter of this one's label.
 */
void follow_end_interrupt(const struct frame *frame, uint32_t before)
{
	if (!frame_is_user(frame)) {
		follow_end_event(before);
		return;
	}
	cpu_self()->machine.event_depth = 0;
	follow_label();
}

/* The CPU is about to run another one: and comes here at the next switch, too. */
void follow_other_thread(void)
{
	struct cpu *cpu = cpu_self();

	cpu->machine.apart = FOLLOWS_ALL;
	cpu->machine.event_depth = 0;
	follow_show(cpu, cpu->thread->label);
}

uint32_t follow_stand_in(uint32_t function)
{
	if (function == (uint32_t)interrupt)
		return (uint32_t)interrupt_apart;
	if (function == (uint32_t)trap_mach_msg && requests_are_wanted())
		return (uint32_t)mach_msg_apart;
	return function == (uint32_t)interrupt_work ? (uint32_t)interrupt_work_apart : function;
}

uint32_t follow_original(uint32_t function)
{
	if (function == (uint32_t)interrupt_apart)
		return (uint32_t)interrupt;
	if (function == (uint32_t)mach_msg_apart)
		return (uint32_t)trap_mach_msg;
	return function == (uint32_t)interrupt_work_apart ? (uint32_t)interrupt_work : function;
}

/* ---------------- The whole ---------------- */

void follow_nobody(struct machine_call_counters *counters)
{
	others = counters;
	for (uint32_t n = 0; n < n_cpus; n++)
		counters_show(&cpus[n], counters);
	counters_tell();
}

void follow_add(uint32_t label, struct machine_call_counters *counters)
{
	struct slot *slot = follow_slot_of(label);

	assert(slot->counters == NULL);
	slot->label = label;
	__atomic_store_n(&slot->counters, counters, __ATOMIC_RELEASE);
}

/* At a label site: a call of `distance`, and a nop of one byte. */
#define CALL_FIRST(distance) (0xe8 | (distance) << 8)
#define CALL_REST(distance)  ((distance) >> 8 | 0x90u << 24)

/* Its last four bytes begin in the midst of the first four. */
#define REST (LABEL_SITE_SIZE - sizeof(uint32_t))

static void follow_write_site(const struct label_site *site, uint32_t first, uint32_t rest)
{
	text_write(site->address, first);
	text_write(site->address + REST, rest);
}

static void follow_call_at_sites(void)
{
	for (const struct label_site *site = label_sites; site < label_sites_end; site++) {
		uint32_t distance = label_site_stub(site) - (site->address + CALL_SIZE);

		follow_write_site(site, CALL_FIRST(distance), CALL_REST(distance));
	}
}

/* The stub begins with what stood there. */
static void follow_store_at_sites(void)
{
	for (const struct label_site *site = label_sites; site < label_sites_end; site++) {
		uint32_t stub = label_site_stub(site);
		const struct unaligned *first = (const struct unaligned *)stub;
		const struct unaligned *rest = (const struct unaligned *)(stub + REST);

		follow_write_site(site, first->word, rest->word);
	}
}

void follow_begin(void)
{
	hold_begin();
	follow_call_at_sites();
	for (uint32_t n = 0; n < n_cpus; n++) {
		cpus[n].machine.event_depth = 0;
		cpus[n].machine.counts_for = HOST_CALLS_OTHERS;
		cpus[n].machine.apart = FOLLOWS_ALL;
	}
	follow_is_on = true;
	hold_end();
}

/*
 * A CPU may be held between looking up its label and showing what it has found: one that is not in
 * an event, where it comes back to what it counted for, looks it up again at the next occasion.
 */
static void follow_refresh_cpu(struct cpu *cpu)
{
	if (cpu->machine.event_depth > 0) {
		follow_look_up(cpu, cpu->machine.counts_for);
		return;
	}
	follow_look_up(cpu, cpu->thread->label);
	cpu->machine.counts_for = HOST_CALLS_OTHERS;
}

void follow_refresh(void)
{
	hold_begin();
	for (uint32_t n = 0; n < n_cpus; n++)
		follow_refresh_cpu(&cpus[n]);
	hold_end();
	counters_tell();
}

/*
 * Nobody is shown anything else afterwards: who is in the midst of it has interrupts off, or the
 * kernel lock, and other CPUs are told with interrupts on.
 */
void follow_end(void)
{
	hold_begin();
	follow_store_at_sites();
	for (uint32_t n = 0; n < n_cpus; n++)
		cpus[n].machine.apart = cpus[n].thread->machine.apart;
	follow_is_on = false;
	hold_end();
	counters_tell();
	memset(slots, 0, sizeof slots);
}
