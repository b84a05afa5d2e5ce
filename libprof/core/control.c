/* SPDX-License-Identifier: MIT */
/*
 * The routines of <servers/gprof.h>, as the note of Mach 3.0 has them: with MACH_PORT_NULL any
 * thread of the program may call them, and they ask the thread of the program's own collector; with
 * a port of a collector they are what its thread does for a request.
 */
#include <mach.h>
#include <servers/gprof.h>
#include <servers/gprof_server.h>

#include "collector.h"

/* The program's own collector, and the making of it; they are there with all of libprof1. */
struct prof_collector *__gprof_own(void) __attribute__((weak));
kern_return_t __gprof_prepare(void) __attribute__((weak));

/* Where the program's own collector takes requests; MACH_PORT_NULL: there is none. */
static mach_port_t own_port(void)
{
	const struct prof_collector *own = __gprof_own != NULL ? __gprof_own() : NULL;

	return own != NULL ? prof_collector_port(own) : MACH_PORT_NULL;
}

/* GPROF_NOT_ALLOWED for what came to a port that everybody knows, if not everybody may ask. */
static kern_return_t find(mach_port_t port, struct prof_collector **collector)
{
	*collector = __collector_of(port);
	return *collector != NULL && (*collector)->control == port ? KERN_SUCCESS
								   : GPROF_NOT_ALLOWED;
}

kern_return_t do_gprof_mon_switch(mach_port_t port, sampled_pc_flavor_t *flavors)
{
	struct prof_collector *collector;
	kern_return_t result = KERN_SUCCESS;

	if (port != MACH_PORT_NULL) {
		result = find(port, &collector);
		return result == KERN_SUCCESS ? prof_collector_switch(collector, flavors) : result;
	}
	if (own_port() == MACH_PORT_NULL)
		result = __gprof_prepare != NULL ? __gprof_prepare() : GPROF_NOT_PROFILED;
	return result == KERN_SUCCESS ? gprof_mon_switch(own_port(), flavors) : result;
}

static kern_return_t dump(struct prof_collector *collector, mon_data_t *mon_data,
			  mach_msg_type_number_t *mon_data_cnt)
{
	size_t size = 0;
	kern_return_t result = prof_collector_dump(collector, mon_data, &size);

	*mon_data_cnt = (mach_msg_type_number_t)size;
	return result;
}

kern_return_t do_gprof_mon_dump(mach_port_t port, mon_data_t *mon_data,
				mach_msg_type_number_t *mon_data_cnt)
{
	struct prof_collector *collector;
	kern_return_t result;

	if (port == MACH_PORT_NULL && own_port() == MACH_PORT_NULL)
		return GPROF_NOT_PROFILED;
	if (port == MACH_PORT_NULL)
		return gprof_mon_dump(own_port(), mon_data, mon_data_cnt);
	result = find(port, &collector);
	return result == KERN_SUCCESS ? dump(collector, mon_data, mon_data_cnt) : result;
}

kern_return_t do_gprof_mon_status(mach_port_t port, gprof_status_t *status)
{
	struct prof_collector *collector;
	kern_return_t result;

	if (port == MACH_PORT_NULL && own_port() == MACH_PORT_NULL)
		return GPROF_NOT_PROFILED;
	if (port == MACH_PORT_NULL)
		return gprof_mon_status(own_port(), status);
	result = find(port, &collector);
	if (result == KERN_SUCCESS)
		prof_collector_status(collector, status);
	return result;
}

kern_return_t do_gprof_mon_options(mach_port_t port, gprof_options_t options)
{
	struct prof_collector *collector;
	kern_return_t result;

	if (port == MACH_PORT_NULL && own_port() == MACH_PORT_NULL)
		return GPROF_NOT_PROFILED;
	if (port == MACH_PORT_NULL)
		return gprof_mon_options(own_port(), options);
	result = find(port, &collector);
	return result == KERN_SUCCESS ? prof_collector_options(collector, &options) : result;
}

/* Any port of a collector's will do to ask for the one that serves. */
kern_return_t do_gprof_mon_open(mach_port_t port, const_gprof_token_t token, mach_port_t *control)
{
	const struct prof_collector *collector = __collector_of(port);

	if (collector == NULL || !__collector_admits(collector, token))
		return GPROF_NOT_ALLOWED;
	*control = prof_collector_port(collector);
	return KERN_SUCCESS;
}
