/* SPDX-License-Identifier: MIT */
/*
 * The second serial port as a device, by its loop mode; and the device of the log.
 *
 * machine: cpus=1 append="log=vga" arguments="${device-port} free=1"
 * machine: cpus=2 seed=3 append="log=vga" arguments="${device-port} free=1"
 * machine: cpus=1 arguments="${device-port}"
 */
#include "check.h"
#include "ipc.h"
#include "loop.h"

static mach_port_t device;

/* Whether the kernel's log leaves the port alone. */
static bool is_free(void)
{
	return check_parameter("free", 0) != 0;
}

static void begin(void)
{
	EXPECT_EQ(device_open(check_number(0), D_READ | D_WRITE, "com1", &device), D_SUCCESS);
}

static void end(void)
{
	EXPECT_EQ(device_close(device), D_SUCCESS);
	port_drop_send(device);
}

static io_return_t read_now(mach_port_t from, char *bytes, uint32_t *n)
{
	*n = IO_INBAND_MAX;
	return device_read_inband(from, D_NOWAIT, 0, IO_INBAND_MAX, bytes, n);
}

/* What comes is told after a pause of the line's: so a read may wait, but brings all of it. */
static void expect_input(mach_port_t from, const char *text, uint32_t size)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n = IO_INBAND_MAX;

	EXPECT_EQ(device_read_inband(from, 0, 0, IO_INBAND_MAX, bytes, &n), D_SUCCESS);
	EXPECT_EQ(n, size);
	EXPECT(memcmp(bytes, text, size) == 0);
}

TEST(the_log_has_it)
{
	if (is_free())
		SKIP("the log is elsewhere");
	EXPECT_EQ(device_open(check_number(0), D_READ, "com1", &device), D_NO_SUCH_DEVICE);
}

TEST(input)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n;

	if (!is_free())
		SKIP("the log is there");
	loop_use_ports();
	begin();
	EXPECT_EQ(read_now(device, bytes, &n), D_WOULD_BLOCK);
	loop_type(LOOP_COM1, "hello");
	expect_input(device, "hello", 5);
	end();
}

/* What is written comes back in loop mode: it was all sent, and nothing was added. */
TEST(output)
{
	static const io_buf_ptr_inband_t line = "a\r\nb\n";
	int written = 0;

	if (!is_free())
		SKIP("the log is there");
	loop_use_ports();
	begin();
	loop_begin(LOOP_COM1);
	EXPECT_EQ(device_write_inband(device, 0, 0, line, 5, &written), D_SUCCESS);
	EXPECT_EQ(written, 5);
	loop_end(LOOP_COM1);
	expect_input(device, line, 5);
	end();
}

TEST(two_lines)
{
	mach_port_t console;

	if (!is_free())
		SKIP("the log is there");
	loop_use_ports();
	begin();
	EXPECT_EQ(device_open(check_number(0), D_READ, "console", &console), D_SUCCESS);
	loop_type(LOOP_COM0, "zero");
	loop_type(LOOP_COM1, "one");
	expect_input(device, "one", 3);
	expect_input(console, "zero", 4);
	EXPECT_EQ(device_close(console), D_SUCCESS);
	port_drop_send(console);
	end();
}

/* ---------------- A reader that is interrupted ---------------- */

static io_buf_ptr_inband_t line;
static uint32_t line_length;

/* The library's mach_msg() goes on with an interrupted receive. */
static void read_line(void *unused)
{
	(void)unused;
	line_length = IO_INBAND_MAX;
	EXPECT_EQ(device_read_inband(device, 0, 0, IO_INBAND_MAX, line, &line_length), D_SUCCESS);
}

TEST(an_aborted_reader_loses_nothing)
{
	if (!is_free())
		SKIP("the log is there");
	loop_use_ports();
	begin();
	for (uint32_t n = 0; n < 10; n++) {
		mach_port_t thread;

		worker_start(0, read_line, NULL);
		thread = worker_port(0);
		sleep_ms(n);
		EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
		EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
		if (n % 2 == 0)
			loop_type(LOOP_COM1, "x");
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
		if (n % 2 != 0)
			loop_type(LOOP_COM1, "x");
		worker_join(0);
		EXPECT(line_length == 1 && line[0] == 'x');
	}
	end();
}

/* ---------------- The log ---------------- */

TEST(the_log_is_written_to)
{
	static const io_buf_ptr_inband_t text = "a program says so\n";
	io_buf_ptr_inband_t bytes;
	mach_port_t log;
	int written = 0;
	uint32_t n;

	REQUIRE(device_open(check_number(0), D_WRITE, "log", &log) == D_SUCCESS);
	EXPECT_EQ(device_write_inband(log, 0, 0, text, strlen(text), &written), D_SUCCESS);
	EXPECT_EQ(written, strlen(text));
	EXPECT_EQ(read_now(log, bytes, &n), D_INVALID_OPERATION);
	EXPECT_EQ(device_close(log), D_SUCCESS);
	port_drop_send(log);
}
