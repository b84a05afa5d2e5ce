/* SPDX-License-Identifier: MIT */
/* Exceptions of user programs: see exception.h. */
#include "task/exception.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/owner.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"
#include "task/task.h"
#include "thread/thread.h"

#define STATUS_OF_EXCEPTION 128

#define LOG_LINES  10u            /* A user's in the log at once, */
#define LOG_PERIOD 10000000000ull /* and one more whenever so many nanoseconds have passed. */

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

/* The port at which the current thread waits for answers; NULL when there is no memory. */
static struct port *exception_answer_port(struct thread *thread)
{
	if (thread->answer_port == NULL)
		thread->answer_port = port_create(OBJECT_NONE, NULL, NULL);
	return thread->answer_port;
}

/*
 * An answer may come yet: it must not be taken for that of the next exception.  That the thread
 * goes on without one shows in the port's death; of a thread's end the answer need not know.
 */
static void exception_drop_answer_port(struct thread *thread)
{
	struct port *port = thread->answer_port;

	thread->answer_port = NULL;
	if (thread_is_dying(thread))
		port_abandon(port);
	else
		port_destroy(port);
}

/* Whether the answer, in `message` or in the thread's inbox, lets the thread go on. */
static bool exception_is_success(struct thread *thread, struct message *message)
{
	bool success;

	if (message == NULL)
		return exception_answer_is_success(&thread->receive.inbox.message);
	success = exception_answer_is_success(message);
	/* The answer's send-once right was used: no send-once notification is due for it. */
	port_use_send_once(message_remote(message));
	message_set_ports(message, PORT_NULL, message_local(message));
	message_destroy(message);
	return success;
}

/* What has become of an exception that was offered. */
enum offer {
	OFFER_DECLINED,
	OFFER_UNSENT, /* The thread was interrupted, and has to go on, before it was told, */
	OFFER_OVER    /* or after that; or the handler has answered that it may. */
};

/* Sends the message, which it takes, and waits for the answer at the thread's answer port. */
static enum offer exception_call_handler(struct thread *thread, struct message *message)
{
	static const struct mach_msg_words words = {.option = MACH_MSG_OPTION_NONE};
	struct thread *woken = NULL;
	mach_msg_return_t sent = message_send(message, &words, &woken);
	struct message *answer;
	bool success;

	if (sent != MACH_MSG_SUCCESS) {
		message_destroy(message);
		exception_drop_answer_port(thread);
		return sent == MACH_SEND_NO_BUFFER ? OFFER_DECLINED : OFFER_UNSENT;
	}
	if (port_receive(thread->answer_port, woken, &answer) != MACH_MSG_SUCCESS) {
		exception_drop_answer_port(thread);
		return OFFER_OVER;
	}
	success = exception_is_success(thread, answer);
	assert(thread->answer_port->send_once_rights == 0);
	return success ? OFFER_OVER : OFFER_DECLINED;
}

/* Offers the exception to one handler. */
static enum offer exception_offer_to(struct thread *thread, struct port *handler,
				     const struct exception *exception)
{
	struct message *message;

	if (!port_is_valid(handler) || exception_answer_port(thread) == NULL)
		return OFFER_DECLINED;
	message = exception_message(handler, thread->answer_port, exception);
	return message == NULL ? OFFER_DECLINED : exception_call_handler(thread, message);
}

/* Offers it to the thread's handler, and then to the task's. */
static enum offer exception_offer(struct thread *thread, const struct exception *exception)
{
	enum offer result = exception_offer_to(thread, thread->exception_port, exception);

	if (result != OFFER_DECLINED || thread_is_dying(thread))
		return result;
	return exception_offer_to(thread, thread->task->exception_port, exception);
}

/* Whether the log may say of a task of the owner's that it ended: seldom, if that is a user. */
static bool exception_may_say(struct owner *owner)
{
	uint64_t now = clock_now();

	if (owner->all == NULL)
		return true;
	if (owner->log_paid < now)
		owner->log_paid = now;
	if (owner->log_paid - now > (LOG_LINES - 1) * LOG_PERIOD) {
		owner->unsaid++;
		return false;
	}
	owner->log_paid += LOG_PERIOD;
	return true;
}

static void exception_say_end(const struct task *task, const struct exception *exception)
{
	const struct thread *thread = current_thread();
	struct owner *owner = task->owner;

	if (!exception_may_say(owner))
		return;
	if (owner->unsaid > 0)
		klog("%u more of user %u's tasks ended by exceptions\n", owner->unsaid, owner->id);
	owner->unsaid = 0;
	klog("%stask %u \"%s\", thread %u: %s, code %d, subcode 0x%x, at 0x%x: ended\n",
	     task->essential ? "essential " : "", task->id, task->name, thread->id,
	     exception_name(exception->exception), exception->code, (unsigned)exception->subcode,
	     (unsigned)thread_user_pc(thread));
}

static void exception_end_task(struct task *task, const struct exception *exception)
{
	exception_say_end(task, exception);
	task_end(task, STATUS_OF_EXCEPTION + exception->exception);
}

void exception_raise(int exception, int code, uint32_t subcode)
{
	const struct exception what = {.exception = exception, .code = code, .subcode = subcode};
	struct thread *thread = current_thread();

	assert(kernel_locked());
	if (exception_offer(thread, &what) == OFFER_DECLINED && !thread_is_dying(thread))
		exception_end_task(thread->task, &what);
}

bool exception_tell(int exception, int code, uint32_t subcode)
{
	const struct exception what = {.exception = exception, .code = code, .subcode = subcode};
	struct thread *thread = current_thread();

	assert(kernel_locked());
	return exception_offer(thread, &what) != OFFER_UNSENT || !thread_is_interrupted(thread);
}
