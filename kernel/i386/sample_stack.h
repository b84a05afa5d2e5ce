/* SPDX-License-Identifier: MIT */
/*
 * What the code at a program counter tells about the stack.
 *
 * Between the call of a function and its `mov %esp, %ebp`, and again after its `leave` or `pop
 * %ebp`, the frame pointer is still or again the caller's: a walk from there would miss the caller.
 */
#ifndef I386_SAMPLE_STACK_H
#define I386_SAMPLE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that are looked at: before the program counter, and from it on. */
#define CODE_BEFORE 1
#define CODE_AFTER  8

/* Whether the return address is on top of the stack, by the code at `pc` (code[-1] can be read). */
static inline bool code_has_no_frame(const uint8_t *code)
{
	switch (code[0]) {
	case 0x55: /* push %ebp, */
	case 0xc3: /* ret, */
	case 0xc2: /* ret $n, */
		return true;
	case 0xf3: /* rep ret, endbr32, */
		return code[1] == 0xc3 || (code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfb);
	case 0xe9: /* or a jump to another function: behind leave or pop %ebp. */
	case 0xeb:
		return code[-1] == 0xc9 || code[-1] == 0x5d;
	default:
		return false;
	}
}

/* Whether a `mov %esp, %ebp` is about to come: where %ebp is on top of the stack, it was pushed. */
static inline bool code_makes_frame(const uint8_t *code)
{
	for (int i = 0; i < CODE_AFTER - 1; i++)
		if ((code[i] == 0x89 && code[i + 1] == 0xe5) ||
		    (code[i] == 0x8b && code[i + 1] == 0xec))
			return true;
	return false;
}

#endif
