/* SPDX-License-Identifier: MIT */
/*
 * The kernel's messages, received one after the other, and a function for each.
 *
 * Every object's port has the address of its structure as payload, so what MIG hands on as the
 * `memory_object` of a message is that.  Rights and memory that a message brings are this program's
 * to give back.  The kernel is not believed blindly: a request that makes no sense changes nothing.
 */
#include <mach/memory_object_catch.h>
#include <mach/memory_object_default_catch.h>

#include "pager.h"

#define MESSAGE_MAX 512 /* None of the messages is as long. */

/* What MIG makes of an interface: calls the function for a message; false if it is not for it. */
boolean_t memory_object_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t memory_object_default_server(mach_msg_header_t *request, mach_msg_header_t *reply);

static mach_port_t default_port; /* Where new objects are announced, */
static mach_port_t all_ports;    /* and the set of this and all objects' ports. */

kern_return_t serve_prepare(mach_port_t *port)
{
	mach_port_t self = mach_task_self_cached();
	kern_return_t result;

	result = mach_port_allocate(self, MACH_PORT_RIGHT_PORT_SET, &all_ports);
	if (result == KERN_SUCCESS)
		result = mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &default_port);
	if (result == KERN_SUCCESS)
		result = mach_port_move_member(self, default_port, all_ports);
	*port = default_port;
	return result;
}

void drop_right(mach_port_t name)
{
	if (MACH_PORT_VALID(name))
		syscall_mach_port_deallocate(mach_task_self_cached(), name);
}

/* The object that a message was sent to; NULL for one that came where objects are announced. */
static struct object *serve_receiver(mach_port_t memory_object)
{
	return memory_object == default_port ? NULL : object_of(memory_object);
}

/* ---------------- Objects come and go ---------------- */

kern_return_t memory_object_create(mach_port_t manager, mach_port_t port, vm_size_t size,
				   mach_port_t control, mach_port_t name, vm_size_t page_size)
{
	mach_port_t self = mach_task_self_cached();
	struct object *object = object_new(port, control, name);
	kern_return_t result = KERN_INVALID_ARGUMENT;

	(void)size; /* What counts is which pages come. */
	drop_right(manager);
	if (page_size == PAGE_SIZE)
		result = mach_port_set_protected_payload(self, port, (natural_t)object);
	if (result == KERN_SUCCESS)
		result = mach_port_move_member(self, port, all_ports);
	if (result != KERN_SUCCESS) {
		say("cannot serve a new memory object (error %d)", result);
		object_end(object);
	}
	return KERN_SUCCESS;
}

kern_return_t memory_object_terminate(mach_port_t memory_object, mach_port_t control,
				      mach_port_t name)
{
	struct object *object = serve_receiver(memory_object);

	/* The receive rights have come under the names of the object's send rights. */
	(void)control;
	(void)name;
	if (object != NULL)
		object_end(object);
	return KERN_SUCCESS;
}

/* ---------------- Pages ---------------- */

/* Has the page written, or gives it back. */
static void serve_put_page(struct object *object, mach_port_t control, vm_offset_t offset,
			   vm_address_t page)
{
	if (!contents_put(object_place(object, offset / PAGE_SIZE, true), page))
		answer_supply(control, offset, page, true);
}

/* Memory of less than a page at the end is not kept: there are no such pages. */
static void serve_put_pages(mach_port_t memory_object, mach_port_t control, vm_offset_t offset,
			    vm_offset_t data, vm_size_t size)
{
	struct object *object = serve_receiver(memory_object);
	vm_size_t done = 0;

	if (object != NULL && offset % PAGE_SIZE == 0 && data % PAGE_SIZE == 0) {
		for (; done + PAGE_SIZE <= size; done += PAGE_SIZE)
			serve_put_page(object, control, offset + done, data + done);
	}
	if (done < size)
		syscall_vm_deallocate(mach_task_self_cached(), data + done, size - done);
	drop_right(control);
}

kern_return_t memory_object_data_initialize(mach_port_t memory_object, mach_port_t control,
					    vm_offset_t offset, vm_offset_t data,
					    mach_msg_type_number_t size)
{
	serve_put_pages(memory_object, control, offset, data, size);
	return KERN_SUCCESS;
}

/* What the kernel does with its own copy, and whether that was written to, changes nothing here. */
kern_return_t memory_object_data_return(mach_port_t memory_object, mach_port_t control,
					vm_offset_t offset, vm_offset_t data,
					mach_msg_type_number_t size, boolean_t dirty,
					boolean_t kernel_copy)
{
	(void)dirty;
	(void)kernel_copy;
	serve_put_pages(memory_object, control, offset, data, size);
	return KERN_SUCCESS;
}

/*
 * What was given back meanwhile is no answer: the kernel has the page, or has sent it again, and
 * asked again after that.
 */
static void serve_give_page(struct object *object, mach_port_t control, vm_offset_t offset)
{
	const place_t *place = object_place(object, offset / PAGE_SIZE, false);
	enum contents_result result = CONTENTS_NONE;
	vm_address_t page = 0;

	if (place != NULL)
		result = contents_get(place, &page);
	switch (result) {
	case CONTENTS_NONE:
		answer_unavailable(control, offset);
		break;
	case CONTENTS_KERNEL:
		break;
	case CONTENTS_READ:
		answer_supply(control, offset, page, false);
		break;
	case CONTENTS_BROKEN:
		answer_error(control, offset, KERN_MEMORY_ERROR);
		break;
	}
}

kern_return_t memory_object_data_request(mach_port_t memory_object, mach_port_t control,
					 vm_offset_t offset, vm_size_t length, vm_prot_t access)
{
	struct object *object = serve_receiver(memory_object);

	(void)access; /* Nothing is ever locked. */
	if (object != NULL && offset % PAGE_SIZE == 0) {
		for (vm_size_t done = 0; done < length; done += PAGE_SIZE)
			serve_give_page(object, control, offset + done);
	}
	drop_right(control);
	return KERN_SUCCESS;
}

/* ---------------- What the kernel does not ask of a default pager ---------------- */

kern_return_t memory_object_init(mach_port_t memory_object, mach_port_t control, mach_port_t name,
				 vm_size_t page_size)
{
	(void)memory_object;
	(void)page_size;
	drop_right(control);
	drop_right(name);
	return KERN_SUCCESS;
}

kern_return_t memory_object_copy(mach_port_t memory_object, mach_port_t control, vm_offset_t offset,
				 vm_size_t length, mach_port_t copy)
{
	(void)memory_object;
	(void)offset;
	(void)length;
	drop_right(control);
	if (MACH_PORT_VALID(copy))
		mach_port_destroy(mach_task_self_cached(), copy);
	return KERN_SUCCESS;
}

kern_return_t memory_object_data_unlock(mach_port_t memory_object, mach_port_t control,
					vm_offset_t offset, vm_size_t length, vm_prot_t access)
{
	(void)memory_object;
	(void)offset;
	(void)length;
	(void)access;
	drop_right(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_lock_completed(mach_port_t memory_object, mach_port_t control,
					   vm_offset_t offset, vm_size_t length)
{
	(void)memory_object;
	(void)offset;
	(void)length;
	drop_right(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_supply_completed(mach_port_t memory_object, mach_port_t control,
					     vm_offset_t offset, vm_size_t length,
					     kern_return_t result, vm_offset_t error_offset)
{
	(void)memory_object;
	(void)offset;
	(void)length;
	(void)result;
	(void)error_offset;
	drop_right(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_change_completed(mach_port_t memory_object, boolean_t may_cache,
					     memory_object_copy_strategy_t strategy)
{
	(void)memory_object;
	(void)may_cache;
	(void)strategy;
	return KERN_SUCCESS;
}

/* ---------------- The loop ---------------- */

union buffer {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[MESSAGE_MAX];
};

/* Receives a message; false if it was none. */
static bool serve_receive(union buffer *request)
{
	mach_msg_return_t result = mach_msg(&request->head, MACH_RCV_MSG, 0, sizeof *request,
					    all_ports, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);

	if (result == MACH_MSG_SUCCESS)
		return true;
	if (is_shortage(result)) {
		say("the kernel had no memory for a message: a page may be lost");
		return false;
	}
	/* The kernel has destroyed one that is too large, with all that was in it. */
	if (result != MACH_RCV_TOO_LARGE) {
		say("cannot serve_receive messages (error 0x%x)", result);
		assay_exit(1);
	}
	return false;
}

/* None of the messages wants an answer; who sends another is not told either. */
static void serve_dispatch(union buffer *request)
{
	static union buffer reply;

	if (!memory_object_server(&request->head, &reply.head))
		memory_object_default_server(&request->head, &reply.head);
	drop_right(request->head.msgh_remote_port);
}

_Noreturn void serve(void)
{
	static union buffer request;

	for (;;) {
		objects_refill();
		if (serve_receive(&request))
			serve_dispatch(&request);
	}
}
