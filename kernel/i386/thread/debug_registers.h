/* SPDX-License-Identifier: MIT */
/*
 * The debug registers: up to four addresses at which a thread is stopped when it executes, reads or
 * writes there.
 *
 * The numbers are the CPU's: 0 to 3 are addresses, 6 says what has happened, 7 what is wanted.
 * Addresses are the user's only, so a debug exception in the kernel is at most the user's memory
 * being copied.
 */
#ifndef I386_THREAD_DEBUG_REGISTERS_H
#define I386_THREAD_DEBUG_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct thread;

/* Whether a thread may have these. */
bool debug_registers_are_acceptable(const uint32_t registers[8]);

/* Loads them on the caller's CPU; all zero: none. */
void debug_registers_load(struct cpu *cpu, const uint32_t registers[8]);

/* A debug exception of the current thread: notes in its register 6 what the CPU's says. */
void debug_registers_note(struct thread *thread);

#endif
