/* SPDX-License-Identifier: MIT */
/* Pages and the ends of a task's address space. */
#ifndef MACH_VM_PARAM_H
#define MACH_VM_PARAM_H

#include <mach/vm_types.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE  4096u
#define PAGE_MASK  (PAGE_SIZE - 1)

#define round_page(address)   (((vm_offset_t)(address) + PAGE_MASK) & ~PAGE_MASK)
#define trunc_page(address)   ((vm_offset_t)(address) & ~PAGE_MASK)
#define page_aligned(address) (((vm_offset_t)(address)&PAGE_MASK) == 0)

#define VM_MIN_ADDRESS 0
#define VM_MAX_ADDRESS 0xc0000000UL

#endif
