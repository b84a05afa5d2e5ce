/* SPDX-License-Identifier: MIT */
/*
 * Messages from a task: names become rights, addresses become memory (message.h).
 *
 * First everything is read and checked, and out-of-line memory copied, none of which changes
 * anything for the sender; then the rights are taken and memory that moves is unmapped, which
 * cannot fail, but for a message that names the same right twice.  What may block comes before the
 * last check.  The body's steps are in message_body_copyin.c.  Guarded by the kernel lock.
 */
#include "ipc/message.h"

#include "base/assert.h"
#include "i386/mmu/copy.h"
#include "i386/patch/label_site.h"
#include "ipc/mach_msg.h"
#include "ipc/message_body.h"
#include "ipc/port.h"
#include "ipc/request.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "thread/thread.h"

/* ---------------- The header ---------------- */

/* The header's rights, once they are known to be there. */
struct header {
	struct entry *dest;
	struct entry *reply; /* NULL: there is none, only MACH_PORT_NULL or MACH_PORT_DEAD. */
	mach_msg_type_name_t dest_type;
	mach_msg_type_name_t reply_type;
	struct port *cancel; /* MACH_SEND_CANCEL: no port-deleted goes there; or NULL. */
};

static bool copyin_moves(mach_msg_type_name_t disposition)
{
	return disposition == MACH_MSG_TYPE_MOVE_SEND ||
	       disposition == MACH_MSG_TYPE_MOVE_SEND_ONCE;
}

/*
 * Destination and reply are one name, and either could be taken alone.  A send-once right cannot be
 * both, and two moved send rights take two user references; of all else there is enough for two.
 */
static mach_msg_return_t copyin_check_same(const struct header *header)
{
	if (header->dest_type == MACH_MSG_TYPE_MOVE_SEND_ONCE ||
	    header->reply_type == MACH_MSG_TYPE_MOVE_SEND_ONCE)
		return MACH_SEND_INVALID_DEST;
	if (copyin_moves(header->dest_type) && copyin_moves(header->reply_type) &&
	    header->dest->refs < 2)
		return MACH_SEND_INVALID_DEST;
	return MACH_MSG_SUCCESS;
}

/* Finds the header's rights and sees that they can be taken.  Changes nothing. */
static inline mach_msg_return_t
copyin_check_header(struct space *space, const mach_msg_header_t *user, struct header *header)
{
	mach_msg_type_name_t dest_type = MACH_MSGH_BITS_REMOTE(user->msgh_bits);
	mach_msg_type_name_t reply_type = MACH_MSGH_BITS_LOCAL(user->msgh_bits);
	struct entry *reply = NULL;
	struct entry *dest;

	if (!MACH_MSG_TYPE_PORT_ANY_SEND(dest_type))
		return MACH_SEND_INVALID_HEADER;
	if (reply_type == 0 ? user->msgh_local_port != MACH_PORT_NULL
			    : !MACH_MSG_TYPE_PORT_ANY_SEND(reply_type))
		return MACH_SEND_INVALID_HEADER;
	dest = space_find(space, user->msgh_remote_port);
	if (dest == NULL)
		return MACH_SEND_INVALID_DEST;
	if (MACH_PORT_VALID(user->msgh_local_port)) {
		reply = space_find(space, user->msgh_local_port);
		if (reply == NULL || !right_can_take(reply, reply_type))
			return MACH_SEND_INVALID_REPLY;
	}
	if (dest->type == MACH_PORT_TYPE_DEAD_NAME || !right_can_take(dest, dest_type))
		return MACH_SEND_INVALID_DEST;
	header->dest = dest;
	header->reply = reply;
	header->dest_type = dest_type;
	header->reply_type = reply_type;
	return dest == reply ? copyin_check_same(header) : MACH_MSG_SUCCESS;
}

/* MACH_SEND_CANCEL: `notify` must be a receive right. */
static inline mach_msg_return_t
copyin_check_cancel(struct space *space, const struct mach_msg_words *words, struct header *header)
{
	struct entry *entry;

	header->cancel = PORT_NULL;
	if ((words->option & MACH_SEND_CANCEL) == 0)
		return MACH_MSG_SUCCESS;
	entry = space_find(space, words->notify);
	if (entry == NULL || (entry->type & MACH_PORT_TYPE_RECEIVE) == 0)
		return MACH_SEND_INVALID_NOTIFY;
	header->cancel = entry->port;
	return MACH_MSG_SUCCESS;
}

/*
 * The entry loses `n` user references to the message.  If they are its last and the notification
 * that this would cause goes to `cancel`, there will be none.
 */
static void copyin_cancel_notification(struct entry *entry, uint32_t n, const struct port *cancel)
{
	struct port *previous;
	kern_return_t result;

	if (entry->request == NULL || entry->request->notify != cancel || entry->refs > n ||
	    (entry->type & MACH_PORT_TYPE_RECEIVE) != 0)
		return;
	result = request_set(entry, NULL, PORT_NULL, &previous);
	assert(result == KERN_SUCCESS && previous == cancel);
	port_use_send_once(previous);
}

static void copyin_cancel_notifications(const struct header *header)
{
	uint32_t dest = copyin_moves(header->dest_type);
	uint32_t reply = header->reply != NULL && copyin_moves(header->reply_type);

	if (header->reply == header->dest)
		dest += reply;
	else if (reply != 0)
		copyin_cancel_notification(header->reply, reply, header->cancel);
	if (dest != 0)
		copyin_cancel_notification(header->dest, dest, header->cancel);
}

static inline struct port *copyin_take_reply_right(const struct header *header,
						   const mach_msg_header_t *user)
{
	if (header->reply == NULL)
		return (struct port *)user->msgh_local_port; /* PORT_NULL or PORT_DEAD_NAME. */
	return right_take(header->reply, header->reply_type);
}

/*
 * Notes on whose behalf the message is.  One by a send-once right is for whom that was made; if the
 * thread works for the same, it has answered, and works for itself.
 */
static inline void copyin_take_label(struct message *message, const struct port *dest,
				     mach_msg_type_name_t right)
{
	struct thread *thread = current_thread();

	message->label = thread->label;
	if (right != MACH_MSG_TYPE_PORT_SEND_ONCE)
		return;
	if (dest->label == thread->label)
		machine_label_set(thread, thread->home);
	message->label = dest->label;
}

/*
 * Takes what copyin_check_header() found into the message, and notes the label; `other` are the
 * header's other bits.  Where both are of one name the right that moves goes last: the other is
 * made from it.
 */
static inline void copyin_take_header(struct message *message, const struct header *header,
				      mach_msg_bits_t other)
{
	mach_msg_type_name_t dest_type = right_after(header->dest_type);
	mach_msg_type_name_t reply_type = 0;
	struct port *dest, *reply;

	if (header->cancel != PORT_NULL)
		copyin_cancel_notifications(header);
	if (header->dest == header->reply && copyin_moves(header->dest_type)) {
		reply = right_take(header->reply, header->reply_type);
		dest = right_take(header->dest, header->dest_type);
	} else {
		dest = right_take(header->dest, header->dest_type);
		reply = copyin_take_reply_right(header, &message->header);
	}
	assert(port_is_valid(dest));
	if (header->reply_type != 0)
		reply_type = right_after(header->reply_type);
	message->header.msgh_bits = other | MACH_MSGH_BITS(dest_type, reply_type);
	message_set_ports(message, dest, reply);
	copyin_take_label(message, dest, dest_type);
}

/* ---------------- The message ---------------- */

/* Finds all that the header names.  Changes nothing. */
static inline mach_msg_return_t copyin_check_names(struct space *space,
						   const struct mach_msg_words *words,
						   const struct message *message,
						   struct header *header)
{
	mach_msg_return_t result = copyin_check_cancel(space, words, header);

	return result == MACH_MSG_SUCCESS ? copyin_check_header(space, &message->header, header)
					  : result;
}

/* Takes what was found; fails only for a message that names a right twice, and destroys it. */
static inline mach_msg_return_t copyin_take_names(struct space *space, struct message *message,
						  const struct header *header, struct body *body)
{
	copyin_take_header(message, header, body_is_special(body) ? MACH_MSGH_BITS_COMPLEX : 0);
	if (body->rights && !body_take_rights(space, message, body)) {
		message_destroy(message);
		return MACH_SEND_INVALID_RIGHT;
	}
	if (body->out_of_line)
		body_unmap_moved(body);
	return MACH_MSG_SUCCESS;
}

/* Nothing of the sender's has been taken.  Frees the message. */
static void copyin_refuse(struct message *message, struct body *body)
{
	if (body_is_special(body))
		body_forget(message, body);
	message_free(message);
}

/*
 * Turns the user's message into the kernel's, or frees it.  To bring memory may block, so that all
 * names are looked up after it; of several things that are wrong the header's is told.
 */
static mach_msg_return_t copyin_take(struct space *space, const struct mach_msg_words *words,
				     struct message *message)
{
	struct header header;
	struct body body;
	mach_msg_return_t result = body_check(message, &body);
	mach_msg_return_t names;

	if (result == MACH_MSG_SUCCESS && body.out_of_line)
		result = body_bring_memory(&body);
	names = copyin_check_names(space, words, message, &header);
	if (names != MACH_MSG_SUCCESS)
		result = names;
	if (result == MACH_MSG_SUCCESS && body.rights)
		result = body_check_rights(space, &body);
	if (result == MACH_MSG_SUCCESS)
		result = copyin_take_names(space, message, &header, &body);
	else
		copyin_refuse(message, &body);
	body_done(&body);
	return result;
}

/*
 * Copies what the user wrote.  Of a header alone all but msgh_seqno and msgh_size is read, which
 * are the kernel's to fill in.
 */
static inline bool copyin_read_message(struct message *message, user_address_t user, uint32_t size)
{
	if (size == sizeof message->header && short_is_user(user) &&
	    copyin_header(&message->header.msgh_bits, user))
		return true;
	return size <= SHORT_COPY ? copyin_short(&message->header, user, size)
				  : copyin(&message->header, user, size);
}

/*
 * Bits of the header that mean nothing, or something only within the kernel, are cleared, so that
 * they do not pass from task to task.
 */
mach_msg_return_t message_copyin(struct space *space, const struct mach_msg_words *words,
				 struct message **result)
{
	uint32_t size = words->send_size;
	struct message *message;

	if (size < sizeof(mach_msg_header_t) || size % 4 != 0)
		return MACH_SEND_MSG_TOO_SMALL;
	message = message_alloc(size);
	if (message == NULL)
		return MACH_SEND_NO_BUFFER;
	if (!copyin_read_message(message, words->message, size)) {
		message_free(message);
		return body_unread(MACH_SEND_INVALID_DATA);
	}
	*result = message;
	message->header.msgh_size = size;
	message->header.msgh_bits &= MACH_MSGH_BITS_COMPLEX | MACH_MSGH_BITS_PORTS_MASK;
	return copyin_take(space, words, message);
}
