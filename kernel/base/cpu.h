/* SPDX-License-Identifier: MIT */
/* What the machine-independent kernel may ask about CPUs. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include <stdint.h>

struct sampler_cpu;

/* The CPU that runs this, from 0, the boot CPU; it can change wherever the caller may block. */
uint32_t cpu_number(void);

/* CPUs that run. */
uint32_t cpu_count(void);

/* What the sampling interrupt has of this CPU, and of CPU `cpu` (below cpu_count()). */
struct sampler_cpu *cpu_sampler(void);
struct sampler_cpu *cpu_sampler_of(uint32_t cpu);

#endif
