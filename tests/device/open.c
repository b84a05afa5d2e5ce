/* SPDX-License-Identifier: MIT */
/*
 * Devices as such: opening and closing, and requests that are wrong whatever the device.
 *
 * machine: cpus=1 arguments="${device-port} ${host-port}"
 * machine: cpus=1 arguments="${device-port} ${host-port}" append="fastpath=off"
 */
#include "check.h"

#include <mach/messages.h>
#include "ipc.h"

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static mach_port_t master(void)
{
	return check_number(0);
}

static mach_port_t open_console(void)
{
	mach_port_t device = MACH_PORT_NULL;

	EXPECT_EQ(device_open(master(), D_READ | D_WRITE, "console", &device), D_SUCCESS);
	EXPECT(MACH_PORT_VALID(device));
	return device;
}

static void close_device(mach_port_t device)
{
	EXPECT_EQ(device_close(device), D_SUCCESS);
	EXPECT_EQ(port_type(device), MACH_PORT_TYPE_DEAD_NAME);
	port_drop_send(device);
}

/* ---------------- Opening ---------------- */

TEST(only_what_there_is_can_be_opened)
{
	mach_port_t device = MACH_PORT_NULL;

	EXPECT_EQ(device_open(master(), D_READ, "nothing", &device), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_open(master(), D_READ, "", &device), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_open(master(), D_READ, "consol", &device), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_open(master(), D_READ, "console ", &device), D_NO_SUCH_DEVICE);
}

TEST(only_by_the_master_port)
{
	mach_port_t device = MACH_PORT_NULL, console = open_console();

	EXPECT_EQ(device_open(self(), D_READ, "console", &device), D_INVALID_OPERATION);
	EXPECT_EQ(device_open(check_number(1), D_READ, "console", &device), D_INVALID_OPERATION);
	EXPECT_EQ(device_open(console, D_READ, "console", &device), D_INVALID_OPERATION);
	close_device(console);
}

/* A message of the interface's, with a name that has no end. */
TEST(a_name_without_an_end)
{
	struct {
		mach_msg_header_t head;
		uint32_t mode_type, mode;
		mach_msg_type_long_t name_type;
		char name[128];
		uint32_t room[8];
	} message = {
		.mode_type = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1),
		.name_type.msgtl_header.msgt_inline = 1,
		.name_type.msgtl_header.msgt_longform = 1,
		.name_type.msgtl_name = MACH_MSG_TYPE_STRING_C,
		.name_type.msgtl_size = 8 * sizeof message.name,
		.name_type.msgtl_number = 1,
	};
	mach_port_t reply = mig_get_reply_port();

	memset(message.name, 'c', sizeof message.name);
	message.head.msgh_bits =
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	message.head.msgh_remote_port = master();
	message.head.msgh_local_port = reply;
	message.head.msgh_id = ID_DEVICE_OPEN;
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG,
			   sizeof message - sizeof message.room, sizeof message, reply,
			   MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(((mig_reply_header_t *)&message.head)->RetCode, D_NO_SUCH_DEVICE);
	mig_put_reply_port(reply);
}

/* All who have it open share its port; it stays until the last of them has closed it. */
TEST(open_more_than_once)
{
	mach_port_t first = open_console(), second = open_console();
	int status[DEV_GET_SIZE_COUNT];
	mach_msg_type_number_t n = DEV_GET_SIZE_COUNT;

	EXPECT_EQ(first, second);
	EXPECT_EQ(port_refs(first, MACH_PORT_RIGHT_SEND), 2);
	EXPECT_EQ(device_close(first), D_SUCCESS);
	EXPECT_EQ(device_get_status(first, DEV_GET_SIZE, status, &n), D_SUCCESS);
	EXPECT_EQ(device_close(first), D_SUCCESS);
	EXPECT_EQ(port_type(first), MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(device_close(first), MACH_SEND_INVALID_DEST);
	port_drop_send(first);
	port_drop_send(first);
}

/* Who drops the last right has closed the device as often as it was open. */
TEST(the_last_right_closes)
{
	mach_port_t device = open_console();

	EXPECT_EQ(open_console(), device);
	port_drop_send(device);
	EXPECT_EQ(port_type(device), MACH_PORT_TYPE_SEND);
	port_drop_send(device);
	device = open_console();
	close_device(device);
}

static void open_and_wait(uint32_t master_port)
{
	mach_port_t device;

	mach_forget_names();
	device_open(master_port, D_READ, "console", &device);
	for (;;)
		sleep_ms(LONG_WAIT);
}

TEST(a_task_that_ends_closes)
{
	mach_port_t child = child_new();

	child_give(child, 0x77, master(), MACH_MSG_TYPE_COPY_SEND);
	port_drop_send(child_start(child, 0, open_and_wait, 0x77));
	sleep_ms(SHORT_WAIT);
	child_end(child);
	close_device(open_console());
}

/* The reply right is dropped with the answer, and the answer with the right in it. */
TEST(an_opener_that_is_gone)
{
	mach_port_t reply = port_new();

	EXPECT_EQ(device_open_request(master(), reply, D_READ, "console"), KERN_SUCCESS);
	port_destroy(reply);
	close_device(open_console());
}

TEST(opening_without_waiting)
{
	mach_port_t reply = port_new(), device;
	struct message message;

	EXPECT_EQ(device_open_request(master(), reply, D_READ, "console"), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, reply, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 2900);
	EXPECT_EQ(message.body[1], D_SUCCESS);
	device = message.body[3];
	port_destroy(reply);
	close_device(device);
}

/* ---------------- What is wrong with any device ---------------- */

TEST(requests_to_other_ports)
{
	io_buf_ptr_inband_t bytes = "x";
	io_buf_ptr_t data;
	mach_msg_type_number_t n = sizeof bytes;
	int written;
	mach_port_t object;

	EXPECT_EQ(device_close(self()), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_close(master()), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_read_inband(self(), 0, 0, 1, bytes, &n), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_read(self(), 0, 0, 1, &data, &n), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_write_inband(self(), 0, 0, bytes, 1, &written), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_write(self(), 0, 0, "x", 1, &written), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_map(self(), VM_PROT_READ, 0, PAGE_SIZE, &object, 0), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_get_status(self(), DEV_GET_SIZE, (int *)bytes, &n), D_NO_SUCH_DEVICE);
	EXPECT_EQ(device_set_status(self(), DEV_GET_SIZE, (int *)bytes, 1), D_NO_SUCH_DEVICE);
}

TEST(sizes_out_of_range)
{
	mach_port_t device = open_console();
	io_buf_ptr_inband_t bytes;
	io_buf_ptr_t data;
	mach_msg_type_number_t n;

	EXPECT_EQ(device_read_inband(device, 0, 0, IO_INBAND_MAX + 1, bytes, &n), D_INVALID_SIZE);
	EXPECT_EQ(device_read_inband(device, 0, 0, -1, bytes, &n), D_INVALID_SIZE);
	EXPECT_EQ(device_read(device, 0, 0, -1, &data, &n), D_INVALID_SIZE);
	EXPECT_EQ(device_read(device, 0, 0, 0x100001, &data, &n), D_INVALID_SIZE);
	close_device(device);
}

TEST(too_much_to_write)
{
	const vm_size_t size = 0x101000;
	mach_port_t device = open_console();
	vm_address_t large = 0;
	int written;

	EXPECT_EQ(vm_allocate(self(), &large, size, TRUE), KERN_SUCCESS);
	EXPECT_EQ(device_write(device, 0, 0, (char *)large, size, &written), D_INVALID_SIZE);
	EXPECT_EQ(vm_deallocate(self(), large, size), KERN_SUCCESS);
	close_device(device);
}

TEST(what_no_device_does)
{
	mach_port_t device = open_console(), receiver = port_new_with_send(), object;
	static filter_array_t filter;
	int word = 0;

	EXPECT_EQ(device_set_filter(device, receiver, MACH_MSG_TYPE_COPY_SEND, 0, filter, 4),
		  D_INVALID_OPERATION);
	EXPECT_EQ(device_intr_register(device, 1, 0, receiver, MACH_MSG_TYPE_COPY_SEND),
		  D_INVALID_OPERATION);
	EXPECT_EQ(device_intr_ack(device, receiver, MACH_MSG_TYPE_COPY_SEND), D_INVALID_OPERATION);
	EXPECT_EQ(device_set_status(device, 99, &word, 1), D_INVALID_OPERATION);
	EXPECT_EQ(device_map(device, VM_PROT_READ, 0, PAGE_SIZE, &object, 0), D_INVALID_OPERATION);
	port_destroy(receiver);
	close_device(device);
}

TEST(a_device_without_a_size)
{
	mach_port_t device = open_console();
	int status[4] = {-1, -1, -1, -1};
	mach_msg_type_number_t n = 4;

	EXPECT_EQ(device_get_status(device, DEV_GET_SIZE, status, &n), D_SUCCESS);
	EXPECT_EQ(n, DEV_GET_SIZE_COUNT);
	EXPECT_EQ(status[DEV_GET_SIZE_DEVICE_SIZE], 0);
	EXPECT_EQ(status[DEV_GET_SIZE_RECORD_SIZE], 1);
	n = 4;
	EXPECT_EQ(device_get_status(device, DEV_GET_RECORDS, status, &n), D_SUCCESS);
	EXPECT_EQ(status[DEV_GET_RECORDS_DEVICE_RECORDS], 0);
	n = 1;
	EXPECT_EQ(device_get_status(device, DEV_GET_SIZE, status, &n), D_INVALID_SIZE);
	n = 4;
	EXPECT_EQ(device_get_status(device, 99, status, &n), D_INVALID_OPERATION);
	close_device(device);
}
