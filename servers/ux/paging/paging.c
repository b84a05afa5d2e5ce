/* SPDX-License-Identifier: MIT */
/*
 * Memory objects of files: their life, and what changes of files mean for them.
 *
 * An object begins when a file is mapped for the first time, and ends when nobody has a send right
 * to it: the kernel has one while the file is mapped or kept for the next time.  In between it
 * refers to the vnode.  Guarded by the server's lock.
 */
#include "paging/paging.h"

#include <mach/mach4.h>
#include <mach/notify.h>

#define SETTLE_NS (2ull * NANOS_PER_SECOND) /* More than the kernel ever needs to let go. */

static struct list objects = LIST_INITIALIZER(objects);
static natural_t last_id;
static mach_port_t all_ports; /* The set that the threads receive from. */

struct memory_object *paging_find(natural_t id)
{
	struct list *link;

	assert(ux_lock_held());
	list_for_each (link, &objects) {
		struct memory_object *object = list_object(link, struct memory_object, link);

		if (object->id == id)
			return object;
	}
	return NULL;
}

/* ---------------- Beginning and end ---------------- */

static void paging_destroy_port(mach_port_t port)
{
	mach_port_mod_refs(mach_task_self_cached(), port, MACH_PORT_RIGHT_RECEIVE, -1);
}

/* Has the kernel tell, once, when there is no send right and at least `rights` were made. */
static kern_return_t paging_watch_senders(mach_port_t port, unsigned rights)
{
	mach_port_t previous = MACH_PORT_NULL;

	return mach_port_request_notification(mach_task_self_cached(), port, MACH_NOTIFY_NO_SENDERS,
					      rights, port, MACH_MSG_TYPE_MAKE_SEND_ONCE,
					      &previous);
}

static bool paging_make_port(natural_t id, mach_port_t *port)
{
	mach_port_t self = mach_task_self_cached();

	if (syscall_mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, port) != KERN_SUCCESS)
		return false;
	if (mach_port_set_protected_payload(self, *port, id) == KERN_SUCCESS &&
	    paging_watch_senders(*port, 1) == KERN_SUCCESS &&
	    mach_port_move_member(self, *port, all_ports) == KERN_SUCCESS)
		return true;
	paging_destroy_port(*port);
	return false;
}

static struct memory_object *paging_object_new(struct vnode *vnode)
{
	struct memory_object *object = ux_allocate(sizeof *object);

	if (object == NULL)
		return NULL;
	object->id = ++last_id;
	if (!paging_make_port(object->id, &object->port)) {
		ux_free(object);
		return NULL;
	}
	object->vnode = vnode_reference(vnode);
	object->is_kept = true;
	list_add_last(&objects, &object->link);
	vnode->object = object;
	return object;
}

static void paging_object_end(struct memory_object *object)
{
	struct vnode *vnode = object->vnode;

	assert(vnode->object == object);
	vnode->object = NULL;
	list_remove(&object->link);
	paging_destroy_port(object->port);
	if (object->control != MACH_PORT_NULL)
		syscall_mach_port_deallocate(mach_task_self_cached(), object->control);
	ux_free(object);
	ux_wakeup(&objects);
	vnode_release(vnode);
}

int paging_object(struct vnode *vnode, mach_port_t *port)
{
	struct memory_object *object = vnode->object;

	assert(ux_lock_held() && S_ISREG(vnode->mode));
	if (object == NULL)
		object = paging_object_new(vnode);
	if (object == NULL)
		return ENOMEM;
	if (syscall_mach_port_insert_right(mach_task_self_cached(), object->port, object->port,
					   MACH_MSG_TYPE_MAKE_SEND) != KERN_SUCCESS) {
		if (object->rights == 0)
			paging_object_end(object);
		return ENOMEM;
	}
	object->rights++;
	*port = object->port;
	return 0;
}

/* The proxy has a right to the memory object itself, and so keeps that. */
int paging_proxy(struct vnode *vnode, mach_port_t *port)
{
	vm_offset_t beginning = 0;
	vm_size_t all = UINT32_MAX - (PAGE_SIZE - 1);
	mach_port_t self = mach_task_self_cached();
	mach_port_t object;
	kern_return_t result;
	int error = paging_object(vnode, &object);

	if (error != 0)
		return error;
	result = memory_object_create_proxy(self, VM_PROT_READ | VM_PROT_EXECUTE, &object,
					    MACH_MSG_TYPE_COPY_SEND, 1, &beginning, 1, &beginning,
					    1, &all, 1, port);
	syscall_mach_port_deallocate(self, object);
	return result == KERN_SUCCESS ? 0 : ENOMEM;
}

/* A right that was made since is on its way to be used: whoever has it will give it up later. */
void paging_no_senders(struct memory_object *object, unsigned rights)
{
	assert(ux_lock_held());
	if (rights == object->rights)
		paging_object_end(object);
	else if (paging_watch_senders(object->port, object->rights) != KERN_SUCCESS)
		ux_log("no memory to watch a file's map: the file stays open");
}

/* ---------------- Changes ---------------- */

/* Memory objects end at 4 GiB. */
void paging_changed(struct vnode *vnode, off_t offset, off_t size)
{
	struct memory_object *object = vnode->object;

	assert(ux_lock_held() && vnode->is_busy);
	if (object == NULL || object->control == MACH_PORT_NULL)
		return;
	if (offset > UINT32_MAX || size <= 0)
		return;
	if (size > UINT32_MAX - offset)
		size = UINT32_MAX - offset;
	answer_flush(object->control, (vm_offset_t)offset, (vm_size_t)size);
}

/* A file that can be opened again is kept; of one that cannot the kernel is to have no pages. */
void paging_forget(struct vnode *vnode)
{
	struct memory_object *object = vnode->object;

	assert(ux_lock_held());
	if (object == NULL || vnode->links > 0 || !object->is_kept)
		return;
	object->is_kept = false;
	if (object->control != MACH_PORT_NULL)
		answer_attributes(object->control, false);
}

static bool paging_is_settled(void)
{
	struct list *link;

	list_for_each (link, &objects)
		if (list_object(link, struct memory_object, link)->vnode->links == 0)
			return false;
	return true;
}

void paging_settle(void)
{
	uint64_t deadline = ux_now() + SETTLE_NS;

	while (!paging_is_settled())
		if (ux_sleep_until(&objects, deadline) == ETIMEDOUT)
			return;
}

/* ---------------- The start ---------------- */

bool paging_start(void)
{
	if (syscall_mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_PORT_SET,
				       &all_ports) != KERN_SUCCESS)
		return false;
	for (unsigned n = 0; n < PAGING_THREADS; n++)
		if (!ux_start_thread(paging_serve, &all_ports))
			return false;
	return true;
}
