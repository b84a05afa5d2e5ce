/* SPDX-License-Identifier: MIT */
/*
 * Stopping threads, interrupting them, and what a thread does of it at the edge of user mode: see
 * thread.h.  Guarded by the kernel lock.
 */
#include "base/assert.h"
#include "base/lock.h"
#include "prof/profil.h"
#include "prof/waits.h"
#include "task/task.h"
#include "task/vtimer.h"
#include "thread/cpu_state.h"
#include "thread/sched.h"
#include "thread/thread.h"

/* ---------------- What others do to a thread ---------------- */

/* A stopped thread goes on; one that is not suspended only if it has something to do for it. */
static void thread_let_go(struct thread *thread)
{
	if (thread->state == THREAD_STOPPED) {
		thread->state = THREAD_RUNNABLE;
		waits_note(thread, PROF_WAIT_CPU);
		sched_make_runnable(thread);
	}
}

/* A thread that waits for a CPU at the edge of user mode can be stopped there and then. */
static void thread_stop_ask_to_stop(struct thread *thread)
{
	thread->asked |= THREAD_ASKED_STOP;
	if (thread->state == THREAD_RUNNING) {
		sched_notice(thread);
	} else if (thread->state == THREAD_RUNNABLE && thread->at_edge) {
		sched_remove(thread);
		thread->state = THREAD_STOPPED;
		waits_note(thread, PROF_WAIT_STOP);
	}
}

void thread_update_stop(struct thread *thread)
{
	bool stop =
		thread->suspend_count > 0 || thread->holds > 0 || thread->task->suspend_count > 0;

	assert(kernel_locked());
	if (stop == ((thread->asked & THREAD_ASKED_STOP) != 0))
		return;
	if (stop) {
		thread_stop_ask_to_stop(thread);
		return;
	}
	thread->asked &= (uint8_t)~THREAD_ASKED_STOP;
	thread_let_go(thread);
	thread_wake_all(&thread->stop_waiters);
}

bool thread_stands_still(const struct thread *thread)
{
	switch (thread->state) {
	case THREAD_WAITING:
		return thread->wait_kind != WAIT_UNINTERRUPTIBLE;
	case THREAD_STOPPED:
	case THREAD_DEAD:
		return true;
	default:
		return false;
	}
}

kern_return_t thread_await_stop(struct thread *thread)
{
	assert(thread != current_thread());
	while ((thread->asked & THREAD_ASKED_STOP) != 0 && !thread_stands_still(thread))
		if (thread_wait(&thread->stop_waiters, WAIT_FOREVER, WAIT_THREAD) ==
		    WAIT_INTERRUPTED)
			return KERN_ABORTED;
	return KERN_SUCCESS;
}

kern_return_t thread_hold(struct thread *thread)
{
	kern_return_t result;

	assert(thread != current_thread());
	thread->holds++;
	thread_update_stop(thread);
	result = thread_await_stop(thread);
	if (result == KERN_SUCCESS && thread_is_dying(thread))
		result = KERN_FAILURE;
	if (result != KERN_SUCCESS)
		thread_unhold(thread);
	return result;
}

void thread_unhold(struct thread *thread)
{
	assert(thread->holds > 0);
	thread->holds--;
	thread_update_stop(thread);
}

void thread_interrupt(struct thread *thread)
{
	assert(kernel_locked());
	if (thread->at_edge || thread->state == THREAD_DEAD)
		return;
	thread->asked |= THREAD_ASKED_ABORT;
	if (thread->state == THREAD_RUNNING)
		sched_notice(thread);
	else if (thread->state != THREAD_WAITING)
		thread_let_go(thread);
	else if (thread->wait_kind != WAIT_UNINTERRUPTIBLE && thread_is_interrupted(thread))
		thread_wake(thread, WAIT_INTERRUPTED);
}

/* ---------------- What a thread does itself ---------------- */

bool thread_asked_before_wait(struct thread *thread)
{
	if (thread_is_interrupted(thread))
		return true;
	thread_wake_all(&thread->stop_waiters);
	return false;
}

static void stop_at_edge(struct thread *thread)
{
	thread->at_edge = true;
	thread->state = THREAD_STOPPED;
	thread_wake_all(&thread->stop_waiters);
	sched_wait();
	thread->at_edge = false;
}

/*
 * Whoever aborts a thread waits until it is at the edge, and may be the one to whom expiries would
 * be told: they are told when it goes on from there.
 */
void thread_do_asked(void)
{
	struct thread *thread = current_thread();

	if (thread_is_dying(thread)) {
		profil_pay(thread);
		thread_exit();
	}
	if ((thread->asked & (THREAD_ASKED_ABORT | THREAD_ASKED_EXPIRED)) == THREAD_ASKED_EXPIRED) {
		vtimer_raise(thread);
	} else {
		thread->asked &= (uint8_t)~THREAD_ASKED_ABORT;
		if ((thread->asked & THREAD_ASKED_STOP) != 0)
			stop_at_edge(thread);
	}
	if (thread->asked != 0)
		cpu_set_work(cpu_self(), WORK_THREAD);
}
