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

#define CODE_PUSH_EBP 0x55u
#define CODE_RET      0xc3u
#define CODE_RET_N    0xc2u
#define CODE_REP      0xf3u

/* Whether the return address is on top of the stack, by the code at `pc`; the last is endbr32. */
static inline bool code_has_no_frame(const uint8_t *code)
{
	return code[0] == CODE_PUSH_EBP || code[0] == CODE_RET || code[0] == CODE_RET_N ||
	       (code[0] == CODE_REP &&
		(code[1] == CODE_RET || (code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfb)));
}

/*
 * Whether it may be so, since the code is a jump and there may be leave or pop %ebp before it
 * (code[-1] can be read): that byte may also end another instruction, as xor %ecx, %ecx.
 */
static inline bool code_may_have_left(const uint8_t *code)
{
	return (code[0] == 0xe9 || code[0] == 0xeb) && (code[-1] == 0xc9 || code[-1] == 0x5d);
}

/* Whether one of these can be true of code that begins with this byte. */
static inline bool code_may_lack_frame(uint8_t first)
{
	return first == CODE_PUSH_EBP || first == CODE_RET || first == CODE_RET_N ||
	       first == CODE_REP || first == 0xe9 || first == 0xeb;
}

/* The longest is by a pointer in a table, the shortest by one in a register. */
#define CALL_SHORTEST 2
#define CALL_LONGEST  7

/* Whether a call may end at `end`, as one does before a return address. */
static inline bool code_is_behind_call(const uint8_t *end)
{
	bool is = end[-5] == 0xe8;

	for (int size = CALL_SHORTEST; size <= CALL_LONGEST; size++)
		is |= end[-size] == 0xff && (end[1 - size] & 0x38) == 0x10;
	return is;
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

#define LEAF_WORDS 3u        /* On top of its stack are two registers that it saved, at most. */
#define CALL_SIZE  5u        /* Of a direct call: an opcode and how far from behind it. */
#define CODE_NEAR  0x1000000 /* Further from pc an address is no code of the same program. */
#define LEAF_MAX   0x10000u  /* A function without a frame is shorter. */

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
