/* SPDX-License-Identifier: MIT */
/*
 * Kernel memory of any size: message buffers and arrays of rights.
 *
 * Up to a page it comes from zones by size, beyond that from a region of the kernel's address space
 * that whole pages are mapped into and taken out of again.  Guarded by the kernel lock.
 */
#ifndef VM_PAGE_KERNEL_MEMORY_H
#define VM_PAGE_KERNEL_MEMORY_H

#include <stdint.h>

#include "base/alloc_site.h"

#define KERNEL_MEMORY_MAX 0x100000u

void kernel_memory_init(void);

/* `size` bytes (1 to KERNEL_MEMORY_MAX) with undefined contents; NULL when there is no memory. */
void *kernel_memory_alloc(uint32_t size);
#define kernel_memory_alloc(size) ALLOC_SITE((kernel_memory_alloc)(size))

/* Takes back what kernel_memory_alloc() gave for `size`. */
void kernel_memory_free(void *memory, uint32_t size);

/* Unmaps and frees the kernel's own pages in [start, end), from STACK_BASE on, all there. */
void kernel_memory_unmap(uint32_t start, uint32_t end);

#endif
