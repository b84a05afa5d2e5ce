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

#include "check_unix.h"

#define MANY 8

static any_t give_back(any_t argument)
{
	return argument;
}

TEST(forked_and_joined)
{
	cthread_t thread;

	cthread_init();
	EXPECT_EQ(cthread_count(), 1);
	thread = cthread_fork(give_back, &thread);
	REQUIRE(thread != CTHREAD_NULL);
	EXPECT(cthread_join(thread) == &thread);
	EXPECT_EQ(cthread_count(), 1);
}

static any_t leave(any_t argument)
{
	cthread_exit(argument);
}

TEST(a_thread_ends_by_cthread_exit)
{
	cthread_t thread = cthread_fork(leave, &check_failures);

	REQUIRE(thread != CTHREAD_NULL);
	EXPECT(cthread_join(thread) == &check_failures);
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

TEST(each_has_its_data_and_its_name)
{
	cthread_t threads[MANY];

	for (intptr_t n = 0; n < MANY; n++) {
		threads[n] = cthread_fork(look_at_self, (any_t)n);
		REQUIRE(threads[n] != CTHREAD_NULL);
	}
	for (int n = 0; n < MANY; n++)
		EXPECT(cthread_join(threads[n]) != NULL);
	EXPECT(cthread_data(cthread_self()) == NULL);
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

TEST(producers_and_consumers)
{
	cthread_t producers[MANY], consumers[MANY];

	for (int n = 0; n < MANY; n++) {
		consumers[n] = cthread_fork(consume, NULL);
		producers[n] = cthread_fork(produce, NULL);
		REQUIRE(consumers[n] != CTHREAD_NULL && producers[n] != CTHREAD_NULL);
	}
	for (int n = 0; n < MANY; n++)
		cthread_join(producers[n]);
	mutex_lock(&lock);
	done = 1;
	condition_broadcast(&changed);
	mutex_unlock(&lock);
	for (int n = 0; n < MANY; n++)
		cthread_join(consumers[n]);
	EXPECT_EQ(produced, MANY * 100);
	EXPECT_EQ(consumed, MANY * 100);
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

TEST(locks_that_spin)
{
	cthread_t threads[MANY];

	for (int n = 0; n < MANY; n++) {
		threads[n] = cthread_fork(count_up, NULL);
		REQUIRE(threads[n] != CTHREAD_NULL);
	}
	for (int n = 0; n < MANY; n++)
		cthread_join(threads[n]);
	EXPECT_EQ(spun, MANY * 1000);
	EXPECT(spin_try_lock(&spin));
	EXPECT(spin_lock_locked(&spin));
	EXPECT(!spin_try_lock(&spin));
}

TEST(locks_and_conditions_of_the_heap)
{
	mutex_t mutex = mutex_alloc();
	condition_t condition = condition_alloc();

	REQUIRE(mutex != MUTEX_NULL && condition != CONDITION_NULL);
	mutex_init(mutex);
	mutex_set_name(mutex, "a");
	condition_set_name(condition, "b");
	EXPECT(strcmp(mutex_name(mutex), "a") == 0);
	EXPECT(strcmp(condition_name(condition), "b") == 0);
	EXPECT(mutex_try_lock(mutex));
	EXPECT(!mutex_try_lock(mutex));
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

TEST(a_thread_gets_a_signal)
{
	cthread_t thread;

	signal(SIGUSR2, count_signal);
	thread = cthread_fork(wait_for_two, NULL);
	REQUIRE(thread != CTHREAD_NULL);
	EXPECT_EQ(cthread_kill(thread, SIGUSR2), 0);
	while (signals == 0)
		cthread_yield();
	EXPECT_EQ(cthread_kill(thread, SIGUSR2), 0);
	cthread_join(thread);
	EXPECT_EQ(signals, 2);
}

TEST(detached_threads_leave_nothing)
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
