/* SPDX-License-Identifier: MIT */
/* What entry.S and C know of each other. */
#ifndef I386_ENTRY_ENTRY_H
#define I386_ENTRY_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "i386/cpu/frame.h"

/* Traps take their arguments on the stack, where gate_entry copied them. */
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

/* Jumped to by the call gate: how a trap of so many argument words goes on. */
void gate_arguments_0(void);
void gate_arguments_1(void);
void gate_arguments_2(void);
void gate_arguments_3(void);
void gate_arguments_4(void);
void gate_arguments_7(void);
void gate_arguments_11(void);

void thread_entry(void);
extern const char interrupts_wait_halt[], interrupts_wait_over[];
void switch_stacks(uint32_t *save_esp, uint32_t load_esp);

/*
 * Where interrupt(), sampler_interrupt() and nmi() return to: what was interrupted lies above this
 * on the stack.
 */
void interrupt_returns(void);
void sample_returns(void);
void nmi_returns(void);

static inline bool entry_is_return_of_interrupt(uint32_t address)
{
	return address == (uint32_t)interrupt_returns || address == (uint32_t)sample_returns ||
	       address == (uint32_t)nmi_returns;
}

/* Where user mode is entered and left, from gate_entry() on; and the end of all of entry.S. */
void restore_user(void);
extern const char entry_end[];

/* Whether `pc` is there: above it the stack and the frame pointer are the user's. */
static inline bool entry_is_at(uint32_t pc)
{
	return pc - (uint32_t)gate_entry < (uint32_t)entry_end - (uint32_t)gate_entry;
}

/* Whether `pc` is in the call gate's code. */
static inline bool entry_is_gate(uint32_t pc)
{
	return pc - (uint32_t)gate_entry < (uint32_t)restore_user - (uint32_t)gate_entry;
}

/* Called by entry.S; and prof/sampler.h's sampler_interrupt(), before the last but one. */
void interrupt(struct frame *frame);
void work_after_sample(const struct frame *frame);
void nmi(struct frame *frame);

/* At the end of an NMI that has taken a sample: i386/sample/sample_place.c. */
void sample_work_after_nmi(const struct frame *frame);

/*
 * A trap whose words at `address` cannot be read, one whose number is none, and a frame that the
 * CPU would not return by: an exception of the current thread, or its result.  The first two are
 * called with the kernel lock, which the last takes and gives up.  May block.
 */
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
