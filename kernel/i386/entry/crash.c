/* SPDX-License-Identifier: MIT */
/* Breaking the kernel on purpose: see crash.h. */
#include "i386/entry/crash.h"

#include <stdint.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/machine.h"
#include "base/string.h"
#include "i386/cpu/cpu.h"
#include "i386/patch/hold.h"

static uint8_t some_data[16];
static const uint32_t some_constant = 1;

static void crash_null(void)
{
	volatile uint32_t *nothing = (volatile uint32_t *)4;

	__asm__("" : "+r"(nothing));
	*nothing = 1;
}

static void crash_write_text(void)
{
	volatile char *text = (volatile char *)crash_write_text;

	__asm__("" : "+r"(text));
	*text = 0;
}

static void crash_write_constant(void)
{
	volatile uint32_t *constant = (volatile uint32_t *)&some_constant;

	__asm__("" : "+r"(constant));
	*constant = 2;
}

static void crash_execute_data(void)
{
	some_data[0] = 0xc3; /* ret */
	__asm__ volatile("call *%0" ::"r"(some_data) : "memory");
}

static void crash_undefined(void)
{
	__asm__ volatile("ud2");
}

/* Deeper than any stack; the compiler must not turn it into a loop. */
static uint32_t __attribute__((noinline)) crash_recurse(volatile uint32_t *depth)
{
	volatile uint32_t here = *depth - 1;

	return here == 0 ? 0 : crash_recurse(&here) + here;
}

static void crash_overflow(void)
{
	volatile uint32_t depth = 1000000;

	crash_recurse(&depth);
}

/* With no stack at all the CPU cannot even push the frame of the fault. */
static void crash_double_fault(void)
{
	__asm__ volatile("movl $0x1000, %%esp; pushl $0" ::: "memory");
}

static void crash_assert(void)
{
	assert(some_data[1] == 1);
}

/* The other CPUs wait in their NMIs meanwhile, as while the kernel's calls are patched. */
static void crash_held(void)
{
	hold_begin();
	assert(some_data[2] == 1);
}

/* Has a name of its own in backtraces, by which tests know it. */
static void __attribute__((noinline)) crash_hang(void)
{
	for (;;)
		__asm__ volatile("");
}

static void crash_hang_off(void)
{
	interrupts_off();
	crash_hang();
}

/* The compiler must not know whom this calls: each is to have its own name in the backtrace. */
static void crash_call(void (*crash)(void))
{
	__asm__("" : "+r"(crash));
	crash();
}

void crash_if_asked(void)
{
	static const struct {
		const char *name;
		void (*crash)(void);
	} kinds[] = {
		{"null", crash_null},
		{"write-text", crash_write_text},
		{"write-constant", crash_write_constant},
		{"execute-data", crash_execute_data},
		{"undefined", crash_undefined},
		{"overflow", crash_overflow},
		{"double-fault", crash_double_fault},
		{"assert", crash_assert},
		{"held", crash_held},
		{"hang", crash_hang},
		{"hang-off", crash_hang_off},
	};
	char kind[20];

	if (!argument_string("crash", kind, sizeof kind))
		return;
	for (unsigned n = 0; n < sizeof kinds / sizeof kinds[0]; n++)
		if (strcmp(kinds[n].name, kind) == 0)
			crash_call(kinds[n].crash);
	machine_refuse("crash=%s is no way to crash; there are null, write-text, write-constant, "
		       "execute-data, undefined, overflow, double-fault, assert, held, hang and "
		       "hang-off",
		       kind);
}
