/* SPDX-License-Identifier: MIT */
/* Telling other CPUs that translations have changed: see shootdown.h. */
#include "i386/mmu/shootdown.h"

#include "base/assert.h"
#include "base/lock.h"
#include "base/machine.h"
#include "i386/cpu/lapic.h"
#include "i386/cpu/vectors.h"
#include "i386/mmu/pmap.h"
#include "thread/cpu_state.h"

/* Up to here, page by page costs less than all at once. */
#define FEW_PAGES 8

#define CR4_PGE 0x80u

/* What a CPU is told by its `shootdown_due`. */
enum flush {
	FLUSH_NONE,
	FLUSH_USER,
	FLUSH_EVERYTHING
};

static void shootdown_flush_page(struct cpu *cpu, uint32_t address)
{
	__asm__ volatile("invlpg (%0)" ::"r"(address) : "memory");
	cpu->machine.tlb_flushes++;
}

/* Flushes what belongs to the loaded address space; global translations stay. */
static void shootdown_flush_user(struct cpu *cpu)
{
	uint32_t cr3;

	__asm__ volatile("movl %%cr3, %0; movl %0, %%cr3" : "=r"(cr3)::"memory");
	cpu->machine.tlb_flushes++;
}

static void shootdown_flush_everything(struct cpu *cpu)
{
	uint32_t cr4;

	__asm__ volatile("movl %%cr4, %0" : "=r"(cr4));
	__asm__ volatile("movl %0, %%cr4" ::"r"(cr4 & ~CR4_PGE) : "memory");
	shootdown_flush_user(cpu);
	__asm__ volatile("movl %0, %%cr4" ::"r"(cr4) : "memory");
}

void shootdown_interrupt(struct cpu *cpu)
{
	if (cpu->machine.shootdown_due == FLUSH_EVERYTHING)
		shootdown_flush_everything(cpu);
	else
		shootdown_flush_user(cpu);
	__atomic_store_n(&cpu->machine.shootdown_due, FLUSH_NONE, __ATOMIC_RELEASE);
}

/* Has every CPU in `set`, which `self` is not in, flush, and waits until all have. */
static void shootdown_tell(struct cpu *self, uint32_t set, enum flush flush)
{
	assert(kernel_locked());
	assert(interrupts_are_on());
	for (uint32_t n = 0; n < n_cpus; n++) {
		if ((set & 1u << n) == 0)
			continue;
		__atomic_store_n(&cpus[n].machine.shootdown_due, flush, __ATOMIC_SEQ_CST);
		lapic_send_vector(cpus[n].machine.apic_id, VECTOR_SHOOTDOWN);
		self->machine.ipis++;
	}
	for (uint32_t n = 0; n < n_cpus; n++)
		while (__atomic_load_n(&cpus[n].machine.shootdown_due, __ATOMIC_ACQUIRE) !=
		       FLUSH_NONE)
			machine_relax();
}

static inline void shootdown_tell_others(uint32_t set, enum flush flush)
{
	struct cpu *self = cpu_self();

	set &= ~(1u << self->number);
	if (set != 0)
		shootdown_tell(self, set, flush);
}

void shootdown_here(struct pmap *pmap, uint32_t start, uint32_t end)
{
	struct cpu *cpu = cpu_self();

	if (cpu->machine.pmap != pmap)
		return;
	if (end - start > FEW_PAGES * PAGE_SIZE)
		shootdown_flush_user(cpu);
	else
		for (; start < end; start += PAGE_SIZE)
			shootdown_flush_page(cpu, start);
}

void shootdown_others(uint32_t set)
{
	shootdown_tell_others(set, FLUSH_USER);
}

void shootdown_range(struct pmap *pmap, uint32_t start, uint32_t end)
{
	shootdown_here(pmap, start, end);
	shootdown_others(pmap->cpus);
}

void shootdown_reload(struct pmap *pmap)
{
	struct cpu *cpu = cpu_self();

	if (cpu->machine.pmap == pmap)
		shootdown_flush_user(cpu);
	shootdown_tell_others(pmap->cpus, FLUSH_USER);
}

void shootdown_kernel_range(uint32_t start, uint32_t end)
{
	struct cpu *cpu = cpu_self();

	for (; start < end; start += PAGE_SIZE)
		shootdown_flush_page(cpu, start);
	shootdown_tell_others((1u << n_cpus) - 1, FLUSH_EVERYTHING);
}

void shootdown_kernel_page_here(uint32_t address)
{
	shootdown_flush_page(cpu_self(), address);
}

void shootdown_kernel_page(uint32_t address)
{
	shootdown_kernel_range(address, address + PAGE_SIZE);
}
