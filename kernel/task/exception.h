/* SPDX-License-Identifier: MIT */
/*
 * Exceptions of user programs: telling a handler, and what is done when there is none.
 *
 * A thread with an exception sends exception_raise to its own exception port, then to its task's,
 * and waits for the answer, as a call of its own.  Success lets it go on with the registers that it
 * has then: the handler may have changed them.
 */
#ifndef TASK_EXCEPTION_H
#define TASK_EXCEPTION_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/exception.h>

struct message;
struct port;

/*
 * The current thread has caused an exception in user mode.  Returns when it may go on, or is to end
 * or aborted.  When no handler takes it its task ends, with a line in the log, and status 128 +
 * exception.  Under the kernel lock.  May block.
 */
void exception_raise(int exception, int code, uint32_t subcode);

/*
 * Tells a handler of something that is no fault of the current thread's, at the edge of user mode:
 * whoever does not take it need not.  False if it could not be sent because the thread was
 * interrupted.  Under the kernel lock.  May block.
 */
bool exception_tell(int exception, int code, uint32_t subcode);

/* ---------------- exception_message.c ---------------- */

struct exception {
	int exception;
	int code;
	uint32_t subcode;
};

/*
 * The current thread's message to `handler`, a send right that stays the caller's, to be answered
 * to `reply`, a port of the kernel's.  NULL when there is no memory or the handler is dead.
 */
struct message *exception_message(struct port *handler, struct port *reply,
				  const struct exception *exception);

/* Whether the answer lets the thread go on. */
bool exception_answer_is_success(const struct message *answer);

#endif
