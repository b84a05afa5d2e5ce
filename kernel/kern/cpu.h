/* SPDX-License-Identifier: MIT */
/* What the machine-independent kernel may ask about CPUs. */
#ifndef KERN_CPU_H
#define KERN_CPU_H

#include <stdint.h>

struct sample_cursor;

/* The CPU that runs this, from 0, the boot CPU; it can change wherever the caller may block. */
uint32_t cpu_number(void);

/* CPUs that run. */
uint32_t cpu_count(void);

/* The sampling clock's cursor of this CPU, and of CPU `cpu` (below cpu_count()). */
struct sample_cursor *cpu_sample_cursor(void);
struct sample_cursor *cpu_sample_cursor_of(uint32_t cpu);

#endif
