/* SPDX-License-Identifier: MIT */
/* Virtual timers: see vtimer.h.  Guarded by the kernel lock. */
#include "task/vtimer.h"

#include <mach/exception.h>
#include <mach/kern_return.h>
#include <mach/mach_types.h>
#include <mach/task_vtimer.h>

#include "base/assert.h"
#include "base/divide.h"
#include "base/lock.h"
#include "mach/assay_server.h"
#include "task/exception.h"
#include "prof/profil.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/tick.h"

#define TICK_US (1000000u / TICK_HZ)

static const int codes[TASK_VTIMERS] = {
	[TASK_VTIMER_VIRTUAL] = EXC_VTIMER_VIRTUAL,
	[TASK_VTIMER_PROF] = EXC_VTIMER_PROF,
};

/* ---------------- Setting ---------------- */

/* Brings sched_charges_apart up to date. */
void vtimer_note_change(struct task *task)
{
	bool timed = task->profil != NULL;

	for (unsigned which = 0; which < TASK_VTIMERS; which++)
		timed |= task->vtimers[which].left != 0 || task->vtimers[which].owed != 0;
	if (timed == task->timed)
		return;
	task->timed = timed;
	sched_charges_apart += timed ? 1 : -1u;
	tick_want_jitter(timed);
}

/* The least number of whole ticks that cover the time; of a longer time the largest number. */
static uint32_t vtimer_ticks_of(uint64_t microseconds)
{
	uint64_t ticks = divide(microseconds, TICK_US);

	if (ticks >= UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)ticks + (ticks * TICK_US != microseconds);
}

/* The timer `which` of a task that has not ended; NULL if there is none. */
static struct vtimer *vtimer_timer_of(struct task *task, int which)
{
	if (task == NULL || task->ending || which < 0 || which >= TASK_VTIMERS)
		return NULL;
	return &task->vtimers[which];
}

kern_return_t task_vtimer_set(task_t task, int which, uint64_t value, uint64_t interval)
{
	struct vtimer *timer = vtimer_timer_of(task, which);

	if (timer == NULL)
		return KERN_INVALID_ARGUMENT;
	timer->left = vtimer_ticks_of(value);
	timer->interval = value == 0 ? 0 : vtimer_ticks_of(interval);
	timer->elapsed = 0;
	vtimer_note_change(task);
	return KERN_SUCCESS;
}

kern_return_t task_vtimer_clear(task_t task, int which)
{
	return task_vtimer_set(task, which, 0, 0);
}

kern_return_t task_vtimer_update(task_t task, int which, uint64_t *elapsed, uint64_t *remaining)
{
	const struct vtimer *timer = vtimer_timer_of(task, which);

	if (timer == NULL)
		return KERN_INVALID_ARGUMENT;
	*elapsed = (uint64_t)timer->elapsed * TICK_US;
	*remaining = (uint64_t)timer->left * TICK_US;
	return KERN_SUCCESS;
}

void vtimer_forget(struct task *task)
{
	for (unsigned which = 0; which < TASK_VTIMERS; which++)
		task->vtimers[which] = (struct vtimer){0};
	vtimer_note_change(task);
}

/* ---------------- Expiry ---------------- */

/* Charges a tick to the timer; how many expiries the thread has to tell of. */
static uint32_t vtimer_charge(struct vtimer *timer)
{
	uint32_t expired = timer->owed;

	timer->owed = 0;
	if (timer->left == 0)
		return expired;
	timer->elapsed++;
	if (--timer->left > 0)
		return expired;
	timer->left = timer->interval;
	return expired + 1;
}

void vtimer_tick(struct thread *thread, bool in_kernel)
{
	struct task *task = thread->task;

	assert(kernel_locked());
	if (task == NULL || !task->timed)
		return;
	if (!in_kernel) {
		thread->expired[TASK_VTIMER_VIRTUAL] +=
			vtimer_charge(&task->vtimers[TASK_VTIMER_VIRTUAL]);
		profil_owe(thread);
	}
	thread->expired[TASK_VTIMER_PROF] += vtimer_charge(&task->vtimers[TASK_VTIMER_PROF]);
	vtimer_note_change(task);
	if (thread->expired[TASK_VTIMER_VIRTUAL] + thread->expired[TASK_VTIMER_PROF] +
		    thread->profil_ticks >
	    0) {
		thread->asked |= THREAD_ASKED_EXPIRED;
		cpu_set_work(thread->cpu, WORK_THREAD);
	}
}

void vtimer_raise(struct thread *thread)
{
	assert(thread == current_thread());
	thread->asked &= (uint8_t)~THREAD_ASKED_EXPIRED;
	if (!profil_pay(thread))
		thread->asked |= THREAD_ASKED_EXPIRED;
	for (unsigned which = 0; which < TASK_VTIMERS; which++) {
		uint32_t expired = thread->expired[which];

		thread->expired[which] = 0;
		if (expired == 0 || exception_tell(EXC_SOFTWARE, codes[which], expired))
			continue;
		thread->expired[which] += expired;
		thread->asked |= THREAD_ASKED_EXPIRED;
	}
}

void vtimer_pass_on(const struct thread *thread)
{
	struct task *task = thread->task;

	if (task->ending)
		return;
	for (unsigned which = 0; which < TASK_VTIMERS; which++)
		task->vtimers[which].owed += thread->expired[which];
	vtimer_note_change(task);
}
