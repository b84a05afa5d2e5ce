/* SPDX-License-Identifier: MIT */
/*
 * Labels: on whose behalf a thread runs.
 *
 * A label is a task's id, or 0 for the system.  A thread starts with its own task's.  A message
 * carries its sender's label, or if it goes to a send-once right the one noted in the port when
 * that right was made.  Every receive sets the receiver's: to the message's if that can be answered
 * or is an answer, else to its own.  So a server works on behalf of whoever sent the request until
 * it has answered, and a reply brings a caller its own label back (ipc/message_copyin.c and
 * message_copyout.c).  What is left is here: a server that had put a request aside takes it up
 * again, does something for itself, or does later what a task has caused whose port it has.
 */
#include "task/label.h"

#include "device/device.h"
#include "i386/patch/label_site.h"
#include "ipc/port.h"
#include "ipc/space.h"
#include "task/task.h"
#include "task/traps.h"
#include "thread/thread.h"

void label_charge(uint32_t label, bool in_kernel)
{
	struct task *task = task_find(label);

	if (task == NULL)
		return;
	task->served_ticks++;
	task->served_system_ticks += in_kernel;
}

/* On whose behalf a thread goes on, by what name it has the request, and for which input. */
struct service {
	uint32_t label;
	uint32_t name;
	uint32_t input;
};

/*
 * What a right makes whoever holds it in `task` work for; false if for nobody.  A reply right to a
 * port of the task's own is nobody's who waits: the task made it, perhaps while it served, and
 * would keep a client's label by it after the answer.  Whoever has a task's port can have it do
 * anything as it is, by a thread more, so it may also say that it works for it.
 */
static bool label_of_right(const struct entry *entry, const struct task *task,
			   struct service *service)
{
	if ((entry->type & MACH_PORT_TYPE_SEND_ONCE) != 0) {
		*service = (struct service){entry->port->label, entry->name, 0};
		return entry->port->receiver != task->space;
	}
	if ((entry->type & MACH_PORT_TYPE_SEND) == 0)
		return false;
	if (entry->port->kind == OBJECT_TASK) {
		const struct task *served = entry->port->object;

		*service = (struct service){served->id, MACH_PORT_NULL, 0};
		return true;
	}
	if (entry->port->kind == OBJECT_DEVICE) {
		const struct device *device = entry->port->object;

		*service = (struct service){device->whose, MACH_PORT_NULL, device->event};
		return device->event != 0;
	}
	if (entry->port->kind == OBJECT_THREAD) {
		const struct thread *thread = entry->port->object;

		*service = (struct service){thread->label, thread->serves, thread->input};
		return thread->task == task;
	}
	return false;
}

/*
 * The current thread goes on on behalf of the caller whose reply right has this name, of what a
 * thread of its own task works for, of a task, or of whoever a device's input is for.
 */
TRAP_ABI kern_return_t trap_thread_serve(uint32_t name)
{
	const struct entry *entry = space_find(current_task()->space, name);
	struct service service;

	if (entry == NULL || !label_of_right(entry, current_task(), &service))
		return KERN_INVALID_ARGUMENT;
	current_thread()->serves = service.name;
	current_thread()->input = service.input;
	machine_label_set(current_thread(), service.label);
	return KERN_SUCCESS;
}

TRAP_ABI uint32_t trap_thread_label(void)
{
	return current_thread()->label;
}
