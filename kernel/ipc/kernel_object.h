/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel: messages to ports that stand for its objects.
 *
 * The interfaces are in defs/ and their server halves are generated.
 */
#ifndef IPC_KERNEL_OBJECT_H
#define IPC_KERNEL_OBJECT_H

#include <mach/message.h>

struct mach_msg_words;
struct message;
struct port;
struct thread;

/* Enters the calls of all interfaces into a table. */
void kernel_object_module_init(void);

/* Reads MIG's tables; once more when what they name has changed: prof/calls.c. */
void kernel_object_find_stubs(void);

/*
 * The fast path: the request in the current thread's inbox, by a right to `port`, is answered to
 * `reply`, which the thread receives from and nobody else waits at: as mach_msg(), or
 * FAST_PATH_DECLINED, without memory for an answer, and nothing is changed.  May block.
 */
mach_msg_return_t kernel_object_call(const struct mach_msg_words *words, struct port *port,
				     struct port *reply);

/* A request of the general path: makes the call, sends the reply; takes the request. */
void kernel_object_send(struct message *request);

/*
 * As kernel_object_send(), for a caller that waits next: a thread whose wait the call has ended may
 * be left in *woken, as message_send() leaves one.
 */
void kernel_object_send_before_wait(struct message *request, struct thread **woken);

#endif
