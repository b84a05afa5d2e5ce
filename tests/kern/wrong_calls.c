/* SPDX-License-Identifier: MIT */
/*
 * What each routine answers to arguments that are wrong: a port of another kind, in the place of
 * each port; numbers that there are not; what this kernel does not do.  As docs/interfaces.md says:
 * KERN_INVALID_ARGUMENT, but for a space or a map that is none KERN_INVALID_TASK, where the
 * interface has that, and for a host KERN_INVALID_HOST.
 *
 * machine: cpus=1 arguments="${host-port} ${device-port}"
 * machine: cpus=1 arguments="${host-port} ${device-port}" append="fastpath=off"
 */
#include <mach/pc_sample.h>

#include "check.h"
#include "ipc.h"

#define ARGUMENT(call)      EXPECT_EQ(call, KERN_INVALID_ARGUMENT)
#define TASK(call)          EXPECT_EQ(call, KERN_INVALID_TASK)
#define HOST(call)          EXPECT_EQ(call, KERN_INVALID_HOST)
#define NOT_HERE(call)      EXPECT_EQ(call, KERN_FAILURE)
#define ANSWERS(call, code) EXPECT_EQ(call, code)

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static mach_port_t priv(void)
{
	return check_number(0);
}

/* The kernel's, but neither a task's nor a thread's, a host's, a processor's or a pager's. */
static mach_port_t other(void)
{
	return check_number(1);
}

static vm_address_t address;
static vm_size_t size;
static mach_port_t port;
static mach_msg_type_number_t n, m;
static int number;

/* ---------------- The host ---------------- */

TEST(no_host)
{
	time_value_t time;
	time_value64_t long_time, next = {.seconds = 1, .nanoseconds = 0};
	rpc_phys_addr_t physical;
	static rpc_phys_addr_t room[8];
	rpc_phys_addr_array_t pages = room;

	HOST(host_get_time(other(), &time));
	HOST(host_get_time64(other(), &long_time));
	HOST(host_get_uptime64(other(), &long_time));
	HOST(host_set_time64(other(), next));
	HOST(host_adjust_time64(other(), next, &long_time));
	HOST(host_reboot(other(), 0));
	HOST(register_new_task_notification(other(), MACH_PORT_NULL, MACH_MSG_TYPE_COPY_SEND));
	HOST(vm_wire(other(), self(), 0, PAGE_SIZE, VM_PROT_READ));
	HOST(vm_wire_all(other(), self(), VM_WIRE_NONE));
	HOST(vm_set_size_limit(other(), self(), 0, 0));
	n = 8;
	HOST(vm_pages_phys(other(), self(), 0, PAGE_SIZE, &pages, &n));
	HOST(vm_allocate_contiguous(other(), self(), &address, &physical, PAGE_SIZE, 0, ~0ull,
				    PAGE_SIZE));
	port = MACH_PORT_NULL;
	HOST(vm_set_default_memory_manager(other(), &port));
	HOST(mach_port_set_ktype(other(), self(), other(), MACH_PORT_RIGHT_SEND, 0));
	ARGUMENT(host_processor_sets(other(), (void *)&address, &n));
	ARGUMENT(host_processors(other(), (void *)&address, &n));
	ARGUMENT(processor_set_default(other(), &port));
	ARGUMENT(thread_wire(other(), mach_thread_self(), TRUE));
	ARGUMENT(i386_get_xstate_size(other(), &size));
}

/* What needs the privileged port, with the one that everybody has. */
TEST(the_host_that_everybody_has)
{
	mach_port_t host = mach_host_self();
	time_value64_t time = {.seconds = 1, .nanoseconds = 0};

	HOST(host_set_time64(host, time));
	HOST(host_adjust_time64(host, time, &time));
	HOST(host_reboot(host, 0));
	HOST(vm_wire_all(host, self(), VM_WIRE_NONE));
	HOST(register_new_task_notification(host, MACH_PORT_NULL, MACH_MSG_TYPE_COPY_SEND));
	ARGUMENT(host_processors(host, (void *)&address, &n));
	ANSWERS(vm_wire(host, self(), 0x10000000, 0x1000000, VM_PROT_READ), KERN_NO_ACCESS);
	port_drop_send(host);
}

TEST(times_that_there_are_not)
{
	static const time_value64_t times[] = {
		{.seconds = -1, .nanoseconds = 0},
		{.seconds = 0, .nanoseconds = -1},
		{.seconds = 0, .nanoseconds = 1000000000},
	};
	static const time_value64_t adjustments[] = {
		{.seconds = 1ll << 40, .nanoseconds = 0},
		{.seconds = -(1ll << 40), .nanoseconds = 0},
		{.seconds = 0, .nanoseconds = 1ll << 52},
	};
	time_value64_t old;

	for (uint32_t i = 0; i < 3; i++) {
		ARGUMENT(host_set_time64(priv(), times[i]));
		ARGUMENT(host_adjust_time64(priv(), adjustments[i], &old));
	}
}

/* ---------------- Processors and their set ---------------- */

TEST(no_processor_and_no_set)
{
	integer_t info[16];

	n = 16;
	ARGUMENT(processor_info(other(), PROCESSOR_BASIC_INFO, &port, info, &n));
	ARGUMENT(processor_get_assignment(other(), &port));
	ARGUMENT(processor_start(other()));
	ARGUMENT(processor_exit(other()));
	ARGUMENT(processor_set_info(other(), PROCESSOR_SET_BASIC_INFO, &port, info, &n));
	ARGUMENT(processor_set_tasks(other(), (void *)&address, &n));
	ARGUMENT(processor_set_threads(other(), (void *)&address, &n));
	ARGUMENT(processor_set_processors(other(), (void *)&address, &n));
	ARGUMENT(processor_set_policy_enable(other(), POLICY_TIMESHARE));
	ARGUMENT(processor_set_policy_disable(other(), POLICY_TIMESHARE, TRUE));
	ARGUMENT(processor_set_max_priority(other(), 10, TRUE));
	ARGUMENT(host_processor_set_priv(priv(), other(), &port));
	ARGUMENT(processor_set_destroy(other()));
}

TEST(infos_of_a_set_that_there_are_not)
{
	mach_port_t set = MACH_PORT_NULL;
	integer_t info[16];

	EXPECT_EQ(processor_set_default(priv(), &set), KERN_SUCCESS);
	n = 16;
	ARGUMENT(processor_set_info(set, 99, &port, info, &n));
	n = PROCESSOR_SET_BASIC_INFO_COUNT - 1;
	ANSWERS(processor_set_info(set, PROCESSOR_SET_BASIC_INFO, &port, info, &n), KERN_FAILURE);
	n = PROCESSOR_SET_SCHED_INFO_COUNT - 1;
	ANSWERS(processor_set_info(set, PROCESSOR_SET_SCHED_INFO, &port, info, &n), KERN_FAILURE);
	/* The name of the set is not the set. */
	ARGUMENT(processor_set_tasks(set, (void *)&address, &n));
	port_drop_send(set);
}

/* ---------------- Tasks ---------------- */

TEST(no_task)
{
	static integer_t info[64];
	static sampled_pc_t samples[MAX_PC_SAMPLES];
	unsigned seqno = 0;
	mach_port_t reply;

	n = 64;
	ARGUMENT(task_create(other(), FALSE, &port));
	ARGUMENT(task_terminate(other()));
	ARGUMENT(task_suspend(other()));
	ARGUMENT(task_resume(other()));
	ARGUMENT(task_threads(other(), (void *)&address, &n));
	ARGUMENT(task_info(other(), TASK_BASIC_INFO, info, &n));
	ARGUMENT(task_get_special_port(other(), TASK_BOOTSTRAP_PORT, &port));
	ARGUMENT(task_set_special_port(other(), TASK_BOOTSTRAP_PORT, MACH_PORT_NULL));
	ARGUMENT(mach_ports_lookup(other(), (void *)&address, &n));
	ARGUMENT(mach_ports_register(other(), NULL, 0));
	ARGUMENT(task_priority(other(), 30, FALSE));
	ARGUMENT(task_get_assignment(other(), &port));
	ARGUMENT(thread_create(other(), &port));
	ARGUMENT(task_enable_pc_sampling(other(), &number, SAMPLED_PC_PERIODIC));
	ARGUMENT(task_disable_pc_sampling(other(), &number));
	n = MAX_PC_SAMPLES;
	ARGUMENT(task_get_sampled_pcs(other(), &seqno, samples, &n));
	reply = port_new_with_send();
	ARGUMENT(task_sample_start(other(), SAMPLED_PC_PERIODIC, 0, (sample_options_t){0}, reply));
	port_destroy(reply);
	ARGUMENT(task_profil(other(), 0, 0, 0, 0, FALSE));
	TASK(gsync_wait(other(), 0, 0, 0, 0, 0));
}

TEST(what_tasks_have_not)
{
	static integer_t info[64];

	n = 64;
	ARGUMENT(task_info(self(), 99, info, &n));
	ARGUMENT(task_get_special_port(self(), 99, &port));
	ARGUMENT(task_set_special_port(self(), 99, MACH_PORT_NULL));
	ANSWERS(task_resume(self()), KERN_FAILURE);
	ANSWERS(task_priority(self(), 0, FALSE), KERN_NO_ACCESS);
	ARGUMENT(task_priority(self(), -1, FALSE));
	ARGUMENT(task_priority(self(), 64, FALSE));
}

/* Systems whose traps are carried out by a program are none of ours. */
TEST(no_emulation)
{
	ARGUMENT(task_set_emulation(other(), 0, 0));
	NOT_HERE(task_set_emulation(self(), 0, 0));
	ARGUMENT(task_get_emulation_vector(other(), &number, (void *)&address, &n));
	ARGUMENT(task_set_emulation_vector(other(), 0, NULL, 0));
	NOT_HERE(task_set_emulation_vector(self(), 0, NULL, 0));
	ARGUMENT(task_ras_control(other(), 0, 0, 0));
	NOT_HERE(task_ras_control(self(), 0, 0, 0));
}

/* ---------------- Threads ---------------- */

TEST(no_thread)
{
	static sampled_pc_t samples[MAX_PC_SAMPLES];
	static integer_t info[64];
	static kernel_debug_name_t name;
	unsigned seqno = 0;

	n = 64;
	ARGUMENT(thread_terminate(other()));
	ARGUMENT(thread_suspend(other()));
	ARGUMENT(thread_resume(other()));
	ARGUMENT(thread_abort(other()));
	ARGUMENT(thread_info(other(), THREAD_BASIC_INFO, info, &n));
	ARGUMENT(thread_get_state(other(), i386_THREAD_STATE, (thread_state_t)info, &n));
	ARGUMENT(thread_get_special_port(other(), THREAD_KERNEL_PORT, &port));
	ARGUMENT(thread_set_special_port(other(), THREAD_KERNEL_PORT, MACH_PORT_NULL));
	ARGUMENT(thread_priority(other(), 30, FALSE));
	ARGUMENT(thread_max_priority(other(), MACH_PORT_NULL, 30));
	ARGUMENT(thread_policy(other(), POLICY_TIMESHARE, 0));
	ARGUMENT(thread_depress_abort(other()));
	ARGUMENT(thread_wire(priv(), other(), TRUE));
	ARGUMENT(thread_get_assignment(other(), &port));
	ARGUMENT(thread_get_name(other(), name));
	ARGUMENT(thread_enable_pc_sampling(other(), &number, SAMPLED_PC_PERIODIC));
	ARGUMENT(thread_disable_pc_sampling(other(), &number));
	n = MAX_PC_SAMPLES;
	ARGUMENT(thread_get_sampled_pcs(other(), &seqno, samples, &n));
	n = 8;
	ARGUMENT(i386_get_ldt(other(), 0, 1, (descriptor_list_t)info, &n));
}

TEST(what_threads_have_not)
{
	mach_port_t thread = mach_thread_self();
	static integer_t info[64];

	n = 64;
	ARGUMENT(thread_info(thread, 99, info, &n));
	ARGUMENT(thread_get_special_port(thread, 99, &port));
	ARGUMENT(thread_set_special_port(thread, 99, MACH_PORT_NULL));
	ARGUMENT(thread_policy(thread, 99, 0));
	ARGUMENT(thread_priority(thread, 64, FALSE));
	ANSWERS(thread_resume(thread), KERN_FAILURE);
	NOT_HERE(thread_assign_default(thread));
	NOT_HERE(thread_assign(thread, other()));
	NOT_HERE(task_assign_default(self(), FALSE));
	NOT_HERE(task_assign(self(), other(), FALSE));
	n = 8;
	ARGUMENT(i386_get_ldt(thread, -1, 1, (descriptor_list_t)info, &n));
	ARGUMENT(i386_get_ldt(thread, 0, -1, (descriptor_list_t)info, &n));
	port_drop_send(thread);
}

/* ---------------- Memory ---------------- */

TEST(no_map)
{
	vm_statistics_data_t statistics;
	vm_cache_statistics_data_t cached;
	rpc_phys_addr_t physical;
	static rpc_phys_addr_t room[8];
	rpc_phys_addr_array_t pages = room;
	vm_prot_t rights, most;
	vm_inherit_t inheritance;
	boolean_t shared;
	vm_machine_attribute_val_t value = MATTR_VAL_CACHE_FLUSH;
	vm_offset_t data;

	ARGUMENT(vm_allocate(other(), &address, PAGE_SIZE, TRUE));
	ARGUMENT(vm_deallocate(other(), 0, PAGE_SIZE));
	ARGUMENT(vm_protect(other(), 0, PAGE_SIZE, FALSE, VM_PROT_READ));
	ARGUMENT(vm_inherit(other(), 0, PAGE_SIZE, VM_INHERIT_NONE));
	ARGUMENT(vm_read(other(), 0, PAGE_SIZE, &data, &n));
	ARGUMENT(vm_write(other(), 0, (vm_offset_t)room, sizeof room));
	ARGUMENT(vm_copy(other(), 0, PAGE_SIZE, PAGE_SIZE));
	ARGUMENT(vm_region(other(), &address, &size, &rights, &most, &inheritance, &shared, &port,
			   &data));
	ARGUMENT(vm_map(other(), &address, PAGE_SIZE, 0, TRUE, MACH_PORT_NULL, 0, FALSE,
			VM_PROT_READ, VM_PROT_READ, VM_INHERIT_NONE));
	ARGUMENT(vm_statistics(other(), &statistics));
	ARGUMENT(vm_cache_statistics(other(), &cached));
	ARGUMENT(vm_machine_attribute(other(), 0, PAGE_SIZE, MATTR_CACHE, &value));
	ARGUMENT(vm_msync(other(), 0, PAGE_SIZE, VM_SYNC_SYNCHRONOUS));
	ARGUMENT(vm_get_size_limit(other(), &size, &size));
	ARGUMENT(vm_set_size_limit(priv(), other(), 0, 0));
	TASK(vm_wire(priv(), other(), 0, PAGE_SIZE, VM_PROT_READ));
	TASK(vm_wire_all(priv(), other(), VM_WIRE_NONE));
	n = 8;
	TASK(vm_pages_phys(priv(), other(), 0, PAGE_SIZE, &pages, &n));
	TASK(vm_allocate_contiguous(priv(), other(), &address, &physical, PAGE_SIZE, 0, ~0ull,
				    PAGE_SIZE));
}

TEST(ranges_and_rights_that_there_are_not)
{
	rpc_phys_addr_t physical;
	static rpc_phys_addr_t room[8];
	rpc_phys_addr_array_t pages = room;
	vm_prot_t rights, most;
	vm_inherit_t inheritance;
	boolean_t shared;
	vm_machine_attribute_val_t value = MATTR_VAL_CACHE_FLUSH;
	vm_offset_t data;

	ARGUMENT(vm_protect(self(), 0x10000000, PAGE_SIZE, FALSE, 0x100));
	ARGUMENT(vm_inherit(self(), 0x10000000, PAGE_SIZE, 99));
	ANSWERS(vm_read(self(), 0x10000000, PAGE_SIZE, &data, &n), KERN_INVALID_ADDRESS);
	ANSWERS(vm_copy(self(), 0x10000000, PAGE_SIZE, 0x20000000), KERN_INVALID_ADDRESS);
	ARGUMENT(vm_wire(priv(), self(), 0x10000000, PAGE_SIZE, 0x100));
	ANSWERS(vm_wire(priv(), self(), 0x10000000, PAGE_SIZE, VM_PROT_READ), KERN_NO_SPACE);
	ARGUMENT(vm_wire_all(priv(), self(), 0x100));
	ARGUMENT(vm_set_size_limit(priv(), self(), 2, 1));
	n = 8;
	ARGUMENT(vm_pages_phys(priv(), self(), 1, PAGE_SIZE, &pages, &n));
	ARGUMENT(vm_pages_phys(priv(), self(), 0, PAGE_SIZE + 1, &pages, &n));
	ARGUMENT(vm_allocate_contiguous(priv(), self(), &address, &physical, 0, 0, ~0ull,
					PAGE_SIZE));
	ARGUMENT(vm_machine_attribute(self(), (vm_address_t)room, sizeof room, 99, &value));
	address = 0xc0000000;
	ANSWERS(vm_region(self(), &address, &size, &rights, &most, &inheritance, &shared, &port,
			  &data),
		KERN_NO_SPACE);
	address = 0;
	ANSWERS(vm_map(self(), &address, 0xf0000000, 0, TRUE, MACH_PORT_NULL, 0, FALSE,
		       VM_PROT_READ, VM_PROT_READ, VM_INHERIT_NONE),
		KERN_NO_SPACE);
	ARGUMENT(vm_map(self(), &address, PAGE_SIZE, 0, TRUE, other(), 0, FALSE, VM_PROT_READ,
			VM_PROT_READ, VM_INHERIT_NONE));
}

/* ---------------- Names ---------------- */

TEST(no_space)
{
	mach_port_t name = port_new();
	mach_port_type_t type;
	mach_port_urefs_t refs;
	mach_port_status_t status;
	mach_msg_type_name_t kind;

	TASK(mach_port_names(other(), (void *)&address, &n, (void *)&size, &m));
	TASK(mach_port_type(other(), name, &type));
	TASK(mach_port_rename(other(), name, 0x1234));
	TASK(mach_port_allocate_name(other(), MACH_PORT_RIGHT_RECEIVE, 0x1234));
	TASK(mach_port_allocate(other(), MACH_PORT_RIGHT_RECEIVE, &port));
	TASK(mach_port_destroy(other(), name));
	TASK(mach_port_deallocate(other(), name));
	TASK(mach_port_get_refs(other(), name, MACH_PORT_RIGHT_SEND, &refs));
	TASK(mach_port_mod_refs(other(), name, MACH_PORT_RIGHT_SEND, 1));
	TASK(mach_port_set_qlimit(other(), name, 1));
	TASK(mach_port_set_mscount(other(), name, 1));
	TASK(mach_port_set_seqno(other(), name, 1));
	TASK(mach_port_get_set_status(other(), name, (void *)&address, &n));
	TASK(mach_port_move_member(other(), name, MACH_PORT_NULL));
	TASK(mach_port_request_notification(other(), name, MACH_NOTIFY_NO_SENDERS, 0, name,
					    MACH_MSG_TYPE_MAKE_SEND_ONCE, &port));
	TASK(mach_port_insert_right(other(), 0x1234, name, MACH_MSG_TYPE_MAKE_SEND));
	TASK(mach_port_extract_right(other(), name, MACH_MSG_TYPE_MAKE_SEND, &port, &kind));
	TASK(mach_port_get_receive_status(other(), name, &status));
	TASK(mach_port_set_protected_payload(other(), name, 1));
	TASK(mach_port_clear_protected_payload(other(), name));
	TASK(mach_port_set_ktype(priv(), other(), name, MACH_PORT_RIGHT_RECEIVE, 0));
	port_destroy(name);
}

/* Ids of notifications that there are none of, and a wish that is not for a send-once right. */
TEST(what_names_have_not)
{
	mach_port_t name = port_new_with_send();

	ANSWERS(mach_port_request_notification(self(), name, 0x999, 0, name,
					       MACH_MSG_TYPE_MAKE_SEND_ONCE, &port),
		KERN_INVALID_VALUE);
	ANSWERS(mach_port_request_notification(self(), name, MACH_NOTIFY_PORT_DELETED, 0, name,
					       MACH_MSG_TYPE_MAKE_SEND_ONCE, &port),
		KERN_INVALID_VALUE);
	ANSWERS(mach_port_request_notification(self(), name, MACH_NOTIFY_PORT_DESTROYED, 1, name,
					       MACH_MSG_TYPE_MAKE_SEND_ONCE, &port),
		KERN_INVALID_VALUE);
	ANSWERS(mach_port_request_notification(self(), name, MACH_NOTIFY_NO_SENDERS, 0,
					       MACH_PORT_DEAD, MACH_MSG_TYPE_MOVE_SEND_ONCE, &port),
		KERN_INVALID_CAPABILITY);
	ANSWERS(mach_port_rename(self(), 0x777777, 0x888888), KERN_INVALID_NAME);
	port_destroy(name);
}
