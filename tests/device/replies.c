/* SPDX-License-Identifier: MIT */
/*
 * Every word of what devices answer: the replies of <mach/device.defs> as they lie in the message,
 * after success and after failure, and what devices tell of themselves.
 *
 * machine: append="ramdisk=1,2" arguments="${device-port}"
 * machine: append="ramdisk=1,2 fastpath=off" arguments="${device-port}"
 */
#include "check.h"
#include "ipc.h"

#define RECORD  512u
#define RECORDS (0x100000u / RECORD) /* Of rd0. */
#define ANY     0xa5a5a5a5u          /* An address or a name. */

#define INTEGER TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1)
#define FAR     (TYPE_LONG | TYPE_IS_MOVED)
#define BYTES   (MACH_MSG_TYPE_INTEGER_8 | 8 << 16)

/* The ids of the replies. */
enum {
	OPENED = 2900,
	WRITTEN = 2902,
	WRITTEN_INBAND,
	READ,
	READ_INBAND,
};

static mach_port_t reply;
static uint32_t answers; /* That have come to `reply`. */

static mach_port_t open_device(const char *name)
{
	mach_port_t device = MACH_PORT_NULL;

	EXPECT_EQ(device_open(check_number(0), D_READ | D_WRITE, name, &device), D_SUCCESS);
	return device;
}

static void begin(void)
{
	reply = port_new();
	answers = 0;
}

static void close_device(mach_port_t device)
{
	EXPECT_EQ(device_close(device), D_SUCCESS);
	port_drop_send(device);
}

static void end(mach_port_t device)
{
	port_destroy(reply);
	close_device(device);
}

/* Receives the next answer, which has exactly these words behind its header. */
static struct message *expect(mach_msg_id_t id, bool complex, const uint32_t *words, uint32_t n)
{
	static struct message message;
	uint32_t bits = MACH_MSGH_BITS(0, MACH_MSG_TYPE_PORT_SEND_ONCE) |
			(complex ? MACH_MSGH_BITS_COMPLEX : 0);

	EXPECT_EQ(message_get(&message, reply, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, id);
	EXPECT_EQ(message.head.msgh_bits, bits);
	EXPECT_EQ(message.head.msgh_size, sizeof message.head + 4 * n);
	EXPECT_EQ(message.head.msgh_local_port, reply);
	EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_NULL);
	EXPECT_EQ(message.head.msgh_seqno, answers++);
	for (uint32_t i = 0; i < n; i++) {
		bool same = words[i] == ANY ? message.body[i] != 0 : message.body[i] == words[i];

		if (!same)
			check_fail("word %u of answer %d is %x, not %x", i, id, message.body[i],
				   words[i]);
	}
	return &message;
}

#define EXPECT_WORDS(id, complex, ...)                                \
	expect(id, complex, (const uint32_t[]){INTEGER, __VA_ARGS__}, \
	       sizeof((const uint32_t[]){INTEGER, __VA_ARGS__}) / sizeof(uint32_t))

TEST(answers_to_open)
{
	uint32_t right = TYPE_INLINE(MACH_MSG_TYPE_PORT_SEND, 32, 1);
	mach_port_t device;

	begin();
	EXPECT_EQ(device_open_request(check_number(0), reply, D_READ, "rd0"), KERN_SUCCESS);
	device = EXPECT_WORDS(OPENED, true, D_SUCCESS, right, ANY)->body[3];
	EXPECT_EQ(port_type(device), MACH_PORT_TYPE_SEND);
	EXPECT_EQ(device_open_request(check_number(0), reply, D_READ, "rd9"), KERN_SUCCESS);
	EXPECT_WORDS(OPENED, false, D_NO_SUCH_DEVICE);
	end(device);
}

TEST(answers_to_write)
{
	static char page[PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
	mach_port_t device = open_device("rd0");

	begin();
	EXPECT_EQ(device_write_request(device, reply, 0, 3, page, 2 * RECORD), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN, false, D_SUCCESS, INTEGER, 2 * RECORD);
	EXPECT_EQ(device_write_request(device, reply, 0, RECORDS - 1, page, RECORD), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN, false, D_SUCCESS, INTEGER, RECORD);
	EXPECT_EQ(device_write_request(device, reply, 0, RECORDS, page, RECORD), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN, false, D_INVALID_RECNUM, INTEGER, 0);
	EXPECT_EQ(device_write_request(device, reply, 0, RECORDS - 1, page, 2 * RECORD),
		  KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN, false, D_INVALID_SIZE, INTEGER, 0);
	EXPECT_EQ(device_write_request(device, reply, 0, 0, page, RECORD + 1), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN, false, D_INVALID_SIZE, INTEGER, 0);
	EXPECT_EQ(device_write_request(device, reply, 0, 0, page, 0), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN, false, D_INVALID_SIZE, INTEGER, 0);
	end(device);
}

TEST(answers_to_write_in_band)
{
	static const io_buf_ptr_inband_t line = "# from replies\n";
	uint32_t size = (uint32_t)strlen(line);
	mach_port_t device = open_device("console");

	begin();
	EXPECT_EQ(device_write_request_inband(device, reply, 0, 0, line, size), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN_INBAND, false, D_SUCCESS, INTEGER, size);
	EXPECT_EQ(device_write_request_inband(device, reply, 0, 0, line, 0), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN_INBAND, false, D_SUCCESS, INTEGER, 0);
	close_device(device);
	device = open_device("time");
	EXPECT_EQ(device_write_request_inband(device, reply, 0, 0, line, size), KERN_SUCCESS);
	EXPECT_WORDS(WRITTEN_INBAND, false, D_INVALID_OPERATION, INTEGER, 0);
	end(device);
}

TEST(answers_to_read)
{
	mach_port_t device = open_device("rd1");
	struct message *answer;

	begin();
	EXPECT_EQ(device_read_request(device, reply, 0, 1, 3 * RECORD), KERN_SUCCESS);
	answer = EXPECT_WORDS(READ, true, D_SUCCESS, FAR, BYTES, 3 * RECORD, ANY);
	EXPECT_EQ(vm_deallocate(mach_task_self(), answer->body[5], 3 * RECORD), KERN_SUCCESS);
	EXPECT_EQ(device_read_request(device, reply, 0, 2 * RECORDS, RECORD), KERN_SUCCESS);
	EXPECT_WORDS(READ, true, D_INVALID_RECNUM, FAR, BYTES, 0, 0);
	EXPECT_EQ(device_read_request(device, reply, 0, 2 * RECORDS - 1, 2 * RECORD), KERN_SUCCESS);
	EXPECT_WORDS(READ, true, D_INVALID_SIZE, FAR, BYTES, 0, 0);
	EXPECT_EQ(device_read_request(device, reply, 0, 0, RECORD - 1), KERN_SUCCESS);
	EXPECT_WORDS(READ, true, D_INVALID_SIZE, FAR, BYTES, 0, 0);
	EXPECT_EQ(device_read_request(device, reply, 0, 0, 0), KERN_SUCCESS);
	EXPECT_WORDS(READ, true, D_INVALID_SIZE, FAR, BYTES, 0, 0);
	end(device);
}

/* With data: a_read_waits_for_the_first_byte in tests/device/console.c. */
TEST(answers_to_read_in_band)
{
	uint32_t none = TYPE_INLINE(MACH_MSG_TYPE_CHAR, 8, 0);
	mach_port_t device = open_device("console");

	begin();
	EXPECT_EQ(device_read_request_inband(device, reply, D_NOWAIT, 0, 0), KERN_SUCCESS);
	EXPECT_WORDS(READ_INBAND, false, D_SUCCESS, none);
	EXPECT_EQ(device_read_request_inband(device, reply, D_NOWAIT, 0, 1), KERN_SUCCESS);
	EXPECT_WORDS(READ_INBAND, false, D_WOULD_BLOCK, none);
	EXPECT_EQ(device_read_request_inband(device, reply, 0, 0, IO_INBAND_MAX + 1), KERN_SUCCESS);
	EXPECT_WORDS(READ_INBAND, false, D_INVALID_SIZE, none);
	close_device(device);
	device = open_device("log");
	EXPECT_EQ(device_read_request_inband(device, reply, 0, 0, 1), KERN_SUCCESS);
	EXPECT_WORDS(READ_INBAND, false, D_INVALID_OPERATION, none);
	end(device);
}

/* ---------------- What devices tell of themselves ---------------- */

/* Exactly two numbers, for any room of two words or more. */
static void expect_status(mach_port_t device, dev_flavor_t flavor, int first, int second)
{
	for (mach_msg_type_number_t room = 2; room <= 4; room++) {
		int status[4] = {-1, -1, -1, -1};
		mach_msg_type_number_t n = room;

		EXPECT_EQ(device_get_status(device, flavor, status, &n), D_SUCCESS);
		EXPECT_EQ(n, 2);
		EXPECT_EQ(status[0], first);
		EXPECT_EQ(status[1], second);
		EXPECT_EQ(status[2], -1);
		EXPECT_EQ(status[3], -1);
	}
}

/* No number is given if there is room for one of two, or if nobody knows what is asked. */
static void expect_no_status(mach_port_t device)
{
	int status[4] = {-1, -1, -1, -1};
	mach_msg_type_number_t n = 1;

	EXPECT_EQ(device_get_status(device, DEV_GET_SIZE, status, &n), D_INVALID_SIZE);
	EXPECT_EQ(device_get_status(device, DEV_GET_RECORDS, status, &n), D_INVALID_SIZE);
	n = 4;
	EXPECT_EQ(device_get_status(device, 2, status, &n), D_INVALID_OPERATION);
	EXPECT_EQ(status[0], -1);
	EXPECT_EQ(device_set_status(device, DEV_GET_SIZE, status, 2), D_INVALID_OPERATION);
}

TEST(sizes)
{
	static const struct {
		const char *name;
		int bytes;
		int records;
		int record;
	} devices[] = {
		{"rd0", RECORDS * RECORD, RECORDS, RECORD},
		{"rd1", 2 * RECORDS * RECORD, 2 * RECORDS, RECORD},
		{"console", 0, 0, 1},
		{"time", 0, 0, 1},
		{"log", 0, 0, 1},
	};

	for (uint32_t n = 0; n < sizeof devices / sizeof devices[0]; n++) {
		mach_port_t device = open_device(devices[n].name);

		expect_status(device, DEV_GET_SIZE, devices[n].bytes, devices[n].record);
		expect_status(device, DEV_GET_RECORDS, devices[n].records, devices[n].record);
		expect_no_status(device);
		close_device(device);
	}
}

TEST(what_is_mapped)
{
	static const struct {
		const char *name;
		vm_prot_t rights;
		vm_offset_t offset;
		vm_size_t size;
		io_return_t result;
	} maps[] = {
		{"time", VM_PROT_READ | VM_PROT_WRITE, 0, PAGE_SIZE, D_READ_ONLY},
		{"time", VM_PROT_WRITE, 0, PAGE_SIZE, D_READ_ONLY},
		{"time", VM_PROT_READ, PAGE_SIZE, PAGE_SIZE, D_INVALID_SIZE},
		{"time", VM_PROT_READ, 0, PAGE_SIZE + 1, D_INVALID_SIZE},
		{"rd0", VM_PROT_READ, 0, PAGE_SIZE, D_INVALID_OPERATION},
		{"console", VM_PROT_READ, 0, PAGE_SIZE, D_INVALID_OPERATION},
	};

	for (uint32_t n = 0; n < sizeof maps / sizeof maps[0]; n++) {
		mach_port_t device = open_device(maps[n].name), object = MACH_PORT_NULL;

		EXPECT_EQ(device_map(device, maps[n].rights, maps[n].offset, maps[n].size, &object,
				     0),
			  maps[n].result);
		EXPECT_EQ(object, MACH_PORT_NULL);
		close_device(device);
	}
}
