/* SPDX-License-Identifier: MIT */
/*
 * Requests, and the threads that answer them.
 *
 * All ports by which the server is called are in one set, from which a pool of threads receives.
 * Whoever receives a request answers it, however long that takes: the thread keeps the label that
 * the request gave it, and waits where the call waits.  So that nobody waits for somebody whom
 * nobody hears, there is always a thread that receives: the last one that goes to work makes
 * another first, and if it cannot, refuses the request.  A thread that has answered ends if enough
 * others receive: so what many callers needed at a time is given back.
 *
 * `n_receiving` and `n_threads` are changed atomically; nothing else here changes once the server
 * runs.
 */
#include <mach/messages.h>
#include <mach/notify_catch.h>
#include <ux/bsd_server.h>

#include "audit/audit.h"
#include "core/body.h"
#include "core/ux.h"
#include "process/process.h"
#include "process/task.h"
#include "process/thread.h"
#include "trace/trace.h"

#define BUFFER_SIZE (UX_INLINE_MAX + 512) /* No message of bsd.defs is longer. */
#define STACK_SIZE  (48 * 1024)           /* With two buffers. */
#define PRIORITY    20 /* Better than programs': they wait for whoever has the lock. */
#define THREADS_MAX (2 * UX_THREADS_MAX)

#define RECEIVERS_KEPT 8  /* That wait for requests at a time. */
#define KEPT_FOR_ROOT  64 /* Of these: so that root can put things right when all others wait. */

boolean_t bsd_server(mach_msg_header_t *request, mach_msg_header_t *reply);
boolean_t notify_server(mach_msg_header_t *request, mach_msg_header_t *reply);

union buffer {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[BUFFER_SIZE];
};

static mach_port_t all_ports;
static mach_port_t notify_port; /* Where the kernel tells of ports that have died. */
static mach_port_t own_thread;  /* It never runs, and so works for nobody but the server. */
static unsigned n_threads;      /* That answer requests, */
static unsigned n_receiving;    /* and those of them that wait for one. */

unsigned serve_threads(void)
{
	return __atomic_load_n(&n_threads, __ATOMIC_RELAXED);
}

/* ---------------- Ports ---------------- */

kern_return_t serve_port(mach_port_t port, uint32_t payload)
{
	mach_port_t self = mach_task_self_cached();
	kern_return_t result = mach_port_set_protected_payload(self, port, payload);

	return result == KERN_SUCCESS ? mach_port_move_member(self, port, all_ports) : result;
}

/*
 * Rights to tell of a death that was not told.  To give one up would be a message, so the next
 * watch takes it.  Each place is taken and filled atomically.
 */
static mach_port_t unused_rights[8];

#define UNUSED_RIGHTS (sizeof unused_rights / sizeof unused_rights[0])

static mach_port_t serve_take_unused_right(void)
{
	mach_port_t right = MACH_PORT_NULL;

	for (unsigned n = 0; n < UNUSED_RIGHTS && right == MACH_PORT_NULL; n++)
		right = __atomic_exchange_n(&unused_rights[n], MACH_PORT_NULL, __ATOMIC_RELAXED);
	return right;
}

static void serve_keep_unused_right(mach_port_t right)
{
	for (unsigned n = 0; n < UNUSED_RIGHTS && right != MACH_PORT_NULL; n++) {
		mach_port_t none = MACH_PORT_NULL;

		if (__atomic_compare_exchange_n(&unused_rights[n], &none, right, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	if (right != MACH_PORT_NULL)
		syscall_mach_port_deallocate(mach_task_self_cached(), right);
}

kern_return_t serve_watch(mach_port_t name)
{
	mach_port_t self = mach_task_self_cached();
	mach_port_t right = serve_take_unused_right(), previous = MACH_PORT_NULL;

	if (right == MACH_PORT_NULL)
		return mach_port_request_notification(self, name, MACH_NOTIFY_DEAD_NAME, TRUE,
						      notify_port, MACH_MSG_TYPE_MAKE_SEND_ONCE,
						      &previous);
	return mach_port_request_notification(self, name, MACH_NOTIFY_DEAD_NAME, TRUE, right,
					      MACH_MSG_TYPE_MOVE_SEND_ONCE, &previous);
}

void serve_unwatch(mach_port_t name)
{
	mach_port_t right = MACH_PORT_NULL;

	if (mach_port_request_notification(mach_task_self_cached(), name, MACH_NOTIFY_DEAD_NAME,
					   FALSE, MACH_PORT_NULL, MACH_MSG_TYPE_MAKE_SEND_ONCE,
					   &right) == KERN_SUCCESS)
		serve_keep_unused_right(right);
}

/* ---------------- What the kernel tells ---------------- */

/*
 * The notification has brought a reference to the dead name.  Its label is that of whoever was
 * served when the right to send it was made, which may be long ago: the work is the server's own.
 */
kern_return_t do_mach_notify_dead_name(mach_port_t notify, mach_port_name_t name)
{
	(void)notify;
	assay_thread_serve(own_thread);
	ux_lock();
	if (!task_port_died(name))
		thread_port_died(name);
	ux_unlock();
	syscall_mach_port_deallocate(mach_task_self_cached(), name);
	return KERN_SUCCESS;
}

/* Whoever gave the name up knows. */
kern_return_t do_mach_notify_port_deleted(mach_port_t notify, mach_port_name_t name)
{
	(void)notify;
	(void)name;
	return KERN_SUCCESS;
}

kern_return_t do_mach_notify_msg_accepted(mach_port_t notify, mach_port_name_t name)
{
	(void)notify;
	(void)name;
	return KERN_SUCCESS;
}

kern_return_t do_mach_notify_port_destroyed(mach_port_t notify, mach_port_t rights)
{
	(void)notify;
	(void)rights;
	return KERN_FAILURE; /* Nobody has asked for it: body_release() gives the right back. */
}

kern_return_t do_mach_notify_no_senders(mach_port_t notify, mach_port_mscount_t count)
{
	(void)notify;
	(void)count;
	return KERN_SUCCESS;
}

kern_return_t do_mach_notify_send_once(mach_port_t notify)
{
	(void)notify;
	return KERN_SUCCESS;
}

/* ---------------- Answering ---------------- */

static bool serve_has_payload(const mach_msg_header_t *request, uint32_t payload)
{
	return MACH_MSGH_BITS_LOCAL(request->msgh_bits) == MACH_MSG_TYPE_PROTECTED_PAYLOAD &&
	       request->msgh_protected_payload == payload;
}

/* A reply to where `head` goes or came from, that tells of an error and nothing else. */
static void serve_write_error(union buffer *reply, mach_msg_header_t head, mach_msg_id_t id,
			      kern_return_t error)
{
	static const mach_msg_type_t word = DESCRIBE_UNSIGNED(1);

	reply->reply = (mig_reply_header_t){
		.Head = {.msgh_bits = MACH_MSGH_BITS_REMOTE(head.msgh_bits),
			 .msgh_size = sizeof reply->reply,
			 .msgh_remote_port = head.msgh_remote_port,
			 .msgh_id = id},
		.RetCodeType = word,
		.RetCode = error,
	};
}

static void serve_refuse(const union buffer *request, union buffer *reply, kern_return_t error)
{
	serve_write_error(reply, request->head, request->head.msgh_id + 100, error);
}

/* Calls that end the caller do not wait for others; and a program does not expect them to fail. */
static bool serve_may_always_be_made(const union buffer *request)
{
	return request->head.msgh_id == ID_BSD_EXIT || request->head.msgh_id == ID_BSD_THREAD_EXIT;
}

/* Whether a thread can be spared for a call of the process's, however long that may take. */
static bool serve_has_threads_for(const struct process *process)
{
	unsigned busy = serve_threads() - __atomic_load_n(&n_receiving, __ATOMIC_RELAXED);

	return busy < THREADS_MAX - KEPT_FOR_ROOT || is_root(process);
}

/*
 * Brings the data that came beside the request, where it is used.  It may be a pager's: so nobody
 * else waits for it, and the caller's process has one call less meanwhile.  Unlocks.
 */
static int serve_bring_data(const union buffer *request)
{
	int error;

	/* The calls with data out of line. */
	if (request->head.msgh_id != ID_BSD_EXECVE && request->head.msgh_id != ID_BSD_WRITE_LONG &&
	    request->head.msgh_id != ID_BSD_SYSCTL)
		return 0;
	ux_unlock();
	error = body_wire(&request->head);
	ux_lock();
	return error;
}

static void serve_make_call(union buffer *request, union buffer *reply, const struct thread *thread)
{
	if (thread->is_ending)
		serve_refuse(request, reply, EINTR);
	else
		bsd_server(&request->head, &reply->head);
}

/* What the call is told goes into its record before it is made. */
static void serve_make_audited_call(union buffer *request, union buffer *reply,
				    const struct thread *thread)
{
	struct audit_call call;
	bool is_audited = audit_begin(&call, thread->process, &request->head);

	serve_make_call(request, reply, thread);
	if (is_audited)
		audit_end(&call, &reply->head);
}

/* For a thread that has begun the call.  The thread may be ending when this returns. */
static void serve_perform(union buffer *request, union buffer *reply, struct thread *thread)
{
	int error = serve_bring_data(request);

	if (error != 0)
		serve_refuse(request, reply, error);
	else if (audit_is_on)
		serve_make_audited_call(request, reply, thread);
	else
		serve_make_call(request, reply, thread);
}

static void serve_call(union buffer *request, union buffer *reply)
{
	struct thread *thread;
	bool may_be_made;

	ux_lock();
	thread = caller_of_payload(request->head.msgh_protected_payload);
	if (thread == NULL) {
		serve_refuse(request, reply, ESRCH);
	} else {
		may_be_made = thread_begin_call(thread) && serve_has_threads_for(thread->process);
		if (trace_is_on(thread->process))
			trace_call(thread, &request->head);
		if (may_be_made || serve_may_always_be_made(request))
			serve_perform(request, reply, thread);
		else
			serve_refuse(request, reply, EAGAIN);
		if (trace_is_on(thread->process))
			trace_return(thread, &request->head, &reply->head);
		if (!thread->is_ending)
			signal_before_reply(thread);
		thread_end_call(thread);
	}
	ux_unlock();
}

/* Makes a reply of a request, which keeps nothing of what it has brought. */
static void serve_answer(union buffer *request, union buffer *reply, bool is_heard)
{
	int error = body_check(&request->head);

	if (serve_has_payload(&request->head, NOTIFY_PAYLOAD))
		notify_server(&request->head, &reply->head);
	else if (error != 0)
		serve_refuse(request, reply, error);
	else if (!is_heard && !serve_may_always_be_made(request))
		serve_refuse(request, reply, EAGAIN);
	else
		serve_call(request, reply);
	body_release(&request->head);
}

/* Without an answer the right to answer is given up: nobody is to wait for it. */
static void serve_settle(union buffer *reply)
{
	mach_port_t port = reply->head.msgh_remote_port;
	bool complex = (reply->head.msgh_bits & MACH_MSGH_BITS_COMPLEX) != 0;

	if (!MACH_PORT_VALID(port)) {
		if (complex)
			body_release(&reply->head);
		reply->head.msgh_remote_port = MACH_PORT_NULL;
		return;
	}
	if (reply->reply.RetCode != MIG_NO_REPLY)
		return;
	right_release(port, MACH_MSGH_BITS_REMOTE(reply->head.msgh_bits));
	reply->head.msgh_remote_port = MACH_PORT_NULL;
}

/* ---------------- Receiving ---------------- */

/* A reply that could not be sent, with all that would have gone with it. */
static void serve_drop_reply(union buffer *buffer)
{
	body_release(&buffer->head);
	right_release(buffer->head.msgh_remote_port, MACH_MSGH_BITS_REMOTE(buffer->head.msgh_bits));
}

/*
 * How the reply that is in the buffer is sent, if there is one.  A client that wants the answer at
 * a port whose queue is full goes without.
 */
static mach_msg_option_t serve_send_option(const union buffer *buffer)
{
	if (buffer->head.msgh_remote_port == MACH_PORT_NULL)
		return 0;
	if (MACH_MSGH_BITS_REMOTE(buffer->head.msgh_bits) != MACH_MSG_TYPE_MOVE_SEND_ONCE)
		return MACH_SEND_MSG | MACH_SEND_TIMEOUT;
	return MACH_SEND_MSG;
}

/* Sends the reply, if there is one, and with MACH_RCV_MSG receives a request in its place. */
static mach_msg_return_t serve_exchange_once(union buffer *buffer, mach_msg_option_t receive)
{
	mach_msg_option_t option = receive | serve_send_option(buffer);
	mach_msg_size_t send_size = (option & MACH_SEND_MSG) != 0 ? buffer->head.msgh_size : 0;

	if (option == 0)
		return MACH_MSG_SUCCESS;
	return mach_msg(&buffer->head, option, send_size, receive != 0 ? sizeof *buffer : 0,
			receive != 0 ? all_ports : MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE,
			MACH_PORT_NULL);
}

/*
 * The same after that has failed, until the reply has been sent or is dropped.  If there is no
 * memory for what it carries it says that instead, though the call was made: a client that hears
 * nothing would believe that the server is gone.
 */
static mach_msg_return_t serve_exchange_again(union buffer *buffer, mach_msg_option_t receive,
					      mach_msg_return_t result)
{
	while (body_is_unsent(result)) {
		if (result == MACH_SEND_NO_BUFFER &&
		    (buffer->head.msgh_bits & MACH_MSGH_BITS_COMPLEX) != 0) {
			body_release(&buffer->head);
			serve_write_error(buffer, buffer->head, buffer->head.msgh_id, ENOMEM);
		} else {
			serve_drop_reply(buffer);
			buffer->head.msgh_remote_port = MACH_PORT_NULL;
		}
		result = serve_exchange_once(buffer, receive);
	}
	return result;
}

static mach_msg_return_t serve_exchange(union buffer *buffer, mach_msg_option_t receive)
{
	mach_msg_return_t result = serve_exchange_once(buffer, receive);

	return result == MACH_MSG_SUCCESS ? result : serve_exchange_again(buffer, receive, result);
}

/*
 * What the result of a receive says of the request: 0, or the error to answer; -1: there is none.
 * The kernel has destroyed one that was too large, and its sender knows from the reply right.
 */
static int serve_receive_error(const union buffer *request, mach_msg_return_t result)
{
	if (result == MACH_MSG_SUCCESS)
		return 0;
	if ((result & ~MACH_MSG_MASK) != MACH_RCV_BODY_ERROR)
		return -1;
	body_release(&request->head);
	return ENOMEM;
}

static bool serve_start_server(void);

/*
 * A thread more stays, and is everybody's.  So it is not charged to the caller whose request the
 * last one has just received: that goes on on behalf of its caller afterwards.
 */
static bool serve_start_server_for_all(const union buffer *request)
{
	bool is_started;

	assay_thread_serve(own_thread);
	is_started = serve_start_server();
	assay_thread_serve(request->head.msgh_remote_port);
	return is_started;
}

/* Whether others receive already.  The last of them makes another one before it goes to work. */
static bool serve_is_spare(void)
{
	return __atomic_load_n(&n_receiving, __ATOMIC_RELAXED) >= RECEIVERS_KEPT;
}

/* The buffers take turns: into the one that the reply is sent from the next request comes. */
static void serve(void *unused)
{
	union buffer buffers[2];
	union buffer *request = &buffers[0], *reply = &buffers[1];

	(void)unused;
	request->head.msgh_remote_port = MACH_PORT_NULL;
	do {
		union buffer *other = reply;
		bool is_heard;
		int error;

		__atomic_add_fetch(&n_receiving, 1, __ATOMIC_SEQ_CST);
		error = serve_receive_error(request, serve_exchange(request, MACH_RCV_MSG));
		is_heard = __atomic_sub_fetch(&n_receiving, 1, __ATOMIC_SEQ_CST) > 0 ||
			   serve_start_server_for_all(request);
		if (error > 0) {
			serve_refuse(request, reply, error);
		} else if (error == 0) {
			serve_answer(request, reply, is_heard);
		} else {
			reply->head.msgh_bits = 0;
			reply->head.msgh_remote_port = MACH_PORT_NULL;
		}
		serve_settle(reply);
		reply = request;
		request = other;
	} while (!serve_is_spare());
	serve_exchange(request, 0);
	__atomic_sub_fetch(&n_threads, 1, __ATOMIC_SEQ_CST);
}

/* ---------------- Threads ---------------- */

/* A page that is not there keeps a stack that grows too far from what lies below it. */
static void *serve_stack_new(size_t size)
{
	vm_address_t stack = 0;

	if (syscall_vm_allocate(mach_task_self_cached(), &stack, size + PAGE_SIZE, TRUE) !=
	    KERN_SUCCESS)
		return NULL;
	syscall_vm_deallocate(mach_task_self_cached(), stack, PAGE_SIZE);
	stack += PAGE_SIZE;
	if (ux_wire(stack, size))
		return (void *)stack;
	syscall_vm_deallocate(mach_task_self_cached(), stack, size);
	return NULL;
}

/* What a thread is to do, at the lower end of its stack. */
struct start {
	void (*run)(void *);
	void *argument;
};

/* Ends the thread, and its stack with it: nothing can be done there any more. */
static _Noreturn void serve_leave(void *stack)
{
	mach_port_t task = mach_task_self_cached(), thread = mach_thread_self();

	for (;;)
		thread_terminate_release(thread, task, thread, MACH_PORT_NULL, (vm_address_t)stack,
					 STACK_SIZE);
}

static void serve_begin(void *stack)
{
	const struct start *start = stack;

	start->run(start->argument);
	serve_leave(stack);
}

bool ux_start_thread(void (*run)(void *), void *argument)
{
	struct start *start = serve_stack_new(STACK_SIZE);
	uint32_t id;

	if (start == NULL)
		return false;
	*start = (struct start){run, argument};
	if (thread_start(serve_begin, start, start, STACK_SIZE, PRIORITY, &id) == KERN_SUCCESS)
		return true;
	ux_free_pages(start, STACK_SIZE);
	return false;
}

static bool serve_start_server(void)
{
	if (__atomic_add_fetch(&n_threads, 1, __ATOMIC_SEQ_CST) <= THREADS_MAX &&
	    ux_start_thread(serve, NULL))
		return true;
	__atomic_sub_fetch(&n_threads, 1, __ATOMIC_SEQ_CST);
	return false;
}

bool serve_start(void)
{
	mach_port_t self = mach_task_self_cached();

	if (syscall_mach_port_allocate(self, MACH_PORT_RIGHT_PORT_SET, &all_ports) !=
		    KERN_SUCCESS ||
	    syscall_mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &notify_port) !=
		    KERN_SUCCESS ||
	    serve_port(notify_port, NOTIFY_PAYLOAD) != KERN_SUCCESS ||
	    thread_create(self, &own_thread) != KERN_SUCCESS)
		return false;
	return serve_start_server();
}
