/* SPDX-License-Identifier: MIT */
/*
 * A pager of a file whose page n begins with the number n: a function for each message of
 * <mach/memory_object.defs>, called by the half that MIG has made of it, and the loop that receives
 * them.
 *
 * A page that nobody has written to is made when it is asked for.  One that comes back is kept.
 */
#include <mach/memory_object_catch.h>

#include "pager.h"

boolean_t memory_object_server(mach_msg_header_t *request, mach_msg_header_t *reply);

#define MESSAGE_ROOM 512 /* None of the messages is as long. */

static mach_port_t file;
static vm_address_t kept[FILE_PAGES]; /* Pages that have come back, or 0. */

mach_port_t pager_create(void)
{
	mach_port_t self = mach_task_self_cached();

	if (mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &file) != KERN_SUCCESS ||
	    mach_port_insert_right(self, file, file, MACH_MSG_TYPE_MAKE_SEND) != KERN_SUCCESS)
		return MACH_PORT_NULL;
	return file;
}

/* Each message brings a right to the control port, which counts. */
static void drop(mach_port_t right)
{
	mach_port_deallocate(mach_task_self_cached(), right);
}

/* ---------------- The file ---------------- */

/* A fresh page with the contents of page `index`; 0 without memory. */
static vm_address_t make_page(uint32_t index)
{
	vm_address_t page = 0;

	if (vm_allocate(mach_task_self_cached(), &page, PAGE_SIZE, TRUE) != KERN_SUCCESS)
		return 0;
	if (kept[index] != 0)
		memcpy((void *)page, (void *)kept[index], PAGE_SIZE);
	else
		*(uint32_t *)page = index;
	return page;
}

static void keep_page(uint32_t index, vm_address_t page)
{
	vm_address_t old = page;

	if (index < FILE_PAGES) {
		old = kept[index];
		kept[index] = page;
	}
	if (old != 0)
		vm_deallocate(mach_task_self_cached(), old, PAGE_SIZE);
}

/* ---------------- The kernel's messages ---------------- */

kern_return_t memory_object_init(mach_port_t object, mach_port_t control, mach_port_t name,
				 vm_size_t page_size)
{
	(void)object;
	(void)page_size;
	memory_object_ready(control, FALSE, MEMORY_OBJECT_COPY_DELAY);
	drop(control);
	drop(name);
	return KERN_SUCCESS;
}

/* The page itself goes to the kernel: it is gone from here, and nothing is copied. */
kern_return_t memory_object_data_request(mach_port_t object, mach_port_t control,
					 vm_offset_t offset, vm_size_t length, vm_prot_t access)
{
	uint32_t index = offset / PAGE_SIZE;
	vm_address_t page = 0;

	(void)object;
	(void)access;
	if (index >= FILE_PAGES)
		memory_object_data_unavailable(control, offset, length);
	else if ((page = make_page(index)) == 0)
		memory_object_data_error(control, offset, length, KERN_RESOURCE_SHORTAGE);
	else
		memory_object_data_supply(control, offset, page, PAGE_SIZE, TRUE, VM_PROT_NONE,
					  FALSE, MACH_PORT_NULL);
	drop(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_data_return(mach_port_t object, mach_port_t control, vm_offset_t offset,
					vm_offset_t data, mach_msg_type_number_t size,
					boolean_t dirty, boolean_t kernel_copy)
{
	(void)object;
	(void)dirty;
	(void)kernel_copy;
	for (vm_size_t done = 0; done < size; done += PAGE_SIZE)
		keep_page((offset + done) / PAGE_SIZE, data + done);
	drop(control);
	return KERN_SUCCESS;
}

/* The kernel gives its ports up: the names become receive rights, and end with these calls. */
kern_return_t memory_object_terminate(mach_port_t object, mach_port_t control, mach_port_t name)
{
	(void)object;
	mach_port_destroy(mach_task_self_cached(), control);
	mach_port_destroy(mach_task_self_cached(), name);
	return KERN_SUCCESS;
}

/* ---------------- What this pager has never asked for ---------------- */

kern_return_t memory_object_copy(mach_port_t object, mach_port_t control, vm_offset_t offset,
				 vm_size_t length, mach_port_t copy)
{
	(void)object;
	(void)offset;
	(void)length;
	mach_port_destroy(mach_task_self_cached(), copy);
	drop(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_data_unlock(mach_port_t object, mach_port_t control, vm_offset_t offset,
					vm_size_t length, vm_prot_t access)
{
	(void)object;
	(void)access;
	memory_object_lock_request(control, offset, length, MEMORY_OBJECT_RETURN_NONE, FALSE,
				   VM_PROT_NONE, MACH_PORT_NULL);
	drop(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_lock_completed(mach_port_t object, mach_port_t control,
					   vm_offset_t offset, vm_size_t length)
{
	(void)object;
	(void)offset;
	(void)length;
	drop(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_supply_completed(mach_port_t object, mach_port_t control,
					     vm_offset_t offset, vm_size_t length,
					     kern_return_t result, vm_offset_t error_offset)
{
	(void)object;
	(void)offset;
	(void)length;
	(void)result;
	(void)error_offset;
	drop(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_change_completed(mach_port_t object, boolean_t may_cache,
					     memory_object_copy_strategy_t strategy)
{
	(void)object;
	(void)may_cache;
	(void)strategy;
	return KERN_SUCCESS;
}

/* ---------------- The loop ---------------- */

_Noreturn void pager_serve(void)
{
	static union {
		mach_msg_header_t head;
		char room[MESSAGE_ROOM];
	} request, reply;

	for (;;)
		if (mach_msg(&request.head, MACH_RCV_MSG, 0, sizeof request, file, 0,
			     MACH_PORT_NULL) == MACH_MSG_SUCCESS)
			memory_object_server(&request.head, &reply.head);
}
