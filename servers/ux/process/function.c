/* SPDX-License-Identifier: MIT */
/*
 * Names of functions from programs' files: see function.h.
 *
 * Whoever wrote the file may have meant harm.  What it says of itself is used to read in it, where
 * a wrong place is an error of the read, and to choose a name that is only shown.  So the work is
 * bounded, and nothing else needs to be.
 */
#include "process/function.h"

#include "fs/vnode.h"
#include "process/elf.h"

#define SECTIONS_MAX 128u
#define SYMBOLS_MAX  16384u
#define PIECE        64u /* Symbols that are read at a time. */

#define SECTION_SYMBOLS 2u
#define SECTION_STRINGS 3u

#define TYPE(info)    ((info)&0xfu)
#define TYPE_NONE     0u /* As of labels in assembler. */
#define TYPE_FUNCTION 2u

#define SECTION_NONE     0u
#define SECTION_RESERVED 0xff00u /* Not a section's number, but a number of some other kind. */

struct section {
	uint32_t name, type, flags, address, offset, size, link, info, alignment, entry_size;
};

struct symbol {
	uint32_t name, value, size;
	uint8_t info, other;
	uint16_t section;
};

_Static_assert(sizeof(struct section) == ELF_SECTION_SIZE, "fixed by the format");
_Static_assert(sizeof(struct symbol) == 16, "fixed by the format");

static bool function_read(struct vnode *vnode, off_t offset, void *buffer, size_t size)
{
	size_t done;

	return vnode_read(vnode, offset, buffer, size, &done) == 0 && done == size;
}

static bool function_read_section(struct vnode *vnode, const struct elf_sections *sections,
				  uint32_t n, struct section *section)
{
	return n < sections->n &&
	       function_read(vnode, (off_t)sections->offset + (off_t)n * ELF_SECTION_SIZE, section,
			     sizeof *section);
}

/* The table of symbols, and where their names are. */
static bool function_find_tables(struct vnode *vnode, struct section *symbols,
				 struct section *strings)
{
	struct elf_sections sections;
	uint32_t head[ELF_HEADER_SIZE / sizeof(uint32_t)];

	if (!function_read(vnode, 0, head, sizeof head) ||
	    !elf_find_sections(head, sizeof head, &sections))
		return false;
	for (uint32_t n = 0; n < SECTIONS_MAX; n++) {
		if (!function_read_section(vnode, &sections, n, symbols))
			return false;
		if (symbols->type == SECTION_SYMBOLS)
			return symbols->entry_size == sizeof(struct symbol) &&
			       function_read_section(vnode, &sections, symbols->link, strings) &&
			       strings->type == SECTION_STRINGS;
	}
	return false;
}

/* Whether the symbol is a place in the program at or before the address, and nearer than `best`. */
static bool function_is_nearer(const struct symbol *symbol, uint32_t address,
			       const struct symbol *best)
{
	return (TYPE(symbol->info) == TYPE_FUNCTION || TYPE(symbol->info) == TYPE_NONE) &&
	       symbol->section != SECTION_NONE && symbol->section < SECTION_RESERVED &&
	       symbol->name != 0 && symbol->value <= address && symbol->value >= best->value;
}

/* The nearest symbol; one whose name is 0 if there is none. */
static struct symbol function_find_nearest(struct vnode *vnode, const struct section *table,
					   uint32_t address)
{
	uint32_t all = table->size / sizeof(struct symbol);
	uint32_t n_symbols = all < SYMBOLS_MAX ? all : SYMBOLS_MAX;
	struct symbol best = {.name = 0};
	struct symbol piece[PIECE];

	for (uint32_t n = 0; n < n_symbols; n += PIECE) {
		uint32_t count = n_symbols - n < PIECE ? n_symbols - n : PIECE;

		if (!function_read(vnode, (off_t)table->offset + (off_t)n * (off_t)sizeof *piece,
				   piece, count * sizeof *piece))
			return (struct symbol){.name = 0};
		for (uint32_t i = 0; i < count; i++) {
			if (function_is_nearer(&piece[i], address, &best))
				best = piece[i];
		}
	}
	return best;
}

static bool function_is_harmless(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	       (character >= '0' && character <= '9') || character == '_' || character == '.' ||
	       character == '-' || character == '+' || character == '$' || character == '@';
}

void function_copy_name(char *to, const char *from, unsigned most)
{
	unsigned n = 0;

	for (; n < most && from[n] != '\0'; n++)
		to[n] = function_is_harmless(from[n]) ? from[n] : '?';
	to[n] = '\0';
}

/* A name may be at the file's end, where less can be read; what is not read stays zero. */
static bool function_read_name(struct vnode *vnode, off_t offset, struct function *function)
{
	char text[FUNCTION_NAME_MAX + 1] = "";
	size_t done;

	if (vnode_read(vnode, offset, text, FUNCTION_NAME_MAX, &done) != 0)
		return false;
	function_copy_name(function->name, text, FUNCTION_NAME_MAX);
	return function->name[0] != '\0';
}

bool function_find(struct vnode *vnode, uint32_t address, struct function *function)
{
	struct section symbols, strings;
	struct symbol symbol;

	assert(ux_lock_held());
	if (!function_find_tables(vnode, &symbols, &strings))
		return false;
	symbol = function_find_nearest(vnode, &symbols, address);
	if (symbol.name == 0 || (symbol.size != 0 && address - symbol.value >= symbol.size))
		return false;
	function->offset = address - symbol.value;
	return function_read_name(vnode, (off_t)strings.offset + symbol.name, function);
}
