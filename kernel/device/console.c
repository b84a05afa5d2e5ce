/* SPDX-License-Identifier: MIT */
/*
 * The devices "console", "com1" and "log": see console.h.
 *
 * Owns their lines; device/line.c does all that they have in common.
 */
#include "device/console.h"

#include "base/log.h"
#include "base/machine.h"
#include "device/line.h"

static struct line console, com1;

/* Nobody else prints there: the kernel lock, which the caller has, is lock enough. */
static void console_com1_put(const char *bytes, size_t length)
{
	for (size_t n = 0; n < length; n++)
		machine_console_put(MACHINE_CONSOLE_COM1, bytes[n]);
}

static io_return_t console_log_device_write(struct device *device, struct device_request *request)
{
	(void)device;
	return line_print(request, log_write);
}

static const struct driver log_driver = {.write = console_log_device_write};
static struct device log_device = {.name = "log", .driver = &log_driver, .record_size = 1};

void console_init(void)
{
	machine_console_prepare(MACHINE_CONSOLE_COM0);
	line_add(&console, "console", MACHINE_CONSOLE_COM0, console_write);
	if (!log_uses(MACHINE_CONSOLE_COM1) && machine_console_prepare(MACHINE_CONSOLE_COM1))
		line_add(&com1, "com1", MACHINE_CONSOLE_COM1, console_com1_put);
	device_add(&log_device);
}
