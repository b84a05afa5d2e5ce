/* SPDX-License-Identifier: MIT */
/* The kernel lock: see lock.h. */
#include "base/lock.h"

#include "base/assert.h"
#include "base/machine.h"
#include "base/random.h"
#include "thread/cpu_state.h"

uint32_t kernel_lock_word;

/*
 * The queue.  `next_ticket` counts CPUs that began to wait, `served` those that got the lock from
 * the queue; they differ while somebody waits.  Changed atomically by any CPU.
 */
static uint32_t next_ticket;
static uint32_t served;

static bool lock_try(void)
{
	return (__atomic_fetch_or(&kernel_lock_word, 1, __ATOMIC_ACQUIRE) & 1) == 0;
}

void kernel_lock(void)
{
	assert(interrupts_are_on());
	if (!lock_try())
		kernel_lock_wait();
}

static void lock_ask_for_handover(void)
{
	for (uint32_t n = 0; n < n_cpus; n++)
		if (&cpus[n] != cpu_self())
			cpu_set_work(&cpus[n], WORK_LOCK);
}

void kernel_lock_wait(void)
{
	uint32_t ticket = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&served, __ATOMIC_ACQUIRE) != ticket)
		machine_relax();
	lock_ask_for_handover();
	while (kernel_locked() || !lock_try())
		machine_relax();
	__atomic_store_n(&served, ticket + 1, __ATOMIC_RELEASE);
}

void kernel_unlock(void)
{
	assert(kernel_locked());
	__atomic_store_n(&kernel_lock_word, 0, __ATOMIC_RELEASE);
}

void kernel_unlock_fair(void)
{
	uint32_t now_served = __atomic_load_n(&served, __ATOMIC_ACQUIRE);

	assert(interrupts_are_on());
	cpu_clear_work(cpu_self(), WORK_LOCK);
	kernel_unlock();
	race();
	while (__atomic_load_n(&next_ticket, __ATOMIC_ACQUIRE) != now_served &&
	       __atomic_load_n(&served, __ATOMIC_ACQUIRE) == now_served)
		machine_relax();
}

void race(void)
{
	struct cpu *cpu = cpu_self();

	if (cpu->race_state != 0 && (random_next(&cpu->race_state) & 3) == 0)
		machine_relax();
}
