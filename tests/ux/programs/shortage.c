/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of the server's that a call makes fails once, in turn: the call says that there
 * is no memory, or works all the same; after that it works; and the server has no more than before.
 *
 * The server counts its allocations (servers/ux/core/heap.h); root, who has a right to its task,
 * reads that number and writes which one is to fail.
 *
 * guest: user=root limit=120 argument="${heap_test},${n_pieces}"
 */
#include "uses.h"

/* 0: none. */
static void let_fail(unsigned number)
{
	write_word(test_address + sizeof(unsigned), number);
}

/* How many allocations it makes; the first two times fill caches. */
static unsigned allocations_of(int (*act)(void))
{
	unsigned before;

	EXPECT_EQ(act(), 0);
	EXPECT_EQ(act(), 0);
	before = read_word(test_address);
	EXPECT_EQ(act(), 0);
	return read_word(test_address) - before;
}

static void expect_error(int error, unsigned nth)
{
	if (error != 0 && error != ENOMEM && error != EAGAIN)
		check_fail("with allocation %u failing: error %d", nth, error);
}

static void fail_all(int (*act)(void))
{
	unsigned n, pieces;

	REQUIRE(find_server());
	n = allocations_of(act);
	pieces = read_word(pieces_address);
	for (unsigned nth = 1; nth <= n && check_failures == 0; nth++) {
		let_fail(read_word(test_address) + nth);
		expect_error(act(), nth);
		let_fail(0);
		clean_up();
		EXPECT_EQ(act(), 0);
	}
	EXPECT(pieces_at_most(pieces) <= pieces);
	printf("  %u allocations failed\n", n);
}

TEST(every_use)
{
	for (unsigned n = 0; n < N_USES && check_failures == 0; n++) {
		printf("%s:\n", uses[n].name);
		fail_all(uses[n].run);
	}
}
