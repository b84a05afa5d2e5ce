/* SPDX-License-Identifier: MIT */
/*
 * Starts the default pager:
 *
 *     pager ${host-port} ${device-port} [DEVICE]      as a boot module; or swap=DEVICE
 *     pager DEVICE...                                 as a process of root's
 *
 * Without a device's name it takes rd0; of several, the first that can be used.  A process asks the
 * Unix server for the two ports, and closes its standard output when there is swap: until then
 * `(pager rd0 &) | cat` lasts.
 *
 * It has no threads but its first.  Whatever cannot be had is said in one line, and then the
 * program ends: a machine without swap is better than one that believes to have it.
 */
#include <mach/device.h>
#include <mach/owner.h>
#include <ux/bsd.h>

#include "pager.h"

#define WAIT_MS         10
#define PRIORITY        8 /* Better than programs': they wait for it. */
#define STANDARD_OUTPUT 1
#define PARTS           64 /* Sizes in pages are shared out by these: no product is too large. */

/* ---------------- Saying ---------------- */

#define LINE_SIZE 128

static mach_port_t log = MACH_PORT_NULL; /* The kernel's log; none: the console. */

static void main_say_to_log(mach_port_t devices)
{
	dev_name_t name = "log";

	if (device_open(devices, D_WRITE, name, &log) != D_SUCCESS)
		log = MACH_PORT_NULL;
}

void say(const char *text, ...)
{
	char line[LINE_SIZE] = "pager: ";
	size_t size = strlen(line);
	int written;
	va_list arguments;

	va_start(arguments, text);
	format_list(line + size, sizeof line - size - 1, text, arguments);
	va_end(arguments);
	size = strlen(line);
	memcpy(line + size, "\n", 2);
	if (log == MACH_PORT_NULL ||
	    device_write_inband(log, 0, 0, line, size + 1, &written) != D_SUCCESS)
		print("%s", line);
}

/* ---------------- Shortage ---------------- */

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

/* What the pager is to work with. */
struct places {
	mach_port_t host;
	mach_port_t devices;
	mach_port_t server;         /* Of a process: the Unix server. */
	char *const *devices_named; /* Ends with a null; empty for rd0. */
};

/* The device that a word of the command line names. */
static const char *main_device_name(const char *word)
{
	static const char option[] = "swap=";

	return strncmp(word, option, sizeof option - 1) == 0 ? word + sizeof option - 1 : word;
}

/* As root's process: the ports come from the server behind the bootstrap port. */
static bool main_ask_unix_server(struct places *places)
{
	return task_get_bootstrap_port(mach_task_self_cached(), &places->server) == KERN_SUCCESS &&
	       MACH_PORT_VALID(places->server) &&
	       bsd_task_by_pid(places->server, -1, &places->host) == 0 &&
	       bsd_device_port(places->server, &places->devices) == 0;
}

static bool main_find_places(int argc, char **argv, struct places *places)
{
	if (argc > 2 && *argv[1] >= '0' && *argv[1] <= '9') {
		places->host = strtoul(argv[1], NULL, 10);
		places->devices = strtoul(argv[2], NULL, 10);
		places->server = MACH_PORT_NULL;
		places->devices_named = argv + 3;
		return MACH_PORT_VALID(places->host) && MACH_PORT_VALID(places->devices);
	}
	places->devices_named = argv + 1;
	return argc > 1 && main_ask_unix_server(places);
}

/* Opens the first device that can be used; its name, or null if there is none. */
static const char *main_open_first(const struct places *places)
{
	static char usual[] = "rd0";
	static char *const only_usual[] = {usual, NULL};
	char *const *word = places->devices_named;

	if (*word == NULL)
		word = only_usual;
	for (; *word != NULL; word++) {
		if (swap_open(places->devices, main_device_name(*word), word[1] == NULL))
			return main_device_name(*word);
	}
	return NULL;
}

static bool main_succeeded(kern_return_t result, const char *what)
{
	if (result != KERN_SUCCESS)
		say("cannot %s (error %d)", what, result);
	return result == KERN_SUCCESS;
}

/* From here on this program needs nobody's memory but its own. */
static bool main_get_privileges(mach_port_t host)
{
	mach_port_t self = mach_task_self_cached();
	mach_port_t thread = mach_thread_self();
	mach_port_t set_name, set;

	if (!main_succeeded(vm_wire_all(host, self, VM_WIRE_ALL), "wire its memory") ||
	    !main_succeeded(thread_wire(host, thread, TRUE), "have the last pages"))
		return false;
	if (!main_succeeded(processor_set_default(host, &set_name), "find its processor set") ||
	    !main_succeeded(host_processor_set_priv(host, set_name, &set),
			    "rule its processor set") ||
	    !main_succeeded(thread_max_priority(thread, set, PRIORITY), "raise its priority") ||
	    !main_succeeded(thread_priority(thread, PRIORITY, TRUE), "have a better priority"))
		return false;
	drop_right(set_name);
	drop_right(set);
	drop_right(thread);
	return true;
}

/* Gives the kernel a send right to the port by which it makes objects. */
static bool main_become_default(mach_port_t host, mach_port_t port)
{
	mach_port_t manager = port;

	if (!main_succeeded(vm_set_default_memory_manager(host, &manager),
			    "become the default pager"))
		return false;
	drop_right(manager);
	return true;
}

/*
 * Swap is shared out as memory is: all users together may have more pages in the same proportion.
 * Users that are known already keep their limits.
 */
static void main_share_swap(mach_port_t host)
{
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;
	struct host_basic_info info;
	unsigned others = OWNER_OTHERS;
	owner_uses_t uses;
	uint32_t limit, memory;

	if (!main_succeeded(
		    host_info(mach_host_self(), HOST_BASIC_INFO, (host_info_t)&info, &count),
		    "learn how much memory there is") ||
	    !main_succeeded(host_owner(mach_host_self(), &others, &uses),
			    "learn what users may have"))
		return;
	limit = uses.uses[OWNER_PAGES].limit;
	memory = info.memory_size / PAGE_SIZE / PARTS;
	if (limit != OWNER_NO_LIMIT && memory > 0)
		main_succeeded(host_owner_limit(host, OWNER_OTHERS, OWNER_PAGES,
						limit + limit / PARTS * swap_blocks() / memory),
			       "let users have swap");
}

/* Whoever reads this process's standard output learns by its end that users may count on swap. */
static void main_tell_of_swap(mach_port_t server)
{
	if (server == MACH_PORT_NULL)
		return;
	if (bsd_close(server, STANDARD_OUTPUT) != 0)
		say("cannot close its standard output");
	drop_right(server);
}

int main(int argc, char **argv)
{
	struct places places;
	const char *device;
	mach_port_t port;

	if (!main_find_places(argc, argv, &places)) {
		say("usage: pager ${host-port} ${device-port} [DEVICE], or as root: "
		    "pager DEVICE...");
		return 2;
	}
	main_say_to_log(places.devices);
	device = main_open_first(&places);
	if (device == NULL || !main_get_privileges(places.host))
		return 1;
	objects_refill();
	if (!main_succeeded(serve_prepare(&port), "make its ports") ||
	    !main_become_default(places.host, port))
		return 1;
	if (!main_succeeded(task_set_essential(mach_task_self_cached(), TRUE), "become a server"))
		return 1;
	main_share_swap(places.host);
	say("%u pages of swap on %s", swap_blocks(), device);
	main_tell_of_swap(places.server);
	serve();
}
