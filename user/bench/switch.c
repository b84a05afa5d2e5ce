/* SPDX-License-Identifier: MIT */
/* Switching to another thread that does nothing but yield, and back. */
#include "measure.h"

static uint8_t stack[16384] __attribute__((aligned(16)));

static void yield_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		swtch_pri(0);
}

/* In one task. */
void bench_switch(uint32_t n)
{
	uint32_t id;

	measure_calibrate();
	must(thread_start(yield_for_ever, NULL, stack, sizeof stack, PRIORITY_USUAL, &id),
	     "a thread");
	MEASURE(n, swtch_pri(0));
	report_samples(n, 1);
}

/* Waits until there is another thread to yield to: the other program's. */
static void await_other(void)
{
	while (!swtch_pri(0))
		continue;
}

/* Between two tasks: the other is `bench partner`, on the same CPU. */
void bench_switch_tasks(uint32_t n)
{
	measure_calibrate();
	await_other();
	MEASURE(n, swtch_pri(0));
	report_samples(n, 1);
}

void bench_partner(uint32_t n)
{
	(void)n;
	await_other();
	while (swtch_pri(0))
		continue;
}
