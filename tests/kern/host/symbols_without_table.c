/* SPDX-License-Identifier: MIT */
/* links: base/symbols.c */
/* The kernel's first link, which has no table of symbols yet: it must run and find no name. */
#include "base/symbols.h"

#include "host/kernel.h"

TEST(symbols_without_table)
{
	uintptr_t offset = 1;

	EXPECT(symbol_name(0xc0100000, &offset) == NULL);
	EXPECT_EQ(offset, 1);
}
