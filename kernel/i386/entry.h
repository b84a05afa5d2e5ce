/* SPDX-License-Identifier: MIT */
/* What entry.S and C know of each other. */
#ifndef I386_ENTRY_H
#define I386_ENTRY_H

#include <stdint.h>

#include "i386/frame.h"

/* Traps take their arguments on the stack, where gate_arguments copied them. */
#define TRAP_ABI __attribute__((regparm(0)))

/* The kernel's entries by vector; the double fault has a task gate instead. */
struct interrupt_entry {
	uint32_t vector;
	void (*code)(void);
};

extern const struct interrupt_entry interrupt_entries[];
extern const uint32_t interrupt_entry_count;

void gate_entry(void);
void gate_entry_traced(void);
void thread_entry(void);
extern const char interrupts_wait_halt[], interrupts_wait_over[];
void switch_stacks(uint32_t *save_esp, uint32_t load_esp);

/* Where interrupt() and nmi() return to: what was interrupted lies above this on the stack. */
void interrupt_returns(void);
void nmi_returns(void);

/* Called by entry.S. */
void interrupt(struct frame *frame);
void nmi(struct frame *frame);
void trap_bad_arguments(uint32_t address);
void trap_bad_number(void);
void trap_bad_return(struct frame *frame);

/*
 * The recover table: a fault of the kernel at `fault` is no bug but an address or a selector of the
 * user's that was wrong; the kernel goes on at `landing`.  Entries stand beside the code.
 */
struct recover {
	uint32_t fault;
	uint32_t landing;
};

extern const struct recover recover_table[], recover_table_end[];

#endif
