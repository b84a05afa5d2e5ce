/* SPDX-License-Identifier: MIT */
/*
 * Descriptor tables: segments, task states, gates.
 *
 * Every CPU has a global descriptor table and task states of its own, so that one selector means
 * "this CPU" on all of them.  The interrupt table and the usual local table are shared and
 * constant; a thread may have a local table, and entries of the global one, of its own
 * (i386/thread/extra.h).
 */
#ifndef I386_CPU_SEGMENT_H
#define I386_CPU_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "i386/cpu/frame.h"

struct descriptor {
	uint32_t low;
	uint32_t high;
};

/* A task state segment.  Only esp0 and io_map change; the double fault's is entered as a whole. */
struct tss {
	uint32_t link;
	uint32_t esp0, ss0;
	uint32_t esp1, ss1, esp2, ss2;
	uint32_t cr3;
	uint32_t eip, eflags, eax, ecx, edx, ebx, esp, ebp, esi, edi;
	uint32_t es, cs, ss, ds, fs, gs;
	uint32_t ldt;
	uint16_t trap, io_map;
};

_Static_assert(sizeof(struct tss) == 104, "fixed by the CPU");

struct cpu;

/* Fills the CPU's tables; the boot CPU's call makes the shared ones too. */
void segment_init(struct cpu *cpu);

/* Loads this CPU's tables and the kernel's segments. */
void segment_load(struct cpu *cpu);

/* The usual local descriptor table, which threads without one of their own use. */
extern struct descriptor usual_ldt[LDT_ENTRIES];

/* Whose limit is enough to hold any table of a thread. */
#define LDT_ENTRIES_MAX 512

/* Makes this CPU, the caller's, use a local table of so many entries. */
void segment_load_ldt(struct cpu *cpu, const struct descriptor *table, uint32_t entries);

/* Fills the thread's slots in this CPU's global table. */
void segment_load_slots(struct cpu *cpu, const struct descriptor slots[USER_GDT_SLOTS]);

/*
 * Descriptors as users may have them: of data or code at their own privilege.  The kernel enters
 * user mode only with selectors of such.
 */
bool descriptor_is_acceptable(struct descriptor descriptor); /* Absent ones are too. */
bool descriptor_is_present(struct descriptor descriptor);
bool descriptor_is_user_code(struct descriptor descriptor);
bool descriptor_is_user_stack(struct descriptor descriptor);
bool descriptor_is_user_readable(struct descriptor descriptor);

#endif
