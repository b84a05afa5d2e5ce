/* SPDX-License-Identifier: MIT */
/*
 * Names of functions (base/symbols.h), for the backtraces of a kernel that is about to stop: reads
 * nothing but the table in the image and takes no lock.
 */
#include "base/symbols.h"

#include <stddef.h>

#include "base/assert.h"

/* The first of the kernel's two links has no table yet; the address is zero there. */
extern const struct symbol_table symbol_table __attribute__((weak));

/* How many symbols lie at or below `pc`: symbols[0] to symbols[n - 1]. */
static uint32_t symbols_count_up_to(const struct symbol_table *table, uintptr_t pc)
{
	uint32_t low = 0;
	uint32_t high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->symbols[middle].address <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	assert(low <= table->count);
	return low;
}

/* `offset` is left alone where there is no name. */
const char *symbol_name(uintptr_t pc, uintptr_t *offset)
{
	const struct symbol_table *table = &symbol_table;
	const struct symbol *symbol;
	const char *name;
	uint32_t n;

	assert(offset != NULL);
	if (table == NULL)
		return NULL;
	n = symbols_count_up_to(table, pc);
	if (n == 0)
		return NULL;
	symbol = &table->symbols[n - 1];
	assert(symbol->address <= pc);
	name = (const char *)&table->symbols[table->count] + symbol->name;
	if (*name == '\0')
		return NULL; /* A hole. */
	*offset = pc - symbol->address;
	return name;
}
