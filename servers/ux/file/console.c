/* SPDX-License-Identifier: MIT */
/*
 * The console: the kernel's device of that name, made a terminal.
 *
 * A thread reads characters from the device and makes lines of them (console_line.c), which it
 * echoes.  Programs read the lines; ^C and ^\ go to the process group that read last.  All here is
 * guarded by the server's lock.
 *
 * All that is done for a program that waits for input, the only one that does.  What comes while
 * nobody waits, or several do, is done for an event, and was for whoever reads next.
 */
#include <mach/device.h>

#include "file/console_line.h"
#include "file/descriptors.h"
#include "file/device.h"
#include "signal/signal.h"

#define ECHO_ROOM 1024u

static struct device_stream stream = {.name = "console"};
static struct console_line line; /* Readers sleep here. */
static pid_t pgrp;               /* Whom signals are for; 0: nobody has read yet. */
static unsigned waiting;         /* Who wait for input. */

static char echoed[ECHO_ROOM];
static size_t echo_size;

/* ---------------- Input ---------------- */

/* More than a screen takes for one message's characters is not shown: ^U of a very long line. */
static void console_echo(const char *bytes, size_t size)
{
	if (size > ECHO_ROOM - echo_size)
		return;
	memcpy(echoed + echo_size, bytes, size);
	echo_size += size;
}

static void console_show_echo(void)
{
	size_t done = 0;

	device_stream_write(&stream, NULL, echoed, echo_size, &done);
	echo_size = 0;
}

static void console_take_input(const char *bytes, size_t size)
{
	static const int numbers[] = {[CONSOLE_INTERRUPT] = SIGINT, [CONSOLE_QUIT] = SIGQUIT};

	for (size_t n = 0; n < size; n++) {
		enum console_signal signal = console_line_type(&line, bytes[n], console_echo);

		if (signal != CONSOLE_NO_SIGNAL && pgrp != 0)
			signal_group(pgrp, numbers[signal]);
	}
	console_show_echo();
	if (console_line_is_ready(&line))
		ux_wakeup(&line);
}

static void console_read_device(void *unused)
{
	char bytes[IO_INBAND_MAX];
	mach_msg_type_number_t size = sizeof bytes;

	(void)unused;
	for (;;) {
		assay_thread_serve(stream.port);
		if (device_read_inband(stream.port, 0, 0, sizeof bytes, bytes, &size) != D_SUCCESS)
			break;
		ux_lock();
		console_take_input(bytes, size);
		ux_unlock();
		size = sizeof bytes;
	}
	assay_thread_serve(mach_task_self_cached());
	ux_log("the console has no input any more");
	ux_lock();
	for (;;)
		ux_sleep(&stream, NULL);
}

bool console_start(void)
{
	int error;

	ux_lock();
	error = device_stream_open(&stream);
	ux_unlock();
	return error == 0 && ux_start_thread(console_read_device, NULL);
}

/* ---------------- The file ---------------- */

/* As ux_sleep() for the next line. */
static int console_await_line(struct thread *caller)
{
	int error;

	assay_event_pass(stream.port, ++waiting == 1);
	error = ux_sleep(&line, caller);
	waiting--;
	assay_event_pass(stream.port, FALSE);
	return error;
}

static int console_read(struct open_file *file, struct thread *caller, void *buffer, size_t size,
			size_t *done)
{
	pgrp = caller->process->pgrp;
	while (!console_line_is_ready(&line)) {
		int error;

		if ((file->flags & O_NONBLOCK) != 0)
			return EAGAIN;
		error = console_await_line(caller);
		if (error != 0)
			return error;
	}
	assay_event_attribute(stream.port);
	*done = console_line_read(&line, buffer, size);
	return 0;
}

static int console_write(struct open_file *file, struct thread *caller, const void *buffer,
			 size_t size, size_t *done)
{
	(void)file;
	return device_stream_write(&stream, caller, buffer, size, done);
}

static void console_stat(struct open_file *file, struct stat *result)
{
	vnode_stat(file->vnode, result);
}

const struct file_operations console_file = {
	.read = console_read,
	.write = console_write,
	.stat = console_stat,
	.read_max = LINE_ROOM,
};
