/* SPDX-License-Identifier: MIT */
/*
 * Threads, as POSIX has them: docs/threads-library.md says which part of it.  Functions return 0 or
 * an error, and leave errno alone.
 */
#ifndef _PTHREAD_H
#define _PTHREAD_H

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <thread_words.h>
#include <time.h>

#define PTHREAD_KEYS_MAX  128
#define PTHREAD_STACK_MIN 16384

/* ---------------- Threads ---------------- */

typedef struct cthread *pthread_t;

#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1

typedef struct {
	size_t stack_size;
	int detach_state;
} pthread_attr_t;

int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_destroy(pthread_attr_t *attributes);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size);
int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *size);
int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state);
int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*function)(void *argument), void *argument);
int pthread_join(pthread_t thread, void **result);
int pthread_detach(pthread_t thread);
_Noreturn void pthread_exit(void *result);
pthread_t pthread_self(void);
int pthread_equal(pthread_t one, pthread_t other);

/* ---------------- Signals ---------------- */

int pthread_kill(pthread_t thread, int signal);
int pthread_sigmask(int how, const sigset_t *mask, sigset_t *old_mask);

/* ---------------- Locks ---------------- */

#define PTHREAD_MUTEX_NORMAL     0
#define PTHREAD_MUTEX_DEFAULT    PTHREAD_MUTEX_NORMAL
#define PTHREAD_MUTEX_RECURSIVE  1 /* Its holder may take it again. */
#define PTHREAD_MUTEX_ERRORCHECK 2 /* Mistakes are errors: EDEADLK, EPERM. */

typedef struct {
	int type;
} pthread_mutexattr_t;

typedef struct {
	uint32_t lock;
	int type;
	pthread_t owner; /* These two not of a normal one. */
	unsigned depth;
} pthread_mutex_t;

#define PTHREAD_MUTEX_INITIALIZER \
	{                         \
		0, 0, NULL, 0     \
	}

int pthread_mutexattr_init(pthread_mutexattr_t *attributes);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attributes);
int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int type);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attributes, int *type);

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);

/* ---------------- Conditions ---------------- */

typedef struct __condition pthread_cond_t;

typedef struct {
	clockid_t clock; /* CLOCK_REALTIME, the only one that deadlines can be of. */
} pthread_condattr_t;

#define PTHREAD_COND_INITIALIZER \
	{                        \
		0, 0, NULL       \
	}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int pthread_cond_destroy(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			   const struct timespec *deadline);
int pthread_cond_signal(pthread_cond_t *condition);
int pthread_cond_broadcast(pthread_cond_t *condition);

/* ---------------- Once, and for each ---------------- */

typedef uint32_t pthread_once_t;

#define PTHREAD_ONCE_INIT 0

int pthread_once(pthread_once_t *once, void (*function)(void));

typedef unsigned pthread_key_t;

/* A value of each thread's own; when it ends, the destructor gets its value, if not null. */
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *value));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);

#endif
