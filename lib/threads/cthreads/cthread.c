/* SPDX-License-Identifier: MIT */
/* Threads of <cthreads.h>. */
#include <cthreads.h>
#include <sched.h>

#include "../core/thread.h"

void cthread_init(void)
{
}

cthread_t cthread_fork(cthread_fn_t function, any_t argument)
{
	struct cthread *thread;

	return __thread_start(&thread, function, argument, STACK_DEFAULT, false) == 0
		       ? thread
		       : CTHREAD_NULL;
}

any_t cthread_join(cthread_t thread)
{
	void *result = NULL;

	__thread_join(thread, &result);
	return result;
}

void cthread_detach(cthread_t thread)
{
	__thread_detach(thread);
}

_Noreturn void cthread_exit(any_t result)
{
	__thread_end(result);
}

cthread_t cthread_self(void)
{
	return __thread_self();
}

void cthread_yield(void)
{
	sched_yield();
}

unsigned cthread_count(void)
{
	return __thread_count();
}

int cthread_kill(cthread_t thread, int signal)
{
	return __thread_signal(thread, signal);
}

void cthread_set_data(cthread_t thread, any_t data)
{
	thread->data = data;
}

any_t cthread_data(cthread_t thread)
{
	return thread->data;
}

void cthread_set_name(cthread_t thread, const char *name)
{
	thread->name = name;
}

const char *cthread_name(cthread_t thread)
{
	return thread->name;
}
