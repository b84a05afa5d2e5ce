/* SPDX-License-Identifier: MIT */
/*
 * Messages between threads: see queue.h.
 *
 * A thread that waits here is woken when what it waits at goes away; when it wakes, names may mean
 * something else and the port or set may be gone.  Guarded by the kernel lock.
 */
#include "ipc/queue.h"

#include <stdbool.h>

#include "base/assert.h"
#include "base/owner.h"
#include "ipc/kernel_object.h"
#include "ipc/notify.h"
#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "task/task.h"
#include "thread/exchange.h"
#include "thread/thread.h"
#include "thread/tick.h"
#include "thread/work.h"
#include "vm/pager/pager.h"

static struct thread *queue_first_waiter(const struct wait_queue *queue)
{
	return list_first_object(&queue->waiters, struct thread, wait_link);
}

static bool queue_has_waiters(const struct wait_queue *queue)
{
	return !list_empty(&queue->waiters);
}

/* ---------------- Messages and receivers ---------------- */

/* Where messages for the port are waited for. */
static struct wait_queue *queue_receivers_of(struct port *port)
{
	return port->set != NULL ? &port->set->receivers : &port->receivers;
}

/* The message has reached its receiver: it gets its number, and who asked is told. */
static void queue_number(struct port *port, struct message *message)
{
	message->header.msgh_seqno = port->seqno++;
	if (message->accepted != NULL)
		message_accept(message);
}

/*
 * Ends the wait of a receiver with the message, which it has then; or only with its size, if it is
 * too large and shall stay.  Returns whether the message was taken.  If `woken` is not NULL the
 * receiver may be left there, for the caller to wake.
 */
static inline bool queue_offer(struct port *port, struct message *message, struct thread *receiver,
			       struct thread **woken)
{
	struct receive_wait *receive = &receiver->receive;
	bool fits = message->header.msgh_size <= receive->words->rcv_size;
	bool taken = fits || (receive->words->option & MACH_RCV_LARGE) == 0;

	receive->result = fits ? MACH_MSG_SUCCESS : MACH_RCV_TOO_LARGE;
	receive->size = message->header.msgh_size;
	receive->message = taken ? message : NULL;
	/*
	 * It waits no longer when the notification that queue_number() may send looks for
	 * receivers.
	 */
	if (woken != NULL && taken && message->accepted == NULL)
		*woken = receiver;
	else
		thread_wake(receiver, WAIT_WOKEN);
	if (taken)
		queue_number(port, message);
	return taken;
}

/*
 * Wakes a thread that waits for room in the port's queue.  A suspended sender only looks when it is
 * resumed, so that the next one is woken too.
 */
static void queue_wake_sender(struct port *port)
{
	while (queue_has_waiters(&port->senders)) {
		struct thread *sender = queue_first_waiter(&port->senders);

		thread_wake(sender, WAIT_WOKEN);
		if (sender->state != THREAD_STOPPED)
			return;
		pause_each();
	}
}

static void queue_uncharge(struct message *message)
{
	if (message->payer != NULL)
		owner_uncharge(message->payer, OWNER_QUEUED, message->charged);
}

/*
 * Whether the message goes by a send-once right, as answers do: its receiver has made that, and it
 * never waits for room.
 */
static inline bool queue_is_answer(const struct message *message)
{
	return MACH_MSGH_BITS_REMOTE(message->header.msgh_bits) == MACH_MSG_TYPE_PORT_SEND_ONCE;
}

/*
 * Units that an owner may have in queues whatever others have there, so that who has little can
 * ask, and is answered.
 */
#define QUEUED_SURELY 64u

static bool queue_may_have(const struct owner *payer, uint32_t price)
{
	const struct owner_use *use = &payer->uses[OWNER_QUEUED];
	uint32_t sure = use->limit < QUEUED_SURELY ? use->limit : QUEUED_SURELY;

	return owner_may_have(payer, OWNER_QUEUED, price) ||
	       (use->used < sure && sure - use->used >= price);
}

/* Whether the sender of a request may have its answer queued. */
static inline bool queue_may_ask(const struct owner *sender)
{
	return sender == NULL || sender->all == NULL || queue_may_have(sender, 1);
}

/*
 * Says who pays for a message in the port's queue, and whether he may have it there.  An answer is
 * paid by who receives it, all else by `sender`, or by nobody if that is NULL, the kernel.  The
 * system, which has no limit, pays for nothing.  A message of the kernel's goes into the queue as
 * long as its payer is below his limit, however much over that he is with it.
 */
static bool queue_charge(const struct port *port, struct message *message, struct owner *sender)
{
	struct owner *payer = queue_is_answer(message) ? port->owner : sender;

	message->payer = NULL;
	if (payer == NULL || payer == &owner_system)
		return true;
	message->charged = message_price(message);
	if (!queue_may_have(payer, sender != NULL ? message->charged : 1))
		return false;
	owner_burden(payer, OWNER_QUEUED, message->charged);
	message->payer = payer;
	return true;
}

/* Takes the first message out of the port's queue; whoever waits for room has it now. */
static struct message *queue_dequeue(struct port *port)
{
	struct message *message;

	assert(port->n_messages > 0);
	message = list_object(list_take_first(&port->messages), struct message, link);
	assert(message->magic == MESSAGE_MAGIC);
	queue_uncharge(message);
	port->n_messages--;
	if (port->n_messages == 0 && port->set != NULL)
		port_set_note_empty(port);
	if (queue_has_waiters(&port->senders) && port->n_messages < port->limit)
		queue_wake_sender(port);
	if (port->pager != NULL)
		pager_note_received(port->pager);
	return message;
}

/*
 * The port, which is alive, takes the message: to a waiting receiver, who may be left in *woken if
 * that is not NULL, or into its queue; false if whoever pays for it there may not have it.  There
 * are both a queue and receivers only while queue_serve_set() brings them together.
 */
static inline bool queue_deliver(struct port *port, struct message *message, struct owner *sender,
				 struct thread **woken)
{
	struct wait_queue *receivers = queue_receivers_of(port);

	while (queue_has_waiters(receivers) && port->n_messages == 0) {
		if (queue_offer(port, message, queue_first_waiter(receivers), woken))
			return true;
		pause_each();
	}
	if (!queue_charge(port, message, sender))
		return false;
	list_add_last(&port->messages, &message->link);
	port->n_messages++;
	if (port->set != NULL)
		port_set_note_message(port);
	return true;
}

/*
 * The first waiting receiver gets the first message or its size: either way one of them is gone, so
 * that this ends.
 */
void queue_serve_set(struct port *port)
{
	struct wait_queue *receivers = &port->set->receivers;

	while (port->n_messages > 0 && queue_has_waiters(receivers)) {
		struct message *message = list_first_object(&port->messages, struct message, link);

		/* In this order: to wake senders takes pauses, in which a receiver may time out. */
		if (queue_offer(port, message, queue_first_waiter(receivers), NULL))
			queue_dequeue(port);
		pause_each();
	}
}

void queue_interrupt_receivers(struct wait_queue *receivers, mach_msg_return_t result)
{
	while (queue_has_waiters(receivers)) {
		struct thread *receiver = queue_first_waiter(receivers);

		receiver->receive.result = result;
		receiver->receive.message = NULL;
		thread_wake(receiver, WAIT_WOKEN);
		pause_each();
	}
}

/* The messages' rights to the port keep its structure until they are destroyed too. */
void queue_destroy(struct port *port)
{
	assert(!port_is_alive(port));
	while (port->n_messages > 0) {
		struct message *message =
			list_object(list_take_first(&port->messages), struct message, link);

		port->n_messages--;
		queue_uncharge(message);
		message_destroy(message);
		pause_each();
	}
	thread_wake_all(&port->senders);
}

/* ---------------- Sending ---------------- */

static bool queue_has_room(const struct port *port, const struct message *message)
{
	return port->n_messages < port->limit || queue_is_answer(message);
}

/* Whether the message can go at once, as far as its port is concerned. */
static bool queue_must_wait(const struct port *port, const struct message *message)
{
	return !queue_has_room(port, message) && port_is_alive(port);
}

/*
 * Waits until the message can go, MACH_MSG_SUCCESS, or the time is over.  The message's right keeps
 * the port.  May block.  Where many are woken, each may find the room taken and wait again, one
 * behind the other, without anybody's leaving the kernel.
 */
static mach_msg_return_t queue_wait_for_room(struct message *message, bool limited,
					     uint32_t timeout)
{
	struct port *port = message_remote(message);
	uint64_t due = limited ? tick_after_ms(timeout) : WAIT_FOREVER;
	enum wait_result woken = WAIT_WOKEN;

	if (limited && timeout == 0)
		return MACH_SEND_TIMED_OUT;
	while (queue_must_wait(port, message)) {
		if (woken == WAIT_INTERRUPTED)
			return MACH_SEND_INTERRUPTED;
		if (woken == WAIT_TIMED_OUT)
			return MACH_SEND_TIMED_OUT;
		woken = thread_wait(&port->senders, due, WAIT_ROOM);
		pause_each();
	}
	return MACH_MSG_SUCCESS;
}

/*
 * MACH_SEND_NOTIFY, and the queue is full: makes `message` one that tells the port `notify`, a
 * receive right of the current task's, when it is accepted.  MACH_SEND_WILL_NOTIFY, and the message
 * is to be queued; else nothing has changed.
 */
static mach_msg_return_t queue_request_accepted(struct message *message, uint32_t notify)
{
	struct space *space = current_task()->space;
	struct entry *receiver = notify == MACH_PORT_NULL ? NULL : space_find(space, notify);
	struct entry *entry = space_find_port(space, message_remote(message));

	if (receiver == NULL || (receiver->type & MACH_PORT_TYPE_RECEIVE) == 0)
		return MACH_SEND_INVALID_NOTIFY;
	if (entry != NULL && entry->accepting != NULL)
		return MACH_SEND_NOTIFY_IN_PROGRESS;
	message->accepted = notify_message();
	if (message->accepted == NULL)
		return MACH_SEND_NO_NOTIFY;
	message_set_ports(message->accepted, port_make_send_once(receiver->port), PORT_NULL);
	message->accepted_entry = entry;
	if (entry != NULL) {
		message->accepted_name = entry->name;
		entry->accepting = message;
	}
	return MACH_SEND_WILL_NOTIFY;
}

/* What message_send() does when there is no room. */
static mach_msg_return_t queue_wait_as_asked(struct message *message,
					     const struct mach_msg_words *words)
{
	bool limited = (words->option & (MACH_SEND_TIMEOUT | MACH_SEND_NOTIFY)) != 0;
	uint32_t timeout = (words->option & MACH_SEND_TIMEOUT) != 0 ? words->timeout : 0;
	mach_msg_return_t result;

	if ((message->header.msgh_bits & MACH_MSGH_BITS_CIRCULAR) != 0)
		return MACH_MSG_SUCCESS;
	result = queue_wait_for_room(message, limited, timeout);
	if (result == MACH_SEND_TIMED_OUT && (words->option & MACH_SEND_NOTIFY) != 0)
		result = queue_request_accepted(message, words->notify);
	return result;
}

/*
 * `woken`, if not NULL, is as in message_send().  False if `sender` may not have the message
 * queued: it is the caller's then.
 */
static bool queue_send_now(struct message *message, struct owner *sender, struct thread **woken)
{
	struct port *port = message_remote(message);

	assert(port->magic == PORT_MAGIC);
	if (!port_is_alive(port) || (message->header.msgh_bits & MACH_MSGH_BITS_CIRCULAR) != 0)
		message_destroy(message);
	else if (port->kind == OBJECT_NONE)
		return queue_deliver(port, message, sender, woken);
	else if (port->kind == OBJECT_SINK)
		port_swallow(port, message);
	else if (!queue_may_ask(sender))
		return false;
	else if (woken != NULL)
		kernel_object_send_before_wait(message, woken);
	else
		kernel_object_send(message);
	return true;
}

/* The owner of the port that an answer goes to may have no more in queues: the answer is lost. */
static void queue_lose(struct message *message)
{
	struct port *port = message_remote(message);

	assert(queue_is_answer(message) && port->owner != NULL);
	owner_note_lost(port->owner);
	port_swallow(port, message);
}

/* Sends a message of the kernel's.  Only an answer can be refused: nobody pays for the others. */
static void queue_send_own(struct message *message, struct thread **woken)
{
	if (!queue_send_now(message, NULL, woken))
		queue_lose(message);
}

void message_send_always(struct message *message)
{
	queue_send_own(message, NULL);
}

void message_send_before_wait(struct message *message, struct thread **woken)
{
	*woken = NULL;
	queue_send_own(message, woken);
}

/*
 * Sends, and returns `result`; MACH_SEND_NO_BUFFER, and the caller has the message, if the current
 * task's owner may have no more in queues.  An answer that its receiver may not have is destroyed:
 * that is no concern of who answers.
 */
static inline mach_msg_return_t queue_send_charged(struct message *message,
						   mach_msg_return_t result, struct thread **woken)
{
	if (queue_send_now(message, current_task()->owner, woken))
		return result;
	/* Whoever was to be told when there is room may try again now. */
	if (message->accepted != NULL)
		message_accept(message);
	if (!queue_is_answer(message))
		return MACH_SEND_NO_BUFFER;
	queue_lose(message);
	return result;
}

/* message_send() where the queue is full. */
static mach_msg_return_t queue_send_with_room(struct message *message,
					      const struct mach_msg_words *words)
{
	struct port *port = port_reference(message_remote(message));
	mach_msg_return_t result = queue_wait_as_asked(message, words);

	if (result == MACH_MSG_SUCCESS || result == MACH_SEND_WILL_NOTIFY)
		result = queue_send_charged(message, result, NULL);
	/* If a receiver has it already, it is never taken out of the queue: nobody else does it. */
	if (port->n_messages < port->limit)
		queue_wake_sender(port);
	port_release(port);
	return result;
}

mach_msg_return_t message_send(struct message *message, const struct mach_msg_words *words,
			       struct thread **woken)
{
	if (queue_must_wait(message_remote(message), message))
		return queue_send_with_room(message, words);
	return queue_send_charged(message, MACH_MSG_SUCCESS, woken);
}

/* ---------------- Receiving ---------------- */

/* Takes the first message of a port that has one, or only its size if it does not fit and stays. */
static mach_msg_return_t queue_take_queued(struct port *port, const struct mach_msg_words *words,
					   struct receive_wait *receive)
{
	struct message *first = list_first_object(&port->messages, struct message, link);
	bool fits = first->header.msgh_size <= words->rcv_size;

	receive->size = first->header.msgh_size;
	if (fits || (words->option & MACH_RCV_LARGE) == 0) {
		receive->message = queue_dequeue(port);
		queue_number(port, first);
	}
	return fits ? MACH_MSG_SUCCESS : MACH_RCV_TOO_LARGE;
}

/*
 * Waits to be given a message; `woken`, if not NULL, goes on instead.  May block.  What `queue` is
 * in may be gone afterwards: with its end those who wait at it are woken.
 */
static inline mach_msg_return_t queue_wait_for_message(struct wait_queue *queue,
						       const struct mach_msg_words *words,
						       struct receive_wait *receive,
						       struct thread *woken)
{
	bool limited = (words->option & MACH_RCV_TIMEOUT) != 0;
	enum wait_result result;

	receive->words = words;
	/* A time limit or a notification is more than the fast path looks after. */
	receive->direct =
		(words->option & (MACH_RCV_TIMEOUT | MACH_RCV_NOTIFY)) == 0 ? words->rcv_size : 0;
	if (woken != NULL)
		result = thread_exchange(queue, WAIT_MESSAGE, woken);
	else
		result = thread_wait(queue, limited ? tick_after_ms(words->timeout) : WAIT_FOREVER,
				     WAIT_MESSAGE);
	if (result == WAIT_WOKEN)
		return receive->result;
	return result == WAIT_TIMED_OUT ? MACH_RCV_TIMED_OUT : MACH_RCV_INTERRUPTED;
}

/* Receives from `ready`, a port that has a message, or if that is NULL waits at `queue`. */
static inline mach_msg_return_t queue_receive_from(struct port *ready, struct wait_queue *queue,
						   const struct mach_msg_words *words,
						   struct thread *woken)
{
	bool limited = (words->option & MACH_RCV_TIMEOUT) != 0;
	struct receive_wait *receive = &current_thread()->receive;

	if (woken != NULL && (ready != NULL || limited)) {
		thread_wake(woken, WAIT_WOKEN);
		woken = NULL;
	}
	if (ready != NULL)
		return queue_take_queued(ready, words, receive);
	if (limited && words->timeout == 0)
		return MACH_RCV_TIMED_OUT;
	return queue_wait_for_message(queue, words, receive, woken);
}

/* Finds what `name` is: a port that has a message, or *ready is NULL; and where to wait for one. */
static inline mach_msg_return_t queue_find_source(struct space *space, uint32_t name,
						  struct port **ready, struct wait_queue **queue)
{
	struct entry *entry = space_find(space, name);

	if (entry == NULL)
		return MACH_RCV_INVALID_NAME;
	if ((entry->type & MACH_PORT_TYPE_RECEIVE) != 0) {
		if (entry->port->set != NULL)
			return MACH_RCV_IN_SET;
		*ready = entry->port->n_messages > 0 ? entry->port : NULL;
		*queue = &entry->port->receivers;
		return MACH_MSG_SUCCESS;
	}
	if ((entry->type & MACH_PORT_TYPE_PORT_SET) == 0)
		return MACH_RCV_INVALID_NAME;
	*ready = port_set_ready(entry->set);
	*queue = &entry->set->receivers;
	return MACH_MSG_SUCCESS;
}

mach_msg_return_t message_receive(struct space *space, const struct mach_msg_words *words,
				  struct thread *woken)
{
	struct wait_queue *queue;
	struct port *ready;
	mach_msg_return_t result = queue_find_source(space, words->rcv_name, &ready, &queue);

	current_thread()->receive.message = NULL;
	if (result == MACH_MSG_SUCCESS)
		return queue_receive_from(ready, queue, words, woken);
	if (woken != NULL)
		thread_wake(woken, WAIT_WOKEN);
	return result;
}

mach_msg_return_t port_receive(struct port *port, struct thread *woken, struct message **message)
{
	/* No place of a user's: nobody can carry a long body there, so it comes as a message. */
	static const struct mach_msg_words words = {.rcv_size = UINT32_MAX};
	struct port *ready = port->n_messages > 0 ? port : NULL;
	struct receive_wait *receive = &current_thread()->receive;
	mach_msg_return_t result;

	assert(port->state == PORT_KERNEL && port->kind == OBJECT_NONE);
	receive->message = NULL;
	result = queue_receive_from(ready, &port->receivers, &words, woken);
	*message = receive->message;
	return result;
}
