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
	EXPECT_EQ(vm_write(server, test_address + sizeof(unsigned), (vm_offset_t)&number,
			   sizeof number),
		  KERN_SUCCESS);
}

static unsigned failures;

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
		failures++;
	}
	EXPECT(pieces_at_most(pieces) <= pieces);
	printf("  %u allocations failed\n", failures);
}

TEST(files)
{
	fail_all(use_file);
}

TEST(large_files)
{
	fail_all(use_large_file);
}

TEST(names)
{
	fail_all(use_names);
}

TEST(directories)
{
	fail_all(use_directory);
}

TEST(pipes)
{
	fail_all(use_pipe);
}

TEST(devices)
{
	fail_all(use_devices);
}

TEST(processes)
{
	fail_all(use_process);
}

TEST(programs)
{
	fail_all(use_program);
}

TEST(scripts)
{
	REQUIRE(make_text(G, "#!/bin/true\n", 0755));
	fail_all(use_script);
	unlink(G);
}

TEST(threads)
{
	fail_all(use_thread);
}

TEST(signals)
{
	fail_all(use_signals);
}

TEST(information)
{
	fail_all(use_information);
}

TEST(the_systems_values)
{
	fail_all(use_values);
	fail_all(use_counts);
}

TEST(mappings)
{
	fail_all(use_mapping);
}

TEST(shared_memory)
{
	fail_all(use_shared_memory);
}

TEST(semaphores)
{
	fail_all(use_semaphore);
}

TEST(traces)
{
	fail_all(use_trace);
	fail_all(use_trace_of_waits);
}
