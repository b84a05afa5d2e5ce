/* SPDX-License-Identifier: MIT */
/* Files for the readers' tests: see made.h. */
#include "made.h"

#include <gmon.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BINS (MADE_TEXT_BYTES / 2)

static void put(struct made *made, const void *bytes, size_t size)
{
	if (made->size + size > made->room) {
		made->room = 2 * (made->size + size);
		made->bytes = realloc(made->bytes, made->room);
	}
	memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

static void put_word(struct made *made, uint32_t word)
{
	put(made, &word, sizeof(word));
}

/* ---------------- gmon.out ---------------- */

static void put_bins(struct made *made)
{
	for (uint16_t i = 0; i < BINS; i++)
		put(made, &i, sizeof(i));
}

static void put_arc(struct made *made, uint32_t from, uint32_t self, uint32_t count)
{
	static const char tag = GMON_TAG_ARC;
	const struct gmon_arc arc = {from, self, count};

	put(made, &tag, 1);
	put(made, &arc, sizeof(arc));
	made->records++;
}

struct made made_gmon(bool is_ours)
{
	static const char tag = GMON_TAG_HISTOGRAM;
	static const char blocks = GMON_TAG_BLOCKS;
	struct made made = {0};
	const struct gmon_header header = {GMON_MAGIC, GMON_VERSION, {0}};
	const struct gmon_histogram histogram = {
		.low = MADE_TEXT,
		.high = MADE_TEXT + MADE_TEXT_BYTES,
		.bins = BINS,
		.rate = 100,
		.dimension = "seconds",
		.abbreviation = 's',
	};

	put(&made, &header, sizeof(header));
	put(&made, &tag, 1);
	put(&made, &histogram, sizeof(histogram));
	put_bins(&made);
	for (uint32_t i = 0; i < 10; i++)
		put_arc(&made, MADE_TEXT + i, MADE_TEXT + 3 * i, i);
	if (is_ours) {
		put_arc(&made, GMON_EXTRA_VALUE, GMON_FORMAT, 1);
		put_arc(&made, GMON_EXTRA_VALUE, GMON_FLAVOR, 1);
		put_arc(&made, GMON_EXTRA_VALUE, GMON_FLAVORS, 0x11);
		put_arc(&made, GMON_EXTRA_VALUE_HIGH, GMON_LOST, 2);
		for (uint32_t i = 0; i < BINS; i++)
			put_arc(&made, GMON_EXTRA_PC, MADE_TEXT + 2 * i, i);
		put_arc(&made, GMON_EXTRA_PC + 1, MADE_TEXT, 5);
		put_arc(&made, GMON_EXTRA_PC + 8, MADE_TEXT, 6);
	}
	put(&made, &blocks, 1);
	put_word(&made, 1);
	put_word(&made, MADE_TEXT);
	put_word(&made, 77);
	made.records += 2;
	return made;
}

struct made made_bsd(void)
{
	struct made made = {0};
	const struct gmon_44bsd_header header = {
		.low = MADE_TEXT,
		.high = MADE_TEXT + MADE_TEXT_BYTES,
		.bytes = sizeof(header) + MADE_TEXT_BYTES,
		.version = GMON_44BSD_VERSION,
		.rate = 100,
	};
	const struct gmon_arc arc = {MADE_TEXT, MADE_TEXT + 1, 5};

	put(&made, &header, sizeof(header));
	put_bins(&made);
	for (unsigned i = 0; i < 10; i++)
		put(&made, &arc, sizeof(arc));
	made.records = 10;
	return made;
}

/* ---------------- ELF ---------------- */

#define ELF_HEADER  52u
#define ELF_SEGMENT 32u
#define ELF_SECTION 40u
#define ELF_SYMBOL  16u

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

static void put_section(struct made *made, uint32_t type, uint32_t flags, uint32_t address,
			uint32_t offset, uint32_t size, uint32_t link, uint32_t entry)
{
	const uint32_t section[] = {0, type, flags, address, offset, size, link, 0, 0, entry};

	_Static_assert(sizeof(section) == ELF_SECTION, "as ELF has it");
	put(made, section, sizeof(section));
}

static void put_symbols(struct made *made)
{
	uint32_t name = 0;

	for (unsigned i = 0; i < N_SYMBOLS; i++) {
		const struct symbol *symbol = &symbols[i];
		const uint8_t info[2] = {symbol->info, 0};

		put_word(made, name);
		put_word(made, symbol->at);
		put_word(made, symbol->size);
		put(made, info, sizeof(info));
		put(made, &symbol->section, sizeof(symbol->section));
		name += (uint32_t)strlen(symbol->name) + 1;
	}
}

/* Header, segment, code, symbols, names, sections; in this order. */
struct made made_elf(void)
{
	static const unsigned char code[MADE_TEXT_BYTES];
	const uint32_t text = ELF_HEADER + ELF_SEGMENT;
	const uint32_t table = text + MADE_TEXT_BYTES;
	const uint32_t names = table + N_SYMBOLS * ELF_SYMBOL;
	uint32_t names_bytes = 0;
	struct made made = {.records = 0};

	for (unsigned i = 0; i < N_SYMBOLS; i++)
		names_bytes += (uint32_t)strlen(symbols[i].name) + 1;
	const uint16_t kinds[] = {2, 3};
	const uint32_t header[] = {1, MADE_TEXT, ELF_HEADER, names + names_bytes, 0};
	const uint16_t sizes[] = {ELF_HEADER, ELF_SEGMENT, 1, ELF_SECTION, 4, 0};
	const uint32_t segment[] = {1, text, MADE_TEXT, MADE_TEXT, MADE_TEXT_BYTES, MADE_TEXT_BYTES,
				    5, 4096};

	put(&made, "\177ELF\1\1\1\0\0\0\0\0\0\0\0", 16);
	put(&made, kinds, sizeof(kinds));
	put(&made, header, sizeof(header));
	put(&made, sizes, sizeof(sizes));
	put(&made, segment, sizeof(segment));
	put(&made, code, sizeof(code));
	put_symbols(&made);
	for (unsigned i = 0; i < N_SYMBOLS; i++)
		put(&made, symbols[i].name, strlen(symbols[i].name) + 1);
	put_section(&made, 0, 0, 0, 0, 0, 0, 0);
	put_section(&made, 1, 6, MADE_TEXT, text, MADE_TEXT_BYTES, 0, 0);
	put_section(&made, 2, 0, 0, table, N_SYMBOLS * ELF_SYMBOL, 3, ELF_SYMBOL);
	put_section(&made, 3, 0, 0, names, names_bytes, 0, 0);
	return made;
}
