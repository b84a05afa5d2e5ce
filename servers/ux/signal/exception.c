/* SPDX-License-Identifier: MIT */
/*
 * Exceptions of processes become signals.
 *
 * Each process has a port for them, the exception port of its task; all are in one port set, with
 * threads of their own: a thread of a process stands still until its exception has been answered,
 * and the answer may have to wait for the memory of the thread's stack.  There are as many threads
 * as were ever busy at a time.
 *
 * The kernel tells here too that a virtual timer of the process has expired, and names the thread
 * that ran (<mach/task_vtimer.h>).  To that thread goes the signal: only then is what its handler
 * finds the program's use of time.  With the kernel argument `sigprof=process` it goes to the
 * process instead, which is to say to any thread: the fault that many systems had.
 *
 * Guarded by ux_lock.
 */
#include <mach/exc_catch.h>
#include <mach/task_special_ports.h>
#include <mach/thread_status.h>

#include "audit/audit.h"
#include "core/body.h"
#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"

#define CATCHERS_MAX UX_THREADS_MAX
#define IDLE_KEPT    2
#define MESSAGE_ROOM 128 /* No message of exc.defs is longer. */

boolean_t exc_server(mach_msg_header_t *request, mach_msg_header_t *reply);

union message {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[MESSAGE_ROOM];
};

/* A request that is being worked at. */
struct request {
	union message message;
	pid_t pid;         /* Whose exception it is, by the payload of the process's port. */
	mach_port_t reply; /* The right to answer. */
};

static mach_port_t exceptions; /* The port set. */
static unsigned catchers, idle;

/* ---------------- What an exception means ---------------- */

struct meaning {
	int exception, code; /* Code 0: any other. */
	int signal, si_code;
	uint32_t trap; /* The processor's number. */
	bool is_over;  /* The thread stands behind the instruction, and would not repeat it. */
};

static const struct meaning meanings[] = {
	{EXC_BAD_ACCESS, KERN_INVALID_ADDRESS, SIGSEGV, SEGV_MAPERR, TRAP_PAGE_FAULT, false},
	{EXC_BAD_ACCESS, KERN_PROTECTION_FAILURE, SIGSEGV, SEGV_ACCERR, TRAP_PAGE_FAULT, false},
	{EXC_BAD_ACCESS, KERN_MEMORY_FAILURE, SIGBUS, BUS_OBJERR, TRAP_PAGE_FAULT, false},
	{EXC_BAD_ACCESS, KERN_MEMORY_ERROR, SIGBUS, BUS_OBJERR, TRAP_PAGE_FAULT, false},
	{EXC_BAD_ACCESS, KERN_RESOURCE_SHORTAGE, SIGBUS, BUS_ADRERR, TRAP_PAGE_FAULT, false},
	{EXC_BAD_ACCESS, 0, SIGBUS, BUS_ADRALN, 17, false},
	{EXC_BAD_INSTRUCTION, EXC_I386_INVOP, SIGILL, ILL_ILLOPC, 6, false},
	{EXC_BAD_INSTRUCTION, 0, SIGILL, ILL_PRVOPC, 13, false},
	{EXC_ARITHMETIC, EXC_I386_DIV, SIGFPE, FPE_INTDIV, 0, false},
	{EXC_ARITHMETIC, EXC_I386_INTO, SIGFPE, FPE_INTOVF, 4, true},
	{EXC_ARITHMETIC, 0, SIGFPE, FPE_FLTINV, 16, false},
	{EXC_SOFTWARE, EXC_VTIMER_VIRTUAL, SIGVTALRM, SI_TIMER, 0, true},
	{EXC_SOFTWARE, EXC_VTIMER_PROF, SIGPROF, SI_TIMER, 0, true},
	{EXC_SOFTWARE, 0, SIGFPE, FPE_FLTSUB, 5, false},
	{EXC_BREAKPOINT, EXC_I386_SGL, SIGTRAP, TRAP_TRACE, 1, true},
	{EXC_BREAKPOINT, 0, SIGTRAP, TRAP_BRKPT, 3, true},
	{0, 0, SIGSYS, SI_KERNEL, 0, false},
};

static const struct meaning *exception_meaning_of(int exception, int code)
{
	const struct meaning *meaning = meanings;

	while (meaning->exception != 0 &&
	       (meaning->exception != exception || (meaning->code != 0 && meaning->code != code)))
		meaning++;
	return meaning;
}

/* ---------------- Taking one ---------------- */

static struct thread *exception_thread_of_kernel(struct process *process, mach_port_t kernel)
{
	struct list *link;

	list_for_each (link, &process->threads) {
		struct thread *thread = list_object(link, struct thread, link);

		if (thread->kernel == kernel)
			return thread;
	}
	return NULL;
}

static void exception_take_expiry(struct thread *thread, int signal, int expiries)
{
	const struct signal_info info = {
		.signal = signal, .code = SI_TIMER, .overrun = expiries - 1};

	if (ux_boot.sigprof_process) {
		signal_process(thread->process, &info);
		signal_check(thread->process);
	} else {
		signal_thread(thread, &info);
	}
}

static bool exception_is_dead(mach_port_t name)
{
	mach_port_type_t type;

	return mach_port_type(mach_task_self_cached(), name, &type) != KERN_SUCCESS ||
	       (type & MACH_PORT_TYPE_DEAD_NAME) != 0;
}

/*
 * A thread that was sent into a handler meanwhile, for another signal, has left its exception,
 * which shows in the answer's port being dead.  It will be back at the instruction, and have the
 * exception again.
 */
static bool exception_still_waits(mach_port_t reply)
{
	return !exception_is_dead(reply);
}

/*
 * With the lock held: a program can have a thread run on by a false message, and then this waits
 * until the kernel has stopped it, but for nothing that is a program's business.
 */
static bool exception_get_registers(mach_port_t kernel, struct i386_thread_state *state)
{
	mach_msg_type_number_t count = i386_REGS_SEGS_STATE_COUNT;

	return ux_patiently(thread_get_state(kernel, i386_REGS_SEGS_STATE, (thread_state_t)state,
					     &count)) == KERN_SUCCESS;
}

/* A handler's end is an exception too: see <sys/signal.h>. */
static bool exception_is_handlers_end(const struct thread *thread, const struct meaning *meaning,
				      const struct i386_thread_state *state)
{
	uint32_t trampoline = thread->process->signals.trampoline;

	return meaning->signal == SIGILL && trampoline != 0 &&
	       state->eip == trampoline - SIGNAL_END;
}

/* `address` is that of a wrong access, else the instruction is what was wrong. */
static struct signal_info exception_info_of(const struct meaning *meaning, uint32_t pc,
					    uint32_t address)
{
	return (struct signal_info){
		.signal = meaning->signal,
		.code = meaning->si_code,
		.address = meaning->exception == EXC_BAD_ACCESS ? address : pc,
		.trap = meaning->trap,
		.pc = pc,
		.cause = meaning->trap == TRAP_PAGE_FAULT ? CAUSE_TOUCH : CAUSE_INSTRUCTION,
	};
}

/* Unlocks. */
static void exception_take_fault(struct thread *thread, const struct meaning *meaning,
				 uint32_t address)
{
	struct i386_thread_state state;
	struct signal_info info;

	if (!exception_get_registers(thread->kernel, &state))
		return; /* It has ended. */
	if (exception_is_handlers_end(thread, meaning, &state)) {
		signal_return(thread, state.ebx);
		return;
	}
	info = exception_info_of(meaning, state.eip, address);
	if (audit_is_on)
		audit_exception(thread->process, info.signal, info.address);
	if (!thread->is_ending)
		signal_force(thread, &info);
}

/* What is due is taken while the thread waits: so it need not be stopped for that. */
static void exception_take(struct thread *thread, const struct meaning *meaning, mach_port_t reply,
			   int subcode)
{
	bool waits = exception_still_waits(reply);

	thread_reference(thread);
	thread->signals.stands_still = waits;
	if (meaning->si_code == SI_TIMER)
		exception_take_expiry(thread, meaning->signal, subcode);
	else if (waits || meaning->is_over)
		exception_take_fault(thread, meaning, (uint32_t)subcode);
	signal_before_reply(thread);
	thread->signals.stands_still = false;
	thread_release(thread);
}

/* The thread, when nobody is delivering to it; null if there is none any more.  Unlocks. */
static struct thread *exception_await_thread(pid_t pid, mach_port_t kernel)
{
	for (;;) {
		struct process *process = process_by_pid(pid);
		struct thread *thread =
			process != NULL ? exception_thread_of_kernel(process, kernel) : NULL;

		if (thread == NULL || !thread->signals.is_delivering)
			return thread;
		ux_sleep(&thread->signals, NULL);
	}
}

/*
 * A thread that the server has not made has no signals: what it does wrong ends the process.  Not
 * meant are threads that have been ended meanwhile.  One of another task, which the process has
 * made, or has left, would have the exception again and again: the kernel ends that task.
 */
static kern_return_t exception_take_from_stranger(const struct request *request, mach_port_t kernel,
						  mach_port_t task, const struct meaning *meaning,
						  int subcode)
{
	struct process *process = process_by_pid(request->pid);
	struct i386_thread_state state;
	struct signal_info info;

	if (process == NULL || process->is_exiting || exception_is_dead(kernel))
		return KERN_SUCCESS;
	if (process->task != task)
		return KERN_FAILURE;
	if (!exception_get_registers(kernel, &state))
		return KERN_SUCCESS;
	info = exception_info_of(meaning, state.eip, (uint32_t)subcode);
	process_reference(process);
	if (audit_is_on)
		audit_exception(process, info.signal, info.address);
	if (process->task == task)
		fault_end_stranger(process, kernel, &info);
	process_release(process);
	return KERN_SUCCESS;
}

/*
 * The generated stub hands on the word of the request where the port's name would be, which is here
 * the address of the request (see exception_answer()): it is all that it would not tell otherwise.
 */
kern_return_t catch_exception_raise(mach_port_t address, mach_port_t kernel, mach_port_t task,
				    integer_t exception, integer_t code, integer_t subcode)
{
	const struct request *request = (const struct request *)address;
	const struct meaning *meaning = exception_meaning_of(exception, code);
	struct thread *thread = exception_await_thread(request->pid, kernel);

	if (thread != NULL)
		exception_take(thread, meaning, request->reply, subcode);
	else if (meaning->si_code != SI_TIMER)
		return exception_take_from_stranger(request, kernel, task, meaning, subcode);
	return KERN_SUCCESS;
}

/* ---------------- Threads ---------------- */

static void exception_catch_exceptions(void *unused);

static bool exception_add_catcher(void)
{
	if (catchers == CATCHERS_MAX || !ux_start_thread(exception_catch_exceptions, NULL))
		return false;
	catchers++;
	idle++;
	return true;
}

/* Whether the caller, who has answered, is to receive again: enough others may do so. */
static bool exception_goes_on(void)
{
	bool is_needed = idle < IDLE_KEPT;

	if (is_needed)
		idle++;
	else
		catchers--;
	return is_needed;
}

/*
 * Whether another request is to be received.  Should there be no memory for another thread, the
 * next exception waits for this one's answer.
 */
static bool exception_answer(struct request *request, union message *reply)
{
	bool goes_on;

	ux_lock();
	idle--;
	if (idle == 0)
		exception_add_catcher();
	request->pid = (pid_t)request->message.head.msgh_protected_payload;
	request->reply = request->message.head.msgh_remote_port;
	request->message.head.msgh_local_port = (mach_port_t)request;
	exc_server(&request->message.head, &reply->head);
	goes_on = exception_goes_on();
	ux_unlock();
	body_release(&request->message.head);
	return goes_on;
}

/*
 * Sends the answer that is in the buffer, if there is one, and if it `receives`, receives a request
 * in its place: the thread that waits for it is given the CPU.  Nobody may wait any more; and
 * programs can send requests too, and not take the answer.
 */
static mach_msg_return_t exception_exchange(union message *message, bool receives)
{
	mach_msg_header_t *head = &message->head;
	mach_msg_option_t option = receives ? MACH_RCV_MSG : 0;
	mach_msg_size_t send_size = 0;
	mach_msg_return_t result;

	if (MACH_PORT_VALID(head->msgh_remote_port)) {
		option |= MACH_SEND_MSG | MACH_SEND_TIMEOUT;
		send_size = head->msgh_size;
	}
	result = mach_msg(head, option, send_size, sizeof *message, exceptions,
			  MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
	if (!body_is_unsent(result))
		return result;
	right_release(head->msgh_remote_port, MACH_MSGH_BITS_REMOTE(head->msgh_bits));
	if (!receives)
		return result;
	return mach_msg(head, MACH_RCV_MSG, 0, sizeof *message, exceptions, MACH_MSG_TIMEOUT_NONE,
			MACH_PORT_NULL);
}

/* Of a message that is too large, which is no exception, only the header has come. */
static void exception_refuse(union message *message, mach_msg_return_t result)
{
	mach_msg_header_t *head = &message->head;

	if (result == MACH_RCV_TOO_LARGE)
		right_release(head->msgh_remote_port, MACH_MSGH_BITS_REMOTE(head->msgh_bits));
	head->msgh_remote_port = MACH_PORT_NULL;
}

/* The answer is made beside the request, and takes its place. */
static void exception_catch_exceptions(void *unused)
{
	struct request request;
	union message reply;
	bool goes_on = true;

	(void)unused;
	request.message.head.msgh_remote_port = MACH_PORT_NULL;
	while (goes_on) {
		mach_msg_return_t result = exception_exchange(&request.message, true);

		if (result == MACH_MSG_SUCCESS) {
			goes_on = exception_answer(&request, &reply);
			request.message = reply;
		} else {
			exception_refuse(&request.message, result);
		}
	}
	exception_exchange(&request.message, false);
}

bool exceptions_start(void)
{
	bool success;

	if (syscall_mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_PORT_SET,
				       &exceptions) != KERN_SUCCESS)
		return false;
	ux_lock();
	success = exception_add_catcher();
	ux_unlock();
	return success && signal_workers_start();
}

/* ---------------- Ports ---------------- */

static mach_port_t exception_port_new(pid_t pid)
{
	mach_port_t self = mach_task_self_cached(), port;

	if (syscall_mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS)
		return MACH_PORT_NULL;
	if (mach_port_set_protected_payload(self, port, (unsigned long)pid) == KERN_SUCCESS &&
	    mach_port_move_member(self, port, exceptions) == KERN_SUCCESS &&
	    mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND) == KERN_SUCCESS)
		return port;
	mach_port_mod_refs(self, port, MACH_PORT_RIGHT_RECEIVE, -1);
	return MACH_PORT_NULL;
}

bool exceptions_catch(struct process *process)
{
	struct process_signals *signals = &process->signals;

	assert(ux_lock_held());
	if (signals->exception_port == MACH_PORT_NULL)
		signals->exception_port = exception_port_new(process->pid);
	if (signals->exception_port == MACH_PORT_NULL ||
	    task_set_special_port(process->task, TASK_EXCEPTION_PORT, signals->exception_port) !=
		    KERN_SUCCESS)
		return false;
	return !signals->is_held || ux_patiently(task_suspend(process->task)) == KERN_SUCCESS;
}

void exceptions_forget(struct process *process)
{
	mach_port_t *port = &process->signals.exception_port;
	mach_port_t self = mach_task_self_cached();

	if (*port == MACH_PORT_NULL)
		return;
	syscall_mach_port_deallocate(self, *port);
	mach_port_mod_refs(self, *port, MACH_PORT_RIGHT_RECEIVE, -1);
	*port = MACH_PORT_NULL;
}
