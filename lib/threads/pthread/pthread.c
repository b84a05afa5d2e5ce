/* SPDX-License-Identifier: MIT */
/* Threads of <pthread.h>. */
#include <errno.h>
#include <pthread.h>

#include "../core/thread.h"

_Static_assert(PTHREAD_KEYS_MAX == KEYS && PTHREAD_STACK_MIN == STACK_LEAST,
	       "the header says what the library can do");

/* ---------------- Attributes ---------------- */

int pthread_attr_init(pthread_attr_t *attributes)
{
	*attributes = (pthread_attr_t){.stack_size = STACK_DEFAULT,
				       .detach_state = PTHREAD_CREATE_JOINABLE};
	return 0;
}

int pthread_attr_destroy(pthread_attr_t *attributes)
{
	(void)attributes; /* Nothing of it is elsewhere. */
	return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t size)
{
	if (size < PTHREAD_STACK_MIN)
		return EINVAL;
	attributes->stack_size = size;
	return 0;
}

int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *size)
{
	*size = attributes->stack_size;
	return 0;
}

int pthread_attr_setdetachstate(pthread_attr_t *attributes, int state)
{
	if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
		return EINVAL;
	attributes->detach_state = state;
	return 0;
}

int pthread_attr_getdetachstate(const pthread_attr_t *attributes, int *state)
{
	*state = attributes->detach_state;
	return 0;
}

/* ---------------- Threads ---------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
		   void *argument)
{
	pthread_attr_t usual;

	if (attributes == NULL) {
		pthread_attr_init(&usual);
		attributes = &usual;
	}
	return __thread_start(thread, function, argument, attributes->stack_size,
			      attributes->detach_state == PTHREAD_CREATE_DETACHED);
}

int pthread_join(pthread_t thread, void **result)
{
	return __thread_join(thread, result);
}

int pthread_detach(pthread_t thread)
{
	return __thread_detach(thread);
}

_Noreturn void pthread_exit(void *result)
{
	__thread_end(result);
}

pthread_t pthread_self(void)
{
	return __thread_self();
}

int pthread_equal(pthread_t one, pthread_t other)
{
	return one == other;
}

/* ---------------- Signals ---------------- */

int pthread_kill(pthread_t thread, int signal)
{
	int error = errno;
	int result = __thread_signal(thread, signal);

	errno = error;
	return result;
}

int pthread_sigmask(int how, const sigset_t *mask, sigset_t *old_mask)
{
	int error = errno;
	int result = sigprocmask(how, mask, old_mask) == 0 ? 0 : errno;

	errno = error;
	return result;
}
