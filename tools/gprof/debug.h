/* SPDX-License-Identifier: MIT */
/*
 * What only a machine with binutils knows of a program: source lines and instructions.
 *
 * On the host addr2line and objdump are asked (host/debug.c).  In the guest there is neither
 * (guest/debug.c): no line is known and there are no instructions.
 */
#ifndef GPROF_DEBUG_H
#define GPROF_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_line {
	char *file; /* NULL: not known. */
	unsigned line;
};

struct debug_instruction {
	uint64_t address;
	char *text;
};

struct debug_code {
	struct debug_instruction *items; /* By address. */
	size_t n;
	size_t room;
};

/* Whether lines and instructions can be known here at all. */
bool debug_is_here(void);

/*
 * The line of each address, in an array as long; of code that was inlined its own, or that of the
 * function that it is part of now.
 */
struct debug_line *debug_lines(const char *program, const uint64_t *addresses, size_t n);
struct debug_line *debug_own_lines(const char *program, const uint64_t *addresses, size_t n);
void debug_lines_free(struct debug_line *lines, size_t n);

/* The instructions of [start, end). */
struct debug_code debug_code(const char *program, uint64_t start, uint64_t end);
void debug_code_free(struct debug_code *code);

/* The instruction that begins at the address; NULL. */
static inline const char *debug_instruction_at(const struct debug_code *code, uint64_t address)
{
	size_t low = 0;
	size_t high = code->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->items[middle].address == address)
			return code->items[middle].text;
		if (code->items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

#endif
