/* SPDX-License-Identifier: MIT */
/*
 * Messages in the kernel.
 *
 * A message has the user's layout, header and body, with the kernel's values in place of the
 * user's: ports instead of names, and instead of addresses of out-of-line data a `struct copy`
 * (memory) or the address of an array in the kernel (ports).  It owns the rights and the memory it
 * carries, and the label of its sender, or of whoever a send-once right was made for.  Guarded by
 * the kernel lock.
 *
 * msgh_remote_port and msgh_local_port hold pointers to struct port; msgh_bits says the kinds of
 * right (PORT_SEND and so on) and MACH_MSGH_BITS_COMPLEX.  msgh_size is right.
 */
#ifndef IPC_MESSAGE_H
#define IPC_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/message.h>

#include "base/alloc_site.h"
#include "base/assert.h"
#include <assay/list.h>
#include "base/zone.h"

struct entry;
struct mach_msg_words;
struct owner;
struct port;
struct space;

#define MESSAGE_MAGIC 0x4d455353u

/*
 * Room for headers and bodies: most messages, what kernel interfaces need, a page of a user's data,
 * and the largest.
 */
#define MESSAGE_SMALL 232u
#define MESSAGE_PAGE  4056u
#define MESSAGE_BIG   8152u
#define MESSAGE_MAX   0x10000u

struct message {
	struct list link; /* In a port's queue, or on the list of what is to be destroyed. */
	uint32_t magic;
	uint32_t room; /* Bytes from `header` on. */
	uint32_t
		label; /* Whoever receives it may work on behalf of this (copyout_turn_header()). */
	struct owner
		*payer;   /* Who pays while it lies in a queue; NULL: nobody.  Undefined outside. */
	uint32_t charged; /* And what: OWNER_QUEUED. */
	struct message *accepted; /* What is sent when it is accepted (MACH_SEND_NOTIFY), its remote
				     port the send-once right of whom to tell; or NULL. */
	uint32_t accepted_name;   /* What name the sender knows the port by, 0 when it is gone. */
	struct entry
		*accepted_entry;  /* That name's, whose `accepting` this is; NULL if it is gone. */
	mach_msg_header_t header; /* The body follows. */
};

/*
 * msgh_bits of the simple messages that calls consist of: as their sender writes them, in the
 * kernel's hand, and as the receiver sees them, whose own port is the local one.  A client's right
 * to the server is copied and a send-once right made to its own port; the reply uses that up.
 */
#define BITS_REQUEST       MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE)
#define BITS_REQUEST_TAKEN MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND, MACH_MSG_TYPE_PORT_SEND_ONCE)
#define BITS_REQUEST_GIVEN MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND_ONCE, MACH_MSG_TYPE_PORT_SEND)
#define BITS_REPLY         MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0)
#define BITS_REPLY_GIVEN   MACH_MSGH_BITS(0, MACH_MSG_TYPE_PORT_SEND_ONCE)

/*
 * In msgh_bits, within the kernel only: a request of the kernel's own without a reply right, which
 * is answered otherwise.  Whoever receives it works for its label.
 */
#define BITS_KERNEL_REQUEST 0x20000000u

/* The same, and nobody waits for it: whoever receives it gets memory for it as for himself. */
#define BITS_KERNEL_LATER 0x10000000u

static inline struct port *message_remote(const struct message *message)
{
	return (struct port *)(uintptr_t)message->header.msgh_remote_port;
}

static inline struct port *message_local(const struct message *message)
{
	return (struct port *)(uintptr_t)message->header.msgh_local_port;
}

static inline void message_set_ports(struct message *message, struct port *remote,
				     struct port *local)
{
	message->header.msgh_remote_port = (mach_port_t)(uintptr_t)remote;
	message->header.msgh_local_port = (mach_port_t)(uintptr_t)local;
}

void message_module_init(void);

/*
 * Messages of each of the common sizes are kept when they were freed, so that the next one costs a
 * few instructions.  A kept message has its room and accepts nothing.
 */
extern struct zone small_messages;

#define MESSAGE_KEPT_LINK offsetof(struct message, link)

/* A kept message, its label undefined; NULL if there is none. */
static inline struct message *message_take_from(struct zone *zone)
{
	struct message *message = zone_take_kept(zone, MESSAGE_KEPT_LINK);

	if (message != NULL)
		message->magic = MESSAGE_MAGIC;
	return message;
}

/* False if enough are kept: its memory is to be freed. */
static inline bool message_keep_in(struct zone *zone, struct message *message)
{
	assert(message->magic == MESSAGE_MAGIC && message->accepted == NULL);
	message->magic = 0;
	return zone_keep(zone, message, MESSAGE_KEPT_LINK);
}

/* A message for which message_alloc() has none kept.  As that. */
struct message *message_make(uint32_t size);

/* A message with room for `size` bytes, header included; NULL when there is no memory or `size` is
 * more than MESSAGE_MAX.  label 0, no accepted; the header is undefined. */
static inline struct message *message_alloc(uint32_t size)
{
	struct message *message;

	if (size > MESSAGE_SMALL)
		return message_make(size);
	message = message_take_from(&small_messages);
	if (message == NULL)
		return message_make(size);
	message->label = 0;
	return message;
}
#define message_alloc(size) ALLOC_SITE((message_alloc)(size))

/* Frees a message that is not small. */
void message_unmake(struct message *message);

/* Frees the message alone: what it carried has been disposed of. */
static inline void message_free(struct message *message)
{
	if (message->room != MESSAGE_SMALL)
		message_unmake(message);
	else if (!message_keep_in(&small_messages, message))
		zone_free(&small_messages, message);
}

/* Makes a message of memory that the caller has, with `room` bytes from its header on. */
static inline void message_init(struct message *message, uint32_t room)
{
	message->magic = MESSAGE_MAGIC;
	message->room = room;
	message->label = 0;
	message->accepted = NULL;
	message->accepted_name = MACH_PORT_NULL;
	message->accepted_entry = NULL;
}

/* What it and the memory that it carries are charged in a queue; the rights in it are not. */
uint32_t message_price(struct message *message);

/* Sends the msg-accepted notification that is due for the message, which has one. */
void message_accept(struct message *message);

/*
 * Destroys a message with all that it carries.  Messages that are destroyed on the way (those in
 * the queue of a port whose receive right it carries) are put on a list and come after it: the
 * stack does not grow with what users nest.  message_destroy_body() leaves header rights and
 * message be.
 */
void message_destroy(struct message *message);
void message_destroy_body(struct message *message);

/* ---------------- From and to a task: message_copyin.c, message_copyout.c ---------------- */

/*
 * Copies the message that `words` (its place, its size, MACH_SEND_CANCEL) say in and takes the
 * rights and memory that it names out of `space`.  On failure (MACH_SEND_...)
 * nothing of the sender's has changed, with one exception that Mach has too: a message that names
 * the same right twice and has it once.  The label is the current thread's, or for a send-once
 * right the one noted in its port: if both are the same that was the answer to what the thread was
 * doing, and it has its own label from then on.  May block.
 */
mach_msg_return_t message_copyin(struct space *space, const struct mach_msg_words *words,
				 struct message **message);

/*
 * Gives the message to the current task at the place in `words`, where it is counted as received,
 * frees it, and sets the current thread's label.  If `result`, what receiving came to, is
 * MACH_RCV_TOO_LARGE only what the header says of itself is given, and the rest destroyed.  With
 * MACH_RCV_NOTIFY in `words` a dead-name notification about the reply right goes to the port named
 * there.  Returns `result` if that was no success; else MACH_MSG_SUCCESS, MACH_RCV_BODY_ERROR with
 * MACH_MSG_IPC_SPACE and so on; MACH_RCV_INVALID_NOTIFY or MACH_RCV_HEADER_ERROR, as with a message
 * too large; or MACH_RCV_INVALID_DATA: then what the message gave is taken back and destroyed.
 *
 * message_copyout_pseudo() is for a message that comes back to its sender: remote and local stay as
 * the sender had them, and the label is not set.  Both may block, for the task's memory.
 */
mach_msg_return_t message_copyout(struct message *message, const struct mach_msg_words *words,
				  mach_msg_return_t result);
mach_msg_return_t message_copyout_pseudo(struct space *space, struct message *message,
					 uint32_t user);

#endif
