/* SPDX-License-Identifier: MIT */
/*
 * gprof.<pid>: how others find the collector of this program.
 *
 * A name server that begins later, or again, knows no names.  The kernel tells the collector's
 * thread of it, which checks the name in; Unix does not know that thread, so it calls as the one
 * that has said gprof_control_server_init().
 */
#include <mach.h>
#include <prof/collector.h>
#include <servers/gprof_types.h>
#include <servers/netname.h>
#include <stdio.h>
#include <sys/ux.h>
#include <unistd.h>

#include "gprof.h"
#include "internal.h"

/* As the note on profiling has it: people look for these words. */
#define NO_SERVER "gprof_control_server_init netname_check_in (ipc/mig) server died"

static bool is_wanted; /* The program has asked for it, whether there was a name server or not. */
static mach_port_t call_port; /* Of the thread that registers, as whom the collector's calls. */
static mach_port_t news_port; /* In the collector's set: that there is another name server. */
static netname_name_t name;

/* Registers the port; MIG_SERVER_DIED if there is no name server. */
static kern_return_t check_in(void)
{
	mach_port_t server;
	kern_return_t result;

	netname_watch(call_port, news_port, &server);
	if (!MACH_PORT_VALID(server))
		return MIG_SERVER_DIED;
	result = netname_check_in(server, name, call_port,
				  prof_collector_public_port(__gprof_own()));
	syscall_mach_port_deallocate(mach_task_self_cached(), server);
	return result == MACH_SEND_INVALID_DEST ? MIG_SERVER_DIED : result;
}

/* In the collector's thread.  If it cannot be now, it is tried with the next name server. */
void __gprof_hear(void *context, mach_msg_header_t *message)
{
	(void)context;
	if (netname_is_next(message))
		check_in();
	else
		mach_msg_destroy(message);
}

static kern_return_t prepare(void)
{
	kern_return_t result = __gprof_prepare();

	if (result == KERN_SUCCESS && news_port == MACH_PORT_NULL)
		result = prof_collector_add_port(__gprof_own(), &news_port);
	call_port = ux_server_port();
	snprintf(name, sizeof name, GPROF_NAME_PREFIX "%d", getpid());
	return result;
}

void __gprof_forget_registration(void)
{
	news_port = MACH_PORT_NULL;
}

/* Without a word if there is no name server: that was said when the program asked. */
void __gprof_register_again(void)
{
	if (is_wanted && prepare() == KERN_SUCCESS)
		check_in();
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
	kern_return_t result = prepare();

	is_wanted |= result == KERN_SUCCESS;
	if (result == KERN_SUCCESS)
		result = check_in();
	if (result != KERN_SUCCESS)
		say(result);
	return result;
}
