/* SPDX-License-Identifier: MIT */
/*
 * What few threads have of the machine: descriptors and watchpoints of their own, I/O ports.
 *
 * Most threads have none of it: their `extra` is NULL, and a switch between two of them costs one
 * comparison, of `apart`.  It is made with the first use and stays until the thread is gone.
 * Guarded by the kernel lock; changed only while the thread is the current one or runs nowhere, so
 * that no CPU but the caller's has it loaded.
 */
#ifndef I386_THREAD_EXTRA_H
#define I386_THREAD_EXTRA_H

#include <stdbool.h>
#include <stdint.h>

#include "i386/cpu/segment.h"

struct cpu;
struct thread;

#define DEBUG_REGISTERS 8

struct thread_extra {
	struct descriptor slots[USER_GDT_SLOTS]; /* In the global table, from USER_GDT. */
	struct descriptor *ldt;                  /* LDT_ENTRIES_MAX of its own, or NULL. */
	uint32_t debug[DEBUG_REGISTERS];         /* i386/thread/debug_registers.h */
	uint32_t v86_table;                      /* i386_V86_ASSIST_STATE: kept and not used. */
	uint32_t v86_count;
	bool uses_ports; /* Its task's I/O permissions are loaded with it. */
};

void extra_module_init(void);

/* The thread's, made if need be; NULL when there is no memory. */
struct thread_extra *extra_of(struct thread *thread);

/* Gives it a local descriptor table of its own, if it has none; false when there is no memory. */
bool extra_has_ldt(struct thread_extra *extra);

/* Loads on the caller's CPU what `thread` has, or takes away what the thread before it had. */
void extra_load(struct cpu *cpu, const struct thread *thread);

/* Frees that of a thread that is gone. */
void extra_free(struct thread *thread);

#endif
