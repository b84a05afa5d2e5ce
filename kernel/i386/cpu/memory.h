/* SPDX-License-Identifier: MIT */
/*
 * The map of virtual memory.
 *
 *   0x00000000  user          page 0 never mapped
 *   0xc0000000  KERNEL_BASE   the first 768 MiB of physical memory, where the kernel is too
 *   0xf0000000  STACK_BASE    kernel stacks, each with a guard page below
 *   0xf8000000  DEVICE_BASE   device_map()
 *   0xfd000000  KERNEL_MEMORY_BASE  kernel memory of more than a page (vm/page/kernel_memory.c)
 *   0xff000000  PATCH_WINDOW  the text that is being patched, two pages at a time
 *   0xff010000  COUNTERS_WINDOW  each CPU's counters of calls (i386/patch/counters.h)
 *   0xffffe000  LAPIC_BASE    this CPU's local APIC
 *
 * The upper gigabyte is one page directory, shared by all address spaces.
 */
#ifndef I386_CPU_MEMORY_H
#define I386_CPU_MEMORY_H

#define USER_START      0x00001000
#define USER_END        0xc0000000
#define KERNEL_BASE     0xc0000000
#define DIRECT_MAP_SIZE 0x30000000
#define STACK_BASE      0xf0000000
#define STACK_END       0xf8000000
#define DEVICE_BASE     0xf8000000
#define DEVICE_END      0xfd000000

#define KERNEL_MEMORY_BASE 0xfd000000
#define KERNEL_MEMORY_END  0xff000000
#define PATCH_WINDOW       0xff000000

/* Under one table with PATCH_WINDOW. */
#define COUNTERS_WINDOW      0xff010000
#define COUNTERS_WINDOW_SIZE 0x1f0000

#ifndef __ASSEMBLER__

#include <stdint.h>

/* Where the kernel sees physical memory, and back; only for addresses in the direct map. */
static inline void *phys_to_virt(uint32_t physical)
{
	return (void *)(uintptr_t)(physical + KERNEL_BASE);
}

static inline uint32_t virt_to_phys(const void *data)
{
	return (uint32_t)(uintptr_t)data - KERNEL_BASE;
}

#endif
#endif
