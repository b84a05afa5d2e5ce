/* SPDX-License-Identifier: MIT */
/*
 * bins WHAT [SCALE]: profil() by the words of Singh's book, for somebody at a terminal.  Each line
 * says what was tried, whether the process is profiled after it, how many ticks its bins have, how
 * many it was charged, and in which byte of the buffer the last bin is that has any.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../user/work/work.h"

#define ONE     0x10000u
#define SIZE    128u /* Bytes, more than one of the functions has: each is alone in as many. */
#define TICKS   20
#define TICK_US 10000

static uint16_t samples[SIZE / sizeof(uint16_t)];

__attribute__((aligned(SIZE))) void inside(void);
__attribute__((aligned(SIZE))) void outside(void);

SHOWN void inside(void)
{
	work(200000);
}

SHOWN void outside(void)
{
	work(200000);
}

static long user_ticks(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec) / TICK_US;
}

static long run(void (*function)(void))
{
	long begin = user_ticks();

	while (user_ticks() < begin + TICKS)
		function();
	return user_ticks() - begin;
}

static int begin(void *bins, unsigned scale)
{
	return profil(bins, SIZE, (unsigned long)(uintptr_t)inside, scale);
}

/* What adds nothing to a profile can be had only if there is one. */
static bool is_on(void)
{
	return add_profil(NULL, 0, 0, 0) == 0;
}

static void tell(const char *what, long charged)
{
	unsigned sum = 0, last = 0;

	for (unsigned n = 0; n < SIZE / sizeof samples[0]; n++) {
		sum += samples[n];
		if (samples[n] > 0)
			last = n * sizeof samples[0];
	}
	printf("%s: %s, ticks %u of %ld, last at %u\n", what, is_on() ? "on" : "off", sum, charged,
	       last);
	fflush(stdout);
	memset(samples, 0, sizeof samples);
}

static void fork_and_exec(char **argv)
{
	int status;

	if (fork() == 0) {
		tell("child", run(inside));
		execv(argv[0], (char *[]){argv[0], "nothing", NULL});
		_exit(127);
	}
	wait(&status);
	tell("parent", run(inside));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned scale = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : ONE;
	bool fails = strcmp(what, "error") == 0;

	if (strcmp(what, "nothing") != 0 && begin(fails ? NULL : samples, scale) != 0) {
		perror("profil");
		return 1;
	}
	if (strcmp(what, "fork") == 0) {
		fork_and_exec(argv);
	} else if (strcmp(what, "asleep") == 0) {
		sleep(1);
		tell(what, 0);
	} else if (strcmp(what, "nothing") == 0) {
		tell(what, 0);
	} else {
		if (strcmp(what, "outside") == 0)
			tell(what, run(outside));
		tell("inside", run(inside));
	}
	return 0;
}
