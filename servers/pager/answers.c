/* SPDX-License-Identifier: MIT */
/*
 * Answers to the kernel: memory_object_data_supply() and its like, without waiting.
 *
 * The stubs of <mach/mach.h> wait while a port's queue is full.  The kernel's ports have none.  But
 * that of an object that has just ended is no longer the kernel's: it is on its way to this
 * program, in the message that says so, and there is nobody to take answers out of it.
 */
#include "pager.h"

#include <mach/messages.h>

static const mach_msg_type_t word_type = DESCRIBE_UNSIGNED(1);

/* All three begin so, and the other two consist of this. */
struct range_message {
	mach_msg_header_t head;
	mach_msg_type_t offset_type;
	vm_offset_t offset;
	mach_msg_type_t size_type;
	vm_size_t size;
	mach_msg_type_t error_type; /* Of data_error() alone. */
	kern_return_t error;
};

struct supply_message {
	mach_msg_header_t head;
	mach_msg_type_t offset_type;
	vm_offset_t offset;
	mach_msg_type_long_t data_type;
	vm_offset_t data;
	mach_msg_type_t lock_type;
	vm_prot_t lock;
	mach_msg_type_t precious_type;
	boolean_t precious;
	mach_msg_type_t reply_type;
	mach_port_t reply;
};

/* Tries again while the kernel has no memory for the message, but not while there is no room. */
static mach_msg_return_t answers_send(mach_msg_header_t *head, mach_port_t control,
				      mach_msg_size_t size, mach_msg_id_t id)
{
	mach_msg_bits_t complex = head->msgh_bits;
	mach_msg_return_t result;

	for (;;) {
		head->msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0) | complex;
		head->msgh_remote_port = control;
		head->msgh_local_port = MACH_PORT_NULL;
		head->msgh_id = id;
		result = mach_msg(head, MACH_SEND_MSG | MACH_SEND_TIMEOUT, size, 0, MACH_PORT_NULL,
				  0, MACH_PORT_NULL);
		if (!is_shortage(result))
			return result;
		wait_for_memory();
	}
}

void answer_supply(mach_port_t control, vm_offset_t offset, vm_address_t page, bool precious)
{
	struct supply_message message = {
		.head.msgh_bits = MACH_MSGH_BITS_COMPLEX,
		.offset_type = word_type,
		.offset = offset,
		.data_type = {.msgtl_header = {.msgt_longform = TRUE, .msgt_deallocate = TRUE},
			      .msgtl_name = MACH_MSG_TYPE_BYTE,
			      .msgtl_size = 8,
			      .msgtl_number = PAGE_SIZE},
		.data = page,
		.lock_type = word_type,
		.lock = VM_PROT_NONE,
		.precious_type = word_type,
		.precious = precious,
		.reply_type = word_type,
		.reply = MACH_PORT_NULL,
	};

	message.precious_type.msgt_name = MACH_MSG_TYPE_BOOLEAN;
	message.reply_type.msgt_name = MACH_MSG_TYPE_MAKE_SEND_ONCE;
	/* A message that is not sent brings its memory back, maybe elsewhere. */
	if (answers_send(&message.head, control, sizeof message, ID_MEMORY_OBJECT_DATA_SUPPLY) !=
	    MACH_MSG_SUCCESS)
		syscall_vm_deallocate(mach_task_self_cached(), message.data, PAGE_SIZE);
}

void answer_unavailable(mach_port_t control, vm_offset_t offset)
{
	struct range_message message = {
		.offset_type = word_type,
		.offset = offset,
		.size_type = word_type,
		.size = PAGE_SIZE,
	};

	answers_send(&message.head, control, offsetof(struct range_message, error_type),
		     ID_MEMORY_OBJECT_DATA_UNAVAILABLE);
}

void answer_error(mach_port_t control, vm_offset_t offset, kern_return_t error)
{
	struct range_message message = {
		.offset_type = word_type,
		.offset = offset,
		.size_type = word_type,
		.size = PAGE_SIZE,
		.error_type = word_type,
		.error = error,
	};

	answers_send(&message.head, control, sizeof message, ID_MEMORY_OBJECT_DATA_ERROR);
}
