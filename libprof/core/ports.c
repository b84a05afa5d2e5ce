/* SPDX-License-Identifier: MIT */
/* Ports of the collector's: see ports.h. */
#include "ports.h"

#include <mach.h>
#include <mach/task_info.h>

static kern_return_t make(mach_port_t *port)
{
	mach_port_t self = mach_task_self_cached();
	kern_return_t result = mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, port);

	if (result == KERN_SUCCESS)
		result = mach_port_insert_right(self, *port, *port, MACH_MSG_TYPE_MAKE_SEND);
	return result;
}

kern_return_t __prof_port_member(mach_port_t *port, mach_port_t set)
{
	kern_return_t result = make(port);

	if (result == KERN_SUCCESS)
		result = mach_port_move_member(mach_task_self_cached(), *port, set);
	return result;
}

kern_return_t __prof_port_watch(mach_port_t task, mach_port_t port)
{
	mach_port_t previous = MACH_PORT_NULL;

	return mach_port_request_notification(mach_task_self_cached(), task, MACH_NOTIFY_DEAD_NAME,
					      TRUE, port, MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous);
}

uint32_t __prof_task_number(mach_port_t task)
{
	struct task_id_info info = {.id = 0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	task_info(task, TASK_ID_INFO, (task_info_t)&info, &count);
	return info.id;
}
