/* SPDX-License-Identifier: MIT */
/*
 * Conditions: a count of signals that waiters look at.
 *
 * A waiter reads the count while it holds the lock, gives the lock up and waits while the count is
 * what it was; so a signal between the two is not missed.  Who signals counts first and looks then
 * whether anybody waits, a waiter the other way round: one of them sees the other.
 *
 * With a broadcast one thread is woken.  The others wait for the lock from then on, without having
 * run; each wakes the next when it gives the lock up.
 */
#include <errno.h>

#include "thread.h"

int __condition_await(struct __condition *condition, uint32_t *lock,
		      const struct timespec *deadline)
{
	uint32_t sequence;
	int result = 0;

	condition->lock = lock;
	__atomic_add_fetch(&condition->waiters, 1, __ATOMIC_SEQ_CST);
	sequence = __atomic_load_n(&condition->sequence, __ATOMIC_SEQ_CST);
	__lock_give(lock);
	while (result == 0 && __atomic_load_n(&condition->sequence, __ATOMIC_SEQ_CST) == sequence)
		result = __word_wait(&condition->sequence, sequence, deadline);
	__atomic_sub_fetch(&condition->waiters, 1, __ATOMIC_SEQ_CST);
	__lock_take_after_wait(lock);
	return result;
}

/* Counts the signal; whether there is anybody to be woken. */
static bool count_signal(struct __condition *condition)
{
	__atomic_add_fetch(&condition->sequence, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&condition->waiters, __ATOMIC_SEQ_CST) != 0;
}

void __condition_wake_one(struct __condition *condition)
{
	if (count_signal(condition))
		__word_wake_one(&condition->sequence);
}

void __condition_wake_all(struct __condition *condition)
{
	if (count_signal(condition))
		__word_wake_and_move(&condition->sequence, condition->lock);
}
