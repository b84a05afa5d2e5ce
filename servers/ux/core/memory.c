/* SPDX-License-Identifier: MIT */
/*
 * The server's memory: the heap of heap.c, guarded by the server's lock, and pages.
 *
 * All of it is wired: whoever holds the lock may touch it, and it is there from the beginning, so
 * that a shortage is an error of the call that allocates and not one of the first touch.  What
 * others send is not wired by itself, since it may be a pager's that never answers.
 */
#include "core/heap.h"
#include "core/ux.h"

_Static_assert(HEAP_PAGE == PAGE_SIZE, "slabs are found by their page");

static kern_return_t memory_ask_to_wire(vm_address_t address, vm_size_t size)
{
	return vm_wire(ux_boot.host_control, mach_task_self_cached(), address, size, VM_PROT_READ);
}

bool ux_wire(vm_address_t address, vm_size_t size)
{
	return memory_ask_to_wire(address, size) == KERN_SUCCESS;
}

int ux_wire_sent(vm_address_t address, vm_size_t size)
{
	kern_return_t result = memory_ask_to_wire(address, size);

	if (result == KERN_SUCCESS)
		return 0;
	return mach_is_short(result) ? ENOMEM : EFAULT;
}

/*
 * When memory is out, pages that were brought for a long range are gone again before the last has
 * come, and the kernel gives up.  One by one each is waited for, and stays.
 */
static bool memory_wire(vm_address_t address, size_t size)
{
	size_t done = 0;

	if (ux_wire(address, size))
		return true;
	while (done < size && ux_wire(address + done, PAGE_SIZE))
		done += PAGE_SIZE;
	return done >= size;
}

void *heap_get_pages(size_t size)
{
	vm_address_t address = 0;

	if (heap_test_fails() ||
	    syscall_vm_allocate(mach_task_self_cached(), &address, size, TRUE) != KERN_SUCCESS)
		return NULL;
	if (memory_wire(address, size))
		return (void *)address;
	syscall_vm_deallocate(mach_task_self_cached(), address, size);
	return NULL;
}

void heap_put_pages(void *pages, size_t size)
{
	syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)pages, size);
}

void *ux_allocate(size_t size)
{
	assert(ux_lock_held());
	return heap_allocate(size);
}

void ux_free(void *memory)
{
	assert(ux_lock_held());
	if (memory != NULL)
		heap_free(memory);
}

size_t ux_whole_pages(size_t size)
{
	return (size + PAGE_SIZE - 1) & ~(size_t)(PAGE_SIZE - 1);
}

void *ux_allocate_pages(size_t size)
{
	return heap_get_pages(size);
}

void ux_free_pages(void *memory, size_t size)
{
	heap_put_pages(memory, size);
}
