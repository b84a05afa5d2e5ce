/* SPDX-License-Identifier: MIT */
/*
 * The server's lock, and waiting for each other.
 *
 * The lock is a word: taking and giving it back is one locked instruction as long as nobody waits.
 * Waits are structures on the stacks of those who wait, in a hash table by their channel and in a
 * list of the thread for whose call they wait.  The table is guarded by the lock.
 *
 * Whoever wakes takes the wait out of both and sets its word; the sleeper comes back when it has
 * the lock, so that the structure is there as long as somebody who has the lock may look at it.
 */
#include "core/ux.h"
#include "process/thread.h"
#include "signal/signal.h"

/* ---------------- The lock ---------------- */

enum {
	FREE,
	HELD,
	WANTED
}; /* WANTED: held, and somebody may wait. */

static uint32_t lock_word;

/* Waits until `*word` may be another than `value`. */
static void lock_await_word(const uint32_t *word, uint32_t value)
{
	/* Who cannot wait for want of memory looks again a little later. */
	mach_await_memory(gsync_wait(mach_task_self_cached(), (vm_address_t)word, value, 0, 0, 0));
}

/* A wake that is lost would leave somebody waiting for ever. */
static void lock_wake_word(const uint32_t *word)
{
	while (mach_await_memory(gsync_wake(mach_task_self_cached(), (vm_address_t)word, 0, 0)))
		continue;
}

void ux_lock(void)
{
	uint32_t state = FREE;

	if (__atomic_compare_exchange_n(&lock_word, &state, HELD, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	/* Whoever has waited cannot know whether others still do, and leaves the mark. */
	while (__atomic_exchange_n(&lock_word, WANTED, __ATOMIC_ACQUIRE) != FREE)
		lock_await_word(&lock_word, WANTED);
}

void ux_unlock(void)
{
	assert(ux_lock_held());
	if (__atomic_exchange_n(&lock_word, FREE, __ATOMIC_RELEASE) == WANTED)
		lock_wake_word(&lock_word);
}

bool ux_lock_held(void)
{
	return __atomic_load_n(&lock_word, __ATOMIC_RELAXED) != FREE;
}

/* ---------------- Waits ---------------- */

#define BUCKETS 64u
#define NEVER   UINT64_MAX /* No deadline. */

struct wait {
	struct list link;      /* In its bucket, and */
	struct list of_thread; /* in thread->sleeps; in neither when it has been woken. */
	const void *channel;
	int result;
	uint32_t is_over;
};

static struct list buckets[BUCKETS];

static struct list *lock_bucket_of(const void *channel)
{
	struct list *bucket = &buckets[((uintptr_t)channel >> 3) % BUCKETS];

	if (bucket->next == NULL)
		list_init(bucket);
	return bucket;
}

static void lock_begin(struct wait *wait, const void *channel, struct thread *thread)
{
	*wait = (struct wait){.channel = channel};
	list_add_last(lock_bucket_of(channel), &wait->link);
	list_init(&wait->of_thread);
	if (thread != NULL)
		list_add_last(&thread->sleeps, &wait->of_thread);
}

/* The sleeper itself looks at the word first, and so does not miss this. */
static void lock_end(struct wait *wait, int result)
{
	list_remove(&wait->link);
	list_remove(&wait->of_thread);
	wait->result = result;
	__atomic_store_n(&wait->is_over, 1, __ATOMIC_RELEASE);
	lock_wake_word(&wait->is_over);
}

static bool lock_is_over(const struct wait *wait)
{
	return __atomic_load_n(&wait->is_over, __ATOMIC_ACQUIRE) != 0;
}

/* Milliseconds from now on, rounded up; 0 if it is over. */
static uint32_t lock_ms_until(uint64_t deadline)
{
	uint64_t now = ux_now();
	uint64_t left;

	if (deadline <= now)
		return 0;
	left = deadline - now + (NANOS_PER_SECOND / 1000 - 1);
	divide(&left, NANOS_PER_SECOND / 1000);
	return left > INT32_MAX ? INT32_MAX : (uint32_t)left;
}

/* Until somebody ended the wait, or the time has come. */
static void lock_await_end(const struct wait *wait, uint64_t deadline)
{
	uint32_t ms;

	while (!lock_is_over(wait)) {
		if (deadline == NEVER)
			lock_await_word(&wait->is_over, 0);
		else if ((ms = lock_ms_until(deadline)) > 0)
			mach_await_memory(gsync_wait(mach_task_self_cached(),
						     (vm_address_t)&wait->is_over, 0, 0, ms,
						     GSYNC_TIMED));
		else
			return;
	}
}

int ux_sleep_thread_until(const void *channel, struct thread *thread, uint64_t deadline)
{
	struct wait wait;

	assert(ux_lock_held());
	if (thread != NULL && thread->is_ending)
		return EINTR;
	if (thread != NULL && signal_is_due(thread))
		return signal_interrupt_result(thread);
	lock_begin(&wait, channel, thread);
	ux_unlock();
	lock_await_end(&wait, deadline);
	ux_lock();
	if (!lock_is_over(&wait)) {
		list_remove(&wait.link);
		list_remove(&wait.of_thread);
		wait.result = ETIMEDOUT;
	}
	return wait.result;
}

int ux_sleep(const void *channel, struct thread *thread)
{
	return ux_sleep_thread_until(channel, thread, NEVER);
}

int ux_sleep_until(const void *channel, uint64_t deadline)
{
	return ux_sleep_thread_until(channel, NULL, deadline);
}

void ux_wakeup(const void *channel)
{
	struct list *bucket = lock_bucket_of(channel);
	struct list *link, *after;

	assert(ux_lock_held());
	list_for_each_removable (link, after, bucket) {
		struct wait *wait = list_object(link, struct wait, link);

		if (wait->channel == channel)
			lock_end(wait, 0);
	}
}

void ux_interrupt(struct thread *thread, int result)
{
	assert(ux_lock_held());
	while (!list_empty(&thread->sleeps))
		lock_end(list_first_object(&thread->sleeps, struct wait, of_thread), result);
}

/* ---------------- Time ---------------- */

static uint64_t lock_read_clock(enum assay_clock clock)
{
	uint64_t nanoseconds = 0;

	assay_clock_read(clock, &nanoseconds);
	return nanoseconds;
}

uint64_t ux_now(void)
{
	return lock_read_clock(ASSAY_CLOCK_MONOTONIC);
}

uint64_t ux_wall_time(void)
{
	return lock_read_clock(ASSAY_CLOCK_WALL);
}

time_t ux_seconds(void)
{
	uint64_t seconds = ux_wall_time();

	divide(&seconds, NANOS_PER_SECOND);
	return (time_t)seconds;
}
