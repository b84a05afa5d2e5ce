/* SPDX-License-Identifier: MIT */
/* Notifications of new tasks: see task_notify.h.  Guarded by the kernel lock. */
#include "task/task_notify.h"

#include <mach/mach_types.h>
#include <mach/messages.h>

#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"
#include "mach/gnumach_server.h"
#include "task/task.h"

struct new_task_message {
	mach_msg_header_t header;
	mach_msg_type_t task_type;
	mach_port_t task;
	mach_msg_type_t parent_type;
	mach_port_t parent;
};

/* A send right, or PORT_NULL. */
static struct port *registered;

void task_notify_forget(void)
{
	if (port_is_valid(registered) && !port_is_alive(registered)) {
		port_release_send(registered);
		registered = PORT_NULL;
	}
}

kern_return_t register_new_task_notification(host_t host, ipc_port_t notification)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	/* The kernel tells itself nothing, and its port would be kept, alive, for good. */
	if (port_is_valid(notification) && notification->kind != OBJECT_NONE)
		return KERN_INVALID_ARGUMENT;
	task_notify_forget();
	if (port_is_valid(registered))
		return KERN_NO_ACCESS;
	registered = notification;
	return KERN_SUCCESS;
}

void task_notify_new(struct task *task, struct task *parent)
{
	static const mach_msg_type_t port_type = DESCRIBE_MACH_PORT_SEND_T(1);
	struct message *message;
	struct new_task_message *body;

	task_notify_forget();
	if (!port_is_valid(registered))
		return;
	message = message_alloc(sizeof *body);
	if (message == NULL)
		return;
	body = (struct new_task_message *)&message->header;
	*body = (struct new_task_message){
		.header.msgh_bits =
			MACH_MSGH_BITS_COMPLEX | MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND, 0),
		.header.msgh_size = sizeof *body,
		.header.msgh_id = ID_MACH_NOTIFY_NEW_TASK,
		.task_type = port_type,
		.task = (mach_port_t)port_make_send(task->port),
		.parent_type = port_type,
		.parent = (mach_port_t)port_copy_send(parent->self_port),
	};
	message_set_ports(message, port_copy_send(registered), PORT_NULL);
	message_send_always(message);
}
