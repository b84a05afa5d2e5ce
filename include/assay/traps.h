/* SPDX-License-Identifier: MIT */
/*
 * Traps that are Assay's own, and what they exchange.
 *
 * Numbers 100 to 119 are holes in Mach's trap table; programs compiled for GNU Mach do not call
 * them.  Boot programs use them to run without a server: to end, to start threads, to map memory
 * and to read the machine's clocks and counts.  Mach's own numbers are in <mach/traps.h>.
 */
#ifndef ASSAY_TRAPS_H
#define ASSAY_TRAPS_H

#include <stdint.h>

#define TRAP_assay_exit            100
#define TRAP_assay_thread_create   101
#define TRAP_assay_thread_exit     102
#define TRAP_assay_thread_join     103
#define TRAP_assay_thread_bind     104
#define TRAP_assay_memory_map      105
#define TRAP_assay_memory_unmap    106
#define TRAP_assay_memory_protect  107
#define TRAP_assay_clock_read      108
#define TRAP_assay_thread_label    109
#define TRAP_assay_counts          111
#define TRAP_assay_cpu_info        112
#define TRAP_assay_thread_serve    113
#define TRAP_assay_fail_allocation 114
#define TRAP_assay_allocation_site 115
#define TRAP_assay_interrupts_off  116
#define TRAP_assay_count_call      117
#define TRAP_assay_event_pass      118
#define TRAP_assay_event_attribute 119

/* assay_memory_map, assay_memory_protect: Mach's VM_PROT bits. */
#define ASSAY_READ    1u
#define ASSAY_WRITE   2u
#define ASSAY_EXECUTE 4u

/* assay_clock_read */
enum assay_clock {
	ASSAY_CLOCK_MONOTONIC = 0, /* Nanoseconds since the kernel started. */
	ASSAY_CLOCK_WALL = 1,      /* Nanoseconds since 1970-01-01 00:00 UTC, from the RTC. */
	ASSAY_CLOCK_TSC_HZ = 2,    /* Calibrated rate of the time stamp counter. */
};

/* assay_cpu_info */
struct assay_cpu_info {
	uint32_t cpu;         /* Where the caller runs at this moment, */
	uint32_t cpus;        /* of how many. */
	uint32_t cr3_loads;   /* Summed over the CPUs, since start: address space switches, */
	uint32_t tlb_flushes; /* translation flushes (one page or all), */
	uint32_t ipis;        /* inter-processor interrupts sent, */
	uint32_t switches;    /* thread switches, */
	uint32_t ticks;       /* and scheduler ticks. */
	uint32_t reserved;
};

/*
 * assay_fail_allocation(site, nth), with the kernel argument inject=1: the nth allocation from now
 * at this site fails, once, or with ASSAY_FAIL_ALWAYS each until another site is named.
 * ASSAY_NO_SITE takes it back.  Sites are numbered from 0; assay_allocation_site() tells about one.
 */
#define ASSAY_NO_SITE     0xffffffffu
#define ASSAY_FAIL_ALWAYS 0u

struct assay_allocation_site {
	char file[40];
	uint32_t line;
	uint32_t at_boot; /* Not 0: reached only while the kernel starts. */
	uint32_t hits;    /* Allocations, since one of these two traps was first called, */
	uint32_t failed;  /* and those of them that were made to fail. */
};

#endif
