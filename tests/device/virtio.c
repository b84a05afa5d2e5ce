/* SPDX-License-Identifier: MIT */
/*
 * The virtio disk: what is written is read again, whatever its size and wherever it begins, many
 * requests at once, from several threads; and what cannot be is refused.  That it is in the file
 * behind the disk is seen by machine/test_disk.py.  The host works at its own pace here, so the
 * instruction clock would only make these runs wait longer.
 *
 * machine: cpus=1 disk=1 icount=no arguments="${device-port}"
 * machine: cpus=2 disk=1 icount=no arguments="${device-port}"
 * machine: cpus=2 disk=1 icount=no machine=q35 seed=3 arguments="${device-port}"
 */
#include <mach/device.h>
#include <mach/device_request.h>

#include "check.h"
#include "ipc.h"

#define PAGE        4096u
#define RECORD      512u
#define RECORDS     2048u /* A disk of 1 MiB. */
#define LARGEST     (300 * 1024u)
#define AT_ONCE     64u
#define READ_REPLY  2904
#define WRITE_REPLY 2902

/*
 * What large requests send, while a disk is open: it shares its pages with the message until it is
 * written to again, so that memory of the program's own would not be as before.
 */
static char *buffer;
#define BUFFER_SIZE (LARGEST + PAGE)

/* ---------------- What tests do with disks ---------------- */

static mach_port_t disk_open(void)
{
	mach_port_t device = MACH_PORT_NULL;
	vm_address_t room = 0;

	EXPECT_EQ(device_open(check_number(0), D_READ | D_WRITE, "vd0", &device), D_SUCCESS);
	EXPECT_EQ(vm_allocate(mach_task_self_cached(), &room, BUFFER_SIZE, true), KERN_SUCCESS);
	buffer = (char *)room;
	return device;
}

/* Closes it; the name goes too. */
static void disk_close(mach_port_t device)
{
	EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)buffer, BUFFER_SIZE),
		  KERN_SUCCESS);
	EXPECT_EQ(device_close(device), D_SUCCESS);
	port_destroy(device);
}

/* Byte `n` of what a test that is called `seed` writes from `record` on. */
static char pattern(uint32_t seed, uint32_t record, uint32_t n)
{
	return (char)((record + n / RECORD) * 7 + n + seed);
}

static void fill(char *data, uint32_t size, uint32_t seed, uint32_t record)
{
	for (uint32_t n = 0; n < size; n++)
		data[n] = pattern(seed, record, n);
}

/* How many bytes are not as they should be. */
static uint32_t wrong_bytes(const char *data, uint32_t size, uint32_t seed, uint32_t record)
{
	uint32_t wrong = 0;

	for (uint32_t n = 0; n < size; n++)
		wrong += data[n] != pattern(seed, record, n);
	return wrong;
}

static bool write_at(mach_port_t device, uint32_t record, char *data, uint32_t size)
{
	int written = -1;
	kern_return_t result = device_write(device, 0, record, data, size, &written);

	return EXPECT_EQ(result, D_SUCCESS) && EXPECT_EQ(written, size);
}

/* Reads and looks at what comes, and at what is behind it in the last page. */
static bool read_at(mach_port_t device, uint32_t record, uint32_t size, uint32_t seed)
{
	mach_msg_type_number_t count = 0;
	char *data = NULL;
	uint32_t rest = 0;
	bool passed;

	if (!EXPECT_EQ(device_read(device, 0, record, (int)size, &data, &count), D_SUCCESS))
		return false;
	passed = EXPECT_EQ(count, size) && EXPECT_EQ(wrong_bytes(data, size, seed, record), 0);
	for (uint32_t n = count; n % PAGE != 0; n++)
		rest += data[n] != 0;
	passed = EXPECT_EQ(rest, 0) && passed;
	EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)data, count), KERN_SUCCESS);
	return passed;
}

/* ---------------- One request after another ---------------- */

static void check_status(mach_port_t device, dev_flavor_t flavor, int first)
{
	int status[8];
	mach_msg_type_number_t count = 8;

	EXPECT_EQ(device_get_status(device, flavor, status, &count), D_SUCCESS);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(status[0], first);
	EXPECT_EQ(status[1], RECORD);
}

TEST(a_disk_tells_its_size)
{
	mach_port_t device = disk_open();

	check_status(device, DEV_GET_SIZE, RECORDS * RECORD);
	check_status(device, DEV_GET_RECORDS, RECORDS);
	disk_close(device);
}

TEST(what_is_written_is_read)
{
	static const uint32_t sizes[] = {512,   1024,  3584,  4096,  4608,  8192,       53248,
					 57344, 65536, 66048, 98304, 99840, 256 * 1024, LARGEST};
	static const uint32_t offsets[] = {0, 1, 100, 511, 512, 4095};
	mach_port_t device = disk_open();

	for (uint32_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
		for (uint32_t m = 0; m < sizeof offsets / sizeof offsets[0]; m++) {
			uint32_t record = (n * 6 + m) * 11 % (RECORDS - LARGEST / RECORD);
			char *data = buffer + offsets[m];

			fill(data, sizes[n], n, record);
			write_at(device, record, data, sizes[n]);
			read_at(device, record, sizes[n], n);
		}
	}
	disk_close(device);
}

/* Neighbours stay as they are, and a read may begin and end in the middle of what was written. */
TEST(only_what_is_written_changes)
{
	mach_port_t device = disk_open();

	fill(buffer, 20 * RECORD, 1, 100);
	write_at(device, 100, buffer, 20 * RECORD);
	fill(buffer, 3 * RECORD, 2, 107);
	write_at(device, 107, buffer, 3 * RECORD);
	read_at(device, 100, 7 * RECORD, 1);
	read_at(device, 107, 3 * RECORD, 2);
	read_at(device, 108, RECORD, 2);
	read_at(device, 110, 10 * RECORD, 1);
	disk_close(device);
}

TEST(the_last_record_is_there)
{
	mach_port_t device = disk_open();

	fill(buffer, 2 * RECORD, 5, RECORDS - 2);
	write_at(device, RECORDS - 2, buffer, 2 * RECORD);
	read_at(device, RECORDS - 1, RECORD, 5);
	disk_close(device);
}

static void expect_refused(mach_port_t device, uint32_t record, uint32_t size, kern_return_t why)
{
	mach_msg_type_number_t count = 0;
	char *data = NULL;
	int written = 0;

	EXPECT_EQ(device_read(device, 0, record, (int)size, &data, &count), why);
	if (size <= BUFFER_SIZE)
		EXPECT_EQ(device_write(device, 0, record, buffer, size, &written), why);
}

TEST(what_cannot_be_is_refused)
{
	mach_port_t device = disk_open();
	mach_msg_type_number_t count;
	io_buf_ptr_inband_t data = {0};
	int written = 0;

	expect_refused(device, 0, 0, D_INVALID_SIZE);
	expect_refused(device, 0, 1, D_INVALID_SIZE);
	expect_refused(device, 0, 513, D_INVALID_SIZE);
	expect_refused(device, 0, 0xfffffe00u, D_INVALID_SIZE);
	expect_refused(device, 0, RECORDS * RECORD + RECORD, D_INVALID_SIZE);
	expect_refused(device, RECORDS, RECORD, D_INVALID_RECNUM);
	expect_refused(device, UINT32_MAX, RECORD, D_INVALID_RECNUM);
	expect_refused(device, RECORDS - 1, 2 * RECORD, D_INVALID_SIZE);
	EXPECT_EQ(device_read_inband(device, 0, 0, sizeof data, data, &count), D_INVALID_SIZE);
	EXPECT_EQ(device_write_inband(device, 0, 0, data, sizeof data, &written), D_INVALID_SIZE);
	disk_close(device);
}

/* ---------------- Many at once ---------------- */

/* Receives an answer to a request that was not waited for: its result. */
static uint32_t next_result(mach_port_t reply, mach_msg_id_t id, struct message *message)
{
	EXPECT_EQ(message_get(message, reply, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message->head.msgh_id, id);
	return message->body[1];
}

/* Different sizes, more pages than there are descriptors: most of them have to wait. */
static uint32_t size_of(uint32_t n)
{
	return (1 + n % 31) * RECORD;
}

TEST(many_requests_are_under_way_at_once)
{
	mach_port_t device = disk_open(), reply = port_new();
	struct message message;

	for (uint32_t n = 0; n < AT_ONCE; n++) {
		fill(buffer, size_of(n), n, n * 31);
		EXPECT_EQ(device_write_request(device, reply, 0, n * 31, buffer, size_of(n)),
			  KERN_SUCCESS);
	}
	for (uint32_t n = 0; n < AT_ONCE; n++)
		EXPECT_EQ(next_result(reply, WRITE_REPLY, &message), D_SUCCESS);
	for (uint32_t n = 0; n < AT_ONCE; n++)
		read_at(device, n * 31, size_of(n), n);
	port_destroy(reply);
	disk_close(device);
}

/* All begin with the same record, so it does not matter which of them an answer is for. */
TEST(many_reads_are_under_way_at_once)
{
	mach_port_t device = disk_open(), reply = port_new();
	struct message message;

	fill(buffer, AT_ONCE * RECORD, 9, 0);
	write_at(device, 0, buffer, AT_ONCE * RECORD);
	for (uint32_t n = 0; n < AT_ONCE; n++)
		EXPECT_EQ(device_read_request(device, reply, 0, 0, (int)((n + 1) * RECORD)),
			  KERN_SUCCESS);
	for (uint32_t n = 0; n < AT_ONCE; n++) {
		uint32_t size, data;

		if (!EXPECT_EQ(next_result(reply, READ_REPLY, &message), D_SUCCESS))
			continue;
		size = message.body[4];
		data = message.body[5];
		EXPECT_EQ(wrong_bytes((const char *)data, size, 9, 0), 0);
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), data, size), KERN_SUCCESS);
	}
	port_destroy(reply);
	disk_close(device);
}

#define THREADS      4u
#define TURNS        20u
#define THREAD_ROOM  (RECORDS / THREADS)
#define THREAD_BYTES (40 * RECORD)

static char thread_data[THREADS][THREAD_BYTES];
static mach_port_t shared_device;
static volatile uint32_t good_turns;

/* Each thread has a part of the disk of its own. */
static void write_and_read(void *number)
{
	uint32_t thread = (uint32_t)number;
	char *data = thread_data[thread];

	for (uint32_t turn = 0; turn < TURNS; turn++) {
		uint32_t record = thread * THREAD_ROOM + turn * 13;
		uint32_t size = THREAD_BYTES - turn * RECORD;

		fill(data, size, thread + turn, record);
		if (write_at(shared_device, record, data, size) &&
		    read_at(shared_device, record, size, thread + turn))
			__atomic_add_fetch(&good_turns, 1, __ATOMIC_RELAXED);
	}
}

TEST(threads_share_a_disk)
{
	shared_device = disk_open();
	good_turns = 0;
	for (uint32_t n = 0; n < THREADS; n++)
		worker_start(n, write_and_read, (void *)n);
	for (uint32_t n = 0; n < THREADS; n++)
		worker_join(n);
	EXPECT_EQ(good_turns, THREADS * TURNS);
	disk_close(shared_device);
}

/* ---------------- Callers that go away ---------------- */

/* What nobody wants any more is finished and dropped: the counts are as before when all is done. */
TEST(answers_that_nobody_wants_are_dropped)
{
	mach_port_t device = disk_open(), reply = port_new();

	for (uint32_t n = 0; n < AT_ONCE; n++)
		EXPECT_EQ(device_read_request(device, reply, 0, n, PAGE), KERN_SUCCESS);
	port_destroy(reply);
	for (uint32_t n = 0; n < AT_ONCE; n++) {
		fill(buffer, RECORD, n, n);
		write_at(device, n, buffer, RECORD);
	}
	sleep_ms(SHORT_WAIT);
	disk_close(device);
}

TEST(a_request_outlives_the_closing)
{
	mach_port_t device = disk_open(), reply = port_new();
	struct message message;

	fill(buffer, 16 * PAGE, 3, 64);
	for (uint32_t n = 0; n < 8; n++)
		EXPECT_EQ(device_write_request(device, reply, 0, 64, buffer, 16 * PAGE),
			  KERN_SUCCESS);
	disk_close(device);
	for (uint32_t n = 0; n < 8; n++)
		EXPECT_EQ(next_result(reply, WRITE_REPLY, &message), D_SUCCESS);
	device = disk_open();
	read_at(device, 64, 16 * PAGE, 3);
	disk_close(device);
	port_destroy(reply);
}
