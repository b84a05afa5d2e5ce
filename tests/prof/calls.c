/* SPDX-License-Identifier: MIT */
/*
 * The calls that begin and end streams: what they take, what they refuse, and that a refused call
 * leaves nothing behind (the balance of every test tells).
 *
 * machine: cpus=1 append="pool=12" arguments="${host-port}"
 */
#include <mach/messages.h>
#include <mach/prof_catch.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF mach_task_self()

static struct collected collected;

static mach_port_t host_port(void)
{
	return check_number(0);
}

static kern_return_t start(mach_port_t task, unsigned flavors, unsigned rate,
			   sample_options_t options)
{
	return task_sample_start(task, flavors, rate, options, collected.port);
}

static void expect_refused(unsigned flavors, unsigned rate, sample_options_t options)
{
	mach_port_t thread = mach_thread_self();

	EXPECT_EQ(task_sample_start(SELF, flavors, rate, options, collected.port),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_sample_start(thread, flavors, rate, options, collected.port),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_sample_start(host_port(), 0, flavors, rate, options, collected.port),
		  KERN_INVALID_ARGUMENT);
	port_drop_send(thread);
}

TEST(wrong_arguments)
{
	const sample_options_t none = {0};

	samples_new(&collected);
	expect_refused(0, 0, none);
	expect_refused(0x2, 0, none);
	expect_refused(SAMPLED_PC_ALL + 1, 0, none);
	expect_refused(SAMPLED_PC_VM_FAULTS | 0x80000000, 0, none);
	expect_refused(SAMPLED_PC_PERIODIC, SAMPLE_RATE_MAX + 1, none);
	expect_refused(SAMPLED_PC_PERIODIC, UINT32_MAX, none);
	expect_refused(SAMPLED_PC_PERIODIC, 0, (sample_options_t){.flags = 0x20});
	expect_refused(SAMPLED_PC_PERIODIC, 0, (sample_options_t){.depth = SAMPLE_DEPTH_MAX + 1});
	expect_refused(SAMPLED_PC_PERIODIC, 0, (sample_options_t){.reserved = 1});
	EXPECT_EQ(host_sample_start(host_port(), 0x7fffffff, SAMPLED_PC_VM_FAULTS, 0, none,
				    collected.port),
		  KERN_INVALID_ARGUMENT);
	samples_forget(&collected);
}

/* Each call takes the port that it is a call of, and no other. */
TEST(wrong_targets)
{
	const sample_options_t none = {0};
	mach_port_t thread = mach_thread_self(), host = mach_host_self(), nobody;

	samples_new(&collected);
	nobody = port_new_with_send();
	EXPECT_EQ(start(thread, SAMPLED_PC_VM_FAULTS, 0, none), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(start(host_port(), SAMPLED_PC_VM_FAULTS, 0, none), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_sample_start(SELF, SAMPLED_PC_VM_FAULTS, 0, none, collected.port),
		  KERN_INVALID_ARGUMENT);
	/* The host's name is not its control port. */
	EXPECT_EQ(host_sample_start(host, 0, SAMPLED_PC_VM_FAULTS, 0, none, collected.port),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_sample_start(SELF, 0, SAMPLED_PC_VM_FAULTS, 0, none, collected.port),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_sample_control(host, 100, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample(thread, collected.port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_sample(SELF, collected.port), KERN_INVALID_ARGUMENT);
	port_destroy(nobody);
	port_drop_send(thread);
	port_drop_send(host);
	samples_forget(&collected);
}

TEST(control_of_the_clock)
{
	EXPECT_EQ(host_sample_control(host_port(), SAMPLE_RATE_MAX + 1, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_sample_control(host_port(), 0, 0), KERN_SUCCESS);
}

/* Samples cannot go to a port of the kernel's, to a dead one, or to none. */
TEST(wrong_reply_ports)
{
	const sample_options_t none = {0};
	struct message message;

	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_VM_FAULTS, 0, none, MACH_PORT_NULL),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample_stop(SELF, MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	/* Made by hand: the stub would make a right of a receive right. */
	for (uint32_t i = 0; i < 2; i++) {
		mach_port_t reply = mach_reply_port();

		message_head(&message, SELF, MACH_MSG_TYPE_COPY_SEND, reply,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 4603);
		message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
		message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 32, 1);
		message.body[1] = i == 0 ? SELF : host_port();
		EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get(&message, reply, LONG_WAIT), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.body[1], KERN_INVALID_ARGUMENT);
		port_drop_receive(reply);
	}
}

/* A port has one stream; another port has its own, and whoever has the target may end it. */
TEST(one_stream_a_port)
{
	const sample_options_t none = {0};
	struct collected other;
	mach_port_t child = child_new();

	samples_new(&other);
	samples_new(&collected);
	EXPECT_EQ(start(SELF, SAMPLED_PC_VM_FAULTS, 0, none), KERN_SUCCESS);
	EXPECT_EQ(start(SELF, SAMPLED_PC_VM_FAULTS, 0, none), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(start(child, SAMPLED_PC_VM_FAULTS, 0, none), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_VM_FAULTS, 0, none, other.port), KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(child, collected.port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_sample_stop(host_port(), collected.port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_sample_stop(SELF, other.port), KERN_SUCCESS);
	EXPECT(samples_receive_all(&other));
	samples_forget(&other);
	/* Once the end has come the port is as good as new. */
	collected.begun = collected.ended = false;
	collected.samples = 0;
	memset(&collected.stream, 0, sizeof collected.stream);
	EXPECT_EQ(start(child, SAMPLED_PC_VM_FAULTS, 0, none), KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(child, collected.port), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
	samples_forget(&collected);
	child_end(child);
}

/* The calls as their book declares them, with its names of types. */
TEST(types_of_the_calls)
{
	kern_return_t (*const of_task)(task_t, mach_port_make_send_t) = task_sample;
	kern_return_t (*const of_thread)(thread_act_t, mach_port_make_send_t) = thread_sample;

	EXPECT_EQ(of_task(MACH_PORT_NULL, MACH_PORT_NULL),
		  task_sample(MACH_PORT_NULL, MACH_PORT_NULL));
	EXPECT_EQ(of_thread(MACH_PORT_NULL, MACH_PORT_NULL),
		  thread_sample(MACH_PORT_NULL, MACH_PORT_NULL));
}

/* A null port ends what task_sample() began, and not what another call did. */
TEST(a_null_port_ends)
{
	const sample_options_t none = {0};
	struct collected other;

	samples_new(&other);
	samples_new(&collected);
	EXPECT_EQ(task_sample(SELF, MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(start(SELF, SAMPLED_PC_VM_FAULTS, 0, none), KERN_SUCCESS);
	EXPECT_EQ(task_sample(SELF, MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(mach_sample_task(SELF, other.port, SELF), KERN_SUCCESS);
	EXPECT_EQ(mach_sample_task(SELF, MACH_PORT_NULL, SELF), KERN_SUCCESS);
	EXPECT(samples_receive_all(&other));
	EXPECT_EQ(other.begin.flavors, SAMPLED_PC_PERIODIC);
	EXPECT_EQ(other.begin.rate, SAMPLE_RATE_DEFAULT);
	EXPECT_EQ(task_sample(SELF, MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	EXPECT(message_none(collected.port));
	samples_forget(&collected);
	samples_forget(&other);
}

TEST(of_a_thread_by_the_old_call)
{
	mach_port_t thread = mach_thread_self();

	samples_new(&collected);
	EXPECT_EQ(mach_sample_thread(thread, collected.port, thread), KERN_SUCCESS);
	EXPECT_EQ(task_sample(SELF, MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(mach_sample_thread(thread, MACH_PORT_NULL, thread), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
	EXPECT_EQ(collected.begin.target, PROF_TARGET_THREAD);
	port_drop_send(thread);
	samples_forget(&collected);
}

/* As many as there may be, and one more. */
static void begin_streams(uint32_t flavors, mach_port_t *ports, uint32_t n)
{
	for (uint32_t i = 0; i <= n; i++) {
		ports[i] = port_new();
		EXPECT_EQ(task_sample_start(SELF, flavors, 1, (sample_options_t){0}, ports[i]),
			  i < n ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE);
	}
}

static void begin_clocks(mach_port_t *ports, uint32_t n)
{
	begin_streams(SAMPLED_PC_PERIODIC, ports, n);
}

static void destroy_all(const mach_port_t *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		port_destroy(ports[i]);
}

#define STREAMS_SHARE 48u /* docs/calls/task_sample.md */

/* One task cannot have all streams of events either; those that end can be had again. */
TEST(too_many_streams)
{
	mach_port_t ports[STREAMS_SHARE + 1];

	for (uint32_t turn = 0; turn < 2; turn++) {
		begin_streams(SAMPLED_PC_VM_ZFILL_FAULTS, ports, STREAMS_SHARE);
		destroy_all(ports, STREAMS_SHARE + 1);
	}
}

/*
 * There are so many schedules of the clock, and no more; those that end can be had again.  One task
 * cannot have all of them, but for who has the host's port.
 */
TEST(too_many_clocks)
{
	const sample_options_t none = {0};
	mach_port_t ports[SAMPLE_CLOCKS_SHARE + 1], others[SAMPLE_CLOCKS_MAX];
	const uint32_t left = SAMPLE_CLOCKS_MAX - SAMPLE_CLOCKS_SHARE;

	for (uint32_t turn = 0; turn < 2; turn++) {
		begin_clocks(ports, SAMPLE_CLOCKS_SHARE);
		for (uint32_t n = 0; n <= left; n++) {
			others[n] = port_new();
			EXPECT_EQ(host_sample_start(host_port(), 0, SAMPLED_PC_PERIODIC, 1, none,
						    others[n]),
				  n < left ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE);
		}
		destroy_all(ports, SAMPLE_CLOCKS_SHARE + 1);
		destroy_all(others, left + 1);
	}
}

#define REPORT 0x123u /* Where the child says how many it got. */

/* In a child: as many clocks as it gets. */
static void take_clocks(uint32_t unused)
{
	uint32_t n = 0;

	(void)unused;
	while (task_sample_start(SELF, SAMPLED_PC_PERIODIC, 1, (sample_options_t){0}, port_new()) ==
	       KERN_SUCCESS)
		n++;
	message_send_id(REPORT, MACH_MSG_TYPE_COPY_SEND, (mach_msg_id_t)n);
	for (;;)
		sleep_ms(LONG_WAIT);
}

/* Tasks that hold together do not get all of them either. */
TEST(the_last_clocks_are_the_hosts)
{
	const uint32_t left = SAMPLE_CLOCKS_MAX - SAMPLE_CLOCKS_TASKS;
	mach_port_t ports[SAMPLE_CLOCKS_SHARE + 1], others[SAMPLE_CLOCKS_MAX];
	mach_port_t child = child_new(), report = port_new(), thread;
	struct message message;

	begin_clocks(ports, SAMPLE_CLOCKS_SHARE);
	child_give(child, REPORT, report, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, take_clocks, 0);
	EXPECT_EQ(message_get(&message, report, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, SAMPLE_CLOCKS_TASKS - SAMPLE_CLOCKS_SHARE);
	for (uint32_t n = 0; n < left; n++) {
		others[n] = port_new();
		EXPECT_EQ(host_sample_start(host_port(), 0, SAMPLED_PC_PERIODIC, 1,
					    (sample_options_t){0}, others[n]),
			  KERN_SUCCESS);
	}
	destroy_all(ports, SAMPLE_CLOCKS_SHARE + 1);
	destroy_all(others, left);
	port_drop_send(thread);
	child_end(child);
	port_destroy(report);
}

/* ---------------- The library ---------------- */

static uint32_t received;

kern_return_t receive_samples(mach_port_t reply_port, sample_array_t samples,
			      mach_msg_type_number_t n)
{
	EXPECT_EQ(reply_port, collected.port);
	EXPECT_EQ(((struct prof_record *)samples)->type, PROF_BEGIN);
	received += n;
	EXPECT_EQ(vm_deallocate(SELF, (vm_address_t)samples, n * sizeof *samples), KERN_SUCCESS);
	return KERN_SUCCESS;
}

TEST(prof_server_calls_receive_samples)
{
	struct message message, reply;

	received = 0;
	samples_new(&collected);
	EXPECT_EQ(start(SELF, SAMPLED_PC_VM_FAULTS, 0, (sample_options_t){0}), KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, collected.port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT(prof_server(&message.head, &reply.head));
	EXPECT(received > 0);
	message.head.msgh_id = ID_SAMPLES + 1;
	EXPECT(!prof_server(&message.head, &reply.head));
	samples_forget(&collected);
}
