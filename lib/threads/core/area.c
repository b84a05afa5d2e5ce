/* SPDX-License-Identifier: MIT */
/*
 * The memory of a thread: a page that stops a stack which grows too far, the stack, its block.
 *
 * The block with its variables is the end of the area, so what was pushed first lies below it.
 */
#include <mach.h>
#include <mach/vm_param.h>
#include <start/tcb.h>

#include "thread.h"

#define BLOCK_ALIGNMENT 16u

static size_t block_size(void)
{
	return (__tcb_size() + BLOCK_ALIGNMENT - 1) & ~(BLOCK_ALIGNMENT - 1);
}

void *__area_allocate(size_t stack_size, size_t *size)
{
	mach_port_t self = mach_task_self_cached();
	vm_address_t area = 0;

	if (stack_size > VM_MAX_ADDRESS)
		return NULL;
	*size = round_page(PAGE_SIZE + stack_size + block_size());
	if (syscall_vm_allocate(self, &area, *size, TRUE) != KERN_SUCCESS)
		return NULL;
	if (vm_protect(self, area, PAGE_SIZE, FALSE, VM_PROT_NONE) == KERN_SUCCESS)
		return (void *)area;
	__area_free((void *)area, *size);
	return NULL;
}

void __area_free(void *area, size_t size)
{
	syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)area, size);
}

void *__area_block(void *area, size_t size)
{
	return (char *)area + size - block_size();
}
