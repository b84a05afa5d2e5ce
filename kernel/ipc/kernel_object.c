/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel: see kernel_object.h.  Guarded by the kernel lock.
 *
 * A generated server function checks the request's descriptors, converts the ports in it to
 * objects, calls the routine and leaves in the reply its header and its result.  With KERN_SUCCESS
 * the routine has taken what the body carried; with any other result it has taken nothing.
 */
#include "ipc/kernel_object.h"

#include <mach/messages.h>

#include "base/assert.h"
#include "base/string.h"
#include "ipc/ipc_port.h"
#include "ipc/queue.h"
#include "ipc/right.h"
#include "thread/thread.h"

#include "mach/assay_server.h"
#include "mach/device_server.h"
#include "mach/gnumach_server.h"
#include "mach/mach4_server.h"
#include "mach/mach_host_server.h"
#include "mach/mach_i386_server.h"
#include "mach/mach_port_server.h"
#include "mach/mach_server.h"

/* Each interface has the ids of one hundred; the next hundred's are those of its replies. */
#define INTERFACE_SIZE 100u

static const mach_msg_type_t result_type = DESCRIBE_UNSIGNED(1);

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
static void kernel_call_end_string(struct message *request)
{
	uint32_t longest = sizeof(mach_msg_header_t) + sizeof(mach_msg_type_t) + 64;
	uint32_t size = request->header.msgh_size;

	assert(request->room >= longest);
	if (size < longest)
		memset((char *)&request->header + size, 0, longest - size);
}

/* The stub for the request, which is ready for it then; NULL if no interface has its id. */
static inline mig_routine_t kernel_call_routine_of(struct message *request)
{
	const mach_msg_header_t *header = &request->header;

	/* clang-format off */
	switch ((uint32_t)header->msgh_id / INTERFACE_SIZE) {
	case 20: return mach_server_routine(header);
	case 26: return mach_host_server_routine(header);
	case 28: return device_server_routine(header);
	case 32: return mach_port_server_routine(header);
	case 38: return mach_i386_server_routine(header);
	case 40: return mach4_server_routine(header);
	case 42: kernel_call_end_string(request); return gnumach_server_routine(header);
	case 46: return assay_server_routine(header);
	default: return NULL;
	}
	/* clang-format on */
}

/* Writes a reply that says no more than `result`, but for where it goes. */
static inline void kernel_call_reply_init(mig_reply_header_t *reply,
					  const mach_msg_header_t *request, kern_return_t result)
{
	reply->Head.msgh_bits = 0;
	reply->Head.msgh_size = sizeof *reply;
	reply->Head.msgh_id = (mach_msg_id_t)((uint32_t)request->msgh_id + INTERFACE_SIZE);
	reply->RetCodeType = result_type;
	reply->RetCode = result;
}

void kernel_call(struct message *request, struct message *reply)
{
	mig_reply_header_t *answer = (mig_reply_header_t *)&reply->header;
	mig_routine_t routine = kernel_call_routine_of(request);

	kernel_call_reply_init(answer, &request->header, MIG_BAD_ID);
	if (routine != NULL)
		routine(&request->header, &answer->Head);
	assert(answer->Head.msgh_size <= reply->room);
	if (answer->RetCode != KERN_SUCCESS && answer->RetCode != MIG_NO_REPLY)
		message_destroy_body(request);
}

/*
 * A device answers later: its routine has taken the reply right, if it says that there is no reply.
 */
static bool kernel_call_keeps_reply_right(const mach_msg_header_t *asked)
{
	return (uint32_t)asked->msgh_id / INTERFACE_SIZE == 28;
}

bool kernel_call_answered(const mach_msg_header_t *asked, struct message *reply)
{
	struct port *port = (struct port *)asked->msgh_local_port;
	mach_msg_type_name_t kind = MACH_MSGH_BITS_LOCAL(asked->msgh_bits);

	message_set_ports(reply, port, PORT_NULL);
	reply->header.msgh_bits |= MACH_MSGH_BITS(kind, 0);
	reply->header.msgh_seqno = 0;
	if (port_is_valid(port) && kernel_call_replies(reply))
		return true;
	if (message_result(reply) == MIG_NO_REPLY && kernel_call_keeps_reply_right(asked))
		return false;
	message_destroy_body(reply);
	if (port_is_valid(port))
		right_release(port, kind);
	return false;
}

/* On behalf of whom the reply is: the one for whom the reply right was made. */
static uint32_t kernel_call_label_of_reply(const struct message *reply)
{
	const struct port *port = message_remote(reply);

	if (MACH_MSGH_BITS_REMOTE(reply->header.msgh_bits) == MACH_MSG_TYPE_PORT_SEND_ONCE &&
	    port_is_alive(port))
		return port->label;
	return current_thread()->label;
}

void kernel_call_answer(const mach_msg_header_t *asked, struct message *reply)
{
	if (kernel_call_answered(asked, reply)) {
		reply->label = kernel_call_label_of_reply(reply);
		message_send_always(reply);
	} else {
		message_free(reply);
	}
}

/* ---------------- The general path ---------------- */

static void kernel_call_use_up_right(const mach_msg_header_t *asked)
{
	right_release((struct port *)asked->msgh_remote_port,
		      MACH_MSGH_BITS_REMOTE(asked->msgh_bits));
}

/* There is no memory for a reply: the request itself becomes one that says so. */
static void kernel_call_answer_shortage(struct message *request)
{
	mach_msg_header_t asked = request->header;

	message_destroy_body(request);
	kernel_call_use_up_right(&asked);
	kernel_call_reply_init((mig_reply_header_t *)&request->header, &asked,
			       KERN_RESOURCE_SHORTAGE);
	kernel_call_answer(&asked, request);
}

/*
 * A request that asks for no reply, whose result nobody will see: needs no memory.  What pagers
 * answer when there is none left is such a request.
 */
static void kernel_call_without_reply(struct message *request)
{
	struct {
		struct message message;
		uint8_t body[MESSAGE_SMALL - sizeof(mach_msg_header_t)];
	} reply;
	bool answered;

	message_init(&reply.message, MESSAGE_SMALL);
	kernel_call(request, &reply.message);
	kernel_call_use_up_right(&request->header);
	answered = kernel_call_answered(&request->header, &reply.message);
	assert(!answered);
	message_free(request);
}

void kernel_object_send(struct message *request)
{
	uint32_t room = kernel_call_room(request->header.msgh_id);
	struct message *reply;

	if (!port_is_valid(message_local(request)) && room == MESSAGE_SMALL) {
		kernel_call_without_reply(request);
		return;
	}
	reply = message_alloc(room);
	if (reply == NULL) {
		kernel_call_answer_shortage(request);
		return;
	}
	kernel_call(request, reply);
	kernel_call_use_up_right(&request->header);
	kernel_call_answer(&request->header, reply);
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
