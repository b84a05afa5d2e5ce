/* SPDX-License-Identifier: MIT */
/*
 * Devices that are lines: bytes go out, and bytes come in of their own accord.
 *
 * Bytes are passed on as they are.  A read waits for the first byte and takes what is there.  What
 * comes while nobody has the device open is lost.
 */
#ifndef DEVICE_LINE_H
#define DEVICE_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/machine.h"
#include "device/device.h"
#include "device/interrupt.h"

#define LINE_RING_SIZE 1024u /* A power of two. */

/*
 * The answer to a write: `put` prints the bytes, and others may have the kernel lock now and then.
 * Of out-of-line data it is what the first page has: the caller is told how much, and comes again.
 */
io_return_t line_print(struct device_request *request,
		       void (*put)(const char *bytes, size_t length));

/*
 * The ring has one writer, the interrupt handler, on the one CPU that the interrupt goes to;
 * everything else is guarded by the kernel lock.
 */
struct line {
	struct device device;
	struct device_interrupt input;
	enum machine_console console; /* Where bytes come from. */
	unsigned number;              /* Of the interrupt. */
	void (*put)(const char *bytes, size_t length);
	struct list readers; /* Requests that wait for input. */
	uint32_t come;       /* Bytes ever put into the ring, by the interrupt handler, */
	uint32_t taken;      /* and taken out.  Each is read by the other side: atomically. */
	char ring[LINE_RING_SIZE];
};

/* Makes a device of the line, whose input is from `console` and whose output is `put`: at boot. */
void line_add(struct line *line, const char *name, enum machine_console console,
	      void (*put)(const char *bytes, size_t length));

#endif
