/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel: messages to ports that stand for its objects.
 *
 * The interfaces are in defs/ and their server halves are generated; which message id belongs to
 * which is a table here.
 */
#ifndef IPC_KERNEL_OBJECT_H
#define IPC_KERNEL_OBJECT_H

#include <mach/mig_errors.h>
#include <mach/messages.h>

#include "ipc/message.h"

struct thread;

/*
 * Makes the call: what the request's body carried is gone then, and `reply`, which has room for
 * kernel_call_room(id) bytes, is the answer, but for where it goes.  The caller has the right to
 * the object, as before, and sees to kernel_call_answered().  May block.
 */
void kernel_call(struct message *request, struct message *reply);

static inline kern_return_t message_result(const struct message *reply)
{
	return ((const mig_reply_header_t *)&reply->header)->RetCode;
}

/* Whether a reply right is all that the answer needs to be sent. */
static inline bool kernel_call_replies(const struct message *reply)
{
	return message_result(reply) != MIG_NO_REPLY &&
	       (reply->header.msgh_bits & MACH_MSGH_BITS_CIRCULAR) == 0;
}

/*
 * Gives the reply to a request whose header was `asked` that one's reply right; whether it is to be
 * sent.  If not nothing is left of it but the message: it was a routine without a reply, there is
 * no such right or the routine has taken it for later, or a reply like this cannot be sent.
 */
bool kernel_call_answered(const mach_msg_header_t *asked, struct message *reply);

/* The same, and sends or frees the reply. */
void kernel_call_answer(const mach_msg_header_t *asked, struct message *reply);

/* Bytes that a reply to message `id` may need. */
static inline uint32_t kernel_call_room(mach_msg_id_t id)
{
	switch (id) {
	case ID_TASK_INFO:
	case ID_THREAD_GET_STATE:
	case ID_THREAD_INFO:
	case ID_HOST_KERNEL_VERSION:
	case ID_HOST_INFO:
	case ID_PROCESSOR_INFO:
	case ID_PROCESSOR_SET_INFO:
	case ID_HOST_GET_KERNEL_VERSION:
	case ID_DEVICE_GET_STATUS:
	case ID_I386_GET_LDT:
	case ID_VM_PAGES_PHYS:
		return MESSAGE_PAGE;
	case ID_TASK_GET_SAMPLED_PCS:
	case ID_THREAD_GET_SAMPLED_PCS:
		return MESSAGE_BIG;
	default:
		return MESSAGE_SMALL;
	}
}

/* A request of the general path: makes the call, sends the reply; takes the request. */
void kernel_object_send(struct message *request);

/*
 * As kernel_object_send(), for a caller that waits next: a thread whose wait the call has ended may
 * be left in *woken, as message_send() leaves one.
 */
void kernel_object_send_before_wait(struct message *request, struct thread **woken);

#endif
