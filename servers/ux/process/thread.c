/* SPDX-License-Identifier: MIT */
/*
 * Threads of processes: see thread.h.  Guarded by the server's lock.
 *
 * A payload is a place in the table and how often that has been taken.  So a payload of an earlier
 * thread, in a request that was on its way when the thread ended, is no thread's.
 */
#include "process/thread.h"

#include <mach/i386/thread_status.h>
#include <mach/task_special_ports.h>
#include <sys/ux.h>
#include <ux/bsd_server.h>

#include "process/limits.h"
#include "process/process.h"
#include "process/task.h"
#include "trace/trace.h"

#define PLACE_BITS 9
#define PLACE_MASK ((1u << PLACE_BITS) - 1)
#define NAME_FIRST 0x1000u /* Of rights to call the server, in tasks of several threads, */
#define NAMES      0x0f00u /* and how many of these names there are. */

#define KEPT_FOR_ROOT 16 /* Threads that others cannot have, so that root can put things right. */

_Static_assert(UX_THREADS_MAX < PLACE_MASK && NOTIFY_PAYLOAD == PLACE_MASK,
	       "a place that no thread has is what notifications have");

static struct thread *table[UX_THREADS_MAX];
static uint32_t uses[UX_THREADS_MAX];
static uint32_t places_used; /* Behind these none was ever taken. */

struct thread *caller_of_payload(unsigned long payload)
{
	uint32_t place = payload & PLACE_MASK;

	assert(ux_lock_held());
	if (place >= UX_THREADS_MAX || table[place] == NULL || table[place]->payload != payload)
		return NULL;
	return table[place];
}

struct thread *thread_of_call_port(mach_port_t port)
{
	assert(ux_lock_held());
	for (unsigned place = 0; place < UX_THREADS_MAX; place++)
		if (table[place] != NULL && table[place]->call_port == port)
			return table[place];
	return NULL;
}

/* All ports have a payload; what comes without one is nobody's. */
struct thread *caller_of_port(mach_port_t port)
{
	(void)port;
	return NULL;
}

uint32_t threads_there_were(void)
{
	return places_used;
}

/* ---------------- Beginning ---------------- */

/* A payload for a new thread, and its place; false if the table is full. */
static bool thread_take_place(struct thread *thread)
{
	uint32_t places = UX_THREADS_MAX - (is_root(thread->process) ? 0 : KEPT_FOR_ROOT);
	uint32_t place = 0;

	if (!limits_allow_thread(thread->process))
		return false;
	while (place < places && table[place] != NULL)
		place++;
	if (place == places)
		return false;
	table[place] = thread;
	if (place >= places_used)
		places_used = place + 1;
	uses[place]++;
	thread->payload = uses[place] << PLACE_BITS | place;
	return true;
}

static void thread_leave_place(struct thread *thread)
{
	table[thread->payload & PLACE_MASK] = NULL;
}

/* Makes the port by which the thread calls. */
static bool thread_make_port(struct thread *thread)
{
	mach_port_t self = mach_task_self_cached();

	if (syscall_mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &thread->call_port) !=
	    KERN_SUCCESS)
		return false;
	if (serve_port(thread->call_port, thread->payload) == KERN_SUCCESS &&
	    serve_watch(thread->kernel) == KERN_SUCCESS)
		return true;
	mach_port_mod_refs(self, thread->call_port, MACH_PORT_RIGHT_RECEIVE, -1);
	return false;
}

static void thread_end_kernel_thread(mach_port_t kernel)
{
	serve_unwatch(kernel);
	ux_patiently(thread_terminate(kernel));
	syscall_mach_port_deallocate(mach_task_self_cached(), kernel);
}

struct thread *thread_new(struct process *process, mach_port_t kernel)
{
	struct thread *thread = ux_allocate(sizeof *thread);

	if (thread == NULL) {
		thread_end_kernel_thread(kernel);
		return NULL;
	}
	thread->process = process;
	thread->kernel = kernel;
	list_init(&thread->link);
	list_init(&thread->sleeps);
	thread_signals_init(&thread->signals);
	if (thread_take_place(thread)) {
		if (thread_make_port(thread))
			return thread;
		thread_leave_place(thread);
	}
	thread_end_kernel_thread(kernel);
	ux_free(thread);
	return NULL;
}

static bool thread_set_registers(mach_port_t kernel, uint32_t entry, uint32_t stack)
{
	struct i386_thread_state state = {.eip = entry, .uesp = stack};

	return thread_set_state(kernel, i386_THREAD_STATE, (thread_state_t)&state,
				i386_THREAD_STATE_COUNT) == KERN_SUCCESS;
}

struct thread *thread_new_in(struct process *process, mach_port_t task, uint32_t entry,
			     uint32_t stack)
{
	mach_port_t kernel;

	if (thread_create(task, &kernel) != KERN_SUCCESS)
		return NULL;
	if (!thread_set_registers(kernel, entry, stack)) {
		thread_end_kernel_thread(kernel);
		return NULL;
	}
	return thread_new(process, kernel);
}

void thread_enter(struct thread *thread)
{
	assert(list_empty(&thread->link) && !thread->is_ending);
	thread->id = ++thread->process->last_thread_id;
	list_add_last(&thread->process->threads, &thread->link);
	if (thread->process->trace_stream != NULL)
		trace_waits_enter(thread);
}

bool thread_give_bootstrap(struct thread *thread, mach_port_t task)
{
	mach_port_t self = mach_task_self_cached();
	kern_return_t result;

	result = syscall_mach_port_insert_right(self, thread->call_port, thread->call_port,
						MACH_MSG_TYPE_MAKE_SEND);
	if (result != KERN_SUCCESS)
		return false;
	result = syscall_task_set_special_port(task, TASK_BOOTSTRAP_PORT, thread->call_port);
	syscall_mach_port_deallocate(self, thread->call_port);
	return result == KERN_SUCCESS;
}

/* ---------------- Ending ---------------- */

struct thread *thread_reference(struct thread *thread)
{
	thread->references++;
	return thread;
}

void thread_release(struct thread *thread)
{
	assert(thread->references > 0);
	thread->references--;
	if (!thread->is_ending || thread->references > 0)
		return;
	syscall_mach_port_deallocate(mach_task_self_cached(), thread->kernel);
	ux_free(thread);
}

void thread_end(struct thread *thread)
{
	assert(ux_lock_held());
	if (thread->is_ending)
		return;
	thread->is_ending = true;
	trace_waits_leave(thread);
	thread_signals_end(thread);
	list_remove(&thread->link);
	thread_leave_place(thread);
	mach_port_mod_refs(mach_task_self_cached(), thread->call_port, MACH_PORT_RIGHT_RECEIVE, -1);
	serve_unwatch(thread->kernel);
	ux_patiently(thread_terminate(thread->kernel));
	thread_reference(thread);
	ux_interrupt(thread, EINTR);
	ux_wakeup(&thread->signals);
	thread_release(thread);
}

void threads_end(struct process *process)
{
	while (!list_empty(&process->threads))
		thread_end(list_first_object(&process->threads, struct thread, link));
}

/* A process without threads has ended. */
static void thread_end_perhaps_last(struct thread *thread, int status)
{
	struct process *process = thread->process;

	thread_end(thread);
	if (list_empty(&process->threads))
		process_exit(process, status);
}

/* The thread's task may have been ended, of which the kernel tells separately. */
static void thread_has_died(struct thread *thread)
{
	struct process *process = thread->process;

	if (task_id(process->task) != 0) {
		thread_end_perhaps_last(thread, 0);
		return;
	}
	thread_end(thread);
	if (list_empty(&process->threads))
		fault_kill_without_task(process);
}

bool thread_port_died(mach_port_t name)
{
	for (unsigned place = 0; place < places_used; place++) {
		struct thread *thread = table[place];

		if (thread != NULL && thread->kernel == name && !list_empty(&thread->link)) {
			thread_has_died(thread);
			return true;
		}
	}
	return false;
}

/* ---------------- Calls ---------------- */

bool thread_begin_call(struct thread *thread)
{
	thread_reference(thread);
	thread->process->calls++;
	return ++thread->calls <= CALLS_MAX;
}

void thread_end_call(struct thread *thread)
{
	struct process *process = thread->process;

	assert(thread->calls > 0 && process->calls > 0);
	thread->calls--;
	process->calls--;
	thread_release(thread);
	if (process->is_exiting && process->calls == 0)
		process_finish(process);
	else
		ux_wakeup(calls_channel(process));
}

/* ---------------- Threads that a program starts ---------------- */

/* Gives the task a right to call as the thread, under a name that is free there. */
static bool thread_give_name(struct thread *thread, mach_port_name_t *name)
{
	kern_return_t result = KERN_NAME_EXISTS;

	for (unsigned n = 0; n < NAMES && result == KERN_NAME_EXISTS; n++) {
		*name = NAME_FIRST + ((uint32_t)thread->id + n) % NAMES;
		result = syscall_mach_port_insert_right(thread->process->task, *name,
							thread->call_port, MACH_MSG_TYPE_MAKE_SEND);
	}
	return result == KERN_SUCCESS;
}

kern_return_t ux_thread_start(caller_t caller, unsigned entry, unsigned stack, unsigned argument,
			      int *id)
{
	struct process *process = caller->process;
	struct thread *thread = thread_new_in(process, process->task, entry, stack);
	struct i386_thread_state state = {.eip = entry, .uesp = stack, .edx = argument};

	if (thread == NULL)
		return EAGAIN;
	thread->signals.mask = caller->signals.mask;
	thread_enter(thread);
	state.ebx = (uint32_t)thread->id;
	if (!thread_give_name(thread, &state.ecx) ||
	    thread_set_state(thread->kernel, i386_THREAD_STATE, (thread_state_t)&state,
			     i386_THREAD_STATE_COUNT) != KERN_SUCCESS ||
	    thread_resume(thread->kernel) != KERN_SUCCESS) {
		thread_end(thread);
		return EAGAIN;
	}
	*id = thread->id;
	return 0;
}

kern_return_t ux_thread_exit(caller_t caller)
{
	thread_end_perhaps_last(caller, 0);
	return MIG_NO_REPLY;
}
