/* SPDX-License-Identifier: MIT */
/*
 * Interval timers: see timer.h.  Guarded by ux_lock.
 *
 * Owns the list of real timers that run, soonest first, and the thread that waits for the first.
 */
#include "signal/timer.h"

#include <mach/assay.h>
#include <ux/bsd_types.h>

#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"
#include <ux/bsd_server.h>

#define US_PER_SECOND 1000000
#define NS_PER_US     1000u

/* Shorter intervals are made as long as this: how many have passed is found by counting them. */
#define LEAST_INTERVAL_US 1000u

static struct list running = LIST_INITIALIZER(running);

/* ---------------- Units ---------------- */

static uint64_t timer_microseconds_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * US_PER_SECOND + (uint64_t)time->tv_usec;
}

static struct timeval timer_timeval_of(uint64_t microseconds)
{
	uint32_t rest = divide(&microseconds, US_PER_SECOND);

	return (struct timeval){.tv_sec = (time_t)microseconds, .tv_usec = (suseconds_t)rest};
}

/* As setitimer() takes it. */
static uint64_t timer_interval_of(const struct timeval *time)
{
	uint64_t microseconds = timer_microseconds_of(time);

	if (microseconds != 0 && microseconds < LEAST_INTERVAL_US)
		return LEAST_INTERVAL_US;
	return microseconds;
}

static bool timer_is_time(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_usec >= 0 && time->tv_usec < US_PER_SECOND;
}

/* ---------------- The real timer ---------------- */

static struct process *timer_process_of(struct list *link)
{
	return list_object(link, struct process, timers.link);
}

static void timer_stop(struct process_timers *timers)
{
	timers->deadline = 0;
	list_remove(&timers->link);
}

/* Behind all that end no later. */
static void timer_start(struct process_timers *timers, uint64_t deadline)
{
	struct list *place = running.prev;

	assert(deadline != 0 && timers->deadline == 0);
	timers->deadline = deadline;
	while (place != &running && timer_process_of(place)->timers.deadline > deadline)
		place = place->prev;
	list_insert_after(place, &timers->link);
	if (running.next == &timers->link)
		ux_wakeup(&running);
}

/* What is left of it is rounded up: 0 would mean that it does not run. */
static void timer_get_real(const struct process_timers *timers, struct itimerval *value)
{
	uint64_t now = ux_now(), left = 0, interval = timers->interval;

	if (timers->deadline != 0)
		left = timers->deadline > now ? timers->deadline - now + NS_PER_US - 1 : NS_PER_US;
	divide(&left, NS_PER_US);
	divide(&interval, NS_PER_US);
	*value = (struct itimerval){timer_timeval_of(interval), timer_timeval_of(left)};
}

static void timer_set_real(struct process_timers *timers, const struct itimerval *value)
{
	uint64_t first = timer_microseconds_of(&value->it_value) * NS_PER_US;

	timer_stop(timers);
	timers->interval = timer_interval_of(&value->it_interval) * NS_PER_US;
	if (first != 0)
		timer_start(timers, ux_now() + first);
}

/*
 * Deadlines that have passed when nobody looked are one signal, which says how many they were.  It
 * is sent for the process itself, as if it had done so.
 */
static void timer_expire(struct process *process, uint64_t now)
{
	struct process_timers *timers = &process->timers;
	uint64_t deadline = timers->deadline;
	struct signal_info info = {.signal = SIGALRM, .code = SI_TIMER, .overrun = -1};

	assay_thread_serve(process->task);
	timer_stop(timers);
	do {
		deadline += timers->interval;
		info.overrun++;
	} while (timers->interval != 0 && deadline <= now);
	if (timers->interval != 0)
		timer_start(timers, deadline);
	signal_process(process, &info);
	signal_check_later(process);
	served_end();
}

/* Waits until the first timer is due; returns at once when one is. */
static void timer_await_first(void)
{
	if (list_empty(&running))
		ux_sleep(&running, NULL);
	else
		ux_sleep_until(&running, timer_process_of(running.next)->timers.deadline);
}

static bool timer_is_due(uint64_t now)
{
	return !list_empty(&running) && timer_process_of(running.next)->timers.deadline <= now;
}

/*
 * Those that are due expire together, each once.  When the next are due by then, this thread rests
 * for as long as it has worked: however many timers there are, half of the time is the callers'.
 */
static void timer_wait_for_timers(void *unused)
{
	(void)unused;
	ux_lock();
	for (;;) {
		uint64_t began = ux_now(), ended;

		while (timer_is_due(began))
			timer_expire(timer_process_of(running.next), began);
		ended = ux_now();
		if (timer_is_due(ended))
			ux_sleep_until(&began, ended + (ended - began));
		else
			timer_await_first();
	}
}

bool timers_start(void)
{
	return ux_start_thread(timer_wait_for_timers, NULL);
}

/* ---------------- The kernel's timers ---------------- */

static int timer_kernel_timer(int which)
{
	return which == ITIMER_VIRTUAL ? TASK_VTIMER_VIRTUAL : TASK_VTIMER_PROF;
}

/* The kernel says what is left; the interval is as it was set. */
static void timer_get_virtual(struct process *process, int which, struct itimerval *value)
{
	uint64_t elapsed, left;

	*value = process->timers.virtual_timers[which];
	if (task_vtimer_update(process->task, timer_kernel_timer(which), &elapsed, &left) ==
	    KERN_SUCCESS)
		value->it_value = timer_timeval_of(left);
}

static int timer_set_virtual(struct process *process, int which, const struct itimerval *value)
{
	if (task_vtimer_set(process->task, timer_kernel_timer(which),
			    timer_microseconds_of(&value->it_value),
			    timer_microseconds_of(&value->it_interval)) != KERN_SUCCESS)
		return EINVAL;
	process->timers.virtual_timers[which] = *value;
	return 0;
}

/* ---------------- A process's life ---------------- */

void timers_init(struct process_timers *timers)
{
	*timers = (struct process_timers){0};
	list_init(&timers->link);
}

void timers_end(struct process *process)
{
	timer_stop(&process->timers);
}

void timers_leave_task(struct process *process)
{
	for (int which = ITIMER_VIRTUAL; which <= ITIMER_PROF; which++) {
		struct itimerval *value = &process->timers.virtual_timers[which];

		if (timer_microseconds_of(&value->it_value) != 0)
			timer_get_virtual(process, which, value);
	}
}

void timers_new_task(struct process *process)
{
	for (int which = ITIMER_VIRTUAL; which <= ITIMER_PROF; which++) {
		const struct itimerval value = process->timers.virtual_timers[which];

		/* timer_set_virtual() fails only for a task that has been ended. */
		if (timer_microseconds_of(&value.it_value) != 0)
			timer_set_virtual(process, which, &value);
	}
}

/* ---------------- The call ---------------- */

static void timer_get(struct process *process, int which, struct itimerval *value)
{
	if (which == ITIMER_REAL)
		timer_get_real(&process->timers, value);
	else
		timer_get_virtual(process, which, value);
}

static int timer_set(struct process *process, int which, const struct itimerval *value)
{
	if (!timer_is_time(&value->it_value) || !timer_is_time(&value->it_interval))
		return EINVAL;
	if (which != ITIMER_REAL)
		return timer_set_virtual(process, which, value);
	timer_set_real(&process->timers, value);
	return 0;
}

kern_return_t ux_setitimer(struct thread *caller, int which, int change, timer_t new_value,
			   timer_t *old_value)
{
	struct itimerval old;
	int error = 0;

	if (which < 0 || which >= ITIMERS)
		return EINVAL;
	timer_get(caller->process, which, &old);
	if (change != 0)
		error = timer_set(caller->process, which, &new_value);
	if (error == 0)
		*old_value = old;
	return error;
}
