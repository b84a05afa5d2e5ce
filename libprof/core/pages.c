/* SPDX-License-Identifier: MIT */
/*
 * Memory straight from the kernel: see pages.h.
 *
 * Only traps are called, no function of a library that may itself have been compiled to count
 * calls: counting is what the memory may be for.  The task's name is asked for each time, since a
 * child of a fork has another.
 */
#include "pages.h"

#include <mach.h>

static vm_size_t round_up(size_t size)
{
	return (size + PROF_PAGE - 1) & ~(vm_size_t)(PROF_PAGE - 1);
}

void *__prof_pages(size_t size)
{
	mach_port_t self = mach_task_self();
	vm_address_t address = 0;
	kern_return_t result = syscall_vm_allocate(self, &address, round_up(size), TRUE);

	syscall_mach_port_deallocate(self, self);
	return result == KERN_SUCCESS ? (void *)address : NULL;
}

void __prof_pages_free(void *pages, size_t size)
{
	mach_port_t self = mach_task_self();

	syscall_vm_deallocate(self, (vm_address_t)pages, round_up(size));
	syscall_mach_port_deallocate(self, self);
}
