/* SPDX-License-Identifier: MIT */
/*
 * In place of kernel/i386/cpu/memory.h on the host, where physical memory is an array.  The
 * compiler finds this one first because the host's tests have their include root before the
 * kernel's.
 */
#ifndef I386_MEMORY_H
#define I386_MEMORY_H

#include <stdint.h>

#define DIRECT_MAP_SIZE 0x30000000

#define HOST_MEMORY_SIZE (4u << 20)

extern char host_memory[HOST_MEMORY_SIZE];

static inline void *phys_to_virt(uint32_t physical)
{
	return host_memory + physical;
}

static inline uint32_t virt_to_phys(const void *data)
{
	return (uint32_t)((const char *)data - host_memory);
}

#endif
