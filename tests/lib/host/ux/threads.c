/* SPDX-License-Identifier: MIT */
/* The host's threads (threads.h).  `mutex` is the server's lock and guards all that is here. */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

#define THREADS_MAX 16

struct wait {
	struct wait *next;
	const void *channel;
	bool is_over;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static struct wait *waits;
static unsigned n_running = 1; /* Threads that do not wait. */
static unsigned n_yielding;    /* Of them, those in host_yield(). */
bool host_is_orderly;
static _Thread_local bool has_lock;

static void (*entry)(unsigned);

void host_lock(void)
{
	pthread_mutex_lock(&mutex);
	has_lock = true;
}

void host_unlock(void)
{
	has_lock = false;
	pthread_mutex_unlock(&mutex);
}

bool host_lock_held(void)
{
	return has_lock;
}

bool host_wait(const void *channel)
{
	struct wait wait = {waits, channel, false};

	if (n_running == 1)
		return false;
	waits = &wait;
	n_running--;
	has_lock = false;
	while (!wait.is_over)
		pthread_cond_wait(&woken, &mutex);
	has_lock = true;
	return true;
}

void host_wake(const void *channel)
{
	struct wait **place = &waits;

	while (*place != NULL) {
		struct wait *wait = *place;

		if (wait->channel != channel) {
			place = &wait->next;
			continue;
		}
		*place = wait->next;
		wait->is_over = true;
		n_running++;
	}
	pthread_cond_broadcast(&woken);
}

/* Who came last goes first: those before are to find all others waiting. */
void host_yield(void)
{
	unsigned place;
	bool is_first;

	pthread_mutex_lock(&mutex);
	place = ++n_yielding;
	do {
		pthread_mutex_unlock(&mutex);
		sched_yield();
		pthread_mutex_lock(&mutex);
		is_first = n_running <= n_yielding && place == n_yielding;
	} while (host_is_orderly && !is_first);
	n_yielding--;
	pthread_mutex_unlock(&mutex);
}

static void *run_one(void *number)
{
	entry((unsigned)(size_t)number);
	pthread_mutex_lock(&mutex);
	n_running--;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

void host_run(unsigned n, void (*run)(unsigned number))
{
	pthread_t threads[THREADS_MAX];

	entry = run;
	n_running += n;
	for (unsigned i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run_one, (void *)(size_t)i);
	pthread_mutex_lock(&mutex);
	n_running--; /* Whoever only waits for the others wakes nobody. */
	pthread_mutex_unlock(&mutex);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	n_running++;
}
