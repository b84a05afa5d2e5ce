/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel: messages to ports that stand for its objects.
 *
 * The interfaces are in defs/ and their server halves are generated; which message id belongs to
 * which is a table here.
 */
#ifndef IPC_KERNEL_OBJECT_H
#define IPC_KERNEL_OBJECT_H

#include "ipc/message.h"

struct thread;

/*
 * Answers the request, whose rights and memory it takes, in `reply`, which has room for
 * MESSAGE_PAGE bytes or, if the routine is known to need no more, kernel_call_room(id).  The
 * reply's remote port is the request's reply right.  Returns false if there is nothing to send
 * back: a routine without a reply, or no reply right.  May block.
 */
bool kernel_call(struct message *request, struct message *reply);

/* Bytes that a reply to message `id` may need. */
uint32_t kernel_call_room(mach_msg_id_t id);

/* A request of the general path: makes the call, sends the reply; takes the request. */
void kernel_object_send(struct message *request);

/*
 * The same for a caller that waits next: a thread whose wait the call has ended may be left in
 * *woken, as message_send() leaves one.
 */
void kernel_object_send_before_wait(struct message *request, struct thread **woken);

#endif
