/* SPDX-License-Identifier: MIT */
/*
 * In front of kernel/i386/cpu/cpu.h on the host, where no %fs leads to the CPU: for tests that say
 * so in their flags, and what is current they say, too.
 */
#ifndef HOST_I386_CPU_CPU_H
#define HOST_I386_CPU_CPU_H

#define cpu_self       cpu_self_by_segment
#define current_thread current_thread_by_segment
#include_next <i386/cpu/cpu.h>
#undef cpu_self
#undef current_thread

struct cpu *cpu_self(void);
struct thread *current_thread(void);

#endif
