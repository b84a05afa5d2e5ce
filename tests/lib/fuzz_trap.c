/* SPDX-License-Identifier: MIT */
/* Random traps: see fuzz.h. */
#include "fuzz.h"
#include <assay/traps.h>

#define MAKE_TASK 68 /* task_create() as a trap. */

#define TRAP_WORDS 12u /* More than any trap takes. */

/* The stub's return address lies below the arguments, where the kernel passes it over. */
__asm__(".text\n"
	".globl fuzz_raw_trap\n"
	"fuzz_raw_trap:\n"
	"	pushl %ebp\n"
	"	movl %esp, %ebp\n"
	"	pushl %esi\n"
	"	movl 8(%ebp), %eax\n"
	"	movl 12(%ebp), %esi\n"
	"	pushl 44(%esi)\n"
	"	pushl 40(%esi)\n"
	"	pushl 36(%esi)\n"
	"	pushl 32(%esi)\n"
	"	pushl 28(%esi)\n"
	"	pushl 24(%esi)\n"
	"	pushl 20(%esi)\n"
	"	pushl 16(%esi)\n"
	"	pushl 12(%esi)\n"
	"	pushl 8(%esi)\n"
	"	pushl 4(%esi)\n"
	"	pushl (%esi)\n"
	"	pushl $0\n"
	"	lcall $7, $0\n"
	"	movl -4(%ebp), %esi\n"
	"	movl %ebp, %esp\n"
	"	popl %ebp\n"
	"	ret\n");

/* What is special about a trap: how seldom it is called, and which word is a time to wait. */
struct trap {
	uint8_t number;
	uint8_t one_in;
	int8_t milliseconds;
};

/* These end the caller or its task, stop it, or let it wait. */
static const struct trap special[] = {
	{TRAP_assay_exit, 80, -1},
	{TRAP_assay_thread_create, 12, -1},
	{TRAP_assay_thread_exit, 80, -1},
	{TRAP_assay_thread_join, 1, 1},
	{TRAP_assay_clock_read, 1, -1},
	{TRAP_thread_switch, 1, 2},
	{25, 20, 5},  /* mach_msg: fuzz_message.c */
	{69, 80, -1}, /* task_terminate */
	{70, 80, -1}, /* task_suspend */
};

/* A multiple of 8 ms would be a long time for so many calls. */
static uint32_t short_time(struct fuzz *fuzz)
{
	return fuzz_one_in(fuzz, 400) ? fuzz_word(fuzz) : fuzz_below(fuzz, 2);
}

static const struct trap *find_special(uint32_t number)
{
	for (uint32_t i = 0; i < sizeof special / sizeof special[0]; i++) {
		if (special[i].number == number)
			return &special[i];
	}
	return NULL;
}

/*
 * As %eax has it.  Nearly always one of the table; the others end in an exception.  Neither the
 * value nor its opposite looks like an address of the kernel.
 */
static uint32_t choose_number(struct fuzz *fuzz)
{
	const struct trap *trap;
	uint32_t number;

	if (fuzz_one_in(fuzz, 250))
		return fuzz_below(fuzz, 200) - fuzz_below(fuzz, 2) * fuzz_below(fuzz, 0x02000000);
	do {
		number = fuzz_one_in(fuzz, 3) ? 100 + fuzz_below(fuzz, 16)
					      : 25 + fuzz_below(fuzz, 60);
		trap = find_special(number);
	} while ((trap != NULL && !fuzz_one_in(fuzz, trap->one_in)) ||
		 (number == MAKE_TASK && !fuzz_makes_tasks));
	return -number;
}

/* What is printed must not be what the test's own output is told by. */
static uint32_t unprintable(struct fuzz *fuzz)
{
	static const uint32_t addresses[] = {0,          0x123,      0xbfffffff,
					     0xc0000000, 0xe7777000, 0xffffffff};

	return addresses[fuzz_below(fuzz, sizeof addresses / sizeof addresses[0])];
}

/* Of its answer, time is all that could look like an address. */
static bool tells_time(uint32_t number)
{
	return number == TRAP_assay_clock_read;
}

void fuzz_trap(struct fuzz *fuzz)
{
	uint32_t words[TRAP_WORDS], number = -choose_number(fuzz);
	const struct trap *trap = find_special(number);

	for (uint32_t i = 0; i < TRAP_WORDS; i++)
		words[i] = fuzz_word(fuzz);
	if (fuzz_one_in(fuzz, 2))
		words[0] = FUZZ_TASK; /* Many begin with a task. */
	if (trap != NULL && trap->milliseconds >= 0)
		words[trap->milliseconds] = short_time(fuzz);
	if (number == TRAP_mach_print)
		words[0] = unprintable(fuzz);
	fuzz->last = number;
	words[0] = fuzz_raw_trap(-number, words);
	if (tells_time(number))
		memset(fuzz->scratch, 0, sizeof fuzz->scratch);
	else
		fuzz_search(fuzz, words, sizeof words[0]);
}
