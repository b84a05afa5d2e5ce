/* SPDX-License-Identifier: MIT */
/*
 * Timeouts: a wheel of lists that moves on by one list per tick.
 *
 * A timer is due at a tick, never before it; whoever converts a duration to ticks rounds up.
 * Setting and cancelling take constant time.  Guarded by the kernel lock; callbacks run under it,
 * from interrupt_work(), and may set or cancel any timer, their own included.
 */
#ifndef BASE_TIMER_H
#define BASE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include <assay/list.h>

struct timer;
typedef void timer_callback(struct timer *timer);

struct timer {
	struct list link; /* On a slot of the wheel while set. */
	uint64_t due;     /* In ticks. */
	timer_callback *callback;
};

void timer_init(struct timer *timer, timer_callback *callback);

/*
 * Sets the timer to run at tick `due`, or at the next tick if that has passed.  It must not be
 * set.
 */
void timer_set(struct timer *timer, uint64_t due);

/* Returns whether it was still set. */
bool timer_cancel(struct timer *timer);

static inline bool timer_is_set(const struct timer *timer)
{
	assert(timer->link.next != NULL); /* timer_init() has been called. */
	return !list_empty(&timer->link);
}

/*
 * Runs every timer that is due up to and including tick `now`, in the order of their ticks, and in
 * the order of setting within one.  A tick that has been reached before runs nothing again.
 */
void timer_advance(uint64_t now);

/* The last tick whose timers have been run, or are running: ticks of CPU 0, all of them. */
uint64_t timer_now(void);

/* Timers that are set. */
uint32_t timer_count(void);

#endif
