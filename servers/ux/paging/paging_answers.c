/* SPDX-License-Identifier: MIT */
/*
 * What a pager says to the kernel, without waiting.
 *
 * The stubs of <mach/mach.h> wait while a port's queue is full.  The kernel's ports have none.  But
 * that of an object that has just ended is on its way to this server, in the message that says so,
 * and there may be nobody to take it: all of these are called with the server's lock held.
 */
#include "paging/paging.h"

#include <mach/messages.h>

static const mach_msg_type_t word_type = DESCRIBE_UNSIGNED(1);

static const mach_msg_type_t boolean_type = DESCRIBE_BOOLEAN_T(1);

static const mach_msg_type_t once_type = DESCRIBE_MACH_PORT_MAKE_SEND_ONCE_T(1);

/* A word of a message, with what it is. */
struct word {
	mach_msg_type_t type;
	natural_t value;
};

/* What the kernel has no memory for is as if it had been lost: it asks again, or does without. */
static mach_msg_return_t paging_send(mach_msg_header_t *head, mach_port_t control,
				     mach_msg_size_t size, mach_msg_id_t id, bool is_complex)
{
	assert(ux_lock_held());
	head->msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0) |
			  (is_complex ? MACH_MSGH_BITS_COMPLEX : 0);
	head->msgh_remote_port = control;
	head->msgh_local_port = MACH_PORT_NULL;
	head->msgh_id = id;
	return mach_msg(head, MACH_SEND_MSG | MACH_SEND_TIMEOUT, size, 0, MACH_PORT_NULL, 0,
			MACH_PORT_NULL);
}

static struct word answer_word(natural_t value)
{
	return (struct word){word_type, value};
}

static struct word answer_flag(bool value)
{
	return (struct word){boolean_type, value};
}

void answer_ready(mach_port_t control, bool may_cache)
{
	struct {
		mach_msg_header_t head;
		struct word may_cache, strategy;
	} message = {.may_cache = answer_flag(may_cache),
		     .strategy = answer_word(MEMORY_OBJECT_COPY_DELAY)};

	paging_send(&message.head, control, sizeof message, ID_MEMORY_OBJECT_READY, false);
}

void answer_attributes(mach_port_t control, bool may_cache)
{
	struct {
		mach_msg_header_t head;
		struct word may_cache, strategy, reply;
	} message = {.may_cache = answer_flag(may_cache),
		     .strategy = answer_word(MEMORY_OBJECT_COPY_DELAY),
		     .reply = {once_type, MACH_PORT_NULL}};

	paging_send(&message.head, control, sizeof message, ID_MEMORY_OBJECT_CHANGE_ATTRIBUTES,
		    true);
}

void answer_error(mach_port_t control, vm_offset_t offset, vm_size_t size)
{
	struct {
		mach_msg_header_t head;
		struct word offset, size, error;
	} message = {.offset = answer_word(offset),
		     .size = answer_word(size),
		     .error = answer_word(KERN_MEMORY_ERROR)};

	paging_send(&message.head, control, sizeof message, ID_MEMORY_OBJECT_DATA_ERROR, false);
}

/* The kernel copies so few pages at once, which is why the memory stays this server's. */
void answer_supply(mach_port_t control, vm_offset_t offset, const void *data, vm_size_t size)
{
	struct {
		mach_msg_header_t head;
		struct word offset;
		mach_msg_type_long_t data_type;
		const void *data;
		struct word lock, precious, reply;
	} message = {
		.offset = answer_word(offset),
		.data_type = {.msgtl_header = {.msgt_longform = TRUE},
			      .msgtl_name = MACH_MSG_TYPE_BYTE,
			      .msgtl_size = 8,
			      .msgtl_number = size},
		.data = data,
		.lock = answer_word(VM_PROT_NONE),
		.precious = answer_flag(false),
		.reply = {once_type, MACH_PORT_NULL},
	};

	/* Without memory for the message the touch of the page fails, and may be tried again. */
	if (paging_send(&message.head, control, sizeof message, ID_MEMORY_OBJECT_DATA_SUPPLY,
			true) == MACH_SEND_NO_BUFFER)
		answer_error(control, offset, size);
}

/* ---------------- Lock requests ---------------- */

static mach_msg_return_t answer_lock_request(mach_port_t control, vm_offset_t offset,
					     vm_size_t size, bool flush, mach_port_t reply)
{
	struct {
		mach_msg_header_t head;
		struct word offset, size, should_return, flush, lock, reply;
	} message = {
		.offset = answer_word(offset),
		.size = answer_word(size),
		.should_return = answer_word(MEMORY_OBJECT_RETURN_NONE),
		.flush = answer_flag(flush),
		.lock = answer_word(VM_PROT_NONE),
		.reply = {once_type, reply},
	};

	return paging_send(&message.head, control, sizeof message, ID_MEMORY_OBJECT_LOCK_REQUEST,
			   true);
}

void answer_unlock(mach_port_t control, vm_offset_t offset, vm_size_t size)
{
	answer_lock_request(control, offset, size, false, MACH_PORT_NULL);
}

#define TRAILER_ROOM 64u /* For what the kernel adds to a message. */

/* Takes the kernel's answer, which is there or will not come. */
static bool answer_is_answered(mach_port_t reply)
{
	struct {
		mach_msg_header_t head;
		struct word control, offset, size;
		char trailer[TRAILER_ROOM];
	} answer;

	if (mach_msg(&answer.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof answer, reply, 0,
		     MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		return false;
	if ((answer.head.msgh_bits & MACH_MSGH_BITS_COMPLEX) != 0)
		mach_port_deallocate(mach_task_self_cached(), answer.control.value);
	return true;
}

/*
 * The kernel does all of it before the message counts as sent.  If it has not answered by then, the
 * control port is no longer its own: it has no pages of the object, and there is nothing to await.
 */
void answer_flush(mach_port_t control, vm_offset_t offset, vm_size_t size)
{
	mach_port_t reply = mig_get_reply_port();

	if (answer_lock_request(control, offset, size, true, reply) == MACH_MSG_SUCCESS &&
	    answer_is_answered(reply))
		mig_put_reply_port(reply);
	else
		mig_dealloc_reply_port(reply);
}
