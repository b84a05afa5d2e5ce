/* SPDX-License-Identifier: MIT */
/* links: base/symbols.c */
/* Names of functions (base/symbols.h), with a table as tools/ksyms lays it out. */
#include "base/symbols.h"

#include "host/kernel.h"

#define SYMBOLS 6

extern const struct table symbol_table;

const struct table {
	uint32_t count;
	struct symbol symbols[SYMBOLS];
	char names[32];
} symbol_table = {
	.count = SYMBOLS,
	.symbols = {{0xc0100000, 0},   /* start */
		    {0xc0100010, 6},   /* a */
		    {0xc0100011, 8},   /* b */
		    {0xc0100400, 10},  /* a hole */
		    {0xc0200000, 11},  /* late */
		    {0xc0200100, 10}}, /* the end: a hole */
	.names = "start\0a\0b\0\0late",
};

static const char *name_at(uintptr_t pc, uintptr_t expected_offset)
{
	uintptr_t offset = 12345;
	const char *name = symbol_name(pc, &offset);

	EXPECT_EQ(offset, name != NULL ? expected_offset : 12345);
	return name != NULL ? name : "(none)";
}

TEST(symbols_first_and_last_byte)
{
	EXPECT_STREQ(name_at(0xc0100000, 0), "start");
	EXPECT_STREQ(name_at(0xc010000f, 15), "start");
	EXPECT_STREQ(name_at(0xc0100010, 0), "a");
	EXPECT_STREQ(name_at(0xc0100011, 0), "b");
	EXPECT_STREQ(name_at(0xc01003ff, 0x3ee), "b");
	EXPECT_STREQ(name_at(0xc0200000, 0), "late");
	EXPECT_STREQ(name_at(0xc02000ff, 0xff), "late");
}

TEST(symbols_outside_of_functions)
{
	EXPECT_STREQ(name_at(0, 0), "(none)");
	EXPECT_STREQ(name_at(0xc00fffff, 0), "(none)");
	EXPECT_STREQ(name_at(0xc0100400, 0), "(none)");
	EXPECT_STREQ(name_at(0xc01fffff, 0), "(none)");
	EXPECT_STREQ(name_at(0xc0200100, 0), "(none)");
	EXPECT_STREQ(name_at(0xffffffff, 0), "(none)");
}

/* The same search, one symbol after the other. */
static const char *slow_name(uintptr_t pc)
{
	const char *name = "";

	for (unsigned i = 0; i < SYMBOLS && symbol_table.symbols[i].address <= pc; i++)
		name = symbol_table.names + symbol_table.symbols[i].name;
	return *name != '\0' ? name : NULL;
}

TEST(symbols_every_address)
{
	uintptr_t offset;

	for (uintptr_t pc = 0xc00fff00; pc < 0xc0200200; pc++)
		REQUIRE(EXPECT(symbol_name(pc, &offset) == slow_name(pc)));
}
