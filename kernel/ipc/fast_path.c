/* SPDX-License-Identifier: MIT */
/*
 * The fast path of mach_msg: remote procedure calls with simple messages.
 *
 * It serves the two traps that a call consists of when nobody is late: the client's, which sends a
 * request and waits for the reply, and the server's, which sends the reply and waits for the next
 * request.  It serves them only if the receiver waits already; then the message and the CPU go
 * straight to it, past the queues of messages and of threads, and the message is never an object of
 * its own: the sender copies it into its own inbox (struct receive_wait), and from there, in the
 * receiver's terms, into the receiver's.  A right that the receiver gets is put into its space by
 * the sender; one that would be made and used up on the way is neither.  A body that the inbox has
 * no room for goes from the sender's memory to the receiver's.  Calls of the kernel's own objects
 * are answered in the trap itself.
 *
 * First it decodes and changes nothing; on any doubt everything is left to the general path
 * (mach_msg.c), which then begins at the beginning.  Then it performs and cannot fail.  Nothing
 * here has a meaning of its own: with fastpath=off the general path does the same things, and tests
 * run both ways.  Guarded by the kernel lock.
 *
 * The one function here and the one in mach_msg.c that short calls do not come to are not inlined:
 * if they are, a call of a server takes four instructions more (tools/bench call).
 */
#include "ipc/fast_path.h"

#include <mach/port.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/string.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/label_site.h"
#include "ipc/inbox.h"
#include "ipc/kernel_object.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/queue.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "task/task.h"
#include "thread/exchange.h"
#include "thread/thread.h"
#include "vm/map/map.h"

/* A bit of mach_msg()'s options that means nothing and that no program sets. */
#define OPTION_UNUSED 0x40000000u

uint32_t fast_path_option = MACH_SEND_MSG | MACH_RCV_MSG;

void fast_path_init(void)
{
	char value[8];

	if (argument_string("fastpath", value, sizeof value) && strcmp(value, "off") == 0)
		fast_path_option |= OPTION_UNUSED;
}

/* Who waits first for a message of the port, and takes so many bytes directly; or NULL. */
static inline struct thread *fast_path_first_receiver(const struct port *port, uint32_t size)
{
	const struct wait_queue *queue =
		port->set == NULL ? &port->receivers : &port->set->receivers;
	struct thread *receiver;

	if (list_empty(&queue->waiters))
		return NULL;
	receiver = list_first_object(&queue->waiters, struct thread, wait_link);
	return size <= receiver->receive.direct ? receiver : NULL;
}

/*
 * The same for a message that the inbox has no room for: its body goes straight to where its
 * receiver wants it, so far as nobody has to wait for either's memory, or for a name if it needs
 * one.
 */
static __attribute__((noinline)) struct thread *fast_path_carry(const struct port *port,
								uint32_t size, bool named)
{
	const uint32_t header = sizeof(mach_msg_header_t);
	const struct thread *sender = current_thread();
	struct thread *receiver = fast_path_first_receiver(port, size);

	if (receiver == NULL || size > MESSAGE_MAX ||
	    (named && receiver->task->space->first_free == NULL))
		return NULL;
	return pmap_move(receiver->task->map->pmap, receiver->receive.words->message + header,
			 sender->task->map->pmap, sender->receive.words->message + header,
			 size - header)
		       ? receiver
		       : NULL;
}

/* The last question of both kinds of calls, since it carries a long body. */
static inline struct thread *fast_path_receiver(const struct port *port, uint32_t size, bool named)
{
	return size <= INBOX_SIZE ? fast_path_first_receiver(port, size)
				  : fast_path_carry(port, size, named);
}

/* ---------------- Calls of a server ---------------- */

/*
 * Gives a new send-once right to `reply` to the space, under the name of `entry`, its first free
 * one; the port notes the label.
 */
static inline void fast_path_give_reply_right(struct space *space, struct entry *entry,
					      struct port *reply, uint32_t label)
{
	space_use_free(space, entry);
	entry->type = MACH_PORT_TYPE_SEND_ONCE;
	entry->port = reply;
	reply->send_once_rights++;
	reply->refs++;
	reply->label = label;
}

/*
 * Writes the header in the inbox of `receiver` as if it had received it by itself: what the sender
 * has in its own inbox, with the names of the receiver's space.  The body is there.
 */
static inline void fast_path_fill_header(struct thread *receiver, struct thread *sender,
					 struct port *port, mach_msg_bits_t bits,
					 mach_port_name_t reply, uint32_t size)
{
	mach_msg_header_t *to = &receiver->receive.inbox.message.header;
	const mach_msg_header_t *from = &sender->receive.inbox.message.header;

	to->msgh_bits = bits;
	to->msgh_size = size;
	to->msgh_remote_port = reply;
	to->msgh_local_port = port->name;
	if (port->has_payload) {
		to->msgh_bits = MACH_MSGH_BITS(MACH_MSGH_BITS_REMOTE(bits),
					       MACH_MSG_TYPE_PROTECTED_PAYLOAD);
		to->msgh_protected_payload = port->payload;
	}
	to->msgh_seqno = port->seqno++;
	to->msgh_id = from->msgh_id;
	if (size > sizeof *to && size <= INBOX_SIZE)
		memcpy(receiver->receive.inbox.body, sender->receive.inbox.body, size - sizeof *to);
	receiver->task->messages_received++;
	receiver->receive.result = MACH_MSG_SUCCESS;
}

/*
 * Waits at `queue` in its turn, while `receiver` has the CPU.  Who has `answered` works for itself
 * if no request comes.
 */
static inline mach_msg_return_t fast_path_wait(const struct mach_msg_words *words,
					       struct thread *thread, struct wait_queue *queue,
					       struct thread *receiver, bool answered)
{
	struct receive_wait *receive = &thread->receive;

	/* What stands here when the wait is interrupted. */
	receive->result = MACH_RCV_INTERRUPTED;
	receive->message = NULL;
	receive->direct = words->rcv_size;
	sched_exchange(thread, queue, WAIT_ON_FAST_PATH, receiver);
	if (receive->result == MACH_MSG_SUCCESS && receive->message == NULL)
		return inbox_copyout(thread, words->message);
	if (answered)
		machine_label_set(thread, thread->home);
	return mach_msg_received(words, receive->result);
}

/* ---------------- The path ---------------- */

/*
 * Of the two functions that send, each decodes down to the last empty line in it and performs after
 * that.  They return the receiver, which has the message then, or NULL if the general path has to
 * see to it.
 */

/* A client's call of a server: it is going to wait at its reply port. */
static inline struct thread *fast_path_send_request(struct thread *thread, struct port *port,
						    struct port *reply, uint32_t size)
{
	struct thread *receiver = fast_path_receiver(port, size, true);
	struct space *space;
	struct entry *entry;

	if (receiver == NULL)
		return NULL;
	space = receiver->task->space;
	entry = space->first_free;
	if (entry == NULL)
		return NULL;

	fast_path_give_reply_right(space, entry, reply, thread->label);
	receiver->label = thread->label;
	receiver->serves = entry->name;
	fast_path_fill_header(receiver, thread, port, BITS_REQUEST_GIVEN, entry->name, size);
	return receiver;
}

/* Where a server is going to wait: at a port or set that has no message; else NULL. */
static inline struct wait_queue *fast_path_served_queue(struct entry *entry)
{
	if ((entry->type & MACH_PORT_TYPE_RECEIVE) != 0) {
		struct port *port = entry->port;

		return port->n_messages == 0 && port->set == NULL ? &port->receivers : NULL;
	}
	if (entry->type != MACH_PORT_TYPE_PORT_SET || port_set_ready(entry->set) != NULL)
		return NULL;
	return &entry->set->receivers;
}

/* A server's reply: its right to the client's port is used up, and it waits for the next client. */
static inline struct thread *fast_path_send_reply(struct thread *thread, struct entry *to,
						  uint32_t size)
{
	struct port *port = to->port;
	struct thread *receiver;

	if (to->request != NULL || to->accepting != NULL || !port_is_alive(port))
		return NULL;
	receiver = fast_path_receiver(port, size, false);
	if (receiver == NULL)
		return NULL;

	space_free_plain(thread->task->space, to);
	/* The receiver's own right keeps the port. */
	assert(port->refs > 1);
	port->refs--;
	port->send_once_rights--;
	receiver->label = port->label;
	fast_path_fill_header(receiver, thread, port, BITS_REPLY_GIVEN, MACH_PORT_NULL, size);
	return receiver;
}

/*
 * The entry of a near name, in use or not, which is mostly the one of the last time; for other
 * names one that is not in use.
 */
static inline struct entry *fast_path_known_entry(const struct space *space,
						  struct known_name *known, uint32_t name)
{
	struct entry *entry = known->entry;

	if (known->name == name)
		return entry;
	entry = space_near_slot(space, name);
	if (entry == NULL)
		return &space_no_entry;
	*known = (struct known_name){name, entry};
	return entry;
}

mach_msg_return_t fast_path(const struct mach_msg_words *words)
{
	struct thread *thread = current_thread();
	mach_msg_header_t *header = &thread->receive.inbox.message.header;
	uint32_t size = words->send_size;
	struct wait_queue *queue;
	struct thread *receiver;
	struct entry *to, *from;
	struct space *space;
	uint32_t bits;
	bool request;

	if (!short_is_user(words->message) || !copyin_word(&bits, words->message))
		return FAST_PATH_DECLINED;
	request = bits == BITS_REQUEST;
	if (!request && bits != BITS_REPLY)
		return FAST_PATH_DECLINED;
	thread->receive.words = words;
	if (!inbox_copyin(thread, words->message, size))
		return FAST_PATH_DECLINED;
	space = thread->task->space;
	to = fast_path_known_entry(space, &thread->sends_to, header->msgh_remote_port);
	from = fast_path_known_entry(space, &thread->receives_from, words->rcv_name);
	if (request && (to->type & MACH_PORT_TYPE_SEND) != 0 &&
	    (from->type & MACH_PORT_TYPE_RECEIVE) != 0 &&
	    header->msgh_local_port == words->rcv_name && port_is_quiet(from->port)) {
		if (to->port->kind != OBJECT_NONE)
			return size > INBOX_SIZE ? FAST_PATH_DECLINED
						 : kernel_object_call(words, to->port, from->port);
		queue = &from->port->receivers;
		receiver = fast_path_send_request(thread, to->port, from->port, size);
	} else if (!request && to->type == MACH_PORT_TYPE_SEND_ONCE &&
		   header->msgh_local_port == MACH_PORT_NULL) {
		queue = fast_path_served_queue(from);
		receiver = queue == NULL ? NULL : fast_path_send_reply(thread, to, size);
	} else {
		return FAST_PATH_DECLINED;
	}
	if (receiver == NULL)
		return FAST_PATH_DECLINED;
	thread->task->messages_sent++;
	return fast_path_wait(words, thread, queue, receiver, !request);
}
