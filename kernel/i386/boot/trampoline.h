/* SPDX-License-Identifier: MIT */
/* The code that another CPU starts in: see trampoline.S. */
#ifndef I386_BOOT_TRAMPOLINE_H
#define I386_BOOT_TRAMPOLINE_H

/* A page below 1 MiB that no boot loader leaves anything in; memory there is not allocated. */
#define TRAMPOLINE_PAGE 0x8000

#ifndef __ASSEMBLER__

#include <stdint.h>

/* What start_cpus() tells the CPU. */
struct trampoline_words {
	uint32_t cr3;   /* Physical address of a pointer table with the identity map. */
	uint32_t efer;  /* With NXE, or 0 where there is no NX. */
	uint32_t stack; /* Top of its idle thread's stack. */
	uint32_t cpu;   /* Its struct cpu. */
};

extern const char trampoline[], trampoline_words[], trampoline_end[];

#endif
#endif
