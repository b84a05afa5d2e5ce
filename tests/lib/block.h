/* SPDX-License-Identifier: MIT */
/*
 * Instructions that do nothing, in one block, for loops that only use a CPU: an emulator that
 * counts instructions executes those of a long block in a tenth of the time.
 */
#ifndef TEST_BLOCK_H
#define TEST_BLOCK_H

#define NOPS_TEXT(count) ".rept " #count "\nnop\n.endr\n"

/* Turns of a hundred instructions each, in %ecx. */
#define HUNDREDS_TEXT "1: " NOPS_TEXT(98) "decl %ecx\njnz 1b\n"

static inline void use_cpu(void)
{
	__asm__ volatile(NOPS_TEXT(250));
}

#endif
