/* SPDX-License-Identifier: MIT */
/*
 * The routines of <servers/gprof.h>, as the note of Mach 3.0 has them: with MACH_PORT_NULL any
 * thread of the program may call them, and they ask the collector's thread; with one of its ports
 * they are what that thread does for a request.
 */
#include <mach.h>
#include <servers/gprof.h>
#include <servers/gprof_server.h>

#include "collector.h"

/* Makes a collector, in a program that has none yet. */
kern_return_t __gprof_prepare(void) __attribute__((weak));

/* GPROF_NOT_ALLOWED for what came to the port that everybody knows, if not everybody may ask. */
static kern_return_t check(mach_port_t port)
{
	return port == __collector_port() ? KERN_SUCCESS : GPROF_NOT_ALLOWED;
}

static kern_return_t check_prepared(void)
{
	return __collector_port() != MACH_PORT_NULL ? KERN_SUCCESS : GPROF_NOT_PROFILED;
}

kern_return_t do_gprof_mon_switch(mach_port_t port, sampled_pc_flavor_t *flavors)
{
	kern_return_t result;

	if (port != MACH_PORT_NULL) {
		result = check(port);
		return result == KERN_SUCCESS ? __collector_switch(flavors) : result;
	}
	result = check_prepared();
	if (result != KERN_SUCCESS && __gprof_prepare != NULL)
		result = __gprof_prepare();
	return result == KERN_SUCCESS ? gprof_mon_switch(__collector_port(), flavors) : result;
}

static kern_return_t dump(mon_data_t *mon_data, mach_msg_type_number_t *mon_data_cnt)
{
	size_t size = 0;
	kern_return_t result = __collector_dump(mon_data, &size);

	*mon_data_cnt = (mach_msg_type_number_t)size;
	return result;
}

kern_return_t do_gprof_mon_dump(mach_port_t port, mon_data_t *mon_data,
				mach_msg_type_number_t *mon_data_cnt)
{
	kern_return_t result = port == MACH_PORT_NULL ? check_prepared() : check(port);

	if (result != KERN_SUCCESS)
		return result;
	return port == MACH_PORT_NULL ? gprof_mon_dump(__collector_port(), mon_data, mon_data_cnt)
				      : dump(mon_data, mon_data_cnt);
}

kern_return_t do_gprof_mon_status(mach_port_t port, gprof_status_t *status)
{
	kern_return_t result = port == MACH_PORT_NULL ? check_prepared() : check(port);

	if (result != KERN_SUCCESS)
		return result;
	if (port == MACH_PORT_NULL)
		return gprof_mon_status(__collector_port(), status);
	__collector_status(status);
	return KERN_SUCCESS;
}

kern_return_t do_gprof_mon_options(mach_port_t port, gprof_options_t options)
{
	kern_return_t result = port == MACH_PORT_NULL ? check_prepared() : check(port);

	if (result != KERN_SUCCESS)
		return result;
	return port == MACH_PORT_NULL ? gprof_mon_options(__collector_port(), options)
				      : __collector_options(&options);
}

kern_return_t do_gprof_mon_open(mach_port_t port, const_gprof_token_t token, mach_port_t *control)
{
	(void)port;
	if (!__collector_admits(token))
		return GPROF_NOT_ALLOWED;
	*control = __collector_port();
	return KERN_SUCCESS;
}
