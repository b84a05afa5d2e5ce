/* SPDX-License-Identifier: MIT */
/* Scenarios of shortage: memory objects, whose pager is the test itself, and proxies. */
#include "shortage.h"

#include <mach/mach4.h>

#define PAGES 4u
#define BYTES (PAGES * PAGE_SIZE)

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static kern_return_t new_object(mach_port_t *object)
{
	kern_return_t result = mach_port_allocate(self(), MACH_PORT_RIGHT_RECEIVE, object);

	if (result != KERN_SUCCESS)
		return result;
	return mach_port_insert_right(self(), *object, *object, MACH_MSG_TYPE_MAKE_SEND);
}

static kern_return_t map(mach_port_t object, bool copy, vm_address_t *address)
{
	*address = 0;
	return vm_map(self(), address, BYTES, 0, TRUE, object, 0, copy, VM_PROT_DEFAULT,
		      VM_PROT_ALL, VM_INHERIT_NONE);
}

/* The control port, out of the first message; there may have been no room for its name. */
static kern_return_t receive_control(mach_port_t object, mach_port_t *control)
{
	static struct message message;

	if (message_get(&message, object, 0) != MACH_MSG_SUCCESS)
		return KERN_RESOURCE_SHORTAGE;
	*control = message.body[1];
	return MACH_PORT_VALID(*control) ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

/* Moves precious pages into the object, which answers at its own port. */
static kern_return_t supply(mach_port_t object, mach_port_t control)
{
	vm_address_t data = 0;
	kern_return_t result = vm_allocate(self(), &data, BYTES, TRUE);

	if (result != KERN_SUCCESS)
		return result;
	return memory_object_data_supply(control, 0, data, BYTES, TRUE, VM_PROT_NONE, TRUE, object);
}

/* Tells the kernel that the object can be used.  Without memory it hears nothing of it. */
static kern_return_t make_ready(mach_port_t control)
{
	memory_object_copy_strategy_t strategy;
	boolean_t ready = FALSE, may_cache;
	kern_return_t result;

	result = memory_object_ready(control, FALSE, MEMORY_OBJECT_COPY_CALL);
	if (result == KERN_SUCCESS)
		result = memory_object_get_attributes(control, &ready, &may_cache, &strategy);
	return result == KERN_SUCCESS && !ready ? KERN_RESOURCE_SHORTAGE : result;
}

/*
 * The calls of a pager have no answers but those that come as messages, and may not come.  What is
 * never received goes with the port.
 */
void shortage_memory_objects(void)
{
	mach_port_t object, control = MACH_PORT_NULL;
	vm_address_t first, copy;

	TRY(new_object(&object));
	TRY(map(object, false, &first));
	TRY(receive_control(object, &control));
	TRY(make_ready(control));
	TRY(supply(object, control));
	TRY(memory_object_lock_request(control, 0, 2 * PAGE_SIZE, MEMORY_OBJECT_RETURN_ALL, FALSE,
				       VM_PROT_NO_CHANGE, object));
	TRY(memory_object_lock_request(control, 2 * PAGE_SIZE, PAGE_SIZE, MEMORY_OBJECT_RETURN_ALL,
				       TRUE, VM_PROT_NO_CHANGE, object));
	TRY(map(object, true, &copy));
	TRY(memory_object_change_attributes(control, TRUE, MEMORY_OBJECT_COPY_DELAY, object));
	TRY(vm_deallocate(self(), first, BYTES));
	TRY(map(object, true, &first));
	TRY(vm_deallocate(self(), first, BYTES));
	TRY(memory_object_change_attributes(control, FALSE, MEMORY_OBJECT_COPY_DELAY, object));
}

void shortage_proxies(void)
{
	vm_offset_t zero = 0;
	vm_size_t size = BYTES;
	mach_port_t object, proxy, of_proxy;
	vm_address_t address = 0;

	TRY(new_object(&object));
	TRY(memory_object_create_proxy(self(), VM_PROT_READ, &object, MACH_MSG_TYPE_COPY_SEND, 1,
				       &zero, 1, &zero, 1, &size, 1, &proxy));
	TRY(map(proxy, false, &address));
	address = 0;
	TRY(vm_allocate(self(), &address, BYTES, TRUE));
	TRY(vm_region_create_proxy(self(), address, VM_PROT_DEFAULT, BYTES, &of_proxy));
	TRY(map(of_proxy, false, &address));
	TRY(map(of_proxy, true, &address));
}
