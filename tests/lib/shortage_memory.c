/* SPDX-License-Identifier: MIT */
/* Scenarios of shortage: memory that is copied by its map entries, and much of the kernel's own. */
#include "shortage.h"

#define LARGE       (12 * PAGE_SIZE) /* More than is copied page by page. */
#define LARGE_WORDS 16000u           /* Nearly as much as a message can have in line. */
#define PORTS       2u               /* Full of such messages, they take a table of the kernel's. */

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

/* New memory, all of it touched. */
static kern_return_t new_memory(vm_address_t *address)
{
	kern_return_t result;

	*address = 0;
	result = vm_allocate(self(), address, LARGE, TRUE);
	if (result != KERN_SUCCESS)
		return result;
	for (uint32_t at = 0; at < LARGE; at += PAGE_SIZE)
		*(volatile uint32_t *)(*address + at) = at;
	return KERN_SUCCESS;
}

/* In several entries, which show parts of one object at first. */
void shortage_large_copies(void)
{
	vm_address_t from, to;
	vm_offset_t data;
	mach_msg_type_number_t size;

	TRY(new_memory(&from));
	TRY(new_memory(&to));
	TRY(vm_protect(self(), from, LARGE / 2, FALSE, VM_PROT_READ));
	TRY(vm_read(self(), from, LARGE, &data, &size));
	TRY(vm_write(self(), to, data, size));
	TRY(vm_copy(self(), from, LARGE - PAGE_SIZE, to + PAGE_SIZE));
}

/* Messages of a port's own, as many as it takes. */
static kern_return_t fill_port(void)
{
	static struct {
		mach_msg_header_t head;
		uint32_t type[3];
		uint32_t data[LARGE_WORDS];
	} message;
	mach_port_t port;
	kern_return_t result = mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, &port);

	if (result == KERN_SUCCESS)
		result = mach_port_set_qlimit(self(), port, MACH_PORT_QLIMIT_MAX);
	for (uint32_t n = 0; n < MACH_PORT_QLIMIT_MAX && result == KERN_SUCCESS; n++) {
		memset(&message, 0, sizeof message.head);
		message.head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MAKE_SEND, 0);
		message.head.msgh_remote_port = port;
		message.type[0] = TYPE_LONG | TYPE_IS_INLINE;
		message.type[1] = MACH_MSG_TYPE_INTEGER_32 | 32u << 16;
		message.type[2] = LARGE_WORDS;
		result = mach_msg(&message.head, MACH_SEND_MSG, sizeof message, 0, MACH_PORT_NULL,
				  0, MACH_PORT_NULL);
	}
	return result;
}

/* Each time that it comes to its end more than ever before: the kernel needs a table for it. */
void shortage_more_kernel_memory_than_ever(void)
{
	static uint32_t most;

	for (uint32_t n = 0; n < most + PORTS; n++)
		TRY(fill_port());
	most += PORTS;
}
