/* SPDX-License-Identifier: MIT */
/* That a name server has begun, who knows no names: see <servers/netname_types.h>. */
#include <mach.h>
#include <mach/notify.h>
#include <servers/netname.h>
#include <ux/bsd.h>

static void give_up(mach_port_t right)
{
	if (MACH_PORT_VALID(right))
		syscall_mach_port_deallocate(mach_task_self_cached(), right);
}

/* To be told of its death twice is to be told once: an earlier request is replaced. */
static kern_return_t ask(mach_port_t next, mach_port_t notify)
{
	mach_port_t previous = MACH_PORT_NULL;
	kern_return_t result = mach_port_request_notification(
		mach_task_self_cached(), next, MACH_NOTIFY_DEAD_NAME, TRUE, notify,
		MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous);

	give_up(previous);
	return result;
}

/* First who comes next, and then who is there: whoever comes in between is not missed. */
kern_return_t netname_watch(mach_port_t caller, mach_port_t notify, mach_port_t *server)
{
	mach_port_t next = MACH_PORT_NULL;
	kern_return_t result;

	do
		result = bsd_name_server_next(caller, &next);
	while (result == KERN_SUCCESS && next == MACH_PORT_DEAD); /* There was another since. */
	*server = MACH_PORT_NULL;
	if (result == KERN_SUCCESS)
		result = ask(next, notify);
	if (result != KERN_SUCCESS)
		give_up(next);
	bsd_name_server(caller, server);
	return result;
}

/* With the name's last right its number goes. */
int netname_is_next(const mach_msg_header_t *message)
{
	const mach_dead_name_notification_t *notification = (const void *)message;

	if (message->msgh_id != MACH_NOTIFY_DEAD_NAME)
		return 0;
	mach_port_destroy(mach_task_self_cached(), notification->not_port);
	return 1;
}
