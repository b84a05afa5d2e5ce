/* SPDX-License-Identifier: MIT */
/*
 * What the code at a program counter tells about the stack.
 *
 * Between the call of a function and its `mov %esp, %ebp`, and again after its `leave` or `pop
 * %ebp`, the frame pointer is still or again the caller's: a walk from there would miss the caller.
 * So it is all the time in a function that makes no frame, which compilers allow themselves where a
 * function calls no other.
 */
#ifndef I386_SAMPLE_SAMPLE_STACK_H
#define I386_SAMPLE_SAMPLE_STACK_H

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

/* Whether code_has_no_frame() can be true of code that begins with this byte. */
static inline bool code_may_lack_frame(uint8_t first)
{
	return first == 0x55 || first == 0xc3 || first == 0xc2 || first == 0xf3 || first == 0xe9 ||
	       first == 0xeb;
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

/* ---------------- Functions without a frame ---------------- */

#define LEAF_WORDS    3u        /* On top of its stack are two registers that it saved, at most. */
#define CALL_SIZE     5u        /* Of a direct call: an opcode and how far from behind it. */
#define CODE_NEAR     0x1000000 /* Further from pc an address is no code of the same program. */
#define LEAF_MAX      0x10000u  /* A function without a frame is shorter. */
#define CODE_PUSH_EBP 0x55u

/* Where the direct call that ends at `address` leads; 0 if there is none. */
static inline uint32_t code_call_target(const uint8_t call[CALL_SIZE], uint32_t address)
{
	uint32_t distance = call[1] | (uint32_t)call[2] << 8 | (uint32_t)call[3] << 16 |
			    (uint32_t)call[4] << 24;

	return call[0] == 0xe8 ? address + distance : 0;
}

/* What a word on top of the stack is to a function. */
enum code_return {
	CODE_NO_RETURN, /* Not the function's return address; */
	CODE_IS_LEAF,   /* it is; */
	CODE_HAS_FRAME, /* it is, but the function makes a frame. */
};

/*
 * A word on top of the stack is taken for the return address of a function without a frame if it
 * stands behind a call of something that begins shortly before the program counter, and does not
 * begin with the making of a frame.  A function that makes its frame later, and has the return
 * address of an earlier call of its own first part left on top of its stack, is misjudged.
 */
static inline bool code_is_near_begin(uint32_t target, uint32_t pc)
{
	return target != 0 && pc - target < LEAF_MAX;
}

#endif
