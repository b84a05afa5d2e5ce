/* SPDX-License-Identifier: MIT */
/*
 * Messages to a task: rights become names, memory becomes addresses (message.h).
 *
 * All of this is in the context of the receiver, the current thread.  Its buffer is written once,
 * when everything in the message is the receiver's; nothing of the kernel's own goes out.  Guarded
 * by the kernel lock.
 */
#include "ipc/message.h"

#include <stddef.h>

#include "base/assert.h"
#include "i386/mmu/copy.h"
#include "i386/patch/label_site.h"
#include "ipc/mach_msg.h"
#include "ipc/message_body.h"
#include "ipc/port.h"
#include "ipc/request.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "task/task.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/kernel_memory.h"

/* ---------------- Rights ---------------- */

/*
 * Gives the right, PORT_NULL and PORT_DEAD_NAME as MACH_PORT_NULL and MACH_PORT_DEAD, and leaves
 * the name in its place.  On failure the right stays there; returns MACH_MSG_IPC_... for whose
 * lack.
 */
static inline mach_msg_return_t copyout_give(struct space *space, mach_port_t *place,
					     mach_msg_type_name_t kind)
{
	struct port *port = (struct port *)*place;
	uint32_t name;

	if (!port_is_valid(port))
		return 0;
	switch (right_give(space, port, kind, &name)) {
	case KERN_SUCCESS:
		*place = name;
		return 0;
	case KERN_RESOURCE_SHORTAGE:
		return MACH_MSG_IPC_KERNEL;
	default:
		return MACH_MSG_IPC_SPACE;
	}
}

/* As copyout_give(), but drops what cannot be given and leaves MACH_PORT_NULL. */
static mach_msg_return_t copyout_give_or_drop(struct space *space, mach_port_t *place,
					      mach_msg_type_name_t kind)
{
	mach_msg_return_t lack = copyout_give(space, place, kind);

	if (lack != 0) {
		right_release((struct port *)*place, kind);
		*place = MACH_PORT_NULL;
	}
	return lack;
}

/* ---------------- The header ---------------- */

/*
 * MACH_RCV_NOTIFY: asks for a dead-name notification to `receiver`, a port of the same space, about
 * the right that was just given in the header.  On failure the right is in the message again.
 */
static mach_msg_return_t copyout_request_dead_name(struct space *space, struct message *message,
						   struct port *receiver)
{
	struct entry *entry = space_find(space, message->header.msgh_local_port);
	struct port *notify, *previous;

	assert(entry != NULL && entry->request == NULL);
	notify = port_make_send_once(receiver);
	if (request_set(entry, space->owner, notify, &previous) == KERN_SUCCESS)
		return MACH_MSG_SUCCESS;
	port_use_send_once(notify);
	message->header.msgh_local_port =
		(mach_port_t)right_take(entry, MACH_MSGH_BITS_LOCAL(message->header.msgh_bits));
	return MACH_RCV_HEADER_ERROR | MACH_MSG_IPC_KERNEL;
}

/*
 * MACH_RCV_NOTIFY: leaves in *receiver the port that is to be told of the death of `reply`, which
 * will be given with a right of `kind`; if the name for that is not new, PORT_NULL.
 */
static mach_msg_return_t copyout_find_notified(struct space *space, struct port *reply,
					       mach_msg_type_name_t kind, uint32_t notify,
					       struct port **receiver)
{
	struct entry *entry;

	if (notify == MACH_PORT_NULL)
		return MACH_RCV_INVALID_NOTIFY;
	if (!port_is_valid(reply))
		return MACH_MSG_SUCCESS;
	entry = space_find(space, notify);
	if (entry == NULL || (entry->type & MACH_PORT_TYPE_RECEIVE) == 0)
		return MACH_RCV_INVALID_NOTIFY;
	if (port_is_alive(reply) &&
	    (kind == MACH_MSG_TYPE_PORT_SEND_ONCE || space_find_port(space, reply) == NULL))
		*receiver = entry->port;
	return MACH_MSG_SUCCESS;
}

/*
 * Gives the reply right; if the receiver asks for that and the name is new it is watched.  On
 * failure the right is still in the message.
 */
static inline mach_msg_return_t copyout_give_reply_right(struct space *space,
							 struct message *message,
							 const struct mach_msg_words *words)
{
	mach_msg_type_name_t kind = MACH_MSGH_BITS_LOCAL(message->header.msgh_bits);
	struct port *receiver = PORT_NULL;
	mach_msg_return_t result;

	if ((words->option & MACH_RCV_NOTIFY) != 0) {
		result = copyout_find_notified(space, message_local(message), kind, words->notify,
					       &receiver);
		if (result != MACH_MSG_SUCCESS)
			return result;
	}
	result = copyout_give(space, &message->header.msgh_local_port, kind);
	if (result != 0)
		return MACH_RCV_HEADER_ERROR | result;
	if (receiver != PORT_NULL)
		return copyout_request_dead_name(space, message, receiver);
	return MACH_MSG_SUCCESS;
}

/*
 * The current thread, which receives the message, works for itself unless there is something to
 * answer: a reply right, whose name is in msgh_local_port, a request of the kernel's; or the port's
 * owner has said that all messages count.  What comes by a send-once right is an answer itself, and
 * brings back what the thread was doing when it made that.  Of a request it is noted by which name
 * its client can be found (prof/clients.c): the reply right's, or the port's that it came to.
 */
static inline void copyout_set_label(const struct message *message, const struct port *dest)
{
	const mach_msg_header_t *header = &message->header;
	struct thread *thread = current_thread();
	bool answers = MACH_MSGH_BITS_REMOTE(header->msgh_bits) == MACH_MSG_TYPE_PORT_SEND_ONCE;
	bool can_answer = MACH_PORT_VALID(header->msgh_local_port);
	bool counts = answers || can_answer || (header->msgh_bits & BITS_KERNEL_REQUEST) != 0 ||
		      dest->one_way_counts;

	if (!answers)
		thread->serves = can_answer ? header->msgh_local_port : dest->name;
	if ((header->msgh_bits & BITS_KERNEL_LATER) != 0)
		thread->serves = MACH_PORT_NULL;
	machine_label_set(thread, counts ? message->label : thread->home);
}

/*
 * Puts the header as the receiver sees it: its own port is the local one, by its name or by the
 * payload that was set for it, and the right that brought the message is used up.  What replies go
 * to, msgh_local_port until now, is a name already.  The receive right may have left the space, or
 * be gone, since the message was taken.  Sets the current thread's label.
 */
static inline void copyout_turn_header(const struct space *space, struct message *message)
{
	mach_msg_header_t *header = &message->header;
	mach_msg_bits_t bits = header->msgh_bits;
	mach_msg_type_name_t right = MACH_MSGH_BITS_REMOTE(bits);
	mach_msg_type_name_t local_kind = right;
	struct port *dest = message_remote(message);
	bool is_own = dest->receiver == space;

	copyout_set_label(message, dest);
	header->msgh_remote_port = header->msgh_local_port;
	if (!is_own) {
		header->msgh_local_port = port_is_alive(dest) ? MACH_PORT_NULL : MACH_PORT_DEAD;
	} else if (dest->has_payload) {
		local_kind = MACH_MSG_TYPE_PROTECTED_PAYLOAD;
		header->msgh_protected_payload = dest->payload;
	} else {
		header->msgh_local_port = dest->name;
	}
	header->msgh_bits = (bits & MACH_MSGH_BITS_COMPLEX) |
			    MACH_MSGH_BITS(MACH_MSGH_BITS_LOCAL(bits), local_kind);
	if (right == MACH_MSG_TYPE_PORT_SEND)
		port_release_send_valid(dest);
	else if (is_own)
		port_use_send_once(dest);
	else
		port_release_send_once(dest);
}

/* ---------------- The body ---------------- */

/* Gives the rights of a part; in place of those that cannot be given stands MACH_PORT_NULL. */
static mach_msg_return_t copyout_give_rights(struct space *space, const struct part *part)
{
	uint32_t *rights = part_rights(part);
	uint32_t n = part_n_rights(part);
	mach_msg_return_t lacks = 0;

	for (uint32_t i = 0; i < n; i++) {
		lacks |= copyout_give_or_drop(space, &rights[i], part->name);
		pause_each();
	}
	return lacks;
}

/* Maps the copy, and takes it on success, when the address is in *place. */
static kern_return_t copyout_give_copy(struct copy *copy, uint32_t *place)
{
	if (copy == NULL)
		return KERN_RESOURCE_SHORTAGE;
	return copy_give(current_task()->map, copy, place);
}

/* The part has no data then, and its descriptor says so. */
static mach_msg_return_t copyout_lose_memory(struct part *part, kern_return_t why)
{
	*part->data = 0;
	if (part->type->msgt_longform)
		((mach_msg_type_long_t *)part->type)->msgtl_size = 0;
	else
		part->type->msgt_size = 0;
	return why == KERN_RESOURCE_SHORTAGE ? MACH_MSG_VM_KERNEL : MACH_MSG_VM_SPACE;
}

/* Gives an array of what are names by now. */
static mach_msg_return_t copyout_give_names(struct space *space, struct part *part)
{
	uint32_t *names = part_rights(part);
	uint32_t length = part->length;
	struct copy *copy = copy_of_kernel(names, length);
	kern_return_t result = copyout_give_copy(copy, part->data);
	mach_msg_return_t lacks = 0;

	if (result != KERN_SUCCESS) {
		if (copy != NULL)
			copy_destroy(copy);
		names_take_back(space, names, part_n_rights(part), part->name);
		lacks = copyout_lose_memory(part, result);
	}
	kernel_memory_free(names, length);
	return lacks;
}

static mach_msg_return_t copyout_give_data(struct part *part)
{
	struct copy *copy = (struct copy *)*part->data;
	kern_return_t result = copyout_give_copy(copy, part->data);

	if (result == KERN_SUCCESS)
		return 0;
	copy_destroy(copy);
	return copyout_lose_memory(part, result);
}

/* Gives what the body has; returns MACH_MSG_IPC_... and MACH_MSG_VM_... for what was lost. */
static mach_msg_return_t copyout_give_body(struct space *space, struct message *message)
{
	mach_msg_return_t lacks = 0;
	struct body_walk walk;
	struct part *part;

	if ((message->header.msgh_bits & MACH_MSGH_BITS_COMPLEX) == 0)
		return 0;
	body_begin(&walk, message);
	while ((part = body_next(&walk)) != NULL) {
		if (part->rights)
			lacks |= copyout_give_rights(space, part);
		if (part->in_line)
			continue;
		if (part->length != 0)
			lacks |= part->rights ? copyout_give_names(space, part)
					      : copyout_give_data(part);
		part->type->msgt_deallocate = true;
	}
	return lacks;
}

/* ---------------- The message ---------------- */

static inline bool copyout_written(const mach_msg_header_t *header, user_address_t user)
{
	uint32_t size = header->msgh_size;

	if (size == sizeof *header && copyout_header(user, &header->msgh_bits))
		return true;
	return size <= SHORT_COPY ? copyout_short(user, header, size) : copyout(user, header, size);
}

/* Destroys what the message carries, but for the right that brought it. */
static void copyout_strip(struct message *message)
{
	struct port *reply = message_local(message);

	message_destroy_body(message);
	if (port_is_valid(reply)) {
		right_release(reply, MACH_MSGH_BITS_LOCAL(message->header.msgh_bits));
		message->header.msgh_local_port = MACH_PORT_NULL;
	}
}

/* Takes the message. */
mach_msg_return_t message_copyout(struct message *message, const struct mach_msg_words *words,
				  mach_msg_return_t result)
{
	struct task *task = current_task();
	struct space *space = task->space;
	mach_msg_return_t lacks;

	task->messages_received++;
	if (result == MACH_MSG_SUCCESS)
		result = copyout_give_reply_right(space, message, words);
	if (result != MACH_MSG_SUCCESS)
		copyout_strip(message);
	copyout_turn_header(space, message);
	if (result != MACH_MSG_SUCCESS) {
		copyout(words->message, &message->header, sizeof message->header);
		message_free(message);
		return result;
	}
	lacks = copyout_give_body(space, message);
	if (lacks != 0)
		result = MACH_RCV_BODY_ERROR | lacks;
	if (!copyout_written(&message->header, words->message)) {
		message_take_back(space, message);
		return MACH_RCV_INVALID_DATA;
	}
	message_free(message);
	return result;
}

/*
 * Takes the message; returns only the bits for what was lost.  What its sender has in msgh_seqno
 * was perhaps not read, and stays there.  The rights are the sender's again
 * even if its buffer, which has been read only so far, cannot be written.
 */
mach_msg_return_t message_copyout_pseudo(struct space *space, struct message *message,
					 user_address_t user)
{
	mach_msg_header_t *header = &message->header;
	mach_msg_bits_t bits = header->msgh_bits & ~MACH_MSGH_BITS_CIRCULAR;
	mach_msg_return_t lacks;

	lacks = copyout_give_or_drop(space, &header->msgh_remote_port, MACH_MSGH_BITS_REMOTE(bits));
	lacks |= copyout_give_or_drop(space, &header->msgh_local_port, MACH_MSGH_BITS_LOCAL(bits));
	lacks |= copyout_give_body(space, message);
	header->msgh_bits = bits;
	copyout(user, header, offsetof(mach_msg_header_t, msgh_seqno));
	copyout(user + offsetof(mach_msg_header_t, msgh_id), &header->msgh_id,
		header->msgh_size - offsetof(mach_msg_header_t, msgh_id));
	message_free(message);
	return lacks;
}
