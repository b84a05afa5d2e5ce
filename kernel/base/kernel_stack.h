/* SPDX-License-Identifier: MIT */
/*
 * Kernel stacks: KERNEL_STACK_SIZE bytes each, with a guard page below that is never mapped.
 *
 * The stacks that were freed last stay mapped and are used again, last freed first: making a thread
 * then costs no page, and its end no translation flush.  Guarded by the kernel lock.
 */
#ifndef BASE_KERNEL_STACK_H
#define BASE_KERNEL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc_site.h"

/* The lowest address of a stack, or NULL when there is no memory or no room. */
void *kernel_stack_alloc(void);
#define kernel_stack_alloc() ALLOC_SITE((kernel_stack_alloc)())
void kernel_stack_free(void *stack);

/* Gives the pages of all free stacks back. */
void kernel_stacks_trim(void);

/* Stacks handed out. */
uint32_t kernel_stack_count(void);

/* Whether `address` is in the guard page of some stack: then a fault there is an overflow. */
bool kernel_stack_is_guard(uintptr_t address);

#endif
