/* SPDX-License-Identifier: MIT */
/* Locks and conditions of <pthread.h>. */
#include <errno.h>
#include <pthread.h>

#include "../core/thread.h"

#define NANOS_PER_SECOND 1000000000

/* ---------------- Attributes ---------------- */

int pthread_mutexattr_init(pthread_mutexattr_t *attributes)
{
	attributes->type = PTHREAD_MUTEX_DEFAULT;
	return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes)
{
	(void)attributes; /* Nothing of it is elsewhere. */
	return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int type)
{
	if (type < PTHREAD_MUTEX_NORMAL || type > PTHREAD_MUTEX_ERRORCHECK)
		return EINVAL;
	attributes->type = type;
	return 0;
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *type)
{
	*type = attributes->type;
	return 0;
}

/* ---------------- Locks ---------------- */

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	*mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	if (attributes != NULL)
		mutex->type = attributes->type;
	return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->lock, __ATOMIC_RELAXED) == 0 ? 0 : EBUSY;
}

/* Nobody but the owner writes itself there, so it can look without the lock. */
static bool is_mine(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->owner, __ATOMIC_RELAXED) == __thread_self();
}

static void set_owner(pthread_mutex_t *mutex, pthread_t owner)
{
	__atomic_store_n(&mutex->owner, owner, __ATOMIC_RELAXED);
}

/* What becomes of a lock that the caller holds already; `error` if it may be held only once. */
static int take_again(pthread_mutex_t *mutex, int error)
{
	if (mutex->type != PTHREAD_MUTEX_RECURSIVE)
		return error;
	mutex->depth++;
	return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (mutex->type == PTHREAD_MUTEX_NORMAL) {
		__lock_take(&mutex->lock);
		return 0;
	}
	if (is_mine(mutex))
		return take_again(mutex, EDEADLK);
	__lock_take(&mutex->lock);
	set_owner(mutex, __thread_self());
	return 0;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (mutex->type == PTHREAD_MUTEX_NORMAL)
		return __lock_try(&mutex->lock) ? 0 : EBUSY;
	if (is_mine(mutex))
		return take_again(mutex, EBUSY);
	if (!__lock_try(&mutex->lock))
		return EBUSY;
	set_owner(mutex, __thread_self());
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (mutex->type != PTHREAD_MUTEX_NORMAL) {
		if (!is_mine(mutex))
			return EPERM;
		if (mutex->depth > 0) {
			mutex->depth--;
			return 0;
		}
		set_owner(mutex, NULL);
	}
	__lock_give(&mutex->lock);
	return 0;
}

/* ---------------- Conditions ---------------- */

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
	if (attributes != NULL && attributes->clock != CLOCK_REALTIME)
		return EINVAL;
	*condition = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	return 0;
}

int pthread_cond_destroy(pthread_cond_t *condition)
{
	return __atomic_load_n(&condition->waiters, __ATOMIC_RELAXED) == 0 ? 0 : EBUSY;
}

/* The lock is given up as it is: with its depth, should it be held more than once. */
static int wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline)
{
	unsigned depth = mutex->depth;
	int result;

	if (mutex->type == PTHREAD_MUTEX_NORMAL)
		return __condition_await(condition, &mutex->lock, deadline);
	if (!is_mine(mutex))
		return EPERM;
	mutex->depth = 0;
	set_owner(mutex, NULL);
	result = __condition_await(condition, &mutex->lock, deadline);
	set_owner(mutex, __thread_self());
	mutex->depth = depth;
	return result;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	return wait(condition, mutex, NULL);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			   const struct timespec *deadline)
{
	if (deadline->tv_nsec < 0 || deadline->tv_nsec >= NANOS_PER_SECOND)
		return EINVAL;
	return wait(condition, mutex, deadline);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
	__condition_wake_one(condition);
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
	__condition_wake_all(condition);
	return 0;
}
