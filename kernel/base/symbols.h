/* SPDX-License-Identifier: MIT */
/*
 * Names of the kernel's own functions, from a table in its image.
 *
 * tools/ksyms writes the table from the linked kernel, and the kernel is linked a second time with
 * it.  The table lies behind everything else, so that no address moves.
 */
#ifndef BASE_SYMBOLS_H
#define BASE_SYMBOLS_H

#include <stdint.h>

/*
 * The table, as tools/ksyms writes it: `count` symbols in the order of their addresses, then the
 * names.  A symbol reaches to the next one; one with an empty name is a hole between functions.
 */
struct symbol {
	uint32_t address;
	uint32_t name; /* Offset behind the last symbol. */
};

struct symbol_table {
	uint32_t count;
	struct symbol symbols[];
};

/* The function that contains `pc`, with the offset in it; NULL outside the kernel's text. */
const char *symbol_name(uintptr_t pc, uintptr_t *offset);

#endif
