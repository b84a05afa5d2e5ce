/* SPDX-License-Identifier: MIT */
/* Makes calls that are to be counted: from two threads at once, in handlers, before main(). */
#include <assay.h>
#include <gprof.h>
#include <mach.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

#define CALLS     400000u
#define RAISED    50u
#define QUESTIONS 4000u
#define TIMED     1000u
#define REPEATS   10u

static KEPT void leaf(void)
{
	__asm__ volatile("");
}

static KEPT __attribute__((no_instrument_function)) void uncounted_leaf(void)
{
	__asm__ volatile("");
}

__attribute__((constructor)) static void before_main(void)
{
	leaf();
}

__attribute__((destructor)) static void after_main(void)
{
	leaf();
}

/* ---------------- Two threads ---------------- */

static unsigned n_ready;

/* Until both are there. */
static void meet(void)
{
	__atomic_add_fetch(&n_ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&n_ready, __ATOMIC_SEQ_CST) < 2)
		sched_yield();
}

static void *worker(void *argument)
{
	meet();
	for (unsigned n = 0; n < CALLS; n++)
		leaf();
	return argument;
}

static KEPT void with_two_threads(void)
{
	pthread_t threads[2];

	for (unsigned n = 0; n < 2; n++)
		pthread_create(&threads[n], NULL, worker, NULL);
	for (unsigned n = 0; n < 2; n++)
		pthread_join(threads[n], NULL);
}

/* ---------------- Handlers ---------------- */

static void handler(int signal)
{
	(void)signal;
	leaf();
}

static KEPT void with_signals(void)
{
	signal(SIGUSR1, handler);
	for (unsigned n = 0; n < RAISED; n++)
		raise(SIGUSR1);
}

/* What the library does with a signal is not seen. */
static KEPT int shows_the_default(void)
{
	struct sigaction old;

	sigaction(SIGTERM, NULL, &old);
	return old.sa_handler == SIG_DFL && signal(SIGTERM, SIG_IGN) == SIG_DFL &&
	       signal(SIGTERM, SIG_DFL) == SIG_IGN;
}

/* ---------------- By a pointer ---------------- */

static KEPT void pointed_at(void)
{
	__asm__ volatile("");
}

static void (*volatile pointer)(void) = pointed_at;

static KEPT void with_a_pointer(void)
{
	for (unsigned n = 0; n < RAISED; n++)
		pointer();
}

/* ---------------- What it costs ---------------- */

#define TIME(function)                                                   \
	({                                                               \
		uint64_t least = UINT64_MAX;                             \
		for (unsigned n = 0; n < REPEATS; n++) {                 \
			uint64_t start = cycles();                       \
			for (unsigned calls = 0; calls < TIMED; calls++) \
				function();                              \
			start = cycles() - start;                        \
			least = start < least ? start : least;           \
		}                                                        \
		(unsigned)(least / TIMED);                               \
	})

/* ---------------- Work for the collector ---------------- */

static KEPT void ask(void)
{
	gprof_status_t status;

	for (unsigned n = 0; n < QUESTIONS; n++)
		do_gprof_mon_status(MACH_PORT_NULL, &status);
}

int main(void)
{
	unsigned counted = TIME(leaf), uncounted = TIME(uncounted_leaf);

	printf("mcount %u\n", counted - uncounted);
	printf("default %d\n", shows_the_default());
	with_two_threads();
	with_signals();
	with_a_pointer();
	ask();
	return 0;
}
