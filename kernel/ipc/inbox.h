/* SPDX-License-Identifier: MIT */
/* The inbox of a thread (struct receive_wait): what the fast path has left in it. */
#ifndef IPC_INBOX_H
#define IPC_INBOX_H

#include <mach/message.h>

#include "i386/mmu/copy.h"
#include "ipc/message_body.h"
#include "task/task.h"
#include "thread/thread.h"

_Static_assert(INBOX_SIZE <= SHORT_COPY, "what is in the inbox is short");

/*
 * Copies the message in the inbox, of a long one the header, to the task of `thread`, the current
 * one, which has its rights already.  If that fails it shall not have them either:
 * MACH_RCV_INVALID_DATA.
 */
static inline mach_msg_return_t inbox_copyout(struct thread *thread, user_address_t user)
{
	mach_msg_header_t *header = &thread->receive.inbox.message.header;

	if (header->msgh_size == sizeof *header && copyout_header(user, &header->msgh_bits))
		return MACH_MSG_SUCCESS;
	if (header->msgh_size > INBOX_SIZE ? copyout_header(user, &header->msgh_bits)
					   : copyout(user, header, header->msgh_size))
		return MACH_MSG_SUCCESS;
	names_take_back(thread->task->space, &header->msgh_remote_port, 1,
			MACH_MSG_TYPE_PORT_SEND_ONCE);
	return MACH_RCV_INVALID_DATA;
}

/*
 * Copies a message of `size` bytes into the inbox; of a header alone, and of one whose body has no
 * room there, the header but for msgh_seqno and msgh_size.  The caller has seen that the message's
 * address short_is_user().  False if it has no such size or cannot be read.
 */
static inline bool inbox_copyin(struct thread *thread, user_address_t user, uint32_t size)
{
	mach_msg_header_t *header = &thread->receive.inbox.message.header;

	if (size == sizeof *header)
		return copyin_header(&header->msgh_bits, user);
	if (size < sizeof *header || size % 4 != 0)
		return false;
	return size > INBOX_SIZE ? copyin_header(&header->msgh_bits, user)
				 : copyin_words(header, user, size);
}

#endif
