/* SPDX-License-Identifier: MIT */
/*
 * Requests for data, from the call to the answer: see device.h.
 *
 * The answers are the replies of <mach/device.defs>, with all their words whatever the result, so
 * that whoever sent the request without waiting finds the message of <mach/device_reply.defs>.
 * Guarded by the kernel lock.
 */
#include <stddef.h>

#include <mach/message.h>
#include <mach/messages.h>
#include <mach/mig_errors.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/string.h"
#include "base/zone.h"
#include "device/device.h"
#include "i386/patch/label_site.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"
#include "ipc/right.h"
#include "thread/thread.h"
#include "vm/map/copy.h"

/* Ids of the replies: of writes, then of reads; each followed by that of its in-band form. */

struct write_answer {
	mig_reply_header_t head;
	mach_msg_type_t type;
	int written;
};

struct read_answer {
	mig_reply_header_t head;
	mach_msg_type_long_t type;
	uint32_t data; /* The copy; 0 for no data. */
};

struct inband_answer {
	mig_reply_header_t head;
	mach_msg_type_t type;
	char data[IO_INBAND_MAX];
};

_Static_assert(sizeof(struct write_answer) == 40 && sizeof(struct read_answer) == 48 &&
		       offsetof(struct inband_answer, data) == 36,
	       "a message's layout is an interface");

static const mach_msg_type_t integer_type = DESCRIBE_UNSIGNED(1);

static struct zone request_zone;

void device_request_module_init(void)
{
	zone_init(&request_zone, "device requests", sizeof(struct device_request), 4);
}

/* ---------------- The beginning ---------------- */

/* On behalf of whom: as with every message to the same right. */
static uint32_t request_label_of(const struct request_origin *origin)
{
	if (origin->reply_kind == MACH_MSG_TYPE_PORT_SEND_ONCE && port_is_valid(origin->reply) &&
	    port_is_alive(origin->reply))
		return origin->reply->label;
	return current_thread()->label;
}

struct device_request *request_create(const struct request_origin *origin)
{
	struct message *answer = message_alloc(sizeof(struct inband_answer));
	struct device_request *request;

	if (answer == NULL)
		return NULL;
	request = zone_alloc(&request_zone);
	if (request == NULL) {
		message_free(answer);
		return NULL;
	}
	*request = (struct device_request){
		.device = origin->device,
		.reply = origin->reply,
		.reply_kind = origin->reply_kind,
		.label = request_label_of(origin),
		.answer = answer,
		.write = origin->write,
		.in_band = origin->in_band,
		.mode = origin->mode,
		.record = origin->record,
		.size = origin->size,
	};
	list_init(&request->link);
	return request;
}

static io_return_t request_try_start(struct device_request *request)
{
	struct device *device = request->device;
	const struct driver *driver = device->driver;
	io_return_t (*operation)(struct device *, struct device_request *) =
		request->write ? driver->write : driver->read;

	if (operation == NULL)
		return D_INVALID_OPERATION;
	if (device->opens == 0)
		return D_DEVICE_DOWN;
	if (request->size > (request->in_band ? IO_INBAND_MAX : DEVICE_SIZE_MAX))
		return D_INVALID_SIZE;
	return operation(device, request);
}

void request_start(struct device_request *request)
{
	io_return_t result = request_try_start(request);

	if (result != D_SUCCESS)
		request_done(request, result);
}

bool request_is_orphan(const struct device_request *request)
{
	return !port_is_valid(request->reply) || !port_is_alive(request->reply);
}

/* ---------------- The answer ---------------- */

static uint32_t request_answer_write(struct device_request *request)
{
	struct write_answer *answer = (struct write_answer *)&request->answer->header;

	answer->type = integer_type;
	answer->written = (int)request->done;
	return sizeof *answer;
}

/* The data goes over to the message. */
static uint32_t request_answer_read(struct device_request *request)
{
	struct read_answer *answer = (struct read_answer *)&request->answer->header;

	answer->type = (mach_msg_type_long_t){
		.msgtl_header.msgt_longform = 1,
		.msgtl_header.msgt_deallocate = 1,
		.msgtl_name = MACH_MSG_TYPE_INTEGER_8,
		.msgtl_size = 8,
		.msgtl_number = request->done,
	};
	answer->data = (uint32_t)request->data;
	request->data = NULL;
	return sizeof *answer;
}

/* A message is whole words: those of the last that are no data are cleared. */
static uint32_t request_answer_read_inband(struct device_request *request)
{
	struct inband_answer *answer = (struct inband_answer *)&request->answer->header;
	uint32_t padded = (request->done + 3) & ~3u;

	assert(request->done <= IO_INBAND_MAX);
	answer->type = (mach_msg_type_t){
		.msgt_name = MACH_MSG_TYPE_CHAR,
		.msgt_size = 8,
		.msgt_number = request->done,
		.msgt_inline = 1,
	};
	memcpy(answer->data, request->bytes, request->done);
	memset(answer->data + request->done, 0, padded - request->done);
	return offsetof(struct inband_answer, data) + padded;
}

static uint32_t request_answer_body(struct device_request *request)
{
	if (request->write)
		return request_answer_write(request);
	return request->in_band ? request_answer_read_inband(request)
				: request_answer_read(request);
}

/* Sends the answer, which takes the reply right. */
static void request_send_answer(struct device_request *request, io_return_t result)
{
	struct message *message = request->answer;
	mig_reply_header_t *head = (mig_reply_header_t *)&message->header;
	bool complex = !request->write && !request->in_band;
	uint32_t id =
		(request->write ? ID_DEVICE_WRITE_REPLY : ID_DEVICE_READ_REPLY) + request->in_band;

	head->Head = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS(request->reply_kind, 0) |
			     (complex ? MACH_MSGH_BITS_COMPLEX : 0),
		.msgh_size = request_answer_body(request),
		.msgh_id = (mach_msg_id_t)id,
	};
	head->RetCodeType = integer_type;
	head->RetCode = result;
	message_set_ports(message, request->reply, PORT_NULL);
	message->label = request->label;
	message_send_always(message);
}

/* What a request that failed has brought or read is nobody's. */
static void request_drop_data(struct device_request *request)
{
	if (request->data != NULL)
		copy_destroy(request->data);
	request->data = NULL;
}

/* The completion, as seen by a profile, is work for whoever wanted it. */
void request_done(struct device_request *request, io_return_t result)
{
	struct thread *thread = current_thread();
	uint32_t label = thread->label;

	assert(kernel_locked());
	assert(result != D_IO_QUEUED && request->done <= request->size);
	machine_label_set(thread, request->label);
	if (result != D_SUCCESS)
		request->done = 0;
	if (result != D_SUCCESS || request->write)
		request_drop_data(request);
	assert(request->data == NULL || request->data->size == request->done);
	if (port_is_valid(request->reply))
		request_send_answer(request, result);
	else
		message_free(request->answer);
	request_drop_data(request);
	zone_free(&request_zone, request);
	machine_label_set(thread, label);
}
