/* SPDX-License-Identifier: MIT */
/*
 * The machine's half of a CPU (the other is thread/cpu_state.h), and how a CPU finds itself.
 *
 * `cpu_self()` goes through %fs, which holds the kernel's selector in every context of the kernel,
 * NMI included.
 */
#ifndef I386_CPU_CPU_H
#define I386_CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "i386/cpu/cpu_offsets.h"
#include "i386/cpu/segment.h"

struct cpu;
struct thread;
struct pmap;
struct thread_extra;
struct io_permissions;

#define DOUBLE_FAULT_STACK_SIZE 4096

/* Whole pages, so that no two CPUs have a page of counters together (i386/patch/counters.c). */
#define CPU_ALIGNMENT 4096

#define IO_PORTS 65536

/* Where the task state says that its bitmap is: behind its end, so that no port is the user's. */
#define TSS_NO_PORTS (sizeof(struct tss) + IO_PORTS / 8 + 1)

struct machine_cpu {
	/* Guarded by the kernel lock. */
	struct thread
		*fpu_thread; /* Whose state the FPU holds, if it has not run elsewhere since. */
	struct pmap *pmap;   /* Loaded here. */
	uint32_t cr3_loads;

	/* Written by this CPU only, interrupt handlers included. */
	uint32_t tlb_flushes;
	uint32_t ipis;                  /* Sent by this CPU. */
	const struct frame *stopped_at; /* Where another CPU's panic stopped this one. */

	/* Set by the CPU that changes translations, cleared by this one: i386/mmu/shootdown.c. */
	uint32_t shootdown_due;

	/* Set by this CPU: the last time that it was held, by number; i386/patch/hold.c. */
	uint32_t held_in;

	/*
	 * Where it counts calls by label (i386/patch/follow.c): the set of counters that it is
	 * shown, the label that these are of (HOST_CALLS_OTHERS: not known), and how deep it is in
	 * what interrupts have it do.  Written by this CPU, or while it is held.
	 */
	struct machine_call_counters *counts_in;
	uint32_t counts_for;
	uint32_t event_depth;

	/* Constant after start. */
	uint32_t apic_id;
	struct descriptor gdt[GDT_ENTRIES];
	/*
	 * Follow the current thread, under the kernel lock.  The bitmap is part of the task state:
	 * all ports, and the byte of ones that the CPU wants behind them.
	 */
	struct tss tss;
	uint8_t io_bitmap[IO_PORTS / 8 + 1];
	const struct io_permissions *io_kept; /* Whose bitmap that is; NULL: nobody's any more. */
	const struct thread_extra *extra;     /* Loaded here; NULL: what most threads have. */
	const struct descriptor *ldt;         /* And of that the table; NULL: the usual one. */
	const struct thread *apart; /* That of the current thread (struct machine_thread). */
	bool debug_armed;           /* DR7 is not zero. */

	struct tss double_fault_tss;
	uint8_t double_fault_stack[DOUBLE_FAULT_STACK_SIZE] __attribute__((aligned(16)));
};

_Static_assert(offsetof(struct machine_cpu, io_bitmap) ==
		       offsetof(struct machine_cpu, tss) + sizeof(struct tss),
	       "one segment");

static inline struct cpu *cpu_self(void)
{
	struct cpu *cpu;

	__asm__ volatile("movl %%fs:%c1, %0" : "=r"(cpu) : "i"(CPU_SELF));
	return cpu;
}

/* The running thread.  It is the same wherever it runs, so the compiler may keep the value. */
static inline struct thread *current_thread(void)
{
	struct thread *thread;

	__asm__("movl %%fs:%c1, %0" : "=r"(thread) : "i"(CPU_THREAD));
	return thread;
}

struct cpuid {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct cpuid cpuid(uint32_t leaf)
{
	struct cpuid id;

	__asm__("cpuid"
		: "=a"(id.eax), "=b"(id.ebx), "=c"(id.ecx), "=d"(id.edx)
		: "a"(leaf), "c"(0));
	return id;
}

static inline void interrupts_off(void)
{
	__asm__ volatile("cli" ::: "memory");
}

static inline void interrupts_on(void)
{
	__asm__ volatile("sti" ::: "memory");
}

static inline bool interrupts_are_on(void)
{
	uint32_t flags;

	__asm__ volatile("pushfl; popl %0" : "=r"(flags));
	return (flags & EFLAGS_IF) != 0;
}

/* Turns interrupts on and halts until one comes; nothing can come in between (entry.S). */
void interrupts_wait(void);

/* What CPUID says this machine can do beyond what boot.S insists on. */
struct cpu_features {
	bool nx;
	bool global_pages;
	bool sse;
	bool machine_check;
	bool sysenter;
};

extern struct cpu_features cpu_features;

/* Finds the features (boot CPU) and turns them on (every CPU). */
void cpu_features_find(void);
void cpu_features_enable(void);

/*
 * From now on this CPU keeps translations of the kernel's gigabyte over address space switches.
 * Not while boot.S's page tables are loaded: their low half would be kept too.
 */
void cpu_global_pages_enable(void);

#endif
