/* SPDX-License-Identifier: MIT */
/*
 * Messages between threads: sending to a port, receiving from a port or a set.
 *
 * A message goes straight to a thread that waits for it, with its sequence number; only if nobody
 * does is it queued.  What a waiting receiver can take is noted in its `receive`, so that the
 * sender can see whether the message fits.  Guarded by the kernel lock.
 */
#ifndef IPC_QUEUE_H
#define IPC_QUEUE_H

#include <stdint.h>

#include <mach/message.h>

#include "ipc/mach_msg.h"
#include "ipc/message.h"

struct port;
struct space;
struct thread;
struct wait_queue;

/*
 * Sends a message to msgh_remote_port: calls the kernel for a kernel object's port, else hands over
 * or queues.  With a full queue waits as the option (MACH_SEND_TIMEOUT, MACH_SEND_NOTIFY) and
 * the timeout in `words` say; send-once rights never wait.  Takes the message on
 * MACH_MSG_SUCCESS and on MACH_SEND_WILL_NOTIFY; on MACH_SEND_TIMED_OUT, MACH_SEND_INTERRUPTED,
 * MACH_SEND_NO_NOTIFY, MACH_SEND_INVALID_NOTIFY, MACH_SEND_NOTIFY_IN_PROGRESS, and on
 * MACH_SEND_NO_BUFFER if the current task's owner may have no more queued, the caller still has it.
 * A message to a dead port, or one that would carry a port into its own queue, is destroyed, with
 * success; so is an answer that its receiver may not have queued.  May block.
 *
 * A caller that receives next passes `woken`, where NULL is.  A thread that waited for the message
 * and has it then may be left there, or one that waited for what a call of the kernel has brought:
 * the caller wakes it at once, with message_receive().
 */
mach_msg_return_t message_send(struct message *message, const struct mach_msg_words *words,
			       struct thread **woken);

/* As message_send(), for the kernel's own messages: never waits, takes the message in any case. */
void message_send_always(struct message *message);

/* As message_send_always(), for a caller that waits next and wakes `*woken`, if not NULL, so. */
void message_send_before_wait(struct message *message, struct thread **woken);

/*
 * Receives from the port or set that words->rcv_name is in `space`; wakes `woken`, if not NULL, in
 * any case.  What has come is in the current thread's `receive`: `message` is the caller's if it is
 * not NULL, on MACH_MSG_SUCCESS and on MACH_RCV_TOO_LARGE.  With MACH_RCV_LARGE a message that does
 * not fit stays where it is, and `size` says its size.  header.msgh_seqno is set.  May block.
 *
 * port_receive() is for a port of the kernel's, at which the current thread waits for the answer to
 * a message that it has just sent.  On MACH_MSG_SUCCESS the answer is in *message, which is the
 * caller's, or if that is NULL in the current thread's inbox.
 */
mach_msg_return_t message_receive(struct space *space, const struct mach_msg_words *words,
				  struct thread *woken);
mach_msg_return_t port_receive(struct port *port, struct thread *woken, struct message **message);

/* The port or set that they wait at is not theirs any more: waiting receivers get `result`. */
void queue_interrupt_receivers(struct wait_queue *receivers, mach_msg_return_t result);

/* Removes all messages from a dying port and destroys them; wakes its senders. */
void queue_destroy(struct port *port);

/* A port that has messages has come to `set`: its waiting receivers are served. */
void queue_serve_set(struct port *port);

#endif
