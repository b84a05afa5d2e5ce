/* SPDX-License-Identifier: MIT */
/* Locks and conditions of <cthreads.h>. */
#include <cthreads.h>
#include <sched.h>
#include <stdlib.h>

#include "../core/thread.h"

#define SPINS 100 /* Looks at a lock before the CPU is offered to others. */

/* ---------------- Locks that wait ---------------- */

mutex_t mutex_alloc(void)
{
	return calloc(1, sizeof(struct mutex));
}

void mutex_free(mutex_t mutex)
{
	free(mutex);
}

void mutex_init(mutex_t mutex)
{
	*mutex = (struct mutex)MUTEX_INITIALIZER;
}

void mutex_clear(mutex_t mutex)
{
	mutex_init(mutex);
}

void mutex_set_name(mutex_t mutex, const char *name)
{
	mutex->name = name;
}

const char *mutex_name(mutex_t mutex)
{
	return mutex->name;
}

void mutex_lock(mutex_t mutex)
{
	__lock_take(&mutex->lock);
}

bool mutex_try_lock(mutex_t mutex)
{
	return __lock_try(&mutex->lock);
}

void mutex_unlock(mutex_t mutex)
{
	__lock_give(&mutex->lock);
}

/* ---------------- Conditions ---------------- */

condition_t condition_alloc(void)
{
	return calloc(1, sizeof(struct condition));
}

void condition_free(condition_t condition)
{
	free(condition);
}

void condition_init(condition_t condition)
{
	*condition = (struct condition)CONDITION_INITIALIZER;
}

void condition_clear(condition_t condition)
{
	condition_init(condition);
}

void condition_set_name(condition_t condition, const char *name)
{
	condition->name = name;
}

const char *condition_name(condition_t condition)
{
	return condition->name;
}

void condition_wait(condition_t condition, mutex_t mutex)
{
	__condition_await(&condition->waiting, &mutex->lock, NULL);
}

void condition_signal(condition_t condition)
{
	__condition_wake_one(&condition->waiting);
}

void condition_broadcast(condition_t condition)
{
	__condition_wake_all(&condition->waiting);
}

/* ---------------- Locks that spin ---------------- */

void spin_lock_init(spin_lock_t *lock)
{
	*lock = SPIN_LOCK_INITIALIZER;
}

bool spin_try_lock(spin_lock_t *lock)
{
	return __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0;
}

/* The holder may be waiting for this CPU. */
void spin_lock(spin_lock_t *lock)
{
	for (unsigned looks = 1; !spin_try_lock(lock); looks++) {
		while (spin_lock_locked(lock) && looks % SPINS != 0) {
			__builtin_ia32_pause();
			looks++;
		}
		if (looks % SPINS == 0)
			sched_yield();
	}
}

void spin_unlock(spin_lock_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

bool spin_lock_locked(const spin_lock_t *lock)
{
	return __atomic_load_n(lock, __ATOMIC_RELAXED) != 0;
}
