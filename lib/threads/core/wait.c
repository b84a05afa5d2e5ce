/* SPDX-License-Identifier: MIT */
/* Waiting for a word of memory, by the kernel's gsync calls. */
#include <errno.h>
#include <mach.h>

#include "thread.h"

#define MILLIS_PER_SECOND 1000
#define NANOS_PER_MILLI   1000000
#define LONGEST_MS        0x7fffffff

/* Milliseconds, rounded up, until the clock says `deadline`; 0 if it has said so already. */
static natural_t milliseconds_to(const struct timespec *deadline)
{
	struct timespec now;
	int64_t left;

	clock_gettime(CLOCK_REALTIME, &now);
	left = ((int64_t)deadline->tv_sec - now.tv_sec) * MILLIS_PER_SECOND +
	       (deadline->tv_nsec - now.tv_nsec + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
	if (left <= 0)
		return 0;
	return left > LONGEST_MS ? LONGEST_MS : (natural_t)left;
}

int __word_wait(uint32_t *word, uint32_t value, const struct timespec *deadline)
{
	natural_t limit = 0;

	if (deadline != NULL) {
		limit = milliseconds_to(deadline);
		if (limit == 0)
			return ETIMEDOUT;
	}
	mach_await_memory(gsync_wait(mach_task_self_cached(), (vm_address_t)word, value, 0, limit,
				     deadline != NULL ? GSYNC_TIMED : 0));
	return 0;
}

/* A wake that is lost would leave somebody waiting for ever. */
static void wake(uint32_t *word, int flags)
{
	while (mach_await_memory(gsync_wake(mach_task_self_cached(), (vm_address_t)word, 0, flags)))
		continue;
}

void __word_wake_one(uint32_t *word)
{
	wake(word, 0);
}

void __word_wake_all(uint32_t *word)
{
	wake(word, GSYNC_BROADCAST);
}

void __word_wake_and_move(uint32_t *word, uint32_t *other)
{
	while (mach_await_memory(gsync_requeue(mach_task_self_cached(), (vm_address_t)word,
					       (vm_address_t)other, TRUE, GSYNC_BROADCAST)))
		continue;
}
