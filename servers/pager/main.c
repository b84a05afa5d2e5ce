/* SPDX-License-Identifier: MIT */
/*
 * Starts the default pager:
 *
 *     pager ${host-port} ${device-port} [DEVICE]      or swap=DEVICE; rd0 if none is named
 *
 * It has no threads but its first.  Whatever cannot be had is said in one line, and then the
 * program ends: a machine without swap is better than one that believes to have it.
 */
#include <mach/device.h>

#include "pager.h"

#define WAIT_MS  10
#define PRIORITY 8 /* Better than programs': they wait for it. */

/* Of the kernel's, of devices, and of the messages to them. */
bool is_shortage(kern_return_t result)
{
	return result == KERN_RESOURCE_SHORTAGE || result == D_NO_MEMORY ||
	       result == MACH_SEND_NO_BUFFER || (result & ~MACH_MSG_MASK) == MACH_RCV_BODY_ERROR;
}

void wait_for_memory(void)
{
	thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, WAIT_MS);
}

/* The device that the command line names. */
static const char *device_name(int argc, char **argv)
{
	static const char option[] = "swap=";

	if (argc < 4)
		return "rd0";
	if (strncmp(argv[3], option, sizeof option - 1) == 0)
		return argv[3] + sizeof option - 1;
	return argv[3];
}

static bool succeeded(kern_return_t result, const char *what)
{
	if (result != KERN_SUCCESS)
		say("cannot %s (error %d)", what, result);
	return result == KERN_SUCCESS;
}

/* From here on this program needs nobody's memory but its own. */
static bool get_privileges(mach_port_t host)
{
	mach_port_t self = mach_task_self_cached();
	mach_port_t thread = mach_thread_self();
	mach_port_t set_name, set;

	if (!succeeded(vm_wire_all(host, self, VM_WIRE_ALL), "wire its memory") ||
	    !succeeded(thread_wire(host, thread, TRUE), "have the last pages"))
		return false;
	if (!succeeded(processor_set_default(host, &set_name), "find its processor set") ||
	    !succeeded(host_processor_set_priv(host, set_name, &set), "rule its processor set") ||
	    !succeeded(thread_max_priority(thread, set, PRIORITY), "raise its priority") ||
	    !succeeded(thread_priority(thread, PRIORITY, TRUE), "have a better priority"))
		return false;
	drop_right(set_name);
	drop_right(set);
	drop_right(thread);
	return true;
}

/* Gives the kernel a send right to the port by which it makes objects. */
static bool become_default(mach_port_t host, mach_port_t port)
{
	mach_port_t manager = port;

	if (!succeeded(vm_set_default_memory_manager(host, &manager), "become the default pager"))
		return false;
	drop_right(manager);
	return true;
}

int main(int argc, char **argv)
{
	mach_port_t host = argc > 1 ? strtoul(argv[1], NULL, 10) : MACH_PORT_NULL;
	mach_port_t devices = argc > 2 ? strtoul(argv[2], NULL, 10) : MACH_PORT_NULL;
	mach_port_t port;

	if (host == MACH_PORT_NULL || devices == MACH_PORT_NULL) {
		say("usage: pager ${host-port} ${device-port} [DEVICE]");
		return 2;
	}
	if (!swap_open(devices, device_name(argc, argv)) || !get_privileges(host))
		return 1;
	objects_refill();
	if (!succeeded(serve_prepare(&port), "make its ports") || !become_default(host, port))
		return 1;
	if (!succeeded(task_set_essential(mach_task_self_cached(), TRUE), "become a server"))
		return 1;
	say("%u pages of swap on %s", swap_blocks(), device_name(argc, argv));
	serve();
}
