/* SPDX-License-Identifier: MIT */
/*
 * Prints strings that are not the program's: nothing may appear between the two lines.
 * test_print.py compares the output byte for byte.
 */
#include "check.h"
#include <assay.h>

#define CASE(name) TEST(name)

CASE(nothing_between)
{
	static const uint32_t places[] = {
		0,          1,          4,          0xfff,      0x1000,     0x40000000, 0xc0000000,
		0xc0100000, 0xc0101234, 0xf0001000, 0xfee00000, 0xffffe000, 0xfffffff0, 0xffffffff};

	print("<\n");
	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
		EXPECT_EQ(mach_print((const char *)places[i]), KERN_INVALID_ADDRESS);
	print(">\n");
}

/* A long string is printed in parts: those before the fault may appear, and they are the user's. */
CASE(only_ours)
{
	char *line = (char *)0x08180000;

	REQUIRE(assay_memory_map(line, PAGE_SIZE, ASSAY_READ | ASSAY_WRITE) == KERN_SUCCESS);
	memset(line, '+', PAGE_SIZE);
	EXPECT_EQ(mach_print(line), KERN_INVALID_ADDRESS);
	assay_memory_unmap(line, PAGE_SIZE);
	print("\n");
}
