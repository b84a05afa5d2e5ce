/* SPDX-License-Identifier: MIT */
/*
 * A spin lock for what the kernel lock does not cover: the console, whose lines are printed with
 * and without it.  Not for interrupt handlers: they touch nothing that a lock guards.
 */
#ifndef BASE_SPINLOCK_H
#define BASE_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/machine.h"

struct spinlock {
	uint32_t held;
};

static inline bool spinlock_try(struct spinlock *lock)
{
	return __atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void spinlock_acquire(struct spinlock *lock)
{
	while (!spinlock_try(lock))
		machine_relax();
}

static inline void spinlock_release(struct spinlock *lock)
{
	__atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

#endif
