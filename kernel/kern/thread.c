/* SPDX-License-Identifier: MIT */
/* Threads: making them, waiting, ending: see thread.h.  Guarded by the kernel lock. */
#include "kern/thread.h"

#include <stddef.h>

#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/kernel_stack.h"
#include "kern/lock.h"
#include "kern/report.h"
#include "kern/sched.h"
#include "kern/task.h"
#include "kern/work.h"
#include "kern/zone.h"

static struct zone thread_zone;
static uint32_t last_id;

void thread_module_init(void)
{
	zone_init(&thread_zone, "threads", sizeof(struct thread), 16);
}

static void check(const struct thread *thread)
{
	assert(thread->magic == THREAD_MAGIC);
}

/* ---------------- Making and unmaking ---------------- */

static void wait_timed_out(struct timer *timer)
{
	thread_wake(list_object(timer, struct thread, timeout), WAIT_TIMED_OUT);
}

/* A thread with everything but a stack; NULL when there is no memory. */
static struct thread *thread_alloc(struct task *task, unsigned priority)
{
	struct thread *thread = zone_alloc(&thread_zone);

	assert(priority < PRIORITIES);
	if (thread == NULL)
		return NULL;
	*thread = (struct thread){
		.magic = THREAD_MAGIC,
		.id = ++last_id,
		.task = task,
		.state = THREAD_RUNNABLE,
		.priority = (uint8_t)priority,
		.run_priority = (uint8_t)priority,
		.turn = QUANTUM,
	};
	list_init(&thread->run_link);
	list_init(&thread->task_link);
	list_init(&thread->wait_link);
	timer_init(&thread->timeout, wait_timed_out);
	return thread;
}

/* The same with a stack, whose lowest address is left in *stack. */
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

struct thread *thread_create_user(struct task *task, uint32_t entry, uint32_t esp,
				  unsigned priority)
{
	void *stack;
	struct thread *thread = thread_alloc_with_stack(task, priority, &stack);

	assert(!task->ending);
	if (thread == NULL)
		return NULL;
	machine_thread_init_user(thread, stack, entry, esp);
	list_add_last(&task->threads, &thread->task_link);
	task->n_threads++;
	return thread;
}

void thread_start(struct thread *thread)
{
	check(thread);
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
	return thread;
}

struct thread *thread_create_boot(void)
{
	struct thread *thread = thread_alloc(NULL, PRIORITY_WORST);

	assert(thread != NULL);
	machine_thread_adopt_boot_stack(thread);
	thread->state = THREAD_RUNNING;
	return thread;
}

void thread_reap(struct thread *thread)
{
	struct task *task = thread->task;

	check(thread);
	assert(thread->state == THREAD_DEAD);
	assert(thread != current_thread());
	assert(!timer_is_set(&thread->timeout));
	assert(list_empty(&thread->run_link) && list_empty(&thread->wait_link));
	list_remove(&thread->task_link);
	machine_thread_forget(thread);
	kernel_stack_free(thread->machine.stack);
	thread->magic = 0;
	zone_free(&thread_zone, thread);
	if (task != NULL)
		task_lose_thread(task);
}

struct thread *thread_find(struct task *task, uint32_t id)
{
	struct list *link;

	list_for_each (link, &task->threads) {
		struct thread *thread = list_object(link, struct thread, task_link);

		if (thread->id == id)
			return thread;
	}
	return NULL;
}

void thread_begin(void)
{
	sched_finish_switch();
	if (current_thread()->task != NULL)
		report_user_mode();
}

/* ---------------- Ending ---------------- */

void thread_kill(struct thread *thread)
{
	check(thread);
	thread->dying = true;
	if (thread->state == THREAD_RUNNING)
		sched_notice_death(thread);
	else if (thread->state == THREAD_WAITING && thread->wait_kind == WAIT_INTERRUPTIBLE)
		thread_wake(thread, WAIT_INTERRUPTED);
}

void thread_exit(void)
{
	struct thread *thread = current_thread();

	assert(kernel_locked());
	assert(thread->state == THREAD_RUNNING);
	thread->state = THREAD_DEAD;
	sched_switch();
	panic("thread %u runs after its end", thread->id);
}

/* ---------------- Waiting ---------------- */

void may_block(void)
{
	assert(kernel_locked());
	assert(interrupts_are_on());
	assert(current_thread() != cpu_self()->idle_thread);
}

void wait_queue_init(struct wait_queue *queue)
{
	list_init(&queue->waiters);
}

enum wait_result thread_wait(struct wait_queue *queue, uint64_t due, enum wait_kind kind)
{
	struct thread *thread = current_thread();

	may_block();
	if (thread->dying && kind == WAIT_INTERRUPTIBLE)
		return WAIT_INTERRUPTED;
	thread->state = THREAD_WAITING;
	thread->wait_kind = kind;
	list_add_last(&queue->waiters, &thread->wait_link);
	if (due != WAIT_FOREVER)
		timer_set(&thread->timeout, due);
	sched_switch();
	return thread->wait_result;
}

void thread_wake(struct thread *thread, enum wait_result result)
{
	check(thread);
	assert(thread->state == THREAD_WAITING);
	list_remove(&thread->wait_link);
	timer_cancel(&thread->timeout);
	thread->wait_result = result;
	thread->state = THREAD_RUNNABLE;
	sched_make_runnable(thread);
}

void thread_wake_all(struct wait_queue *queue)
{
	unsigned turn = 0;

	/* From the head each time: meanwhile others may leave the queue, and nobody joins it. */
	while (!list_empty(&queue->waiters)) {
		struct list *link = queue->waiters.next;

		thread_wake(list_object(link, struct thread, wait_link), WAIT_WOKEN);
		if (++turn % 64 == 0)
			kernel_pause();
	}
}
