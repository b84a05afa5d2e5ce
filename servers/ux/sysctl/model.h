/* SPDX-License-Identifier: MIT */
/* hw.model: what the CPU says that it is. */
#ifndef SYSCTL_MODEL_H
#define SYSCTL_MODEL_H

#include <stdint.h>

/* With the zero: three registers' worth of the CPU's own text, or a vendor and three numbers. */
#define MODEL_ROOM 64

/* What the instruction answers: %eax, %ebx, %ecx, %edx. */
struct cpuid_answer {
	uint32_t words[4];
};

/* The name that CPUs give themselves, or their vendor's, family, model and stepping. */
void model_describe(char text[MODEL_ROOM], struct cpuid_answer (*ask)(uint32_t leaf));

/* What this CPU answers: any program may ask it. */
struct cpuid_answer model_cpuid(uint32_t leaf);

#endif
