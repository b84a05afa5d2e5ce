/* SPDX-License-Identifier: MIT */
/*
 * What the kernel wants of a pager: a function for each of its messages, and the threads that
 * receive them.
 *
 * Several threads receive from one set, so that messages of one object can be served in another
 * order than they were sent in.  Rights stay balanced all the same: each message gives back the
 * reference to the control port that it has brought.  The functions are called with the server's
 * lock held, which they give up while they read; from the end of a read to the answer they keep it,
 * so that no change of the file comes in between.
 */
#include "paging/paging.h"

#include <mach/memory_object_catch.h>
#include <mach/notify.h>

#define MESSAGE_MAX  512 /* None of the messages is as long. */
#define PAGES_MAX    8   /* That are read at once. */
#define BUFFER_BYTES (PAGES_MAX * PAGE_SIZE)

boolean_t memory_object_server(mach_msg_header_t *request, mach_msg_header_t *reply);

static struct {
	char *bytes;
	bool is_used;
} buffers[PAGING_THREADS]; /* One for each thread. */

static void paging_drop_right(mach_port_t name)
{
	if (MACH_PORT_VALID(name))
		syscall_mach_port_deallocate(mach_task_self_cached(), name);
}

/* ---------------- The kernel begins and ends to use an object ---------------- */

/* The right to the control port is kept.  One that is there already belongs to a use that ends. */
kern_return_t memory_object_init(mach_port_t id, mach_port_t control, mach_port_t name,
				 vm_size_t page_size)
{
	struct memory_object *object = paging_find(id);

	assert(page_size == PAGE_SIZE);
	paging_drop_right(name);
	if (object == NULL) {
		paging_drop_right(control);
		return KERN_SUCCESS;
	}
	paging_drop_right(object->control);
	object->control = control;
	answer_ready(control, object->is_kept);
	return KERN_SUCCESS;
}

/*
 * The ports are this server's now, under names that other threads may still have references to; a
 * dead name keeps those.
 */
kern_return_t memory_object_terminate(mach_port_t id, mach_port_t control, mach_port_t name)
{
	struct memory_object *object = paging_find(id);
	mach_port_t self = mach_task_self_cached();

	if (object != NULL && object->control == control) {
		object->control = MACH_PORT_NULL;
		paging_drop_right(control);
	}
	if (MACH_PORT_VALID(control))
		mach_port_mod_refs(self, control, MACH_PORT_RIGHT_RECEIVE, -1);
	if (MACH_PORT_VALID(name))
		mach_port_mod_refs(self, name, MACH_PORT_RIGHT_RECEIVE, -1);
	return KERN_SUCCESS;
}

/* ---------------- Pages ---------------- */

static char *paging_take_buffer(unsigned *n)
{
	for (*n = 0; buffers[*n].is_used; ++*n)
		assert(*n + 1 < PAGING_THREADS);
	buffers[*n].is_used = true;
	return buffers[*n].bytes;
}

/*
 * Answers for so many pages as fit into the buffer.  Behind the end of the file its last page is
 * zero, and there are no further ones.
 */
static void paging_give_pages(struct vnode *vnode, mach_port_t control, vm_offset_t offset,
			      vm_size_t size, char *buffer)
{
	size_t done = 0;
	int error = vnode_read(vnode, offset, buffer, size, &done);
	vm_size_t pages = ux_whole_pages(done);

	if (error != 0 || pages == 0) {
		answer_error(control, offset, size);
		return;
	}
	memset(buffer + done, 0, pages - done);
	answer_supply(control, offset, buffer, pages);
	if (pages < size)
		answer_error(control, offset + pages, size - pages);
}

/* The object may end meanwhile: then nobody listens to the answers. */
static void paging_serve_request(struct vnode *vnode, mach_port_t control, vm_offset_t offset,
				 vm_size_t length)
{
	unsigned n;
	char *buffer = paging_take_buffer(&n);

	vnode_reference(vnode);
	for (vm_size_t done = 0; done < length; done += BUFFER_BYTES)
		paging_give_pages(vnode, control, offset + done,
				  length - done < BUFFER_BYTES ? length - done : BUFFER_BYTES,
				  buffer);
	buffers[n].is_used = false;
	vnode_release(vnode);
}

kern_return_t memory_object_data_request(mach_port_t id, mach_port_t control, vm_offset_t offset,
					 vm_size_t length, vm_prot_t access)
{
	const struct memory_object *object = paging_find(id);

	(void)access; /* Nothing is ever locked. */
	if (object != NULL)
		paging_serve_request(object->vnode, control, offset, ux_whole_pages(length));
	paging_drop_right(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_data_unlock(mach_port_t id, mach_port_t control, vm_offset_t offset,
					vm_size_t length, vm_prot_t access)
{
	(void)id;
	(void)access;
	answer_unlock(control, offset, length);
	paging_drop_right(control);
	return KERN_SUCCESS;
}

/* All maps of files are copies, so nobody can have written to the pages. */
kern_return_t memory_object_data_return(mach_port_t id, mach_port_t control, vm_offset_t offset,
					vm_offset_t data, mach_msg_type_number_t size,
					boolean_t dirty, boolean_t kernel_copy)
{
	(void)id;
	(void)offset;
	(void)dirty;
	(void)kernel_copy;
	ux_log("a page of a file came back, and is dropped");
	syscall_vm_deallocate(mach_task_self_cached(), data, size);
	paging_drop_right(control);
	return KERN_SUCCESS;
}

/* ---------------- What is not asked for ---------------- */

kern_return_t memory_object_copy(mach_port_t id, mach_port_t control, vm_offset_t offset,
				 vm_size_t length, mach_port_t copy)
{
	(void)id;
	(void)offset;
	(void)length;
	if (MACH_PORT_VALID(copy))
		mach_port_mod_refs(mach_task_self_cached(), copy, MACH_PORT_RIGHT_RECEIVE, -1);
	paging_drop_right(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_lock_completed(mach_port_t id, mach_port_t control, vm_offset_t offset,
					   vm_size_t length)
{
	(void)id;
	(void)offset;
	(void)length;
	paging_drop_right(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_supply_completed(mach_port_t id, mach_port_t control,
					     vm_offset_t offset, vm_size_t length,
					     kern_return_t result, vm_offset_t error_offset)
{
	(void)id;
	(void)offset;
	(void)length;
	(void)result;
	(void)error_offset;
	paging_drop_right(control);
	return KERN_SUCCESS;
}

kern_return_t memory_object_change_completed(mach_port_t id, boolean_t may_cache,
					     memory_object_copy_strategy_t strategy)
{
	(void)id;
	(void)may_cache;
	(void)strategy;
	return KERN_SUCCESS;
}

/* ---------------- The threads ---------------- */

union buffer {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	mach_no_senders_notification_t no_senders;
	char room[MESSAGE_MAX];
};

/* Nobody but the kernel has a right to send to these ports. */
static void paging_dispatch(union buffer *request, union buffer *reply)
{
	struct memory_object *object;

	if (memory_object_server(&request->head, &reply->head))
		return;
	object = paging_find(request->head.msgh_protected_payload);
	if (object != NULL && request->head.msgh_id == MACH_NOTIFY_NO_SENDERS)
		paging_no_senders(object, request->no_senders.not_count);
}

static bool paging_prepare(void)
{
	bool is_ready = true;

	ux_lock();
	for (unsigned n = 0; n < PAGING_THREADS && is_ready; n++) {
		if (buffers[n].bytes == NULL)
			buffers[n].bytes = ux_allocate_pages(BUFFER_BYTES);
		is_ready = buffers[n].bytes != NULL;
	}
	ux_unlock();
	return is_ready;
}

void paging_serve(void *ports)
{
	const mach_port_t *all_ports = ports;
	union buffer request, reply;

	if (!paging_prepare())
		ux_panic(__FILE__, __LINE__, "no memory for pages of files");
	for (;;) {
		mach_msg_return_t result =
			mach_msg(&request.head, MACH_RCV_MSG, 0, sizeof request, *all_ports,
				 MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);

		if (result != MACH_MSG_SUCCESS)
			continue; /* No memory for what it has brought; it was destroyed. */
		ux_lock();
		paging_dispatch(&request, &reply);
		ux_unlock();
	}
}
