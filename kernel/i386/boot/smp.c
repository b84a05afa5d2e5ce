/* SPDX-License-Identifier: MIT */
/*
 * Starting the other CPUs: see smp.h.
 *
 * They are started one at a time, so the trampoline's words need no lock.  A CPU that comes up and
 * the CPU that waits for it settle by `awaited` whether it came in time; one that did not stays
 * where it is for ever.  One that did takes the kernel lock before it does anything that others
 * see.
 */
#include "i386/boot/smp.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/string.h"
#include "i386/boot/trampoline.h"
#include "i386/cpu/lapic.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "i386/thread/fpu.h"
#include "thread/cpu_state.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/tick.h"

#define EFER_NXE 0x800u

/* Times that Intel's start-up procedure asks for, and how long a CPU is waited for. */
#define INIT_NS     10000000u
#define STARTUP_NS  200000u
#define PATIENCE_NS 100000000u

extern uint64_t boot_pdpt[4]; /* boot.S: with the identity map. */

/* The CPU that is to come up; 0: none.  Of that CPU and its starter only one takes it away. */
static uint32_t awaited;

static bool smp_take_awaited(uint32_t number)
{
	return __atomic_compare_exchange_n(&awaited, &number, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
}

/* The first C code of another CPU, on its idle thread's stack; `cpu` comes in %eax. */
noreturn void ap_main(struct cpu *cpu);

noreturn void ap_main(struct cpu *cpu)
{
	segment_load(cpu);
	cpu_features_enable();
	fpu_init();
	lapic_enable();
	while (!smp_take_awaited(cpu->number)) /* Too late: it is not wanted any more. */
		machine_relax();
	interrupts_on();
	kernel_lock();
	pmap_load(cpu_self(), &kernel_pmap);
	cpu_global_pages_enable();
	tick_start(cpu);
	sched_idle();
}

static void smp_wait_ns(uint32_t ns)
{
	uint64_t until = clock_now() + ns;

	while (clock_now() < until)
		machine_relax();
}

/* Whether the awaited CPU has come up in the time that it is given. */
static bool smp_wait_for_start(uint32_t ns)
{
	uint64_t until = clock_now() + ns;

	while (clock_now() < until) {
		if (__atomic_load_n(&awaited, __ATOMIC_ACQUIRE) == 0)
			return true;
		machine_relax();
	}
	return false;
}

static void smp_trampoline_prepare(const struct cpu *cpu)
{
	char *page = phys_to_virt(TRAMPOLINE_PAGE);
	struct trampoline_words words = {
		.cr3 = virt_to_phys(boot_pdpt),
		.efer = cpu_features.nx ? EFER_NXE : 0,
		.stack = cpu->idle_thread->machine.stack_top,
		.cpu = (uint32_t)cpu,
	};

	memcpy(page, trampoline, (size_t)(trampoline_end - trampoline));
	memcpy(page + (trampoline_words - trampoline), &words, sizeof words);
}

static bool smp_cpu_prepare(struct cpu *cpu, uint32_t number, uint32_t apic_id)
{
	cpu->self = cpu;
	cpu->number = number;
	cpu->machine.apic_id = apic_id;
	cpu->idle_thread = thread_create_idle(cpu);
	if (cpu->idle_thread == NULL)
		return false;
	cpu->idle_thread->state = THREAD_RUNNING;
	cpu->thread = cpu->idle_thread;
	cpu->machine.tss.esp0 = cpu->idle_thread->machine.stack_top;
	segment_init(cpu);
	return true;
}

static bool smp_cpu_start(struct cpu *cpu)
{
	uint32_t id = cpu->machine.apic_id;

	smp_trampoline_prepare(cpu);
	__atomic_store_n(&awaited, cpu->number, __ATOMIC_RELEASE);
	lapic_send_init(id);
	smp_wait_ns(INIT_NS);
	lapic_send_startup(id, TRAMPOLINE_PAGE / PAGE_SIZE);
	if (smp_wait_for_start(STARTUP_NS))
		return true;
	lapic_send_startup(id, TRAMPOLINE_PAGE / PAGE_SIZE);
	if (smp_wait_for_start(PATIENCE_NS) || !smp_take_awaited(cpu->number))
		return true;
	lapic_send_init(id);
	return false;
}

void start_cpus(const struct acpi_machine *machine, unsigned most)
{
	void *page = phys_to_virt(TRAMPOLINE_PAGE);

	assert(kernel_locked());
	assert(most <= MAX_CPUS);
	pmap_set_executable(page, true);
	for (unsigned n = 0; n < machine->n_cpus && n_cpus < most; n++) {
		struct cpu *cpu = &cpus[n_cpus];

		if (machine->apic_ids[n] == cpu_self()->machine.apic_id)
			continue;
		if (!smp_cpu_prepare(cpu, n_cpus, machine->apic_ids[n]) || !smp_cpu_start(cpu)) {
			klog("cpu: the one with APIC id %u does not start; going on with %u\n",
			     machine->apic_ids[n], n_cpus);
			/* The page stays: that CPU may come yet, and needs it. */
			return;
		}
		n_cpus++;
	}
	pmap_set_executable(page, false);
}
