/* SPDX-License-Identifier: MIT */
/* ELF files: the symbol table, of which the functions are kept.  See elfsym.h. */
#include <stdlib.h>

#include "image.h"

#define TYPE_NONE     0u
#define TYPE_FUNCTION 2u
#define TYPE_FILE     4u
#define TYPE_RESOLVED 10u /* The function is chosen when the program starts (IFUNC). */

#define BINDING_LOCAL  0u
#define BINDING_GLOBAL 1u

/* Section numbers from here on say something else than a section. */
#define SECTION_SPECIAL 0xff00u

static const char damaged[] = "is damaged: its symbols point outside of the file";
static const char no_text[] = "is damaged: a function's name is no text";
static const char no_symbols[] =
	"has no symbols: it was stripped, so take the file as it was linked";

/* The table while it is read. */
struct table {
	const unsigned char *symbols;
	uint64_t n;
	uint64_t symbol_bytes;
	const char *strings;
	uint64_t strings_bytes; /* The last one is a zero. */
	const char *file;       /* Whose local symbols come now; NULL: not known. */
};

struct symbol {
	const char *name;
	unsigned type;
	unsigned binding;
	unsigned section;
	uint64_t value;
	uint64_t size;
};

static const char *find_table(const struct elfsym *elf, struct table *table)
{
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		struct elf_section section = elf_section(elf, i);
		struct elf_section strings;

		if (section.type != SECTION_SYMBOLS)
			continue;
		if (section.entry_bytes < (elf->is_64 ? 24 : 16) ||
		    !elf_holds(elf, section.offset, section.size) ||
		    section.link >= elf->n_sections)
			return damaged;
		strings = elf_section(elf, section.link);
		if (strings.type != SECTION_STRINGS || strings.size == 0 ||
		    !elf_holds(elf, strings.offset, strings.size) ||
		    elf->image[strings.offset + strings.size - 1] != 0)
			return damaged;
		table->symbols = elf->image + section.offset;
		table->n = section.size / section.entry_bytes;
		table->symbol_bytes = section.entry_bytes;
		table->strings = (const char *)elf->image + strings.offset;
		table->strings_bytes = strings.size;
		return NULL;
	}
	return no_symbols;
}

/* False if its name lies outside of the names. */
static bool read_symbol(const struct elfsym *elf, const struct table *table, uint64_t index,
			struct symbol *symbol)
{
	const unsigned char *at = table->symbols + index * table->symbol_bytes;
	unsigned info = at[elf->is_64 ? 4 : 12];
	uint32_t name = elf_u32(at);

	symbol->type = info & 15;
	symbol->binding = info >> 4;
	symbol->section = elf_u16(at + (elf->is_64 ? 6 : 14));
	symbol->value = elf_word(elf, at + (elf->is_64 ? 8 : 4));
	symbol->size = elf_word(elf, at + (elf->is_64 ? 16 : 8));
	if (name >= table->strings_bytes)
		return false;
	symbol->name = table->strings + name;
	return true;
}

/* Mapping symbols ($a, $x) and the assembler's own labels (.L1) name no function. */
static bool names_function(const struct elfsym *elf, const struct symbol *symbol)
{
	if (symbol->section == 0 || symbol->section >= SECTION_SPECIAL)
		return false;
	if (symbol->name[0] == '\0' || symbol->name[0] == '$' ||
	    (symbol->name[0] == '.' && symbol->name[1] == 'L'))
		return false;
	return symbol->type == TYPE_FUNCTION || symbol->type == TYPE_RESOLVED ||
	       (symbol->type == TYPE_NONE && symbol->binding != BINDING_LOCAL &&
		!elf->ignores_labels);
}

/* Control characters would be the terminal's to obey. */
static bool is_text(const char *name)
{
	for (; *name != '\0'; name++)
		if ((unsigned char)*name < ' ' || *name == 127)
			return false;
	return true;
}

static uint8_t binding_of(const struct symbol *symbol)
{
	if (symbol->binding == BINDING_LOCAL)
		return ELFSYM_LOCAL;
	return symbol->binding == BINDING_GLOBAL ? ELFSYM_GLOBAL : ELFSYM_WEAK;
}

/*
 * Until the table is whole `outer` says whether it is a label, and the end of one whose size is
 * guessed is its section's.
 */
static const char *add_function(struct elfsym *elf, const struct table *table,
				const struct symbol *symbol)
{
	struct elf_section section;
	struct elfsym_function *function = &elf->functions[elf->n_functions];

	if (symbol->section >= elf->n_sections)
		return damaged;
	if (!is_text(symbol->name))
		return no_text;
	section = elf_section(elf, symbol->section);
	if (!(section.flags & SECTION_IS_CODE) || symbol->value < section.address ||
	    symbol->value - section.address >= section.size)
		return NULL;
	*function = (struct elfsym_function){
		.start = symbol->value,
		.end = symbol->value + symbol->size,
		.name = symbol->name,
		.file = symbol->binding == BINDING_LOCAL ? table->file : NULL,
		.outer = symbol->type == TYPE_NONE,
		.binding = binding_of(symbol),
		.is_size_guessed = symbol->size == 0,
	};
	if (symbol->size == 0)
		function->end = section.address + section.size;
	if (function->end <= function->start)
		return damaged;
	elf->n_functions++;
	return NULL;
}

static const char *read_table(struct elfsym *elf, struct table *table)
{
	for (uint64_t i = 1; i < table->n; i++) {
		const char *error = NULL;
		struct symbol symbol;

		if (!read_symbol(elf, table, i, &symbol))
			return damaged;
		if (symbol.type == TYPE_FILE)
			table->file = symbol.name[0] == '\0' ? NULL : symbol.name;
		else if (names_function(elf, &symbol))
			error = add_function(elf, table, &symbol);
		if (error != NULL)
			return error;
	}
	return NULL;
}

bool elfsym_defines(const struct elfsym *elf, const char *name)
{
	struct table table = {0};
	struct symbol symbol;

	if (find_table(elf, &table) != NULL)
		return false;
	for (uint64_t i = 1; i < table.n; i++)
		if (read_symbol(elf, &table, i, &symbol) && symbol.section != 0 &&
		    strcmp(symbol.name, name) == 0)
			return true;
	return false;
}

/* ---------------- In order ---------------- */

static int compare(const void *first, const void *second)
{
	const struct elfsym_function *one = first;
	const struct elfsym_function *other = second;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	if (one->outer != other->outer)
		return one->outer < other->outer ? -1 : 1;
	if (one->binding != other->binding)
		return one->binding > other->binding ? -1 : 1;
	if (one->is_size_guessed != other->is_size_guessed)
		return one->is_size_guessed ? 1 : -1;
	return strcmp(one->name, other->name);
}

/* One name for an address, and no labels in functions that say their size. */
static void drop_duplicates(struct elfsym *elf)
{
	struct elfsym_function *functions = elf->functions;
	uint64_t covered = 0;
	size_t n = 0;

	for (size_t i = 0; i < elf->n_functions; i++) {
		bool is_label = functions[i].outer != 0;

		if (n > 0 && functions[n - 1].start == functions[i].start)
			continue;
		if (is_label && functions[i].start < covered)
			continue;
		if (!functions[i].is_size_guessed && functions[i].end > covered)
			covered = functions[i].end;
		functions[n++] = functions[i];
	}
	elf->n_functions = n;
}

static void find_ends_and_outers(struct elfsym *elf)
{
	struct elfsym_function *functions = elf->functions;

	for (size_t i = 0; i < elf->n_functions; i++) {
		struct elfsym_function *function = &functions[i];
		uint32_t outer = i == 0 ? ELFSYM_NONE : (uint32_t)(i - 1);

		if (function->is_size_guessed && i + 1 < elf->n_functions &&
		    functions[i + 1].start < function->end)
			function->end = functions[i + 1].start;
		while (outer != ELFSYM_NONE && functions[outer].end <= function->start)
			outer = functions[outer].outer;
		function->outer = outer;
	}
}

const char *elfsym_read_functions(struct elfsym *elf)
{
	struct table table = {0};
	const char *error = find_table(elf, &table);

	if (error != NULL)
		return error;
	if (table.n >= ELFSYM_NONE)
		return damaged;
	elf->functions = malloc((size_t)(table.n + 1) * sizeof(*elf->functions));
	if (elf->functions == NULL)
		return "has more symbols than memory has room for";
	error = read_table(elf, &table);
	if (error != NULL)
		return error;
	if (elf->n_functions == 0)
		return no_symbols;
	qsort(elf->functions, elf->n_functions, sizeof(*elf->functions), compare);
	drop_duplicates(elf);
	find_ends_and_outers(elf);
	return NULL;
}
