/* SPDX-License-Identifier: MIT */
/* CPUs: the array of them, their features, and what is asked of them from outside. */
#include "i386/cpu/cpu.h"

#include "base/assert.h"
#include "base/machine.h"
#include "i386/cpu/lapic.h"
#include "i386/cpu/vectors.h"
#include "thread/cpu_state.h"

#define CPUID_EDX_MCE         (1u << 7)
#define CPUID_EDX_SEP         (1u << 11)
#define CPUID_EDX_PGE         (1u << 13)
#define CPUID_EDX_SSE         (1u << 25)
#define CPUID_EXTENDED_EDX_NX (1u << 20)

#define CR0_AM          0x00040000u
#define CR4_MCE         0x40u
#define CR4_PGE         0x80u
#define MSR_SYSENTER_CS 0x174u
#define MSR_EFER        0xc0000080u
#define EFER_NXE        0x800u

_Static_assert(offsetof(struct cpu, self) == CPU_SELF, "entry.S");
_Static_assert(offsetof(struct cpu, thread) == CPU_THREAD, "entry.S");
_Static_assert(offsetof(struct cpu, work) == CPU_WORK, "entry.S");

struct cpu cpus[MAX_CPUS];
uint32_t n_cpus = 1;
bool cpus_in_turn;
struct cpu_features cpu_features;

uint32_t cpu_number(void)
{
	return cpu_self()->number;
}

uint32_t cpu_count(void)
{
	return n_cpus;
}

struct sampler_cpu *cpu_sampler(void)
{
	return &cpu_self()->sampler;
}

struct sampler_cpu *cpu_sampler_of(uint32_t cpu)
{
	assert(cpu < n_cpus);
	return &cpus[cpu].sampler;
}

void machine_timer_arm(uint32_t cycles)
{
	lapic_timer_arm(cycles);
}

void machine_send_reschedule(struct cpu *cpu)
{
	lapic_send_vector(cpu->machine.apic_id, VECTOR_RESCHEDULE);
	cpu_self()->machine.ipis++;
}

/* ---------------- Features ---------------- */

void cpu_features_find(void)
{
	uint32_t features = cpuid(1).edx;

	cpu_features.global_pages = (features & CPUID_EDX_PGE) != 0;
	cpu_features.machine_check = (features & CPUID_EDX_MCE) != 0;
	cpu_features.sysenter = (features & CPUID_EDX_SEP) != 0;
	cpu_features.sse = (features & CPUID_EDX_SSE) != 0;
	cpu_features.nx = cpuid(0x80000000u).eax >= 0x80000001u &&
			  (cpuid(0x80000001u).edx & CPUID_EXTENDED_EDX_NX) != 0;
}

/*
 * CR0.AM lets user programs ask for alignment checks with their AC flag, as the CPU documents it.
 * A machine check is to be told of, not to shut the CPU down.  No sysenter leads anywhere.
 */
void cpu_features_enable(void)
{
	uint32_t cr0, cr4;

	__asm__ volatile("movl %%cr0, %0" : "=r"(cr0));
	__asm__ volatile("movl %0, %%cr0" ::"r"(cr0 | CR0_AM));
	__asm__ volatile("movl %%cr4, %0" : "=r"(cr4));
	if (cpu_features.machine_check)
		__asm__ volatile("movl %0, %%cr4" ::"r"(cr4 | CR4_MCE));
	if (cpu_features.sysenter)
		__asm__ volatile("wrmsr" ::"c"(MSR_SYSENTER_CS), "a"(0), "d"(0));
	if (cpu_features.nx)
		__asm__ volatile("wrmsr" ::"c"(MSR_EFER), "a"(EFER_NXE), "d"(0));
}

void cpu_global_pages_enable(void)
{
	uint32_t cr4;

	__asm__ volatile("movl %%cr4, %0" : "=r"(cr4));
	if (cpu_features.global_pages)
		__asm__ volatile("movl %0, %%cr4" ::"r"(cr4 | CR4_PGE));
}
