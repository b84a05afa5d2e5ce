/* SPDX-License-Identifier: MIT */
/* Threads: the life of one, and a crowd of them. */
#include "measure.h"

#define CROWD       100
#define CROWD_STACK PAGE_SIZE
#define CROWD_PLACE ((uint8_t *)0x40000000) /* Of their stacks. */
#define CROWD_NAPS  20
#define CROWD_SLEEP 30 /* Milliseconds: all wake up in the same tick, several times. */

static uint8_t stack[16384] __attribute__((aligned(16)));

static void nothing(void *unused)
{
	(void)unused;
}

/* Created, run, ended and joined. */
void bench_thread(uint32_t n)
{
	uint32_t id;

	measure_calibrate();
	MEASURE(n, thread_start(nothing, NULL, stack, sizeof stack, PRIORITY_USUAL, &id);
		assay_thread_join(id, TIMEOUT_NONE));
	report_samples(n, 1);
}

static void nap(void *unused)
{
	(void)unused;
	for (int i = 0; i < CROWD_NAPS; i++) {
		swtch();
		thread_switch(0, SWITCH_OPTION_WAIT, CROWD_SLEEP);
	}
}

static void sleep_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, 1000 * CROWD_SLEEP);
}

static void start_crowd(void (*run)(void *), uint32_t *ids)
{
	for (uint32_t i = 0; i < CROWD; i++)
		must(thread_start(run, NULL, CROWD_PLACE + i * CROWD_STACK, CROWD_STACK,
				  PRIORITY_USUAL, &ids[i]),
		     "a thread of the crowd");
}

/* A hundred threads that sleep and wake together; then a hundred that the task's end wakes. */
void bench_crowd(uint32_t n)
{
	uint32_t ids[CROWD];

	(void)n;
	must(assay_memory_map(CROWD_PLACE, CROWD * CROWD_STACK, ASSAY_READ | ASSAY_WRITE),
	     "stacks for the crowd");
	start_crowd(nap, ids);
	for (uint32_t i = 0; i < CROWD; i++)
		assay_thread_join(ids[i], TIMEOUT_NONE);
	start_crowd(sleep_for_ever, ids);
	thread_switch(0, SWITCH_OPTION_WAIT, CROWD_SLEEP);
}
