/* SPDX-License-Identifier: MIT */
/* Threads: making them, waiting, ending: see thread.h.  Guarded by the kernel lock. */
#include "thread/thread.h"

#include <stddef.h>

#include <mach/calls.h>
#include <mach/policy.h>

#include "base/assert.h"
#include "base/kernel_stack.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/owner.h"
#include "base/string.h"
#include "base/zone.h"
#include "boot/report.h"
#include "i386/cpu/stack_size.h"
#include "i386/patch/label_site.h"
#include "ipc/port.h"
#include "ipc/space.h"
#include "prof/stream.h"
#include "prof/waits.h"
#include "task/task.h"
#include "task/vtimer.h"
#include "thread/cpu_state.h"
#include "thread/sched.h"
#include "thread/work.h"

static struct zone thread_zone;
static uint32_t last_id;

void thread_module_init(void)
{
	zone_init(&thread_zone, "threads", sizeof(struct thread), 16);
	owner_set_price(OWNER_THREADS, KERNEL_STACK_SIZE + sizeof(struct thread));
}

static void thread_check(const struct thread *thread)
{
	assert(thread->magic == THREAD_MAGIC);
}

/* ---------------- Making and unmaking ---------------- */

/* For whoever waits.  Afterwards it is the system's again, as the tick is that it came with. */
static void thread_timed_out(struct timer *timer)
{
	struct thread *thread = list_object(timer, struct thread, timeout);
	struct thread *self = current_thread();
	uint32_t label = self->label;

	machine_label_set(self, thread->label);
	if (thread->state == THREAD_WAITING)
		thread_wake(thread, WAIT_TIMED_OUT);
	else
		sched_raise_depressed(thread);
	machine_label_set(self, HOST_CALLS_SYSTEM);
	self->label = label;
}

/* A thread with everything but a stack and the machine's half; NULL when there is no memory. */
static struct thread *thread_alloc(struct task *task, unsigned priority)
{
	struct thread *thread = zone_alloc(&thread_zone);

	assert(priority < PRIORITIES);
	if (thread == NULL)
		return NULL;
	memset(thread, 0, offsetof(struct thread, receive.inbox));
	message_init(&thread->receive.inbox.message, INBOX_SIZE);
	thread->magic = THREAD_MAGIC;
	thread->id = ++last_id;
	thread->refs = 1;
	thread->task = task;
	thread->state = THREAD_RUNNABLE;
	thread->priority = (uint8_t)priority;
	thread->run_priority = (uint8_t)priority;
	thread->max_priority = (uint8_t)priority;
	thread->policy = POLICY_TIMESHARE;
	thread->created = machine_cycles();
	thread->sends_to.entry = thread->receives_from.entry = &space_no_entry;
	list_init(&thread->run_link.link);
	sched_set_owner(thread, task != NULL ? task->owner : &owner_system);
	list_init(&thread->task_link);
	list_init(&thread->wait_link);
	wait_queue_init(&thread->stop_waiters);
	timer_init(&thread->timeout, thread_timed_out);
	return thread;
}

/* As thread_alloc(), with a stack, whose lowest address is left in *stack. */
static struct thread *thread_alloc_with_stack(struct task *task, unsigned priority, void **stack)
{
	struct thread *thread;

	*stack = kernel_stack_alloc();
	if (*stack == NULL)
		return NULL;
	thread = thread_alloc(task, priority);
	if (thread == NULL)
		kernel_stack_free(*stack);
	return thread;
}

struct thread *thread_create_kernel(void (*function)(void), unsigned priority)
{
	void *stack;
	struct thread *thread = thread_alloc_with_stack(NULL, priority, &stack);

	if (thread != NULL) {
		machine_thread_init_kernel(thread, stack, function);
		sched_make_runnable(thread);
	}
	return thread;
}

/* thread_alloc_with_stack() for a user's thread; NULL too if the task's owner may have no more. */
static struct thread *thread_alloc_charged(struct task *task, unsigned priority, void **stack)
{
	struct thread *thread;

	if (!owner_charge(task->owner, OWNER_THREADS, 1))
		return NULL;
	thread = thread_alloc_with_stack(task, priority, stack);
	if (thread == NULL)
		owner_uncharge(task->owner, OWNER_THREADS, 1);
	return thread;
}

/* A new thread may have what its task and the processor set allow, and what it begins with. */
static uint8_t thread_first_limit(const struct task *task, unsigned priority)
{
	unsigned limit = task->max_priority;

	if (limit < sched_max_priority)
		limit = sched_max_priority;
	return (uint8_t)(priority < limit ? priority : limit);
}

struct thread *thread_create_user(struct task *task, uint32_t entry, uint32_t esp,
				  unsigned priority)
{
	struct port *port = port_create(OBJECT_THREAD, NULL, task->owner);
	struct thread *thread;
	void *stack;

	assert(!task->ending);
	if (port == NULL)
		return NULL;
	thread = thread_alloc_charged(task, priority, &stack);
	if (thread == NULL) {
		port_destroy(port);
		return NULL;
	}
	machine_thread_init_user(thread, stack, entry, esp);
	port->object = thread;
	thread->port = port;
	thread->max_priority = thread_first_limit(task, priority);
	thread->self_port = port_make_send(port);
	thread->label = task->id;
	thread->home = task->id;
	thread->jobs = task->jobs;
	thread->state = THREAD_STOPPED;
	thread->at_edge = true;
	if (task->suspend_count > 0)
		thread->asked = THREAD_ASKED_STOP;
	task_reference(task);
	list_add_last(&task->threads, &thread->task_link);
	task->n_threads++;
	if (waits_streams != 0)
		waits_meet(thread);
	return thread;
}

void thread_start(struct thread *thread)
{
	thread_check(thread);
	assert(thread->state == THREAD_STOPPED && thread->at_edge);
	if (thread->noted != 0) {
		if (thread->asked != 0)
			return;
		waits_note(thread, PROF_WAIT_CPU);
	}
	thread->state = THREAD_RUNNABLE;
	sched_make_runnable(thread);
}

struct thread *thread_create_idle(struct cpu *cpu)
{
	void *stack;
	struct thread *thread = thread_alloc_with_stack(NULL, PRIORITY_WORST, &stack);

	if (thread == NULL)
		return NULL;
	machine_thread_init_kernel(thread, stack, sched_idle);
	thread->bound = cpu;
	thread->pays = NULL;
	return thread;
}

struct thread *thread_create_boot(void)
{
	struct thread *thread = thread_alloc(NULL, PRIORITY_WORST);

	assert(thread != NULL);
	machine_thread_adopt_boot_stack(thread);
	thread->state = THREAD_RUNNING;
	thread->pays = NULL;
	return thread;
}

void thread_release(struct thread *thread)
{
	struct task *task;

	if (thread == NULL)
		return;
	task = thread->task;
	thread_check(thread);
	assert(thread->refs > 0);
	if (--thread->refs > 0)
		return;
	assert(thread->state == THREAD_DEAD);
	assert(list_empty(&thread->stop_waiters.waiters));
	thread->magic = 0;
	if (thread->answer != NULL)
		message_free(thread->answer);
	zone_free(&thread_zone, thread);
	if (task != NULL)
		task_release(task);
}

/* The thread's reference on itself goes first: all is counted when the last task is over. */
void thread_reap(struct thread *thread)
{
	struct task *task = thread->task;

	thread_check(thread);
	assert(thread->state == THREAD_DEAD);
	assert(thread != current_thread());
	assert(thread->port == NULL);
	assert(!timer_is_set(&thread->timeout));
	assert(list_empty(&thread->run_link.link) && list_empty(&thread->wait_link));
	list_remove(&thread->task_link);
	if (thread->answer_port != NULL)
		port_abandon(thread->answer_port);
	machine_thread_forget(thread);
	kernel_stack_free(thread->machine.stack);
	stream_thread_ended(thread);
	if (task != NULL) {
		owner_uncharge(task->owner, OWNER_THREADS, 1);
		task->ended_ticks += thread->ticks;
		task->ended_system_ticks += thread->system_ticks;
		if ((thread->asked & THREAD_ASKED_EXPIRED) != 0)
			vtimer_pass_on(thread);
	}
	thread_release(thread);
	if (task != NULL)
		task_lose_thread(task);
}

struct thread *thread_find(struct task *task, uint32_t id)
{
	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		if (thread->id == id)
			return thread;
	}
	return NULL;
}

void thread_begin(void)
{
	struct thread *thread = current_thread();

	thread->at_edge = false;
	sched_finish_switch();
	if (thread->task != NULL)
		report_user_mode();
}

/* ---------------- Ending ---------------- */

/* The ports of a user thread: nobody finds it any more. */
static void thread_lose_ports(struct thread *thread)
{
	struct port *port = thread->port;
	struct port *self_port = thread->self_port;
	struct port *exception_port = thread->exception_port;

	thread->port = NULL;
	thread->self_port = PORT_NULL;
	thread->exception_port = PORT_NULL;
	port_destroy(port);
	port_release_send(self_port);
	port_release_send(exception_port);
}

/* Takes away a thread that stands at the edge of user mode, off the run queue. */
static void thread_kill_at_edge(struct thread *thread)
{
	if (thread->state == THREAD_RUNNABLE)
		sched_remove(thread);
	timer_cancel(&thread->timeout);
	thread->state = THREAD_DEAD;
	waits_note(thread, 0);
	thread_wake_all(&thread->stop_waiters);
	thread_reap(thread);
}

void thread_kill(struct thread *thread)
{
	thread_check(thread);
	if (thread_is_dying(thread))
		return;
	thread->asked |= THREAD_ASKED_END;
	thread_lose_ports(thread);
	if (thread->at_edge) {
		thread_kill_at_edge(thread);
	} else {
		thread_interrupt(thread);
		/* Who ends the thread does not wait for the turns of others before it. */
		sched_set_priority(thread, PRIORITY_SYSTEM);
	}
}

/*
 * The last thread of a boot program takes the task's rights with it here, where it may take its
 * time, rather than in the middle of whoever runs next.  Of a task that is ended each thread goes
 * here, one behind the other, without anybody's leaving the kernel.
 */
void thread_exit(void)
{
	struct thread *thread = current_thread();
	struct task *task = thread->task;

	assert(kernel_locked());
	assert(thread->state == THREAD_RUNNING);
	if (task != NULL && task->n_threads == 1 && task->module >= 0)
		task_end(task, 0);
	pause_each();
	thread_wake_all(&thread->stop_waiters);
	thread->state = THREAD_DEAD;
	sched_switch();
	panic("thread %u runs after its end", thread->id);
}

/* ---------------- Waiting ---------------- */

void wait_queue_init(struct wait_queue *queue)
{
	list_init(&queue->waiters);
}

void thread_wake_all_soon(struct wait_queue *queue)
{
	struct thread *thread = current_thread();
	struct list *waiters = &queue->waiters;

	if (thread->owing == queue)
		return;
	if (!thread->hands_over || thread->owing != NULL || waiters->next->next != waiters)
		thread_wake_all(queue);
	else if (!list_empty(waiters))
		thread->owing = queue;
}

void thread_pay_wake(struct thread *thread)
{
	struct wait_queue *queue = thread->owing;

	thread->owing = NULL;
	if (queue != NULL)
		thread_wake_all(queue);
}

/* The current thread begins to wait; false: it is to go to the edge of user mode instead. */
static inline bool thread_begin_wait(struct thread *thread, struct wait_queue *queue,
				     enum wait_kind kind)
{
	may_block();
	assert(thread != cpu_self()->idle_thread);
	if (thread->owing != NULL)
		thread_pay_wake(thread);
	if (thread->asked != 0 && kind != WAIT_UNINTERRUPTIBLE && thread_asked_before_wait(thread))
		return false;
	thread->state = THREAD_WAITING;
	thread->wait_kind = (uint8_t)kind;
	list_add_last(&queue->waiters, &thread->wait_link);
	return true;
}

enum wait_result thread_wait(struct wait_queue *queue, uint64_t due, enum wait_kind kind)
{
	struct thread *thread = current_thread();

	if (!thread_begin_wait(thread, queue, kind))
		return WAIT_INTERRUPTED;
	if (due != WAIT_FOREVER)
		timer_set(&thread->timeout, due);
	sched_wait();
	return thread->wait_result;
}

enum wait_result thread_wait_to(struct wait_queue *queue, uint64_t due, enum wait_kind kind,
				struct thread *to)
{
	struct thread *thread = current_thread();

	if (!thread_begin_wait(thread, queue, kind))
		return WAIT_INTERRUPTED;
	if (due != WAIT_FOREVER)
		timer_set(&thread->timeout, due);
	if (to == NULL || !sched_switch_to(to))
		sched_wait();
	return thread->wait_result;
}

enum wait_result thread_wait_handoff(struct wait_queue *queue, enum wait_kind kind,
				     struct thread *to)
{
	struct thread *thread = current_thread();

	assert(to != thread);
	/*
	 * To see to what it is asked takes time, in which the wait of `to` might be over otherwise.
	 */
	if (thread->asked != 0) {
		thread_wake(to, WAIT_WOKEN);
		return thread_wait(queue, WAIT_FOREVER, kind);
	}
	thread_begin_wait(thread, queue, kind);
	sched_handoff(thread, to);
	return thread->wait_result;
}

/* thread_end_wait() of a thread that is asked something, or watched. */
static __attribute__((noinline)) bool thread_end_noted_wait(struct thread *thread)
{
	bool stops = (thread->asked & (uint8_t)~THREAD_ASKED_EXPIRED) == THREAD_ASKED_STOP &&
		     thread->wait_kind != WAIT_UNINTERRUPTIBLE;

	if (stops)
		thread->state = THREAD_STOPPED;
	waits_note(thread, stops ? PROF_WAIT_STOP : PROF_WAIT_CPU);
	return !stops;
}

static inline __attribute__((always_inline)) bool thread_leave_wait(struct thread *thread,
								    enum wait_result result)
{
	thread_check(thread);
	assert(thread->state == THREAD_WAITING);
	list_remove(&thread->wait_link);
	if (timer_is_set(&thread->timeout))
		timer_cancel(&thread->timeout);
	thread->wait_result = result;
	thread->state = THREAD_RUNNABLE;
	return thread->noted == 0 || thread_end_noted_wait(thread);
}

bool thread_end_wait(struct thread *thread, enum wait_result result)
{
	return thread_leave_wait(thread, result);
}

void thread_wake(struct thread *thread, enum wait_result result)
{
	if (thread_leave_wait(thread, result))
		sched_make_runnable(thread);
}

/* Not inlined: else a page from a server takes 11 instructions more (tools/bench page-in). */
__attribute__((noinline)) void thread_wake_waiters(struct wait_queue *queue)
{
	unsigned turn = 0;

	/* From the head each time: meanwhile others may leave the queue, and nobody joins it. */
	do {
		struct list *link = queue->waiters.next;

		thread_wake(list_object(link, struct thread, wait_link), WAIT_WOKEN);
		pause_if_long(++turn);
	} while (!list_empty(&queue->waiters));
}
