/* SPDX-License-Identifier: MIT */
/*
 * C threads, as Mach 3.0 has them: docs/threads-library.md.
 *
 * Every thread is one of the kernel's.  With the last thread the process ends; it also ends when
 * main() returns.
 */
#ifndef CTHREADS_H
#define CTHREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <thread_words.h>

typedef void *any_t;
typedef any_t (*cthread_fn_t)(any_t argument);

/* ---------------- Threads ---------------- */

typedef struct cthread *cthread_t;

#define CTHREAD_NULL ((cthread_t)0)

/* Programs of old begin with this; there is nothing left to prepare. */
void cthread_init(void);

/* CTHREAD_NULL if there is no memory, or there are too many. */
cthread_t cthread_fork(cthread_fn_t function, any_t argument);

/* Waits for the end of a thread that nobody has detached; only once for each. */
any_t cthread_join(cthread_t thread);
void cthread_detach(cthread_t thread);
_Noreturn void cthread_exit(any_t result);

cthread_t cthread_self(void);
void cthread_yield(void);
unsigned cthread_count(void);

/* Sends a signal to one thread: 0, or an error. */
int cthread_kill(cthread_t thread, int signal);

/* A word and a name for each thread, as the program likes. */
void cthread_set_data(cthread_t thread, any_t data);
any_t cthread_data(cthread_t thread);
void cthread_set_name(cthread_t thread, const char *name);
const char *cthread_name(cthread_t thread);

/* ---------------- Locks that wait ---------------- */

typedef struct mutex {
	uint32_t lock;
	const char *name;
} * mutex_t;

#define MUTEX_NULL ((mutex_t)0)
#define MUTEX_INITIALIZER \
	{                 \
		0, 0      \
	}
#define MUTEX_NAMED_INITIALIZER(name) \
	{                             \
		0, (name)             \
	}

mutex_t mutex_alloc(void); /* MUTEX_NULL if there is no memory. */
void mutex_free(mutex_t mutex);
void mutex_init(mutex_t mutex);
void mutex_clear(mutex_t mutex);
void mutex_set_name(mutex_t mutex, const char *name);
const char *mutex_name(mutex_t mutex);
void mutex_lock(mutex_t mutex);
bool mutex_try_lock(mutex_t mutex);
void mutex_unlock(mutex_t mutex);

/* ---------------- Conditions ---------------- */

typedef struct condition {
	struct __condition waiting;
	const char *name;
} * condition_t;

#define CONDITION_NULL ((condition_t)0)
#define CONDITION_INITIALIZER \
	{                     \
		{0, 0, 0}, 0  \
	}
#define CONDITION_NAMED_INITIALIZER(name) \
	{                                 \
		{0, 0, 0}, (name)         \
	}

condition_t condition_alloc(void);
void condition_free(condition_t condition);
void condition_init(condition_t condition);
void condition_clear(condition_t condition);
void condition_set_name(condition_t condition, const char *name);
const char *condition_name(condition_t condition);

/* May end without a signal: what is waited for is to be looked at again. */
void condition_wait(condition_t condition, mutex_t mutex);
void condition_signal(condition_t condition);
void condition_broadcast(condition_t condition);

/* ---------------- Locks that spin ---------------- */

typedef uint32_t spin_lock_t;

#define SPIN_LOCK_INITIALIZER 0

void spin_lock_init(spin_lock_t *lock);
void spin_lock(spin_lock_t *lock);
bool spin_try_lock(spin_lock_t *lock);
void spin_unlock(spin_lock_t *lock);
bool spin_lock_locked(const spin_lock_t *lock);

#endif
