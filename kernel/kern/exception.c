/* SPDX-License-Identifier: MIT */
/* Exceptions of user programs: see exception.h. */
#include "kern/exception.h"

#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"
#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/lock.h"
#include "kern/log.h"
#include "kern/task.h"
#include "kern/thread.h"

#define STATUS_OF_EXCEPTION 128

static const char *exception_name(int exception)
{
	static const char *const names[] = {
		[EXC_BAD_ACCESS] = "EXC_BAD_ACCESS", [EXC_BAD_INSTRUCTION] = "EXC_BAD_INSTRUCTION",
		[EXC_ARITHMETIC] = "EXC_ARITHMETIC", [EXC_EMULATION] = "EXC_EMULATION",
		[EXC_SOFTWARE] = "EXC_SOFTWARE",     [EXC_BREAKPOINT] = "EXC_BREAKPOINT",
	};

	assert(exception > 0 && exception < (int)(sizeof names / sizeof names[0]));
	return names[exception];
}

/*
 * Sends the message, which it takes, and waits for the answer at `reply`.  Whether the thread is
 * done with the exception: it may go on, or was interrupted and has to.
 */
static bool call_handler(struct message *message, struct port *reply)
{
	static const struct mach_msg_words words = {.option = MACH_MSG_OPTION_NONE};
	struct message *answer;
	bool success;

	if (message_send(message, &words, NULL) != MACH_MSG_SUCCESS) {
		message_destroy(message);
		return true;
	}
	if (port_receive(reply, &answer) != MACH_MSG_SUCCESS)
		return true;
	success = exception_answer_is_success(answer);
	message_destroy(answer);
	return success;
}

/* Offers the exception to one handler; false if that does not take it. */
static bool offer(struct port *handler, const struct exception *exception)
{
	struct message *message;
	struct port *reply;
	bool done;

	if (!port_is_valid(handler))
		return false;
	reply = port_create(OBJECT_NONE, NULL);
	if (reply == NULL)
		return false;
	message = exception_message(handler, reply, exception);
	done = message != NULL && call_handler(message, reply);
	port_destroy(reply);
	return done;
}

static void end_task(struct task *task, const struct exception *exception)
{
	const struct thread *thread = current_thread();

	klog("%stask %u \"%s\", thread %u: %s, code %d, subcode 0x%x, at 0x%x: ended\n",
	     task->essential ? "essential " : "", task->id, task->name, thread->id,
	     exception_name(exception->exception), exception->code, (unsigned)exception->subcode,
	     (unsigned)thread_user_pc(thread));
	task_end(task, STATUS_OF_EXCEPTION + exception->exception);
}

void exception_raise(int exception, int code, uint32_t subcode)
{
	const struct exception what = {.exception = exception, .code = code, .subcode = subcode};
	struct thread *thread = current_thread();
	struct task *task = thread->task;

	assert(kernel_locked());
	if (offer(thread->exception_port, &what) || thread_is_dying(thread))
		return;
	if (offer(task->exception_port, &what) || thread_is_dying(thread))
		return;
	end_task(task, &what);
}
