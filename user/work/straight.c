/* SPDX-License-Identifier: MIT */
/*
 * straight [SAMPLES]: is this machine's clock fit for profiles?
 *
 * A loop of 3 instructions calls a function of 11 and one of 91, none of which branches.  A
 * profiling timer counts where it finds the program.  If interrupts come between any two
 * instructions the counts go by the number of instructions: 2.9, 10.5 and 86.7 percent.  An
 * emulator that takes them only at the ends of its blocks gives something else.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define SAMPLES     1000
#define INTERVAL_US 10000

enum {
	LOOP,
	TEN,
	NINETY,
	PLACES
};

static const char *const names[PLACES] = {"loop", "ten", "ninety"};
static const unsigned instructions[PLACES] = {3, 11, 91};

static volatile unsigned hits[PLACES], elsewhere;
static volatile unsigned wanted;

/*
 * loop_forever runs until `wanted` samples have been taken; the handler then changes where it goes.
 */
void loop_forever(void);
extern const char loop_begin[], loop_end[], ten_end[], ninety_end[];

__asm__(".text\n"
	".globl loop_forever, loop_begin, loop_end, ten_end, ninety_end\n"
	".type loop_forever, @function\n"
	"loop_forever:\n"
	"loop_begin:\n"
	"1:	call	ten\n"
	"	call	ninety\n"
	"	jmp	1b\n"
	"loop_end:\n"
	".size loop_forever, . - loop_forever\n"
	".type ten, @function\n"
	"ten:\n"
	"	.rept 10\n"
	"	addl	$1, %eax\n"
	"	.endr\n"
	"	ret\n"
	"ten_end:\n"
	".size ten, . - ten\n"
	".type ninety, @function\n"
	"ninety:\n"
	"	.rept 90\n"
	"	addl	$1, %eax\n"
	"	.endr\n"
	"	ret\n"
	"ninety_end:\n"
	".size ninety, . - ninety\n");

static void report(void)
{
	unsigned total = 0, sum = 0;

	for (unsigned place = 0; place < PLACES; place++) {
		total += hits[place];
		sum += instructions[place];
	}
	for (unsigned place = 0; place < PLACES; place++)
		printf("%-6s %5.1f %% of the samples, %5.1f %% of the instructions\n", names[place],
		       100.0 * hits[place] / total, 100.0 * instructions[place] / sum);
	printf("straight: %u samples, %u elsewhere\n", total, elsewhere);
}

static void count(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	const char *place = (const char *)(uintptr_t)interrupted->uc_mcontext.eip;

	(void)number;
	(void)info;
	if (place >= loop_begin && place < loop_end)
		hits[LOOP]++;
	else if (place >= loop_end && place < ten_end)
		hits[TEN]++;
	else if (place >= ten_end && place < ninety_end)
		hits[NINETY]++;
	else
		elsewhere++;
	if (hits[LOOP] + hits[TEN] + hits[NINETY] < wanted)
		return;
	report();
	exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval interval = {.it_interval.tv_usec = INTERVAL_US,
				     .it_value.tv_usec = INTERVAL_US};

	wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : SAMPLES;
	if (wanted == 0 || sigaction(SIGPROF, &action, NULL) != 0 ||
	    setitimer(ITIMER_PROF, &interval, NULL) != 0) {
		fprintf(stderr, "usage: straight [SAMPLES]\n");
		return 2;
	}
	loop_forever();
}
