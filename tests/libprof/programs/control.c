/* SPDX-License-Identifier: MIT */
/* Controls its own profiling, by each of the calls; prints what is wrong, or nothing. */
#include <gprof.h>
#include <mach.h>
#include <mach/prof.h>
#include <servers/gprof.h>
#include <servers/netname.h>
#include <stdio.h>
#include <string.h>
#include <sys/gmon.h>
#include <sys/ux.h>
#include <time.h>
#include <unistd.h>

#include "check_unix.h"
#include "work.h"

#define DUMPS 200u

int gprof_no_auto_initialization_from_crt0 = 1;

/* Of both it is known how many samples they have: 40, and chance makes it 30 or 50 at most. */
static KEPT void first_work(void)
{
	spin(40);
}

static KEPT void second_work(void)
{
	spin(40);
}

static KEPT void unseen_work(void)
{
	spin(10);
}

static void test_before(void)
{
	mach_msg_type_number_t size;
	const gprof_options_t options = {.rate = 100};
	sampled_pc_flavor_t none = 0;
	gprof_status_t status;
	mon_data_t data;

	unseen_work();
	moncontrol(0); /* Is told of, as it can do nothing. */
	EXPECT(do_gprof_mon_options(MACH_PORT_NULL, options) == GPROF_NOT_PROFILED);
	EXPECT(do_gprof_mon_dump(MACH_PORT_NULL, &data, &size) == GPROF_NOT_PROFILED);
	EXPECT(do_gprof_mon_status(MACH_PORT_NULL, &status) == GPROF_NOT_PROFILED);
	EXPECT(do_gprof_mon_switch(MACH_PORT_NULL, &none) == KERN_SUCCESS && none == 0);
}

/* Where others may write, too: a link of the name that the file has while it is written. */
static void put_link_in_the_way(const char *file)
{
	char name[40];

	snprintf(name, sizeof name, "%s.%d.0~", file, getpid());
	EXPECT(symlink("precious", name) == 0);
}

static void test_start_and_stop(void)
{
	static char one[] = "first.out", two[] = "second.out", bad[] = "/none/bad.out";

	EXPECT(gprof_start(0x2) == GPROF_BAD_FLAVOR);
	EXPECT(gprof_start(SAMPLED_PC_PERIODIC) == 0);
	first_work();
	EXPECT(gprof_stop(bad) == -1);
	put_link_in_the_way(one);
	EXPECT(gprof_stop(one) == 0); /* What could not be written is not lost. */
	EXPECT(access("precious", F_OK) != 0);
	unseen_work();
	EXPECT(gprof_start(SAMPLED_PC_PERIODIC) == 0);
	first_work();
	EXPECT(gprof_start(SAMPLED_PC_PERIODIC) == 0); /* Zeroes what was collected. */
	second_work();
	EXPECT(gprof_stop(two) == 0);
}

static void save(const char *name, mon_data_t data, mach_msg_type_number_t size)
{
	FILE *file = fopen(name, "w");

	EXPECT(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
	vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
}

/* Dumps in the middle, and after the end: the second has all that the first has. */
static void test_halves(void)
{
	sampled_pc_flavor_t flavors = SAMPLED_PC_PERIODIC;
	mach_msg_type_number_t size;
	gprof_status_t status;
	mon_data_t data;

	EXPECT(do_gprof_mon_switch(MACH_PORT_NULL, &flavors) == KERN_SUCCESS && flavors == 0);
	first_work();
	EXPECT(do_gprof_mon_dump(MACH_PORT_NULL, &data, &size) == KERN_SUCCESS);
	save("middle.out", data, size);
	second_work();
	EXPECT(do_gprof_mon_status(MACH_PORT_NULL, &status) == KERN_SUCCESS);
	EXPECT(status.pid == (unsigned)getpid() && status.flavors == SAMPLED_PC_PERIODIC);
	EXPECT(status.rate == SAMPLE_RATE_DEFAULT && status.arcs != 0 && status.proxy == 0);
	flavors = 0;
	EXPECT(do_gprof_mon_switch(MACH_PORT_NULL, &flavors) == KERN_SUCCESS);
	EXPECT(flavors == SAMPLED_PC_PERIODIC);
	unseen_work();
	EXPECT(do_gprof_mon_dump(MACH_PORT_NULL, &data, &size) == KERN_SUCCESS);
	save("end.out", data, size);
}

/* What is to be seen when moncontrol() has been called; nothing is said. */
static uint64_t taken_after(int is_on)
{
	gprof_status_t status;

	moncontrol(is_on);
	EXPECT(do_gprof_mon_status(MACH_PORT_NULL, &status) == KERN_SUCCESS);
	EXPECT(status.flavors == (is_on ? SAMPLED_PC_PERIODIC : 0u) && status.options.resume == 0);
	return prof_u64(status.taken);
}

/* Sampling rests, and goes on with what there is; saying it again changes nothing. */
static void test_parts(void)
{
	uint64_t taken;

	EXPECT(gprof_start(SAMPLED_PC_PERIODIC) == 0);
	first_work();
	taken = taken_after(0);
	EXPECT(taken >= 20);
	unseen_work();
	EXPECT(taken_after(0) == taken);
	EXPECT(taken_after(1) >= taken);
	second_work();
	EXPECT(taken_after(1) >= taken + 20);
	taken = taken_after(0);
	unseen_work();
	EXPECT(taken_after(0) == taken);
}

static uint64_t now_ms(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Memory and names of this task. */
static vm_size_t memory(void)
{
	struct task_basic_info info = {.virtual_size = 0};
	mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT;

	EXPECT(task_info(mach_task_self_cached(), TASK_BASIC_INFO, (task_info_t)&info, &count) ==
	       KERN_SUCCESS);
	return info.virtual_size;
}

/*
 * To the send rights of names().  Of the one whose death is waited for there is one more each time
 * that this is asked for, until it comes (netname_watch()).
 */
static unsigned references;

static unsigned names(void)
{
	mach_port_t self = mach_task_self_cached();
	mach_msg_type_number_t n = 0, n_types = 0;
	mach_port_type_array_t types;
	mach_port_array_t list;

	EXPECT(mach_port_names(self, &list, &n, &types, &n_types) == KERN_SUCCESS);
	references = 0;
	for (unsigned i = 0; i < n; i++) {
		mach_port_urefs_t refs = 0;

		if ((types[i] & (MACH_PORT_TYPE_SEND | MACH_PORT_TYPE_DNREQUEST)) ==
		    MACH_PORT_TYPE_SEND)
			mach_port_get_refs(self, list[i], MACH_PORT_RIGHT_SEND, &refs);
		references += refs;
	}
	vm_deallocate(self, (vm_address_t)list, n * sizeof *list);
	vm_deallocate(self, (vm_address_t)types, n_types * sizeof *types);
	return n;
}

/* Dumps more often than samples are due: each has all up to its time, and no due time is missed. */
static void test_dumps_in_a_row(void)
{
	const gprof_options_t options = {.flags = SAMPLE_FIXED};
	sampled_pc_flavor_t flavors = SAMPLED_PC_PERIODIC;
	mach_msg_type_number_t size;
	gprof_status_t status;
	mon_data_t data;
	uint64_t start, end = 0;
	vm_size_t bytes = 0;
	unsigned ports = 0;

	EXPECT(do_gprof_mon_options(MACH_PORT_NULL, options) == KERN_SUCCESS);
	EXPECT(do_gprof_mon_switch(MACH_PORT_NULL, &flavors) == KERN_SUCCESS);
	start = now_ms();
	for (unsigned n = 0; n < DUMPS; n++) {
		end = now_ms();
		EXPECT(do_gprof_mon_dump(MACH_PORT_NULL, &data, &size) == KERN_SUCCESS);
		vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
		EXPECT(do_gprof_mon_status(MACH_PORT_NULL, &status) == KERN_SUCCESS);
		EXPECT(prof_u64(status.due) + 1 >= end - start);
		if (n == DUMPS / 2) {
			bytes = memory();
			ports = names();
		}
	}
	EXPECT(memory() == bytes && names() == ports);
	printf("%u dumps in %u ms, %u due\n", DUMPS, (unsigned)(end - start), status.due[0]);
	flavors = 0;
	EXPECT(do_gprof_mon_switch(MACH_PORT_NULL, &flavors) == KERN_SUCCESS);
}

/* As another program does it: by the name server, and without do_. */
static void test_by_name(void)
{
	gprof_options_t options = {.rate = 100, .format = GPROF_BSD}, bad = {.format = 3};
	sampled_pc_flavor_t flavors = SAMPLED_PC_PERIODIC;
	mach_port_t port = MACH_PORT_NULL;
	mach_msg_type_number_t size;
	unsigned ports, before;
	netname_name_t name;
	mon_data_t data;

	snprintf(name, sizeof name, "gprof.%d", getpid());
	EXPECT(netname_look_up(name_server_port, "", name, &port) == NETNAME_NOT_CHECKED_IN);
	EXPECT(gprof_control_server_init() == KERN_SUCCESS);
	ports = names();
	before = references;
	EXPECT(gprof_control_server_init() == KERN_SUCCESS); /* It is the same name. */
	EXPECT(names() == ports && references == before);
	EXPECT(netname_look_up(name_server_port, "", name, &port) == KERN_SUCCESS);
	EXPECT(gprof_mon_options(port, bad) == GPROF_BAD_OPTIONS);
	EXPECT(gprof_mon_options(port, options) == KERN_SUCCESS);
	EXPECT(gprof_mon_switch(port, &flavors) == KERN_SUCCESS);
	first_work();
	EXPECT(gprof_mon_dump(port, &data, &size) == KERN_SUCCESS);
	save("old.out", data, size);
	flavors = 0;
	EXPECT(gprof_mon_switch(port, &flavors) == KERN_SUCCESS && flavors == SAMPLED_PC_PERIODIC);
}

/* ---------------- What is not to be believed ---------------- */

/* A request with memory that nobody has asked for; returns what the answer says. */
static kern_return_t send_nonsense(mach_port_t port, int id)
{
	union {
		struct {
			mach_msg_header_t head;
			mach_msg_type_t type;
			const void *data;
		} request;
		mig_reply_header_t reply;
		char room[256];
	} message = {.request = {.head = {.msgh_bits = MACH_MSGH_BITS_COMPLEX |
						       MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND,
								      MACH_MSG_TYPE_MAKE_SEND_ONCE),
					  .msgh_remote_port = port,
					  .msgh_local_port = mig_get_reply_port(),
					  .msgh_id = id},
				 .type = {.msgt_name = MACH_MSG_TYPE_CHAR,
					  .msgt_size = 8,
					  .msgt_number = 100},
				 .data = "nonsense"}};

	EXPECT(mach_msg(&message.request.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.request,
			sizeof message, message.request.head.msgh_local_port, MACH_MSG_TIMEOUT_NONE,
			MACH_PORT_NULL) == MACH_MSG_SUCCESS);
	return message.reply.RetCode;
}

static void test_nonsense(void)
{
	mach_port_t port = MACH_PORT_NULL;
	gprof_status_t status;
	netname_name_t name;

	snprintf(name, sizeof name, "gprof.%d", getpid());
	EXPECT(netname_look_up(name_server_port, "", name, &port) == KERN_SUCCESS);
	for (int id = 4700; id <= 4704; id++)
		EXPECT(send_nonsense(port, id) == MIG_BAD_ARGUMENTS);
	EXPECT(send_nonsense(port, 4705) == MIG_BAD_ID);
	EXPECT(send_nonsense(port, 2450) == MIG_BAD_ID);
	EXPECT(gprof_mon_status(port, &status) == KERN_SUCCESS);
}

int main(void)
{
	test_before();
	test_start_and_stop();
	test_halves();
	test_parts();
	test_dumps_in_a_row();
	test_by_name();
	test_nonsense();
	return check_failures != 0;
}
