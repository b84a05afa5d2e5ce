/* SPDX-License-Identifier: MIT */
/*
 * The host, its processors and the one processor set: what they tell, and to whom.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 arguments="${host-port}"
 */
#include <mach/vm_param.h>

#include "check.h"
#include "ipc.h"

static mach_port_t self(void)
{
	return mach_task_self();
}

static mach_port_t host_priv(void)
{
	return check_number(0);
}

static uint32_t cpus(void)
{
	struct assay_cpu_info info = {0};

	assay_cpu_info(&info);
	return info.cpus;
}

static void free_ports(mach_port_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		port_drop_send(list[i]);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)list, n * sizeof *list), KERN_SUCCESS);
}

/* ---------------- The host ---------------- */

TEST(host_basic_info)
{
	mach_port_t host = mach_host_self();
	struct host_basic_info info;
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;

	EXPECT_EQ(host_info(host, HOST_BASIC_INFO, (host_info_t)&info, &count), KERN_SUCCESS);
	EXPECT_EQ(count, HOST_BASIC_INFO_COUNT);
	EXPECT_EQ(info.avail_cpus, cpus());
	EXPECT_LE(info.avail_cpus, info.max_cpus);
	EXPECT_LT(200 << 20, info.memory_size);
	EXPECT_LE(info.memory_size, 256 << 20);
	port_drop_send(host);
}

/* The idle function lies in the kernel's text, which lies in the kernel's part. */
TEST(where_the_kernel_s_text_is)
{
	unsigned first = 0, end = 0, idle = 0;

	EXPECT_EQ(host_kernel_text(mach_host_self(), &first, &end, &idle), KERN_SUCCESS);
	EXPECT(first >= VM_MAX_ADDRESS && first < idle && idle < end);
	EXPECT_EQ(host_kernel_text(mach_task_self(), &first, &end, &idle), KERN_INVALID_ARGUMENT);
}

TEST(host_infos)
{
	mach_port_t host = mach_host_self();
	struct host_sched_info sched;
	struct host_load_info load;
	integer_t slots[64];
	mach_msg_type_number_t count = HOST_SCHED_INFO_COUNT;

	EXPECT_EQ(host_info(host, HOST_SCHED_INFO, (host_info_t)&sched, &count), KERN_SUCCESS);
	EXPECT_LT(0, sched.min_timeout);
	EXPECT_LT(0, sched.min_quantum);
	count = HOST_LOAD_INFO_COUNT;
	EXPECT_EQ(host_info(host, HOST_LOAD_INFO, (host_info_t)&load, &count), KERN_SUCCESS);
	EXPECT_EQ(count, HOST_LOAD_INFO_COUNT);
	count = 64;
	EXPECT_EQ(host_info(host, HOST_PROCESSOR_SLOTS, slots, &count), KERN_SUCCESS);
	EXPECT_EQ(count, cpus());
	for (uint32_t i = 0; i < count; i++)
		EXPECT_EQ(slots[i], i);
	count = HOST_BASIC_INFO_COUNT - 1;
	EXPECT_EQ(host_info(host, HOST_BASIC_INFO, slots, &count), KERN_FAILURE);
	count = 64;
	EXPECT_EQ(host_info(host, 99, slots, &count), KERN_INVALID_ARGUMENT);
	port_drop_send(host);
}

TEST(kernel_version)
{
	static kernel_version_t version;
	mach_port_t host = mach_host_self();

	memset(version, 'x', sizeof version);
	EXPECT_EQ(host_kernel_version(host, version), KERN_SUCCESS);
	EXPECT_LT(strlen(version), sizeof version);
	EXPECT_LT(0, strlen(version));
	memset(version, 'x', sizeof version);
	EXPECT_EQ(host_get_kernel_version(host, version), KERN_SUCCESS);
	EXPECT_LT(strlen(version), sizeof version);
	port_drop_send(host);
}

/* ---------------- Time ---------------- */

static uint64_t wall(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_WALL, &nanos);
	return nanos;
}

TEST(time_is_told)
{
	mach_port_t host = mach_host_self();
	time_value64_t time, up_before, up_after;
	time_value_t old;

	EXPECT_EQ(host_get_time64(host, &time), KERN_SUCCESS);
	EXPECT_LE(time.seconds * 1000000000 + time.nanoseconds, (int64_t)wall());
	EXPECT_LE((int64_t)wall() - 1000000000, time.seconds * 1000000000 + time.nanoseconds);
	EXPECT_EQ(host_get_time(host, &old), KERN_SUCCESS);
	EXPECT_LE(old.seconds - time.seconds, 1);
	EXPECT_LT(old.microseconds, 1000000);
	EXPECT_EQ(host_get_uptime64(host, &up_before), KERN_SUCCESS);
	sleep_ms(20);
	EXPECT_EQ(host_get_uptime64(host, &up_after), KERN_SUCCESS);
	EXPECT_LE(up_before.seconds * 1000000000 + up_before.nanoseconds + 20000000,
		  up_after.seconds * 1000000000 + up_after.nanoseconds);
	port_drop_send(host);
}

TEST(time_is_set)
{
	mach_port_t host = mach_host_self();
	time_value64_t before, wanted, after;

	EXPECT_EQ(host_get_time64(host, &before), KERN_SUCCESS);
	wanted = before;
	wanted.seconds += 1000;
	EXPECT_EQ(host_set_time64(host_priv(), wanted), KERN_SUCCESS);
	EXPECT_EQ(host_get_time64(host, &after), KERN_SUCCESS);
	EXPECT_LE(1000, after.seconds - before.seconds);
	EXPECT_LE(after.seconds - before.seconds, 1001);
	EXPECT_EQ(host_set_time64(host_priv(), before), KERN_SUCCESS);
	/* Only by the privileged port. */
	EXPECT_EQ(host_set_time64(host, wanted), KERN_INVALID_HOST);
	wanted.nanoseconds = 1000000000;
	EXPECT_NE(host_set_time64(host_priv(), wanted), KERN_SUCCESS);
	port_drop_send(host);
}

/* ---------------- Processors ---------------- */

TEST(processors_are_listed)
{
	mach_port_t *list = NULL, info_host = 0, host = mach_host_self(), set_name = 0, name = 0;
	mach_msg_type_number_t n = 0, count;

	EXPECT_EQ(host_processors(host_priv(), &list, &n), KERN_SUCCESS);
	EXPECT_EQ(n, cpus());
	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		struct processor_basic_info info;

		count = PROCESSOR_BASIC_INFO_COUNT;
		EXPECT_EQ(processor_info(list[i], PROCESSOR_BASIC_INFO, &info_host,
					 (processor_info_t)&info, &count),
			  KERN_SUCCESS);
		EXPECT_EQ(count, 5);
		EXPECT_EQ(info.slot_num, i);
		EXPECT_EQ(info.running, TRUE);
		EXPECT_EQ(info.is_master, i == 0);
		EXPECT_EQ(info_host, host);
		port_drop_send(info_host);
		EXPECT_EQ(processor_get_assignment(list[i], &set_name), KERN_SUCCESS);
		EXPECT_EQ(set_name, name);
		port_drop_send(set_name);
	}
	free_ports(list, n);
	EXPECT_EQ(host_processors(host, &list, &n), KERN_INVALID_ARGUMENT);
	port_drop_send(name);
	port_drop_send(host);
}

/* The ticks of the CPU, and at how many it was parked. */
static struct processor_ticks_info ticks_of(mach_port_t processor)
{
	mach_msg_type_number_t count = PROCESSOR_TICKS_INFO_COUNT - 1;
	struct processor_ticks_info info = {0};
	mach_port_t host = MACH_PORT_NULL;

	EXPECT_EQ(processor_info(processor, PROCESSOR_TICKS_INFO, &host, (processor_info_t)&info,
				 &count),
		  KERN_FAILURE);
	count = PROCESSOR_TICKS_INFO_COUNT;
	EXPECT_EQ(processor_info(processor, PROCESSOR_TICKS_INFO, &host, (processor_info_t)&info,
				 &count),
		  KERN_SUCCESS);
	EXPECT_EQ(count, 2);
	port_drop_send(host);
	return info;
}

#define TICKS 20

/* Of each tick all CPUs but one were parked, where an emulator runs them in turn: these tests. */
TEST(parked_ticks_are_told)
{
	mach_port_t *list = NULL;
	mach_msg_type_number_t n = 0;
	unsigned first, passed, parked = 0;

	EXPECT_EQ(host_processors(host_priv(), &list, &n), KERN_SUCCESS);
	first = ticks_of(list[0]).ticks;
	for (uint32_t i = 0; i < n; i++)
		parked -= ticks_of(list[i]).parked;
	do
		passed = ticks_of(list[0]).ticks - first;
	while (passed < TICKS);
	for (uint32_t i = 0; i < n; i++)
		parked += ticks_of(list[i]).parked;
	EXPECT_LE(passed * (n - 1), parked + 2 * (n - 1));
	EXPECT_LE(parked, (passed + 2) * (n - 1));
	free_ports(list, n);
}

/* ---------------- The processor set ---------------- */

static bool is_listed(mach_port_t port, const mach_port_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (list[i] == port)
			return true;
	}
	return false;
}

TEST(the_default_set)
{
	mach_port_t host = mach_host_self(), name = 0, set = 0, *list = NULL, info_host = 0;
	mach_msg_type_number_t n = 0;
	struct processor_set_basic_info info;

	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(host_priv(), name, &set), KERN_SUCCESS);
	EXPECT_NE(set, name);
	EXPECT_NE(host_processor_set_priv(host, name, &info_host), KERN_SUCCESS);
	n = PROCESSOR_SET_BASIC_INFO_COUNT;
	EXPECT_EQ(processor_set_info(name, PROCESSOR_SET_BASIC_INFO, &info_host,
				     (processor_set_info_t)&info, &n),
		  KERN_SUCCESS);
	EXPECT_EQ(info.processor_count, cpus());
	EXPECT_LE(1, info.task_count);
	EXPECT_LE(1, info.thread_count);
	port_drop_send(info_host);
	EXPECT_EQ(host_processor_sets(host, &list, &n), KERN_SUCCESS);
	EXPECT_EQ(n, 1);
	EXPECT_EQ(list[0], name);
	free_ports(list, n);
	port_drop_send(name);
	port_drop_send(set);
	port_drop_send(host);
}

TEST(tasks_and_threads_of_the_set)
{
	mach_port_t host = mach_host_self(), name = 0, set = 0, child = child_new(), thread = 0;
	mach_port_t *list = NULL, task = self();
	mach_msg_type_number_t n = 0;

	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(host_priv(), name, &set), KERN_SUCCESS);
	EXPECT_EQ(processor_set_tasks(set, &list, &n), KERN_SUCCESS);
	EXPECT(is_listed(task, list, n) && is_listed(child, list, n));
	free_ports(list, n);
	EXPECT_EQ(processor_set_threads(set, &list, &n), KERN_SUCCESS);
	EXPECT(is_listed(thread, list, n));
	free_ports(list, n);
	/* By its name alone the set tells nothing of what it has. */
	EXPECT_NE(processor_set_tasks(name, &list, &n), KERN_SUCCESS);
	EXPECT_NE(processor_set_threads(name, &list, &n), KERN_SUCCESS);
	child_end(child);
	port_destroy(thread);
	port_drop_send(name);
	port_drop_send(set);
	port_drop_send(host);
}

TEST(assignments)
{
	mach_port_t host = mach_host_self(), name = 0, set = 0, got = 0, child = child_new();

	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(host_priv(), name, &set), KERN_SUCCESS);
	EXPECT_EQ(task_get_assignment(child, &got), KERN_SUCCESS);
	EXPECT_EQ(got, name);
	port_drop_send(got);
	/* There is no other to go to: GNU Mach's answer too, as it is usually built. */
	EXPECT_EQ(task_assign_default(child, TRUE), KERN_FAILURE);
	EXPECT_EQ(task_assign(child, set, TRUE), KERN_FAILURE);
	child_end(child);
	port_drop_send(name);
	port_drop_send(set);
	port_drop_send(host);
}
