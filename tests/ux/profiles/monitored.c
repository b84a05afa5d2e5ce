/* SPDX-License-Identifier: MIT */
/*
 * monitored HOW: four functions take as many percent of the time as their names say, and one more
 * runs only while moncontrol() has turned profiling off.  HOW is `startup`, `buffer` for monitor()
 * with a buffer of its own, `small` with one of few counters, or `pg` for a program that is
 * profiled already.  It prints how many ticks it was charged meanwhile, and how many are in its
 * buffer.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/gmon.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../../user/work/work.h"

#define ROUNDS  500
#define UNIT    309u
#define TICK_US 10000

extern const char __executable_start[], etext[];

static uint16_t buffer[1 << 16];

void ten(void);
void twenty(void);
void thirty(void);
void forty(void);
void hidden(void);

SHOWN void ten(void)
{
	work(10 * UNIT);
}

SHOWN void twenty(void)
{
	work(20 * UNIT);
}

SHOWN void thirty(void)
{
	work(30 * UNIT);
}

SHOWN void forty(void)
{
	work(40 * UNIT);
}

SHOWN void hidden(void)
{
	work(100 * UNIT);
}

static long user_ticks(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec) / TICK_US;
}

/* Ticks that it has been charged. */
static long run(void)
{
	long ticks = user_ticks();

	for (int round = 0; round < ROUNDS; round++) {
		ten();
		twenty();
		thirty();
		forty();
	}
	return user_ticks() - ticks;
}

static void begin(const char *how)
{
	const uint32_t low = (uint32_t)(uintptr_t)__executable_start;
	const uint32_t high = (uint32_t)(uintptr_t)etext;

	if (strcmp(how, "startup") == 0)
		monstartup(low, high);
	else if (strcmp(how, "buffer") == 0)
		monitor(__executable_start, high, buffer, sizeof buffer / sizeof *buffer, 0);
	else if (strcmp(how, "small") == 0)
		monitor(__executable_start, high, buffer, (high - low) / 64 + 1, 0);
}

int main(int argc, char **argv)
{
	long ticks, sum = 0;

	if (argc != 2)
		return 1;
	begin(argv[1]);
	ticks = run();
	moncontrol(0);
	for (int round = 0; round < ROUNDS; round++)
		hidden();
	moncontrol(1);
	ticks += run();
	monitor(0);
	for (size_t n = 0; n < sizeof buffer / sizeof *buffer; n++)
		sum += buffer[n];
	printf("%ld %ld\n", ticks, sum);
	return 0;
}
