/* SPDX-License-Identifier: MIT */
/*
 * Locks: a word that says whether it is taken, and whether somebody waits for it.
 *
 * Who has waited once takes it as if others waited too, for it cannot know; the price is at most
 * one call too many when it gives it up.
 */
#include "thread.h"

enum {
	FREE,
	TAKEN,
	WANTED
};

bool __lock_try(uint32_t *lock)
{
	uint32_t seen = FREE;

	return __atomic_compare_exchange_n(lock, &seen, TAKEN, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void __lock_take_after_wait(uint32_t *lock)
{
	while (__atomic_exchange_n(lock, WANTED, __ATOMIC_ACQUIRE) != FREE)
		__word_wait(lock, WANTED, NULL);
}

void __lock_take(uint32_t *lock)
{
	if (!__lock_try(lock))
		__lock_take_after_wait(lock);
}

void __lock_give(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, FREE, __ATOMIC_RELEASE) == WANTED)
		__word_wake_one(lock);
}
