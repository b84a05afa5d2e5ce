/* SPDX-License-Identifier: MIT */
/* gprof.<pid>: how others find the collector of this program. */
#include <mach.h>
#include <servers/gprof_types.h>
#include <servers/netname.h>
#include <stdio.h>
#include <sys/ux.h>
#include <unistd.h>

#include "core/collector.h"
#include "gprof.h"
#include "internal.h"

/* As the note on profiling has it: people look for these words. */
#define NO_SERVER "gprof_control_server_init netname_check_in (ipc/mig) server died"

static bool is_registered;

bool __gprof_is_registered(void)
{
	return is_registered;
}

/* Registers the port; MIG_SERVER_DIED if there is no name server. */
static kern_return_t check_in(void)
{
	mach_port_t server = ux_name_server();
	netname_name_t name;
	kern_return_t result;

	if (!MACH_PORT_VALID(server))
		return MIG_SERVER_DIED;
	snprintf(name, sizeof name, GPROF_NAME_PREFIX "%d", getpid());
	result = netname_check_in(server, name, ux_server_port(), __collector_public_port());
	syscall_mach_port_deallocate(mach_task_self_cached(), server);
	return result == MACH_SEND_INVALID_DEST ? MIG_SERVER_DIED : result;
}

static void say(kern_return_t result)
{
	char text[160];

	if (result == MIG_SERVER_DIED) {
		fprintf(stderr, NO_SERVER "\n");
		__gprof_say("no other program can control this one's profiling", "start snames");
		return;
	}
	snprintf(text, sizeof text, "gprof_control_server_init netname_check_in error %d", result);
	__gprof_say(text, "monctl cannot control this program");
}

kern_return_t gprof_control_server_init(void)
{
	kern_return_t result = __gprof_prepare();

	if (result == KERN_SUCCESS)
		result = check_in();
	is_registered = result == KERN_SUCCESS;
	if (!is_registered)
		say(result);
	return result;
}
