/* SPDX-License-Identifier: MIT */
/*
 * Who pays for streams: each is charged to the owner of the task that begins it until it is over,
 * one user's tasks together have no more than one task may, and the last are the system's.
 *
 * machine: cpus=1 append="pool=12" arguments="${host-port}"
 * machine: cpus=2 seed=1 append="pool=12" arguments="${host-port}"
 */
#include <mach/owner.h>
#include <mach/pc_sample.h>
#include <mach/prof.h>

#include "check.h"
#include "ipc.h"
#include "owners.h"

enum {
	REPORT = 0x101, /* In a child: where it says how many it got. */
	FEW = 3,
};

static kern_return_t begin_stream(uint32_t flavors, mach_port_t reply)
{
	return task_sample_start(self(), flavors, 1, (sample_options_t){0}, reply);
}

/* Begins as many streams as it gets, up to `most`: how many. */
static uint32_t begin_streams(uint32_t flavors, mach_port_t *ports, uint32_t most)
{
	for (uint32_t n = 0; n < most; n++) {
		ports[n] = port_new();
		if (begin_stream(flavors, ports[n]) != KERN_SUCCESS) {
			port_destroy(ports[n]);
			return n;
		}
	}
	return most;
}

static void end_streams(const mach_port_t *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		port_destroy(ports[i]);
}

/* ---------------- Who pays, and how much ---------------- */

TEST(streams_are_charged_to_the_unit)
{
	mach_port_t ports[FEW];

	become(ALICE);
	EXPECT_EQ(begin_streams(SAMPLED_PC_VM_ZFILL_FAULTS, ports, FEW), FEW);
	EXPECT_EQ(used(ALICE, OWNER_STREAMS), FEW);
	become(OWNER_SYSTEM);
	EXPECT_EQ(used(ALICE, OWNER_STREAMS), FEW);
	end_streams(ports, FEW);
	EXPECT_EQ(used(ALICE, OWNER_STREAMS), 0);
	EXPECT(is_unknown(ALICE));
}

/* One that is kept for the calls that fetch samples. */
TEST(rings_are_charged_too)
{
	int tick, count;

	become(ALICE);
	EXPECT_EQ(task_enable_pc_sampling(self(), &tick, SAMPLED_PC_PERIODIC), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_STREAMS), 1);
	EXPECT_EQ(task_enable_pc_sampling(self(), &tick, SAMPLED_PC_PERIODIC), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_STREAMS), 1);
	EXPECT_EQ(task_disable_pc_sampling(self(), &count), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_STREAMS), 0);
	become(OWNER_SYSTEM);
	EXPECT(is_unknown(ALICE));
}

TEST(a_refused_stream_is_not_charged)
{
	mach_port_t port = port_new();

	become(ALICE);
	EXPECT_EQ(begin_stream(SAMPLED_PC_VM_ZFILL_FAULTS, port), KERN_SUCCESS);
	EXPECT_EQ(begin_stream(SAMPLED_PC_VM_ZFILL_FAULTS, port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(used(ALICE, OWNER_STREAMS), 1);
	port_destroy(port);
	become(OWNER_SYSTEM);
	EXPECT(is_unknown(ALICE));
}

TEST(who_is_over_the_limit_gets_a_shortage_and_nobody_else)
{
	mach_port_t ports[FEW], other = port_new();

	become(ALICE);
	EXPECT_EQ(set_limit(ALICE, OWNER_STREAMS, FEW - 1), KERN_SUCCESS);
	EXPECT_EQ(begin_streams(SAMPLED_PC_VM_ZFILL_FAULTS, ports, FEW), FEW - 1);
	EXPECT_EQ(begin_stream(SAMPLED_PC_VM_ZFILL_FAULTS, other), KERN_RESOURCE_SHORTAGE);
	become(BOB);
	EXPECT_EQ(begin_stream(SAMPLED_PC_VM_ZFILL_FAULTS, other), KERN_SUCCESS);
	become(OWNER_SYSTEM);
	end_streams(ports, FEW - 1);
	port_destroy(other);
	EXPECT(is_unknown(ALICE) && is_unknown(BOB));
}

/* ---------------- What is left ---------------- */

/* In a child: as many clocks as it gets. */
static void take_clocks(uint32_t unused)
{
	uint32_t n = 0;

	(void)unused;
	while (begin_stream(SAMPLED_PC_PERIODIC, port_new()) == KERN_SUCCESS)
		n++;
	message_send_id(REPORT, MACH_MSG_TYPE_COPY_SEND, (mach_msg_id_t)n);
	for (;;)
		sleep_ms(LONG_WAIT);
}

/* How many clocks a child of this task gets if `owner` pays for it; it keeps them. */
static uint32_t clocks_of_child(mach_port_t *child, uint32_t stack, unsigned owner)
{
	mach_port_t report = port_new(), thread;
	struct message message;

	*child = child_new();
	EXPECT_EQ(task_set_owner(host_priv(), *child, owner), KERN_SUCCESS);
	child_give(*child, REPORT, report, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(*child, stack, take_clocks, 0);
	EXPECT_EQ(message_get(&message, report, LONG_WAIT), MACH_MSG_SUCCESS);
	port_drop_send(thread);
	port_destroy(report);
	return (uint32_t)message.head.msgh_id;
}

/* Alice's second task gets none, Bob one less than there are, and the system that. */
TEST(the_last_clock_of_all_is_the_systems)
{
	const uint32_t left = SAMPLE_CLOCKS_TASKS - SAMPLE_CLOCKS_SHARE;
	mach_port_t children[3], ports[2];

	EXPECT_EQ(clocks_of_child(&children[0], 0, ALICE), SAMPLE_CLOCKS_SHARE);
	EXPECT_EQ(clocks_of_child(&children[1], 1, ALICE), 0);
	EXPECT_EQ(clocks_of_child(&children[2], 2, BOB), left - 1);
	EXPECT_EQ(begin_streams(SAMPLED_PC_PERIODIC, ports, 2), 1);
	end_streams(ports, 1);
	for (uint32_t n = 0; n < 3; n++)
		child_end(children[n]);
	EXPECT(is_unknown(ALICE) && is_unknown(BOB));
}
