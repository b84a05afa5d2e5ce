/* SPDX-License-Identifier: MIT */
/* Devices of the kernel's that take bytes: what the console and the log have in common. */
#ifndef UX_DEVICE_H
#define UX_DEVICE_H

#include "core/ux.h"
#include "process/thread.h"

struct device_stream {
	const char *name;
	mach_port_t port; /* Null: not opened yet. */
	bool is_busy;     /* Somebody writes, so that others' pieces do not come in between. */
};

/* ENXIO if the kernel has no such device. */
int device_stream_open(struct device_stream *stream);

/* Waits interruptibly if `caller` is not null.  Unlocks. */
int device_stream_write(struct device_stream *stream, struct thread *caller, const void *buffer,
			size_t size, size_t *done);

#endif
