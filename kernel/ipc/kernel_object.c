/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel: see kernel_object.h.  Guarded by the kernel lock.
 *
 * A generated server function checks the request's descriptors, converts the ports in it to
 * objects, calls the routine and leaves in the reply its header and its result.  With KERN_SUCCESS
 * the routine has taken what the body carried; with any other result it has taken nothing.
 */
#include "ipc/kernel_object.h"

#include <mach/mig_errors.h>

#include "base/assert.h"
#include "base/string.h"
#include "ipc/ipc_port.h"
#include "ipc/queue.h"
#include "ipc/right.h"
#include "thread/thread.h"

/* Answers in `reply`, with MIG_BAD_ID for an id that the interface has not. */
typedef boolean_t server_function(mach_msg_header_t *request, mach_msg_header_t *reply);

/* Generated: NAME_server of defs/mach/NAME.defs. */
server_function mach_server, mach_host_server, mach_port_server, mach_i386_server, gnumach_server,
	mach4_server, device_server, assay_server;

/* Each interface has the ids of one hundred; the next hundred's are those of its replies. */
#define INTERFACE_SIZE 100u
#define INTERFACES     47u

static server_function *const servers[INTERFACES] = {
	[20] = mach_server,      [26] = mach_host_server, [28] = device_server,
	[32] = mach_port_server, [38] = mach_i386_server, [40] = mach4_server,
	[42] = gnumach_server,   [46] = assay_server,
};

/* Ids without an interface go to one that has them not. */
static server_function *server_of(mach_msg_id_t id)
{
	uint32_t interface = (uint32_t)id / INTERFACE_SIZE;

	if (interface >= INTERFACES || servers[interface] == NULL)
		return mach_port_server;
	return servers[interface];
}

uint32_t kernel_call_room(mach_msg_id_t id)
{
	switch (id) {
	case 2012: /* task_info */
	case 2017: /* thread_get_state */
	case 2019: /* thread_info */
	case 2619: /* host_kernel_version */
	case 2638: /* host_info */
	case 2639: /* processor_info */
	case 2640: /* processor_set_info */
	case 2646: /* host_get_kernel_version */
	case 2811: /* device_get_status */
	case 3804: /* i386_get_ldt */
	case 4212: /* vm_pages_phys */
		return MESSAGE_PAGE;
	case 4002: /* task_get_sampled_pcs */
	case 4005: /* thread_get_sampled_pcs */
		return MESSAGE_BIG;
	default:
		return MESSAGE_SMALL;
	}
}

/* ---------------- Around the stubs ---------------- */

bool ipc_port_check_circularity(struct port *port, struct port *reply_port)
{
	assert(port->state == PORT_MOVING && port->destination == NULL);
	if (port_makes_cycle(port, reply_port))
		return true;
	port->destination = port_reference(reply_port);
	return false;
}

/* Of a string the user need not have sent the end; the stubs hand out 64 bytes whatever came. */
static void end_string(struct message *request)
{
	uint32_t longest = sizeof(mach_msg_header_t) + sizeof(mach_msg_type_t) + 64;
	uint32_t size = request->header.msgh_size;

	assert(request->room >= longest);
	if (size < longest)
		memset((char *)&request->header + size, 0, longest - size);
}

static kern_return_t *result_of(struct message *reply)
{
	return &((mig_reply_header_t *)&reply->header)->RetCode;
}

/* Calls the routine; the request keeps the rights of its header only. */
static void kernel_object_serve(struct message *request, struct message *reply)
{
	server_function *server = server_of(request->header.msgh_id);
	kern_return_t result;

	if (server == gnumach_server)
		end_string(request);
	server(&request->header, &reply->header);
	assert(reply->header.msgh_size <= reply->room);
	result = *result_of(reply);
	if (result != KERN_SUCCESS && result != MIG_NO_REPLY)
		message_destroy_body(request);
}

/* Whether the reply, whose remote port is the request's reply right, can be sent. */
static bool can_reply(struct message *reply)
{
	if (!port_is_valid(message_remote(reply)) || *result_of(reply) == MIG_NO_REPLY)
		return false;
	return (reply->header.msgh_bits & MACH_MSGH_BITS_CIRCULAR) == 0;
}

/* Whether the routine has taken the reply right: a device answers later. */
static bool keeps_reply_right(const struct message *request, struct message *reply)
{
	return *result_of(reply) == MIG_NO_REPLY &&
	       server_of(request->header.msgh_id) == device_server;
}

/* Drops what a reply carries that nobody gets: the rights of its body and the reply right. */
static void drop_reply(struct message *reply)
{
	struct port *port = message_remote(reply);

	message_destroy_body(reply);
	if (port_is_valid(port))
		right_release(port, MACH_MSGH_BITS_REMOTE(reply->header.msgh_bits));
}

bool kernel_call(struct message *request, struct message *reply)
{
	assert(request->magic == MESSAGE_MAGIC && reply->magic == MESSAGE_MAGIC);
	kernel_object_serve(request, reply);
	right_release(message_remote(request), MACH_MSGH_BITS_REMOTE(request->header.msgh_bits));
	if (can_reply(reply))
		return true;
	if (!keeps_reply_right(request, reply))
		drop_reply(reply);
	return false;
}

/* ---------------- The general path ---------------- */

/* On behalf of whom the reply is: the one for whom the reply right was made. */
static uint32_t label_of_reply(const struct message *reply)
{
	const struct port *port = message_remote(reply);

	if (MACH_MSGH_BITS_REMOTE(reply->header.msgh_bits) == MACH_MSG_TYPE_PORT_SEND_ONCE &&
	    port_is_alive(port))
		return port->label;
	return current_thread()->label;
}

/* There is no memory for a reply: the request itself becomes one that says so. */
static void answer_shortage(struct message *request)
{
	static const mach_msg_type_t result_type = {
		.msgt_name = MACH_MSG_TYPE_INTEGER_32,
		.msgt_size = 32,
		.msgt_number = 1,
		.msgt_inline = TRUE,
	};
	mig_reply_header_t *reply = (mig_reply_header_t *)&request->header;
	uint32_t bits = reply->Head.msgh_bits;
	struct port *port = message_local(request);

	message_destroy_body(request);
	right_release(message_remote(request), MACH_MSGH_BITS_REMOTE(bits));
	if (!port_is_valid(port)) {
		message_free(request);
		return;
	}
	message_set_ports(request, port, PORT_NULL);
	reply->Head.msgh_bits = MACH_MSGH_BITS(MACH_MSGH_BITS_LOCAL(bits), 0);
	reply->Head.msgh_size = sizeof *reply;
	reply->Head.msgh_seqno = 0;
	reply->Head.msgh_id = (mach_msg_id_t)((uint32_t)reply->Head.msgh_id + INTERFACE_SIZE);
	reply->RetCodeType = result_type;
	reply->RetCode = KERN_RESOURCE_SHORTAGE;
	request->label = label_of_reply(request);
	message_send_always(request);
}

/*
 * A request that asks for no reply, whose result nobody will see: needs no memory.  What pagers
 * answer when there is none left is such a request.
 */
static void call_without_reply(struct message *request)
{
	struct {
		struct message message;
		uint8_t body[MESSAGE_SMALL - sizeof(mach_msg_header_t)];
	} reply;
	bool answered;

	message_init(&reply.message, MESSAGE_SMALL);
	answered = kernel_call(request, &reply.message);
	assert(!answered);
	message_free(request);
}

void kernel_object_send(struct message *request)
{
	uint32_t room = kernel_call_room(request->header.msgh_id);
	struct message *reply;

	if (!port_is_valid(message_local(request)) && room == MESSAGE_SMALL) {
		call_without_reply(request);
		return;
	}
	reply = message_alloc(room);
	if (reply == NULL) {
		answer_shortage(request);
		return;
	}
	if (kernel_call(request, reply)) {
		reply->label = label_of_reply(reply);
		message_send_always(reply);
	} else {
		message_free(reply);
	}
	message_free(request);
}

void kernel_object_send_before_wait(struct message *request, struct thread **woken)
{
	struct thread *thread = current_thread();
	struct wait_queue *queue;

	thread->hands_over = true;
	kernel_object_send(request);
	thread->hands_over = false;
	queue = thread->owing;
	thread->owing = NULL;
	if (queue != NULL && !list_empty(&queue->waiters))
		*woken = list_first_object(&queue->waiters, struct thread, wait_link);
}
