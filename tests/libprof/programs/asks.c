/* SPDX-License-Identifier: MIT */
/*
 * Controls another program's profiling and has no part of libprof1 itself: `asks PID` has it
 * sampled, waits until there are samples, and writes its profile to standard output.
 */
#include <mach.h>
#include <servers/gprof.h>
#include <servers/netname.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ENOUGH 20u /* Samples. */

static int fail(const char *what, kern_return_t why)
{
	fprintf(stderr, "asks: %s: error %d\n", what, why);
	return 1;
}

static kern_return_t await_samples(mach_port_t port)
{
	const struct timespec step = {.tv_nsec = 10000000};
	gprof_status_t status = {0};
	kern_return_t result = KERN_SUCCESS;

	while (result == KERN_SUCCESS && status.taken[0] < ENOUGH) {
		nanosleep(&step, NULL);
		result = gprof_mon_status(port, &status);
	}
	return result;
}

int main(int count, char **words)
{
	const gprof_options_t options = {.rate = 500, .format = GPROF_BSD};
	sampled_pc_flavor_t flavors = SAMPLED_PC_PERIODIC, none = 0;
	mach_msg_type_number_t size = 0;
	mach_port_t port = MACH_PORT_NULL;
	kern_return_t result;
	netname_name_t name;
	mon_data_t data;

	snprintf(name, sizeof name, "gprof.%s", count > 1 ? words[1] : "");
	result = netname_look_up(name_server_port, "", name, &port);
	if (result != KERN_SUCCESS)
		return fail(name, result);
	result = gprof_mon_options(port, options);
	if (result == KERN_SUCCESS)
		result = gprof_mon_switch(port, &flavors);
	if (result == KERN_SUCCESS)
		result = await_samples(port);
	if (result == KERN_SUCCESS)
		result = gprof_mon_switch(port, &none);
	if (result == KERN_SUCCESS)
		result = gprof_mon_dump(port, &data, &size);
	if (result != KERN_SUCCESS)
		return fail("gprof_mon", result);
	return write(STDOUT_FILENO, data, size) == (ssize_t)size ? 0 : fail("write", size);
}
