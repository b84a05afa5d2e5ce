/* SPDX-License-Identifier: MIT */
/* What scenarios of shortage need: see shortage.h.  Owns the note of what the task had. */
#include "shortage.h"
#include "check.h"

#define MOST_NAMES   4096u
#define MOST_REGIONS 64u

bool shortage_expected;

static struct {
	mach_port_t names[MOST_NAMES];
	uint32_t n_names;
	struct {
		vm_address_t start, end;
	} regions[MOST_REGIONS];
	uint32_t n_regions;
} noted;

/* ---------------- What calls answer ---------------- */

/*
 * What a stub says that could not make its reply port, and what a receiver hears of a lost right.
 */
static bool says_shortage(kern_return_t result)
{
	switch (result) {
	case KERN_RESOURCE_SHORTAGE:
	case D_NO_MEMORY:
	case MACH_SEND_NO_BUFFER:
	case MACH_SEND_NO_NOTIFY:
	case MACH_SEND_INVALID_REPLY:
	case MACH_RCV_INVALID_NAME:
	case MACH_RCV_HEADER_ERROR | MACH_MSG_IPC_KERNEL:
	case MACH_RCV_BODY_ERROR | MACH_MSG_IPC_KERNEL:
	case MACH_RCV_BODY_ERROR | MACH_MSG_VM_KERNEL:
	case MACH_RCV_BODY_ERROR | MACH_MSG_IPC_KERNEL | MACH_MSG_VM_KERNEL:
		return true;
	default:
		return false;
	}
}

bool went_well(kern_return_t result, const char *call, int line)
{
	if (result == KERN_SUCCESS)
		return true;
	if (!shortage_expected || !says_shortage(result))
		check_fail("line %d: %s: 0x%x", line, call, result);
	return false;
}

/* ---------------- Tasks and threads ---------------- */

static void give_back(const void *list, uint32_t bytes)
{
	if (bytes > 0)
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)list, bytes),
			  KERN_SUCCESS);
}

/* The processor set knows all tasks; its port comes from the host's, the program's first number. */
static void end_other_tasks(void)
{
	mach_port_t host = mach_host_self(), name, control;
	mach_msg_type_number_t n = 0;
	task_array_t tasks;

	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(check_number(0), name, &control), KERN_SUCCESS);
	EXPECT_EQ(processor_set_tasks(control, &tasks, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		if (tasks[i] != mach_task_self_cached())
			EXPECT_EQ(task_terminate(tasks[i]), KERN_SUCCESS);
		port_drop_send(tasks[i]);
	}
	give_back(tasks, n * sizeof *tasks);
	port_drop_send(control);
	port_drop_send(name);
	port_drop_send(host);
}

static void end_other_threads(void)
{
	mach_port_t self = mach_thread_self();
	mach_msg_type_number_t n = 0;
	thread_array_t threads;

	EXPECT_EQ(task_threads(mach_task_self_cached(), &threads, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		if (threads[i] != self)
			EXPECT_EQ(thread_terminate(threads[i]), KERN_SUCCESS);
		port_drop_send(threads[i]);
	}
	give_back(threads, n * sizeof *threads);
	port_drop_send(self);
}

/* ---------------- Names ---------------- */

static bool is_noted(mach_port_t name)
{
	for (uint32_t i = 0; i < noted.n_names; i++) {
		if (noted.names[i] == name)
			return true;
	}
	return false;
}

/* The stubs' reply port is another one after each failure, and needed to the end. */
static mach_port_t reply_port(void)
{
	mach_port_t port = mig_get_reply_port();

	mig_put_reply_port(port);
	return port;
}

/* Calls `visit` for each name of this task. */
static void each_name(void (*visit)(mach_port_t name))
{
	mach_msg_type_number_t n = 0, n_types = 0;
	mach_port_name_array_t names;
	mach_port_type_array_t types;

	EXPECT_EQ(mach_port_names(mach_task_self_cached(), &names, &n, &types, &n_types),
		  KERN_SUCCESS);
	EXPECT_EQ(n, n_types);
	for (uint32_t i = 0; i < n; i++)
		visit(names[i]);
	give_back(names, n * sizeof *names);
	give_back(types, n * sizeof *types);
}

static void note_name(mach_port_t name)
{
	if (name != reply_port() && noted.n_names < MOST_NAMES)
		noted.names[noted.n_names++] = name;
}

static void destroy_new_name(mach_port_t name)
{
	if (!is_noted(name) && name != reply_port())
		mach_port_destroy(mach_task_self_cached(), name);
}

/* ---------------- Memory ---------------- */

/* Calls `visit` for each region of this task's memory. */
static void each_region(void (*visit)(vm_address_t start, vm_address_t end))
{
	vm_address_t address = 0;
	vm_size_t size;
	vm_prot_t protection, most;
	vm_inherit_t inheritance;
	boolean_t is_shared;
	mach_port_t object;
	vm_offset_t offset;

	while (vm_region(mach_task_self_cached(), &address, &size, &protection, &most, &inheritance,
			 &is_shared, &object, &offset) == KERN_SUCCESS) {
		if (MACH_PORT_VALID(object))
			port_drop_send(object);
		visit(address, address + size);
		address += size;
	}
}

static void note_region(vm_address_t start, vm_address_t end)
{
	if (noted.n_regions == MOST_REGIONS)
		return;
	noted.regions[noted.n_regions].start = start;
	noted.regions[noted.n_regions].end = end;
	noted.n_regions++;
}

static bool is_noted_page(vm_address_t page)
{
	for (uint32_t i = 0; i < noted.n_regions; i++) {
		if (page >= noted.regions[i].start && page < noted.regions[i].end)
			return true;
	}
	return false;
}

/* Page by page: a new region may have become one with an old one beside it. */
static void free_new_region(vm_address_t start, vm_address_t end)
{
	for (vm_address_t page = start; page < end; page += PAGE_SIZE) {
		if (!is_noted_page(page))
			vm_deallocate(mach_task_self_cached(), page, PAGE_SIZE);
	}
}

/* ---------------- All of it ---------------- */

void shortage_note(void)
{
	noted.n_names = 0;
	noted.n_regions = 0;
	each_name(note_name);
	each_region(note_region);
}

void shortage_restore(void)
{
	end_other_tasks();
	end_other_threads();
	each_name(destroy_new_name);
	each_region(free_new_region);
}
