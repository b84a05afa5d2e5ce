/* SPDX-License-Identifier: MIT */
/*
 * Messages to the kernel as such: ids that it has not, requests that are not as defined, the ports
 * of the command line.
 *
 * machine: cpus=1 arguments="${host-port} ${device-port} ${host-port}"
 * machine: cpus=1 arguments="${host-port} ${device-port} ${host-port}" append="fastpath=off"
 */
#include <assay.h>
#include <mach.h>
#include <mach/messages.h>

#include "check.h"

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

/* The kernel gives names in the order of appearance, and one name for one port. */
TEST(ports_of_the_command_line)
{
	mach_port_type_t type;
	mach_port_urefs_t refs;

	EXPECT_EQ(check_number(0), 1);
	EXPECT_EQ(check_number(1), 2);
	EXPECT_EQ(check_number(2), 1);
	EXPECT_EQ(mach_port_type(self(), 1, &type), KERN_SUCCESS);
	EXPECT_EQ(type, MACH_PORT_TYPE_SEND);
	EXPECT_EQ(mach_port_get_refs(self(), 1, MACH_PORT_RIGHT_SEND, &refs), KERN_SUCCESS);
	EXPECT_EQ(refs, 2);
	EXPECT_EQ(mach_port_get_refs(self(), 2, MACH_PORT_RIGHT_SEND, &refs), KERN_SUCCESS);
	EXPECT_EQ(refs, 1);
}

struct answer {
	mach_msg_header_t header;
	mach_msg_type_t result_type;
	kern_return_t result;
	char rest[64];
};

/* A request that is nothing but a header; returns what the answer says. */
static kern_return_t call(mach_port_t to, mach_msg_id_t id)
{
	struct answer message = {.result = 1};
	mach_port_t reply = mig_get_reply_port();

	message.header.msgh_bits =
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	message.header.msgh_remote_port = to;
	message.header.msgh_local_port = reply;
	message.header.msgh_id = id;
	EXPECT_EQ(mach_msg(&message.header, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.header,
			   sizeof message, reply, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message.header.msgh_id, (mach_msg_id_t)((uint32_t)id + 100));
	EXPECT_EQ(message.header.msgh_size, sizeof(mig_reply_header_t));
	mig_put_reply_port(reply);
	return message.result;
}

TEST(ids_without_a_routine)
{
	static const mach_msg_id_t ids[] = {
		0,    1,    1999, 2006, 2098, 2100, 2601, 2650,       3224,
		3299, 4217, 4299, 4300, 9999, -1,   -100, 2147483647, -2147483647 - 1,
	};

	for (unsigned n = 0; n < sizeof ids / sizeof *ids; n++)
		EXPECT_EQ(call(self(), ids[n]), MIG_BAD_ID);
}

TEST(requests_that_are_not_as_defined)
{
	EXPECT_EQ(call(self(), 3201), MIG_BAD_ARGUMENTS);
	EXPECT_EQ(call(self(), 2017), MIG_BAD_ARGUMENTS);
}

TEST(ports_of_another_kind)
{
	EXPECT_EQ(call(check_number(1), 3200), KERN_INVALID_TASK);
	EXPECT_EQ(call(self(), 2634), KERN_INVALID_HOST);
	EXPECT_EQ(call(self(), 2062), KERN_INVALID_ARGUMENT);
}

/* Sends thread_set_name() with so many bytes and no zero among them. */
static mach_msg_return_t send_name(mach_port_t thread, uint32_t size)
{
	struct {
		mach_msg_header_t header;
		mach_msg_type_t type;
		char name[64];
	} message = {.type = {.msgt_name = MACH_MSG_TYPE_STRING_C,
			      .msgt_size = 8,
			      .msgt_number = size,
			      .msgt_inline = TRUE}};

	memset(message.name, 'x', sizeof message.name);
	message.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
	message.header.msgh_remote_port = thread;
	message.header.msgh_id = ID_THREAD_SET_NAME;
	return mach_msg(&message.header, MACH_SEND_MSG, sizeof message - sizeof message.name + size,
			0, MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

/* What was behind a message in the kernel's memory is not made part of the name. */
TEST(names_without_an_end)
{
	mach_port_t thread = mach_thread_self();
	kernel_debug_name_t name;

	for (uint32_t size = 4; size <= 64; size += 4) {
		EXPECT_EQ(send_name(thread, size), MACH_MSG_SUCCESS);
		EXPECT_EQ(thread_get_name(thread, name), KERN_SUCCESS);
		EXPECT_LE(strlen(name), size);
		for (uint32_t i = 0; name[i] != '\0'; i++)
			EXPECT_EQ(name[i], 'x');
	}
	EXPECT_EQ(mach_port_deallocate(self(), thread), KERN_SUCCESS);
}

/* The clock moves by a second in 256: hardly anything has been done when it is asked again. */
TEST(the_clock_is_adjusted_little_by_little)
{
	mach_port_t priv = check_number(0);
	mach_port_t host = mach_host_self();
	time_value_t later = {.seconds = 100, .microseconds = 0};
	time_value_t earlier = {.seconds = -3, .microseconds = -250000};
	time_value_t none = {.seconds = 0, .microseconds = 0};
	time_value_t old;

	EXPECT_EQ(host_adjust_time(host, later, &old), KERN_INVALID_HOST);
	EXPECT_EQ(host_adjust_time(priv, later, &old), KERN_SUCCESS);
	EXPECT_EQ(old.seconds, 0);
	EXPECT_EQ(host_adjust_time(priv, earlier, &old), KERN_SUCCESS);
	EXPECT_EQ(old.seconds, 99);
	EXPECT_LT(900000, old.microseconds);
	EXPECT_EQ(host_adjust_time(priv, none, &old), KERN_SUCCESS);
	EXPECT_EQ(old.seconds, -3);
	EXPECT_LT(old.microseconds, -200000);
	EXPECT_EQ(host_adjust_time(priv, none, &old), KERN_SUCCESS);
	EXPECT_EQ(old.seconds, 0);
	EXPECT_EQ(old.microseconds, 0);
	EXPECT_EQ(mach_port_deallocate(self(), host), KERN_SUCCESS);
}
