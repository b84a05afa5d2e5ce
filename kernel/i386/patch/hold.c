/* SPDX-License-Identifier: MIT */
/* Holding the other CPUs: see hold.h. */
#include "i386/patch/hold.h"

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/machine.h"
#include "i386/cpu/lapic.h"
#include "i386/entry/panic.h"
#include "thread/cpu_state.h"

/*
 * A sampling interrupt that is under way ends within far less, but an emulator's CPU may have to
 * wait for its host's.  Beyond that it is lost.
 */
#define PATIENCE_CYCLES 20000000000ull

/* How often CPUs were held; as long as they are, which time this is (0: they are not); by whom. */
static uint32_t rounds;
static uint32_t round;
static const struct cpu *holder;

/* What was read before its bytes changed is not executed after this. */
static inline void hold_serialize(void)
{
	cpuid(0);
}

static void hold_await(const struct cpu *cpu)
{
	uint64_t start = machine_cycles();

	while (__atomic_load_n(&cpu->machine.held_in, __ATOMIC_ACQUIRE) != round) {
		if (machine_cycles() - start > PATIENCE_CYCLES)
			panic("CPU %u does not answer an NMI", cpu->number);
		machine_relax();
	}
}

void hold_begin(void)
{
	const struct cpu *self = cpu_self();

	assert(kernel_locked() && round == 0);
	interrupts_off();
	holder = self;
	if (++rounds == 0)
		rounds = 1;
	__atomic_store_n(&round, rounds, __ATOMIC_SEQ_CST);
	for (uint32_t n = 0; n < n_cpus; n++)
		if (&cpus[n] != self)
			lapic_send_nmi(cpus[n].machine.apic_id);
	for (uint32_t n = 0; n < n_cpus; n++)
		if (&cpus[n] != self)
			hold_await(&cpus[n]);
}

void hold_end(void)
{
	assert(round != 0 && !interrupts_are_on());
	__atomic_store_n(&round, 0, __ATOMIC_SEQ_CST);
	hold_serialize();
	interrupts_on();
}

void hold_if_asked(void)
{
	uint32_t asked = __atomic_load_n(&round, __ATOMIC_ACQUIRE);

	if (__builtin_expect(asked == 0, 1) || holder == cpu_self())
		return;
	__atomic_store_n(&cpu_self()->machine.held_in, asked, __ATOMIC_RELEASE);
	while (__atomic_load_n(&round, __ATOMIC_ACQUIRE) == asked && !panic_ends_the_run())
		machine_relax();
	hold_serialize();
}

bool hold_was_used(void)
{
	return rounds != 0;
}
