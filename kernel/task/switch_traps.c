/* SPDX-License-Identifier: MIT */
/* The traps by which a thread gives up the CPU. */
#include <mach/thread_switch.h>

#include "task/named.h"
#include "task/traps.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/tick.h"

/* The priority is not looked at: any other thread may run before the caller does again. */
TRAP_ABI boolean_t trap_swtch_pri(uint32_t priority)
{
	(void)priority;
	return sched_yield(PRIORITY_WORST);
}

TRAP_ABI boolean_t trap_swtch(void)
{
	return sched_yield(current_thread()->priority);
}

/* To `to` if it is not NULL and can run, else to whoever is best. */
static void switch_yield(struct thread *to, unsigned priority)
{
	if (to == NULL || !sched_yield_to(to, priority))
		sched_yield(priority);
}

/* The caller is at the end of all queues until it runs again, at most for `ms` if that is not 0. */
static void switch_yield_depressed(struct thread *to, uint32_t ms)
{
	struct timer *timeout = &current_thread()->timeout;

	if (ms != 0)
		timer_set(timeout, tick_after_ms(ms));
	switch_yield(to, PRIORITY_WORST);
	timer_cancel(timeout);
}

/* `name` is that of a thread to prefer; one that means nothing is no error. */
TRAP_ABI kern_return_t trap_thread_switch(uint32_t name, uint32_t option, uint32_t ms)
{
	struct thread *to = name != 0 ? named_thread(name) : NULL;
	struct wait_queue nobody;

	switch (option) {
	case SWITCH_OPTION_NONE:
		switch_yield(to, current_thread()->priority);
		return KERN_SUCCESS;
	case SWITCH_OPTION_DEPRESS:
		switch_yield_depressed(to, ms);
		return KERN_SUCCESS;
	case SWITCH_OPTION_WAIT:
		wait_queue_init(&nobody);
		thread_wait_to(&nobody, tick_after_ms(ms), WAIT_TIME, to);
		return KERN_SUCCESS;
	default:
		return KERN_INVALID_ARGUMENT;
	}
}
