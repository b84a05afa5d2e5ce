/* SPDX-License-Identifier: MIT */
/*
 * The traps for messages: mach_msg() and mach_reply_port().
 *
 * A message is copied in, sent, received and copied out by the files beside this one; here is the
 * order.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "ipc/fast_path.h"
#include "ipc/inbox.h"
#include "ipc/mach_msg.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"
#include "ipc/right.h"
#include "task/task.h"
#include "task/traps.h"

/*
 * Sends the message.  One that could not be sent comes back to its sender, with rights where it had
 * names.  The receiver is left in *woken if that can be (message_send()).
 */
static inline mach_msg_return_t mach_msg_send(const struct mach_msg_words *words,
					      struct thread **woken)
{
	struct task *task = current_task();
	struct message *message;
	mach_msg_return_t result;

	result = message_copyin(task->space, words, &message);
	if (result != MACH_MSG_SUCCESS)
		return result;
	task->messages_sent++;
	result = message_send(message, words, woken);
	if (result == MACH_MSG_SUCCESS)
		return result;
	if (result != MACH_SEND_WILL_NOTIFY)
		result |= message_copyout_pseudo(task->space, message, words->message);
	return result;
}

/* Tells the size of a message that stays where it is, as its header would. */
static mach_msg_return_t mach_msg_tell_size(user_address_t user, uint32_t size)
{
	copyout(user + offsetof(mach_msg_header_t, msgh_size), &size, sizeof size);
	return MACH_RCV_TOO_LARGE;
}

/* mach_msg_received() without a message of the kernel's. */
static mach_msg_return_t mach_msg_received_elsewhere(const struct mach_msg_words *words,
						     mach_msg_return_t result)
{
	struct thread *thread = current_thread();

	if (result == MACH_MSG_SUCCESS)
		return inbox_copyout(thread, words->message);
	if (result == MACH_RCV_TOO_LARGE)
		return mach_msg_tell_size(words->message, thread->receive.size);
	return result;
}

mach_msg_return_t mach_msg_received(const struct mach_msg_words *words, mach_msg_return_t result)
{
	struct thread *thread = current_thread();
	struct message *message = thread->receive.message;

	if (message == NULL)
		return mach_msg_received_elsewhere(words, result);
	return message_copyout(message, words, result);
}

mach_msg_return_t mach_msg_receive(const struct mach_msg_words *words, struct thread *woken)
{
	return mach_msg_received(words, message_receive(current_task()->space, words, woken));
}

/*
 * mach_msg() without the fast path.  Bits of `option` that mean nothing are passed over, and
 * without either half there is nothing to do.
 */
static __attribute__((noinline)) mach_msg_return_t
mach_msg_send_and_receive(const struct mach_msg_words *words)
{
	mach_msg_return_t result = MACH_MSG_SUCCESS;
	struct thread *woken = NULL;

	if ((words->option & MACH_SEND_MSG) != 0)
		result = mach_msg_send(words, &woken);
	if (result == MACH_MSG_SUCCESS && (words->option & MACH_RCV_MSG) != 0)
		return mach_msg_receive(words, woken);
	if (woken != NULL)
		thread_wake(woken, WAIT_WOKEN);
	return result;
}

TRAP_ABI mach_msg_return_t trap_mach_msg(struct mach_msg_words words)
{
	if (words.option == fast_path_option) {
		mach_msg_return_t result = fast_path(&words);

		if (result != FAST_PATH_DECLINED)
			return result;
	}
	return mach_msg_send_and_receive(&words);
}

/* A fresh receive right, for replies; MACH_PORT_NULL when there is no room for it. */
TRAP_ABI uint32_t trap_mach_reply_port(void)
{
	struct port *port = port_create(OBJECT_NONE, NULL, current_task()->owner);
	uint32_t name;

	if (port == NULL)
		return MACH_PORT_NULL;
	if (right_give(current_task()->space, port, MACH_MSG_TYPE_PORT_RECEIVE, &name) !=
	    KERN_SUCCESS) {
		port_destroy(port);
		return MACH_PORT_NULL;
	}
	return name;
}
