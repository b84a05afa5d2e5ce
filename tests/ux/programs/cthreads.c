/* SPDX-License-Identifier: MIT */
/*
 * Threads as Mach 3.0's programs have them.
 *
 * guest: cpus=1 limit=30
 * guest: cpus=2 limit=30
 */
#include <cthreads.h>
#include <signal.h>
#include <stdint.h>

#include "try.h"

#define MANY 8

static any_t give_back(any_t argument)
{
	return argument;
}

TRY(forked_and_joined)
{
	cthread_t thread;

	cthread_init();
	CHECK_EQ(cthread_count(), 1);
	thread = cthread_fork(give_back, &thread);
	NEED(thread != CTHREAD_NULL);
	CHECK(cthread_join(thread) == &thread);
	CHECK_EQ(cthread_count(), 1);
}

static any_t leave(any_t argument)
{
	cthread_exit(argument);
}

TRY(a_thread_ends_by_cthread_exit)
{
	cthread_t thread = cthread_fork(leave, &try_failures);

	NEED(thread != CTHREAD_NULL);
	CHECK(cthread_join(thread) == &try_failures);
}

static any_t look_at_self(any_t argument)
{
	cthread_t self = cthread_self();

	cthread_set_data(self, argument);
	cthread_set_name(self, "worker");
	cthread_yield();
	return (any_t)(intptr_t)(cthread_data(self) == argument &&
				 strcmp(cthread_name(self), "worker") == 0);
}

TRY(each_has_its_data_and_its_name)
{
	cthread_t threads[MANY];

	for (intptr_t n = 0; n < MANY; n++) {
		threads[n] = cthread_fork(look_at_self, (any_t)n);
		NEED(threads[n] != CTHREAD_NULL);
	}
	for (int n = 0; n < MANY; n++)
		CHECK(cthread_join(threads[n]) != NULL);
	CHECK(cthread_data(cthread_self()) == NULL);
}

static struct mutex lock = MUTEX_NAMED_INITIALIZER("lock");
static struct condition changed = CONDITION_INITIALIZER;
static int produced, consumed, done;

static any_t produce(any_t argument)
{
	for (int n = 0; n < 100; n++) {
		mutex_lock(&lock);
		produced++;
		condition_signal(&changed);
		mutex_unlock(&lock);
	}
	return argument;
}

static any_t consume(any_t argument)
{
	mutex_lock(&lock);
	for (;;) {
		while (produced == consumed && !done)
			condition_wait(&changed, &lock);
		if (produced == consumed)
			break;
		consumed++;
	}
	mutex_unlock(&lock);
	return argument;
}

TRY(producers_and_consumers)
{
	cthread_t producers[MANY], consumers[MANY];

	for (int n = 0; n < MANY; n++) {
		consumers[n] = cthread_fork(consume, NULL);
		producers[n] = cthread_fork(produce, NULL);
		NEED(consumers[n] != CTHREAD_NULL && producers[n] != CTHREAD_NULL);
	}
	for (int n = 0; n < MANY; n++)
		cthread_join(producers[n]);
	mutex_lock(&lock);
	done = 1;
	condition_broadcast(&changed);
	mutex_unlock(&lock);
	for (int n = 0; n < MANY; n++)
		cthread_join(consumers[n]);
	CHECK_EQ(produced, MANY * 100);
	CHECK_EQ(consumed, MANY * 100);
}

static spin_lock_t spin = SPIN_LOCK_INITIALIZER;
static int spun;

static any_t count_up(any_t argument)
{
	for (int n = 0; n < 1000; n++) {
		spin_lock(&spin);
		spun++;
		spin_unlock(&spin);
	}
	return argument;
}

TRY(locks_that_spin)
{
	cthread_t threads[MANY];

	for (int n = 0; n < MANY; n++) {
		threads[n] = cthread_fork(count_up, NULL);
		NEED(threads[n] != CTHREAD_NULL);
	}
	for (int n = 0; n < MANY; n++)
		cthread_join(threads[n]);
	CHECK_EQ(spun, MANY * 1000);
	CHECK(spin_try_lock(&spin));
	CHECK(spin_lock_locked(&spin));
	CHECK(!spin_try_lock(&spin));
}

TRY(locks_and_conditions_of_the_heap)
{
	mutex_t mutex = mutex_alloc();
	condition_t condition = condition_alloc();

	NEED(mutex != MUTEX_NULL && condition != CONDITION_NULL);
	mutex_init(mutex);
	mutex_set_name(mutex, "a");
	condition_set_name(condition, "b");
	CHECK(strcmp(mutex_name(mutex), "a") == 0);
	CHECK(strcmp(condition_name(condition), "b") == 0);
	CHECK(mutex_try_lock(mutex));
	CHECK(!mutex_try_lock(mutex));
	mutex_unlock(mutex);
	mutex_clear(mutex);
	condition_clear(condition);
	mutex_free(mutex);
	condition_free(condition);
}

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
	(void)signal;
	signals++;
}

static any_t wait_for_two(any_t argument)
{
	while (signals < 2)
		cthread_yield();
	return argument;
}

TRY(a_thread_gets_a_signal)
{
	cthread_t thread;

	signal(SIGUSR2, count_signal);
	thread = cthread_fork(wait_for_two, NULL);
	NEED(thread != CTHREAD_NULL);
	CHECK_EQ(cthread_kill(thread, SIGUSR2), 0);
	while (signals == 0)
		cthread_yield();
	CHECK_EQ(cthread_kill(thread, SIGUSR2), 0);
	cthread_join(thread);
	CHECK_EQ(signals, 2);
}

TRY(detached_threads_leave_nothing)
{
	for (int n = 0; n < 500; n++) {
		cthread_t thread;

		while ((thread = cthread_fork(give_back, NULL)) == CTHREAD_NULL)
			cthread_yield();
		cthread_detach(thread);
	}
	while (cthread_count() != 1)
		cthread_yield();
}
