/* SPDX-License-Identifier: MIT */
/*
 * The console: output, and input that the serial line gives back in its loop mode, as nobody types.
 *
 * machine: cpus=1 arguments="${device-port}"
 * machine: cpus=2 seed=3 arguments="${device-port}"
 */
#include "check.h"
#include "ipc.h"
#include "loop.h"

#define READ_REPLY_INBAND 2905

static mach_port_t device;

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static void begin(void)
{
	EXPECT_EQ(device_open(check_number(0), D_READ | D_WRITE, "console", &device), D_SUCCESS);
}

static void end(void)
{
	EXPECT_EQ(device_close(device), D_SUCCESS);
	port_drop_send(device);
}

/* Reads in band, with room for everything. */
static io_return_t read_bytes(dev_mode_t mode, int wanted, char *bytes, uint32_t *n)
{
	*n = IO_INBAND_MAX;
	return device_read_inband(device, mode, 0, wanted, bytes, n);
}

/* ---------------- Output ---------------- */

TEST(writing_in_band)
{
	static const io_buf_ptr_inband_t line = "# in the message itself\n";
	int size = (int)strlen(line);
	int written = 0;

	begin();
	EXPECT_EQ(device_write_inband(device, 0, 0, line, size, &written), D_SUCCESS);
	EXPECT_EQ(written, size);
	EXPECT_EQ(device_write_inband(device, 0, 0, line, 0, &written), D_SUCCESS);
	EXPECT_EQ(written, 0);
	end();
}

/* From the middle of one page into the next: as much as the first has. */
TEST(writing_out_of_line)
{
	static char pages[2 * PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
	int written = 0;

	for (unsigned n = 0; n < 160; n++)
		pages[PAGE_SIZE - 100 + n] = n == 0 ? '#' : n == 99 ? '\n' : '.';
	begin();
	EXPECT_EQ(device_write(device, 0, 0, pages + PAGE_SIZE - 100, 160, &written), D_SUCCESS);
	EXPECT_EQ(written, 100);
	end();
}

/* ---------------- Input ---------------- */

TEST(nothing_to_read)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n;

	begin();
	EXPECT_EQ(read_bytes(D_NOWAIT, 10, bytes, &n), D_WOULD_BLOCK);
	EXPECT_EQ(read_bytes(0, 0, bytes, &n), D_SUCCESS);
	EXPECT_EQ(n, 0);
	end();
}

TEST(reading_what_has_come)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n = 0;

	loop_use_ports();
	begin();
	loop_type(LOOP_COM0, "hello");
	EXPECT_EQ(read_bytes(0, 3, bytes, &n), D_SUCCESS);
	EXPECT_EQ(n, 3);
	EXPECT(memcmp(bytes, "hel", 3) == 0);
	EXPECT_EQ(read_bytes(D_NOWAIT, IO_INBAND_MAX, bytes, &n), D_SUCCESS);
	EXPECT_EQ(n, 2);
	EXPECT(memcmp(bytes, "lo", 2) == 0);
	EXPECT_EQ(read_bytes(D_NOWAIT, 1, bytes, &n), D_WOULD_BLOCK);
	end();
}

TEST(reading_out_of_line)
{
	io_buf_ptr_t data;
	uint32_t n = 0;

	loop_use_ports();
	begin();
	loop_type(LOOP_COM0, "far");
	if (EXPECT_EQ(device_read(device, 0, 0, 10000, &data, &n), D_SUCCESS)) {
		EXPECT_EQ(n, 3);
		EXPECT(memcmp(data, "far", 3) == 0);
		EXPECT_EQ(vm_deallocate(self(), (vm_address_t)data, n), KERN_SUCCESS);
	}
	end();
}

/* What the line brings while nobody has the console open is lost. */
TEST(input_ends_with_the_last_close)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n;

	loop_use_ports();
	begin();
	loop_type(LOOP_COM0, "old");
	end();
	begin();
	EXPECT_EQ(read_bytes(D_NOWAIT, 10, bytes, &n), D_WOULD_BLOCK);
	end();
}

/* ---------------- Waiting for input ---------------- */

static void request(mach_port_t reply, int wanted)
{
	EXPECT_EQ(device_read_request_inband(device, reply, 0, 0, wanted), KERN_SUCCESS);
}

/* Expects the answer to such a request: `result`, and `text` if that is D_SUCCESS. */
static void answer(mach_port_t reply, io_return_t result, const char *text)
{
	struct message message;

	if (!EXPECT_EQ(message_get(&message, reply, LONG_WAIT), MACH_MSG_SUCCESS))
		return;
	EXPECT_EQ(message.head.msgh_id, READ_REPLY_INBAND);
	EXPECT_EQ(message.body[1], result);
	EXPECT_EQ(message.body[2] >> 16 & 0xfff, strlen(text));
	EXPECT_EQ(message.head.msgh_size, 36 + ((strlen(text) + 3) & ~3u));
	EXPECT(memcmp(&message.body[3], text, strlen(text)) == 0);
}

TEST(a_read_waits_for_the_first_byte)
{
	mach_port_t reply = port_new();

	loop_use_ports();
	begin();
	request(reply, 10);
	message_none(reply);
	loop_type(LOOP_COM0, "x");
	answer(reply, D_SUCCESS, "x");
	message_none(reply);
	port_destroy(reply);
	end();
}

static void read_some(void *unused)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n = 0;

	(void)unused;
	EXPECT_EQ(read_bytes(0, 4, bytes, &n), D_SUCCESS);
	EXPECT(n > 0 && n <= 4);
}

TEST(a_thread_waits)
{
	loop_use_ports();
	begin();
	worker_start(0, read_some, NULL);
	sleep_ms(SHORT_WAIT);
	loop_type(LOOP_COM0, "abcd");
	worker_join(0);
	end();
}

/* First come, first served. */
TEST(reads_in_their_order)
{
	mach_port_t first = port_new(), second = port_new();

	loop_use_ports();
	begin();
	request(first, 1);
	request(second, 1);
	loop_type(LOOP_COM0, "1");
	answer(first, D_SUCCESS, "1");
	loop_type(LOOP_COM0, "2");
	answer(second, D_SUCCESS, "2");
	port_destroy(first);
	port_destroy(second);
	end();
}

/* What comes is for one who is still there. */
TEST(readers_that_are_gone)
{
	mach_port_t gone = port_new(), reply = port_new();

	loop_use_ports();
	begin();
	request(gone, 1);
	request(reply, 1);
	request(gone, 1);
	port_destroy(gone);
	loop_type(LOOP_COM0, "y");
	answer(reply, D_SUCCESS, "y");
	EXPECT_EQ(device_read_request_inband(device, MACH_PORT_NULL, 0, 0, 1), KERN_SUCCESS);
	port_destroy(reply);
	end();
}

TEST(closing_answers_those_who_wait)
{
	mach_port_t reply = port_new();

	begin();
	for (unsigned n = 0; n < 3; n++)
		request(reply, 1);
	EXPECT_EQ(device_close(device), D_SUCCESS);
	for (unsigned n = 0; n < 3; n++)
		answer(reply, D_DEVICE_DOWN, "");
	port_drop_send(device);
	port_destroy(reply);
}

/* More than the kernel keeps is lost, and what it keeps are the first. */
TEST(more_than_there_is_room_for)
{
	static char line[129];
	io_buf_ptr_inband_t bytes;
	uint32_t n = 0;
	uint32_t all = 0;

	loop_use_ports();
	memset(line, 'z', sizeof line - 1);
	begin();
	for (unsigned turn = 0; turn < 12; turn++)
		loop_type(LOOP_COM0, line);
	while (read_bytes(D_NOWAIT, IO_INBAND_MAX, bytes, &n) == D_SUCCESS)
		all += n;
	EXPECT_LE(all, 1024);
	EXPECT_LT(0, all);
	loop_type(LOOP_COM0, "!");
	EXPECT_EQ(read_bytes(0, IO_INBAND_MAX, bytes, &n), D_SUCCESS);
	EXPECT(n == 1 && bytes[0] == '!');
	end();
}
