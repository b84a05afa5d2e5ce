/* SPDX-License-Identifier: MIT */
/*
 * The double fault: a fault that the CPU could not deliver, mostly because the kernel stack is used
 * up.  It enters a task state of its own, with a stack of its own, and always ends in a panic.
 */
#ifndef I386_ENTRY_DOUBLE_FAULT_H
#define I386_ENTRY_DOUBLE_FAULT_H

struct cpu;

void double_fault_init(struct cpu *cpu);

#endif
