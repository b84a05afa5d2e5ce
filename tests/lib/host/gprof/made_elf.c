/* SPDX-License-Identifier: MIT */
/*
 * A program without a linker: header, segment, code, symbols, names, sections, in this order.  See
 * made.h.
 */
#include <string.h>

#include "elfsym/elfsym.h"
#include "made.h"

#define GLOBAL   0x10u
#define NO_TYPE  0u
#define FUNCTION 2u
#define FILE_    4u

struct symbol {
	const char *name;
	uint32_t at;
	uint32_t size;
	uint8_t info;
	uint16_t section;
};

static const struct symbol symbols[] = {
	{"", 0, 0, 0, 0},
	{"file.c", 0, 0, FILE_, 0xfff1},
	{"local", MADE_TEXT, 8, FUNCTION, 1},
	{"static_one", MADE_TEXT + 32, 32, FUNCTION, 1},
	{"$a", MADE_TEXT + 33, 0, FUNCTION, 1},
	{"inner", MADE_TEXT + 40, 4, FUNCTION, 1},
	{"global", MADE_TEXT, 16, GLOBAL | FUNCTION, 1},
	{"label_in_it", MADE_TEXT + 50, 0, GLOBAL | NO_TYPE, 1},
	{"unsized", MADE_TEXT + 64, 0, GLOBAL | NO_TYPE, 1},
	{"etext", MADE_TEXT + MADE_TEXT_BYTES, 0, GLOBAL | NO_TYPE, 1},
	{"undefined", 0, 0, GLOBAL | FUNCTION, 0},
};

#define N_SYMBOLS (sizeof(symbols) / sizeof(*symbols))

/* Where the file's parts are. */
struct layout {
	bool is_64;
	uint32_t header;
	uint32_t segment;
	uint32_t section;
	uint32_t symbol;
	uint32_t text;
	uint32_t symbols;
	uint32_t names;
	uint32_t sections;
};

static struct layout lay_out(bool is_64)
{
	struct layout layout = {
		is_64, is_64 ? 64 : 52, is_64 ? 56 : 32, is_64 ? 64 : 40, is_64 ? 24 : 16, 0, 0, 0,
		0};

	layout.text = layout.header + layout.segment;
	layout.symbols = layout.text + MADE_TEXT_BYTES;
	layout.names = layout.symbols + N_SYMBOLS * layout.symbol;
	layout.sections = layout.names;
	for (unsigned i = 0; i < N_SYMBOLS; i++)
		layout.sections += (uint32_t)strlen(symbols[i].name) + 1;
	return layout;
}

/* As wide as the program's addresses. */
static void put_address(struct made *made, const struct layout *layout, uint32_t word)
{
	made_put_word(made, word);
	if (layout->is_64)
		made_put_word(made, 0);
}

static void put_half(struct made *made, uint16_t half)
{
	made_put(made, &half, sizeof(half));
}

static void put_header(struct made *made, const struct layout *layout)
{
	made_put(made, layout->is_64 ? "\177ELF\2\1\1" : "\177ELF\1\1\1", 7);
	made_put(made, "\0\0\0\0\0\0\0\0", 9);
	put_half(made, 2); /* A program, */
	put_half(made, layout->is_64 ? ELFSYM_X86_64 : ELFSYM_386);
	made_put_word(made, 1);
	put_address(made, layout, MADE_TEXT); /* where it begins, */
	put_address(made, layout, layout->header);
	put_address(made, layout, layout->sections);
	made_put_word(made, 0);
	put_half(made, (uint16_t)layout->header);
	put_half(made, (uint16_t)layout->segment); /* one segment */
	put_half(made, 1);
	put_half(made, (uint16_t)layout->section); /* and four sections. */
	put_half(made, 4);
	put_half(made, 0);
}

/* Of code; the flags are in another place in each of the two. */
static void put_segment(struct made *made, const struct layout *layout)
{
	made_put_word(made, 1);
	if (layout->is_64)
		made_put_word(made, 5);
	put_address(made, layout, layout->text);
	put_address(made, layout, MADE_TEXT);
	put_address(made, layout, MADE_TEXT);
	put_address(made, layout, MADE_TEXT_BYTES);
	put_address(made, layout, MADE_TEXT_BYTES);
	if (!layout->is_64)
		made_put_word(made, 5);
	put_address(made, layout, 4096);
}

static void put_symbols(struct made *made, const struct layout *layout)
{
	uint32_t name = 0;

	for (unsigned i = 0; i < N_SYMBOLS; i++) {
		const struct symbol *symbol = &symbols[i];
		const uint8_t info[2] = {symbol->info, 0};

		made_put_word(made, name);
		if (!layout->is_64) {
			made_put_word(made, symbol->at);
			made_put_word(made, symbol->size);
		}
		made_put(made, info, sizeof(info));
		put_half(made, symbol->section);
		if (layout->is_64) {
			put_address(made, layout, symbol->at);
			put_address(made, layout, symbol->size);
		}
		name += (uint32_t)strlen(symbol->name) + 1;
	}
}

struct section {
	uint32_t type;
	uint32_t flags;
	uint32_t address;
	uint32_t offset;
	uint32_t size;
	uint32_t link;
	uint32_t entry;
};

static void put_section(struct made *made, const struct layout *layout,
			const struct section *section)
{
	made_put_word(made, 0);
	made_put_word(made, section->type);
	put_address(made, layout, section->flags);
	put_address(made, layout, section->address);
	put_address(made, layout, section->offset);
	put_address(made, layout, section->size);
	made_put_word(made, section->link);
	made_put_word(made, 0);
	put_address(made, layout, 0);
	put_address(made, layout, section->entry);
}

struct made made_elf(bool is_64)
{
	static const unsigned char code[MADE_TEXT_BYTES];
	const struct layout layout = lay_out(is_64);
	const struct section sections[] = {
		{0},
		{1, 6, MADE_TEXT, layout.text, MADE_TEXT_BYTES, 0, 0},
		{2, 0, 0, layout.symbols, N_SYMBOLS * layout.symbol, 3, layout.symbol},
		{3, 0, 0, layout.names, layout.sections - layout.names, 0, 0},
	};
	struct made made = {.records = 0};

	put_header(&made, &layout);
	put_segment(&made, &layout);
	made_put(&made, code, sizeof(code));
	put_symbols(&made, &layout);
	for (unsigned i = 0; i < N_SYMBOLS; i++)
		made_put(&made, symbols[i].name, strlen(symbols[i].name) + 1);
	for (unsigned i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		put_section(&made, &layout, &sections[i]);
	return made;
}
