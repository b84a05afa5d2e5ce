/* SPDX-License-Identifier: MIT */
/*
 * Who waits for the next name server waits for one that is still to come, however soon others have
 * come and gone: the Unix server's answer is put before each (`--wrap` of the linker's).
 */
#include <mach/notify.h>
#include <signal.h>
#include <ux/bsd.h>

#include "names.h"

#define PATIENCE 10000 /* Milliseconds of the machine's. */

static int asked, gone; /* How often, and to how many of these the port has died on its way. */

kern_return_t __real_bsd_name_server_next(mach_port_t caller, mach_port_t *port);
kern_return_t __wrap_bsd_name_server_next(mach_port_t caller, mach_port_t *port);

kern_return_t __wrap_bsd_name_server_next(mach_port_t caller, mach_port_t *port)
{
	if (asked++ >= gone)
		return __real_bsd_name_server_next(caller, port);
	*port = MACH_PORT_DEAD;
	return KERN_SUCCESS;
}

static void end_name_server(void)
{
	struct ux_process_info info[UX_PROCESSES_MAX];
	int n = ux_processes(info, UX_PROCESSES_MAX);

	while (n-- > 0)
		if (strcmp(info[n].command, "snames") == 0)
			EXPECT_EQ(kill(info[n].pid, SIGKILL), 0);
	while (name_server_port != MACH_PORT_NULL)
		continue;
}

static bool is_told(mach_port_t notify)
{
	union {
		mach_msg_header_t head;
		char room[256];
	} message;

	return mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message, notify,
			PATIENCE, MACH_PORT_NULL) == MACH_MSG_SUCCESS &&
	       netname_is_next(&message.head);
}

TEST(name_servers_that_end_at_once_are_not_waited_for)
{
	mach_port_t notify = new_port(), found = MACH_PORT_NULL;

	gone = 3;
	EXPECT_EQ(netname_watch(ux_server_port(), notify, &found), KERN_SUCCESS);
	EXPECT_EQ(asked, gone + 1);
	EXPECT(MACH_PORT_VALID(found));
	end_name_server();
	EXPECT_EQ(system("/sbin/snames"), 0);
	EXPECT(is_told(notify));
	EXPECT_EQ(netname_watch(ux_server_port(), notify, &found), KERN_SUCCESS);
	EXPECT(MACH_PORT_VALID(found));
}
