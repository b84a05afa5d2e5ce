/* SPDX-License-Identifier: MIT */
/* Writing to devices of the kernel's: see device.h.  Guarded by the server's lock. */
#include <mach/device.h>

#include "file/device.h"
#include "signal/signal.h"

/* What one writer writes before others have their turn and signals are looked for. */
#define PIECE 4096u

int device_stream_open(struct device_stream *stream)
{
	mach_port_t port = MACH_PORT_NULL;

	assert(ux_lock_held());
	if (stream->port != MACH_PORT_NULL)
		return 0;
	if (device_open(ux_boot.device_master, D_READ | D_WRITE, stream->name, &port) != D_SUCCESS)
		return ENXIO;
	stream->port = port;
	return 0;
}

/* Writes bytes that a message carries.  Without the lock: the device may be slow. */
static int stream_write_piece(mach_port_t port, const char *bytes, size_t size, size_t *done)
{
	*done = 0;
	while (*done < size) {
		size_t part = size - *done < IO_INBAND_MAX ? size - *done : IO_INBAND_MAX;
		int written = 0;

		if (device_write_inband(port, 0, 0, bytes + *done, part, &written) != D_SUCCESS ||
		    written <= 0)
			return EIO;
		*done += (size_t)written;
	}
	return 0;
}

/* Waits for the turn to write a piece; it is not taken if a signal came while others wrote. */
static int device_stream_take_turn(struct device_stream *stream, struct thread *caller,
				   const char *bytes, size_t size, size_t *done)
{
	int error;

	*done = 0;
	while (stream->is_busy) {
		error = ux_sleep(stream, caller);
		if (error != 0)
			return error;
	}
	stream->is_busy = true;
	ux_unlock();
	error = stream_write_piece(stream->port, bytes, size, done);
	ux_lock();
	stream->is_busy = false;
	ux_wakeup(stream);
	return error;
}

int device_stream_write(struct device_stream *stream, struct thread *caller, const void *buffer,
			size_t size, size_t *done)
{
	const char *bytes = buffer;

	assert(ux_lock_held() && stream->port != MACH_PORT_NULL);
	while (*done < size) {
		size_t part = size - *done < PIECE ? size - *done : PIECE;
		size_t written;
		int error = device_stream_take_turn(stream, caller, bytes + *done, part, &written);

		*done += written;
		if (error != 0)
			return *done > 0 ? 0 : error;
		if (caller != NULL && (caller->is_ending || signal_is_due(caller)))
			break;
	}
	return 0;
}
