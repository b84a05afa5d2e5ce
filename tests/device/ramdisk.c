/* SPDX-License-Identifier: MIT */
/*
 * RAM disks: one of a boot module (a program), two of the kernel's argument.
 *
 * machine: append="ramdisk=1,2" module="hello $(ramdisk-create)" arguments="${device-port}"
 * machine: append="pool=16 ramdisk=1,2" module="hello $(ramdisk-create)" arguments="${device-port}"
 */
#include "check.h"

#include <mach/messages.h>
#include "ipc.h"

#define RECORD     512u
#define MIB        0x100000u
#define READ_REPLY 2904

static uint8_t buffer[2 * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static mach_port_t open_disk(const char *name)
{
	mach_port_t device = MACH_PORT_NULL;

	EXPECT_EQ(device_open(check_number(0), D_READ | D_WRITE, name, &device), D_SUCCESS);
	return device;
}

static void close_disk(mach_port_t device)
{
	EXPECT_EQ(device_close(device), D_SUCCESS);
	port_drop_send(device);
}

/* Byte `n` of what the tests write. */
static uint8_t pattern(uint32_t n, uint32_t seed)
{
	return (uint8_t)(n * 7 + n / RECORD * 13 + seed);
}

static void fill(uint8_t *bytes, uint32_t size, uint32_t seed)
{
	for (uint32_t n = 0; n < size; n++)
		bytes[n] = pattern(n, seed);
}

static bool is_filled(const uint8_t *bytes, uint32_t size, uint32_t seed)
{
	for (uint32_t n = 0; n < size; n++) {
		if (bytes[n] != pattern(n, seed))
			return false;
	}
	return true;
}

static io_return_t write(mach_port_t device, uint32_t record, const void *data, uint32_t size)
{
	int written = -1;
	io_return_t result = device_write(device, 0, record, (char *)data, size, &written);

	if (result == D_SUCCESS)
		EXPECT_EQ(written, size);
	return result;
}

/* Whether a read gives `size` bytes of the pattern. */
static bool reads(mach_port_t device, uint32_t record, uint32_t size, uint32_t seed)
{
	io_buf_ptr_t data = NULL;
	mach_msg_type_number_t n = 0;
	bool same;

	if (!EXPECT_EQ(device_read(device, 0, record, (int)size, &data, &n), D_SUCCESS))
		return false;
	same = n == size && is_filled((uint8_t *)data, n, seed);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)data, n), KERN_SUCCESS);
	return same;
}

static uint32_t size_of(mach_port_t device)
{
	int status[DEV_GET_SIZE_COUNT] = {0, 0};
	mach_msg_type_number_t n = DEV_GET_SIZE_COUNT;

	EXPECT_EQ(device_get_status(device, DEV_GET_SIZE, status, &n), D_SUCCESS);
	EXPECT_EQ(n, DEV_GET_SIZE_COUNT);
	EXPECT_EQ(status[DEV_GET_SIZE_RECORD_SIZE], RECORD);
	return (uint32_t)status[DEV_GET_SIZE_DEVICE_SIZE];
}

TEST(disks_that_there_are)
{
	mach_port_t device = open_disk("rd0"), none;

	EXPECT(size_of(device) > PAGE_SIZE && size_of(device) % RECORD == 0);
	close_disk(device);
	device = open_disk("rd1");
	EXPECT_EQ(size_of(device), MIB);
	close_disk(device);
	device = open_disk("rd2");
	EXPECT_EQ(size_of(device), 2 * MIB);
	close_disk(device);
	EXPECT_EQ(device_open(check_number(0), D_READ, "rd3", &none), D_NO_SUCH_DEVICE);
}

TEST(size_in_records)
{
	mach_port_t device = open_disk("rd1");
	int status[DEV_GET_RECORDS_COUNT];
	mach_msg_type_number_t n = DEV_GET_RECORDS_COUNT;

	EXPECT_EQ(device_get_status(device, DEV_GET_RECORDS, status, &n), D_SUCCESS);
	EXPECT_EQ(status[DEV_GET_RECORDS_DEVICE_RECORDS], MIB / RECORD);
	EXPECT_EQ(status[DEV_GET_RECORDS_RECORD_SIZE], RECORD);
	close_disk(device);
}

/* It begins as every program does. */
TEST(a_module_is_a_disk)
{
	mach_port_t device = open_disk("rd0");
	io_buf_ptr_t data = NULL;
	mach_msg_type_number_t n = 0;

	if (EXPECT_EQ(device_read(device, 0, 0, PAGE_SIZE, &data, &n), D_SUCCESS)) {
		EXPECT_EQ(n, PAGE_SIZE);
		EXPECT(memcmp(data, "\177ELF", 4) == 0);
		vm_deallocate(self(), (vm_address_t)data, n);
	}
	close_disk(device);
}

/* The rest of a page that a record is given in is not somebody else's memory. */
TEST(a_record_alone)
{
	mach_port_t device = open_disk("rd1");
	io_buf_ptr_t data = NULL;
	mach_msg_type_number_t n = 0;
	bool clear = true;

	fill(buffer, RECORD, 1);
	EXPECT_EQ(write(device, 3, buffer, RECORD), D_SUCCESS);
	EXPECT(reads(device, 3, RECORD, 1));
	if (EXPECT_EQ(device_read(device, 0, 3, RECORD, &data, &n), D_SUCCESS)) {
		for (uint32_t i = RECORD; i < PAGE_SIZE; i++)
			clear = clear && data[i] == 0;
		EXPECT(clear);
		vm_deallocate(self(), (vm_address_t)data, PAGE_SIZE);
	}
	close_disk(device);
}

/*
 * From a few records to many pages, wherever on the disk and in memory they begin.  The memory goes
 * in the end: what was sent in large pieces is in other objects than before.
 */
TEST(many_records)
{
	static const uint32_t sizes[] = {RECORD,     3 * RECORD,    PAGE_SIZE,
					 9 * RECORD, 8 * PAGE_SIZE, 33 * PAGE_SIZE + RECORD};
	mach_port_t device = open_disk("rd1");
	const vm_size_t room = 40 * PAGE_SIZE;
	vm_address_t memory = 0;
	uint32_t seed = 10;

	REQUIRE(vm_allocate(self(), &memory, room, TRUE) == KERN_SUCCESS);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		for (uint32_t offset = 0; offset <= 1000; offset += 1000) {
			uint8_t *bytes = (uint8_t *)memory + offset;
			uint32_t record = 5 * i + (offset != 0 ? 8 : 3);

			fill(bytes, sizes[i], ++seed);
			EXPECT_EQ(write(device, record, bytes, sizes[i]), D_SUCCESS);
			memset(bytes, 0, sizes[i]);
			EXPECT(reads(device, record, sizes[i], seed));
		}
	}
	EXPECT_EQ(vm_deallocate(self(), memory, room), KERN_SUCCESS);
	close_disk(device);
}

TEST(disks_are_apart)
{
	mach_port_t one = open_disk("rd1"), other = open_disk("rd2");

	fill(buffer, PAGE_SIZE, 3);
	EXPECT_EQ(write(one, MIB / RECORD - 8, buffer, PAGE_SIZE), D_SUCCESS);
	fill(buffer, PAGE_SIZE, 4);
	EXPECT_EQ(write(other, 0, buffer, PAGE_SIZE), D_SUCCESS);
	EXPECT(reads(one, MIB / RECORD - 8, PAGE_SIZE, 3));
	EXPECT(reads(other, 0, PAGE_SIZE, 4));
	close_disk(one);
	close_disk(other);
	one = open_disk("rd1");
	EXPECT(reads(one, MIB / RECORD - 8, PAGE_SIZE, 3));
	close_disk(one);
}

static io_return_t read_result(mach_port_t device, uint32_t record, int size)
{
	io_buf_ptr_t data = NULL;
	mach_msg_type_number_t n = 0;
	io_return_t result = device_read(device, 0, record, size, &data, &n);

	if (result == D_SUCCESS)
		vm_deallocate(self(), (vm_address_t)data, n);
	return result;
}

TEST(beyond_the_end)
{
	mach_port_t device = open_disk("rd1");
	const uint32_t end = MIB / RECORD;

	EXPECT_EQ(read_result(device, end - 1, RECORD), D_SUCCESS);
	EXPECT_EQ(read_result(device, end - 1, 2 * RECORD), D_INVALID_SIZE);
	EXPECT_EQ(read_result(device, end, RECORD), D_INVALID_RECNUM);
	EXPECT_EQ(read_result(device, 0xffffffff, RECORD), D_INVALID_RECNUM);
	EXPECT_EQ(read_result(device, 0x800000, RECORD), D_INVALID_RECNUM);
	EXPECT_EQ(write(device, end - 1, buffer, 2 * RECORD), D_INVALID_SIZE);
	EXPECT_EQ(write(device, end, buffer, RECORD), D_INVALID_RECNUM);
	EXPECT_EQ(read_result(device, 0, MIB), D_SUCCESS);
	EXPECT_EQ(read_result(device, 0, MIB + RECORD), D_INVALID_SIZE);
	close_disk(device);
}

TEST(parts_of_records)
{
	mach_port_t device = open_disk("rd1");
	io_buf_ptr_inband_t bytes;
	mach_msg_type_number_t n;
	int written;

	EXPECT_EQ(read_result(device, 0, 0), D_INVALID_SIZE);
	EXPECT_EQ(read_result(device, 0, 1), D_INVALID_SIZE);
	EXPECT_EQ(read_result(device, 0, RECORD + 1), D_INVALID_SIZE);
	EXPECT_EQ(read_result(device, 0, -(int)RECORD), D_INVALID_SIZE);
	EXPECT_EQ(write(device, 0, buffer, 0), D_INVALID_SIZE);
	EXPECT_EQ(write(device, 0, buffer, RECORD - 1), D_INVALID_SIZE);
	EXPECT_EQ(device_read_inband(device, 0, 0, IO_INBAND_MAX, bytes, &n), D_INVALID_SIZE);
	EXPECT_EQ(device_write_inband(device, 0, 0, (char *)buffer, IO_INBAND_MAX, &written),
		  D_INVALID_SIZE);
	close_disk(device);
}

/* The answers of requests that nobody waits for, with all their words whatever they say. */
TEST(requests_without_waiting)
{
	mach_port_t device = open_disk("rd1"), reply = port_new();
	struct message message;

	fill(buffer, PAGE_SIZE, 5);
	EXPECT_EQ(device_write_request(device, reply, 0, 0, (char *)buffer, PAGE_SIZE),
		  KERN_SUCCESS);
	EXPECT_EQ(device_read_request(device, reply, 0, 0, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(device_read_request(device, reply, 0, 0, 1), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, reply, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 2902);
	EXPECT_EQ(message.body[1], D_SUCCESS);
	EXPECT_EQ(message.body[3], PAGE_SIZE);
	EXPECT_EQ(message_get(&message, reply, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, READ_REPLY);
	EXPECT_EQ(message.body[1], D_SUCCESS);
	EXPECT_EQ(message.body[4], PAGE_SIZE);
	EXPECT(is_filled((uint8_t *)message.body[5], PAGE_SIZE, 5));
	vm_deallocate(self(), message.body[5], PAGE_SIZE);
	EXPECT_EQ(message_get(&message, reply, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, READ_REPLY);
	EXPECT_EQ(message.head.msgh_size, 48);
	EXPECT_EQ(message.body[1], D_INVALID_SIZE);
	EXPECT_EQ(message.body[4], 0);
	port_destroy(reply);
	close_disk(device);
}

/* The data goes the way of the answer. */
TEST(nobody_wants_the_answer)
{
	mach_port_t device = open_disk("rd1"), reply = port_new();

	EXPECT_EQ(device_read_request(device, reply, 0, 0, 4 * PAGE_SIZE), KERN_SUCCESS);
	port_destroy(reply);
	EXPECT_EQ(device_read_request(device, MACH_PORT_NULL, 0, 0, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(device_write_request(device, MACH_PORT_NULL, 0, 0, (char *)buffer, PAGE_SIZE),
		  KERN_SUCCESS);
	close_disk(device);
}

/* A message that says another size than it brings, as no stub does. */
TEST(data_of_another_size)
{
	struct {
		mach_msg_header_t head;
		uint32_t mode_type, mode;
		uint32_t record_type, record;
		mach_msg_type_long_t type;
		uint32_t data;
	} message = {
		.mode_type = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1),
		.record_type = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1),
		.type.msgtl_header.msgt_longform = 1,
		.type.msgtl_name = MACH_MSG_TYPE_INTEGER_8,
		.type.msgtl_size = 32,
		.type.msgtl_number = RECORD,
		.data = (uint32_t)buffer,
	};
	mach_port_t device = open_disk("rd1"), reply = port_new();
	struct message answer;

	message.head.msgh_bits =
		MACH_MSGH_BITS_COMPLEX |
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	message.head.msgh_remote_port = device;
	message.head.msgh_local_port = reply;
	message.head.msgh_id = ID_DEVICE_WRITE;
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG, sizeof message, 0, 0, 0, 0),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&answer, reply, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ((kern_return_t)answer.body[1], MIG_BAD_ARGUMENTS);
	port_destroy(reply);
	close_disk(device);
}
