/* SPDX-License-Identifier: MIT */
/* The message of an exception and the answer to it, as <mach/exc.defs> has them. */
#include <mach/message.h>
#include <mach/messages.h>
#include <mach/mig_errors.h>

#include "ipc/message.h"
#include "ipc/port.h"
#include "task/exception.h"
#include "task/task.h"
#include "thread/thread.h"

struct exception_request {
	mach_msg_header_t header;
	mach_msg_type_t thread_type;
	mach_port_t thread;
	mach_msg_type_t task_type;
	mach_port_t task;
	mach_msg_type_t exception_type;
	integer_t exception;
	mach_msg_type_t code_type;
	integer_t code;
	mach_msg_type_t subcode_type;
	integer_t subcode;
};

_Static_assert(sizeof(struct exception_request) == 64, "a message's layout is an interface");

static const mach_msg_type_t port_type = DESCRIBE_MACH_PORT_SEND_T(1);

static const mach_msg_type_t integer_type = DESCRIBE_UNSIGNED(1);

struct message *exception_message(struct port *handler, struct port *reply,
				  const struct exception *exception)
{
	const struct thread *thread = current_thread();
	struct message *message;
	struct exception_request *request;

	if (!port_is_valid(handler) || !port_is_alive(handler))
		return NULL;
	message = message_alloc(sizeof *request);
	if (message == NULL)
		return NULL;
	message->label = thread->label;
	request = (struct exception_request *)&message->header;
	*request = (struct exception_request){
		.header.msgh_bits =
			MACH_MSGH_BITS_COMPLEX |
			MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND, MACH_MSG_TYPE_PORT_SEND_ONCE),
		.header.msgh_size = sizeof *request,
		.header.msgh_id = ID_EXCEPTION_RAISE,
		.thread_type = port_type,
		.thread = (mach_port_t)port_copy_send(thread->self_port),
		.task_type = port_type,
		.task = (mach_port_t)port_copy_send(thread->task->self_port),
		.exception_type = integer_type,
		.exception = exception->exception,
		.code_type = integer_type,
		.code = exception->code,
		.subcode_type = integer_type,
		.subcode = (integer_t)exception->subcode,
	};
	message_set_ports(message, port_copy_send(handler), port_make_send_once(reply));
	return message;
}

bool exception_answer_is_success(const struct message *answer)
{
	const mig_reply_header_t *reply = (const mig_reply_header_t *)&answer->header;

	return reply->Head.msgh_id == ID_EXCEPTION_RAISE_REPLY &&
	       reply->Head.msgh_size >= sizeof *reply && reply->RetCode == KERN_SUCCESS;
}
