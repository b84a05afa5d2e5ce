/* SPDX-License-Identifier: MIT */
/*
 * The timer wheel (base/timer.h).
 *
 * A timer hangs in the slot of its tick's low bits.  Each tick visits one slot and runs what is
 * due; timers of a later turn of the wheel stay and are looked at once a turn, every 2.56 seconds.
 * That is less work than moving them between wheels of several speeds.  Guarded by the kernel lock.
 */
#include "base/timer.h"

#define SLOTS 256u /* A power of two. */

_Static_assert((SLOTS & (SLOTS - 1)) == 0, "a slot is found by the low bits of a tick");

/*
 * Slots are zero until their first use: the wheel needs no initialisation, so that there is no time
 * in which it may not be used.
 */
static struct {
	uint64_t now;   /* The last tick whose timers have been run. */
	uint32_t count; /* Timers that are set. */
	struct list slots[SLOTS];
} wheel;

static struct list *timer_slot_of(uint64_t tick)
{
	struct list *slot = &wheel.slots[tick & (SLOTS - 1)];

	if (slot->next == NULL)
		list_init(slot);
	return slot;
}

void timer_init(struct timer *timer, timer_callback *callback)
{
	assert(callback != NULL);
	list_init(&timer->link);
	timer->due = 0;
	timer->callback = callback;
}

/*
 * The wheel stands at `now`, whose timers have been run or are running: what is due there or before
 * goes to the next tick, and is never run by the one that set it.
 */
void timer_set(struct timer *timer, uint64_t due)
{
	assert(timer->callback != NULL); /* timer_init() has been called. */
	assert(!timer_is_set(timer));
	timer->due = due > wheel.now ? due : wheel.now + 1;
	list_add_last(timer_slot_of(timer->due), &timer->link);
	wheel.count++;
}

/* Takes a timer that is set off whatever list it is on. */
static void timer_take(struct timer *timer)
{
	assert(wheel.count > 0);
	list_remove(&timer->link);
	wheel.count--;
}

bool timer_cancel(struct timer *timer)
{
	if (!timer_is_set(timer))
		return false;
	timer_take(timer);
	return true;
}

/*
 * Moves the timers of this tick from their slot to `due`.  They stay set there: a callback can
 * cancel a timer that is to run after it.
 */
static void timer_collect_due(struct list *due)
{
	struct list *slot = timer_slot_of(wheel.now);

	list_for_each_object_removable (struct timer, timer, after, slot, link) {
		assert(timer->due >= wheel.now);
		if (timer->due != wheel.now)
			continue;
		list_remove(&timer->link);
		list_add_last(due, &timer->link);
	}
}

/* Runs the timers of one tick.  What a callback sets is due at the next tick or later. */
static void timer_run_tick(void)
{
	struct list due = LIST_INITIALIZER(due);

	timer_collect_due(&due);
	while (!list_empty(&due)) {
		struct timer *timer = list_first_object(&due, struct timer, link);

		timer_take(timer);
		timer->callback(timer);
	}
}

/*
 * Tick by tick, so that the order is right after a gap too; without timers a gap costs nothing.
 * Nearly always it is one tick without a timer.
 */
void timer_advance(uint64_t now)
{
	const struct list *slot = &wheel.slots[now & (SLOTS - 1)];

	if ((slot->next == NULL || slot->next == slot) &&
	    (uint32_t)now - (uint32_t)wheel.now == 1) {
		wheel.now = now;
		return;
	}
	while (wheel.now < now) {
		wheel.now = wheel.count > 0 ? wheel.now + 1 : now;
		if (wheel.count > 0)
			timer_run_tick();
	}
}

uint64_t timer_now(void)
{
	return wheel.now;
}

uint32_t timer_count(void)
{
	return wheel.count;
}
