/* SPDX-License-Identifier: MIT */
/*
 * Descriptor tables: segments, task states, gates.
 *
 * Every CPU has a global descriptor table and task states of its own, so that one selector means
 * "this CPU" on all of them.  The interrupt and the local descriptor tables are shared and
 * constant.
 */
#ifndef I386_SEGMENT_H
#define I386_SEGMENT_H

#include <stdint.h>

#include "i386/frame.h"

struct descriptor {
	uint32_t low;
	uint32_t high;
};

/* A task state segment.  Only esp0 and ss0 change; the double fault's is entered as a whole. */
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

#endif
