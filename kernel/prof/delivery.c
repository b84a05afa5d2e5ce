/* SPDX-License-Identifier: MIT */
/*
 * Delivery: a kernel thread that sends buffers to their streams' reply ports.
 *
 * A buffer is due when it is full, when its first sample has become old, and at the end of its
 * stream.  It is sent, its pages moved to the receiver, as soon as the reply port's queue has room;
 * until then it waits, and what finds all buffers waiting is lost and counted.  Nobody waits for
 * the thread, and it waits for nobody: to a full queue it comes back with the next tick, and where
 * memory is short too.
 *
 * Between two messages other threads may run, and any stream may have gone then, so each message
 * begins with a new look at all of them.  Guarded by the kernel lock.
 */
#include "prof/stream_internal.h"

#include <mach/messages.h>

#include "base/lock.h"
#include "base/machine.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"
#include "thread/run_queue.h"
#include "thread/thread.h"
#include "thread/tick.h"
#include "thread/work.h"
#include "vm/map/copy.h"

/* A message of <mach/prof.defs>, as the generated server half expects it. */
struct samples_message {
	mach_msg_header_t header;
	mach_msg_type_long_t type;
	uint32_t words;
};

_Static_assert(sizeof(struct samples_message) == 40, "a message's layout is an interface");

static struct {
	struct thread *thread;
	struct wait_queue idle;
	bool wanted;
	bool soon;  /* With the next work, for somebody who must not wake. */
	bool again; /* Some stream waits for room or memory. */
} delivery = {.idle.waiters = LIST_INITIALIZER(delivery.idle.waiters)};

void delivery_wake(void)
{
	delivery.wanted = true;
	thread_wake_all(&delivery.idle);
}

void delivery_wake_soon(void)
{
	delivery.soon = true;
	machine_sample_work();
}

void delivery_work(void)
{
	if (!delivery.soon)
		return;
	delivery.soon = false;
	delivery_wake();
}

/* ---------------- One message ---------------- */

static bool delivery_has_due(const struct stream *stream)
{
	return !list_empty(&stream->full) ||
	       (stream->current != NULL && (stream->aged || stream->end != 0));
}

/* The first of the stream's buffers that are due, of which there is one: now a full one. */
static struct buffer *delivery_first_due(struct stream *stream)
{
	assert(delivery_has_due(stream));
	if (list_empty(&stream->full))
		stream_close_buffer(stream);
	return list_first_object(&stream->full, struct buffer, link);
}

/* Whether this buffer is the stream's last: no sample comes, and none is in another. */
static bool delivery_is_last(const struct stream *stream, const struct buffer *buffer)
{
	return stream->end != 0 && stream->full.prev == &buffer->link &&
	       (stream->current == NULL || stream->current->samples == 0);
}

static void delivery_set_message(struct message *message, const struct stream *stream,
				 struct copy *copy)
{
	struct samples_message *body = (struct samples_message *)&message->header;

	body->header = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS_COMPLEX | MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND, 0),
		.msgh_size = sizeof *body,
		.msgh_id = ID_SAMPLES,
	};
	body->type = (mach_msg_type_long_t){
		.msgtl_header.msgt_longform = 1,
		.msgtl_name = MACH_MSG_TYPE_INTEGER_32,
		.msgtl_size = 32,
		.msgtl_number = copy->size / sizeof(uint32_t),
	};
	body->words = (uint32_t)copy;
	message->label = stream->label;
	message_set_ports(message, port_add_send(stream->port), PORT_NULL);
}

/* What it takes to send so many words; false, and nothing is taken, if there is no memory. */
static bool delivery_get_envelope(uint32_t words, struct message **message, struct copy **copy)
{
	*message = message_alloc(sizeof(struct samples_message));
	if (*message == NULL)
		return false;
	*copy = copy_for_pages(words * sizeof(uint32_t));
	if (*copy != NULL)
		return true;
	message_free(*message);
	return false;
}

/* After a message: it has its buffers again, and the other streams come before it. */
static void delivery_make_ready(struct stream *stream)
{
	stream->starved = !stream_supply(stream);
	list_remove(&stream->link);
	list_add_last(&all_streams, &stream->link);
}

/* Sends what is due first, and with the last one ends the stream; false if there is no memory. */
static bool delivery_send(struct stream *stream)
{
	struct buffer *buffer = delivery_first_due(stream);
	bool last = delivery_is_last(stream, buffer);
	struct message *message;
	struct copy *copy;

	if (!delivery_get_envelope(buffer->words + trailer_words(stream, last), &message, &copy))
		return false;
	stream->delivered += buffer->samples;
	stream->buffered -= buffer->samples;
	stream->waits.delivered += buffer->waited;
	stream->waits.buffered -= buffer->waited;
	record_trailer(stream, buffer, last);
	list_remove(&buffer->link);
	list_add_last(&stream->empty, &buffer->link);
	buffer_move_to(buffer, copy);
	delivery_set_message(message, stream, copy);
	if (last)
		stream_destroy(stream);
	else
		delivery_make_ready(stream);
	message_send_always(message);
	return true;
}

/* ---------------- One stream ---------------- */

static bool delivery_has_room(const struct port *port)
{
	return port->n_messages < port->limit;
}

/* Whether a message was sent.  The stream may have gone then. */
static bool delivery_serve_one(struct stream *stream)
{
	if (stream->has_ring)
		return false;
	if (stream->starved)
		stream->starved = !stream_supply(stream);
	if (!delivery_has_due(stream))
		return false;
	if (delivery_has_room(stream->port) && delivery_send(stream))
		return true;
	delivery.again = true;
	return false;
}

void delivery_serve(struct port *port)
{
	struct stream *stream;

	assert(kernel_locked());
	while ((stream = port->stream) != NULL && delivery_serve_one(stream))
		continue;
	if (stream != NULL && (delivery_has_due(stream) || stream->starved))
		delivery_wake();
}

/* ---------------- The thread ---------------- */

/* Sends one message, if one can be sent. */
static bool delivery_serve_first(void)
{
	delivery.again = false;
	list_for_each_object (struct stream, stream, &all_streams, link) {
		if (delivery_serve_one(stream))
			return true;
		delivery.again |= stream->starved;
	}
	return false;
}

static void delivery_thread(void)
{
	for (;;) {
		delivery.wanted = false;
		while (delivery_serve_first())
			kernel_rest();
		if (!delivery.wanted)
			thread_wait(&delivery.idle,
				    delivery.again ? tick_after_ms(0) : WAIT_FOREVER,
				    WAIT_UNINTERRUPTIBLE);
	}
}

void delivery_start(void)
{
	assert(kernel_locked() && delivery.thread == NULL);
	delivery.thread = thread_create_kernel(delivery_thread, PRIORITY_SYSTEM);
	if (delivery.thread == NULL)
		panic("no memory for the thread that sends samples");
}

uint32_t delivery_timers(void)
{
	return timer_is_set(&delivery.thread->timeout) ? 1 : 0;
}
