/* SPDX-License-Identifier: MIT */
/* The words of a call of mach_msg(). */
#ifndef IPC_MACH_MSG_H
#define IPC_MACH_MSG_H

#include <stdint.h>

#include <mach/message.h>

#include "i386/mmu/copy.h"

struct message;
struct thread;

/* In the order in which the caller pushed them. */
struct mach_msg_words {
	user_address_t message; /* The buffer, for both directions. */
	uint32_t option;        /* MACH_SEND_... and MACH_RCV_... */
	uint32_t send_size;
	uint32_t rcv_size;
	mach_port_name_t rcv_name;
	uint32_t timeout; /* In milliseconds. */
	mach_port_name_t notify;
};

/*
 * What mach_msg() returns when receiving came to `result`: gives what has come, which is in the
 * current thread's `receive`, to its task.  Where no message is there a success is in the inbox.
 * May block, for the task's memory.
 */
mach_msg_return_t mach_msg_received(const struct mach_msg_words *words, mach_msg_return_t result);

/*
 * The second half of mach_msg(): wakes `woken`, if not NULL, receives, and gives what has come to
 * the current task.  May block.
 */
mach_msg_return_t mach_msg_receive(const struct mach_msg_words *words, struct thread *woken);

#endif
