/* SPDX-License-Identifier: MIT */
/*
 * More memory than there is: pages go to the default pager and come back as they were, in order
 * and at random, shared with children, inside messages, and for several tasks at once.
 *
 * machine: cpus=1 when=nightly append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 * machine: cpus=2 seed=1 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} swap=rd0" \
 *          arguments="${host-port}"
 */
#include "check.h"
#include "ipc.h"
#include "pressure.h"

BALANCE_AT_END;

#define ORDER 2654435761u /* Mixes pages well. */

/* Prints what paging there was; returns how many pages have come back since boot. */
static uint32_t show_paging(void)
{
	struct vm_statistics now;

	EXPECT_EQ(vm_statistics(mach_task_self(), &now), KERN_SUCCESS);
	print("swap: %d pages out, %d in, %d free\n", now.pageouts, now.pageins, now.free_count);
	return (uint32_t)now.pageins;
}

TEST(twice_the_memory)
{
	vm_size_t size = pressure_part(32 * MIB);
	vm_address_t memory;

	REQUIRE(pressure_ready());
	memory = memory_new(size);
	pattern_put(memory, size, 1);
	EXPECT_EQ(pattern_errors(memory, size, 1), 0);
	EXPECT_EQ(pattern_errors_mixed(memory, size, 1, ORDER), 0);
	pattern_put_mixed(memory, size, 2, ORDER);
	EXPECT_EQ(pattern_errors(memory, size, 2), 0);
	memory_free(memory, size);
	EXPECT_LT(size / 2 / PAGE_SIZE, show_paging());
}

/* What is only read goes and comes, too, and is written only once. */
TEST(pages_that_are_only_read)
{
	vm_size_t size = pressure_part(24 * MIB);
	vm_address_t memory = memory_new(size);
	struct vm_statistics before, after;

	pattern_put(memory, size, 1);
	EXPECT_EQ(pattern_errors(memory, size, 1), 0);
	EXPECT_EQ(vm_statistics(mach_task_self(), &before), KERN_SUCCESS);
	EXPECT_EQ(pattern_errors(memory, size, 1), 0);
	EXPECT_EQ(vm_statistics(mach_task_self(), &after), KERN_SUCCESS);
	EXPECT_LT(size / PAGE_SIZE / 4, after.pageins - before.pageins);
	/* Memory that was never written to is in no block, and is zeroes again. */
	memory_free(memory, size);
	memory = memory_new(size);
	for (vm_size_t at = 0; at < size; at += PAGE_SIZE)
		EXPECT_EQ(*(uint32_t *)(memory + at), 0);
	memory_free(memory, size);
}

/* Blocks are used again: all of this together is more than the device has. */
TEST(memory_comes_and_goes)
{
	vm_size_t size = pressure_part(8 * MIB), kept_size = pressure_part(12 * MIB);
	vm_address_t kept = memory_new(kept_size);

	pattern_put(kept, kept_size, 1);
	for (uint32_t round = 2; round < 10; round++) {
		vm_address_t memory = memory_new(size);

		pattern_put(memory, size, round);
		EXPECT_EQ(pattern_errors(memory, size, round), 0);
		memory_free(memory, size);
	}
	EXPECT_EQ(pattern_errors(kept, kept_size, 1), 0);
	memory_free(kept, kept_size);
}

/* ---------------- Several tasks ---------------- */

#define SHARE pressure_part(8 * MIB)

static vm_address_t inherited;

static void use_inherited(uint32_t round)
{
	uint32_t errors = pattern_errors(inherited, SHARE, 1);

	pattern_put_mixed(inherited, SHARE, round, ORDER);
	errors += pattern_errors(inherited, SHARE, round);
	pressure_report(errors);
}

/* Parent and two children copy the same pages, of which most are in swap. */
TEST(inherited_memory)
{
	struct child children[2];

	inherited = memory_new(SHARE);
	pattern_put(inherited, SHARE, 1);
	for (uint32_t n = 0; n < 2; n++)
		pressure_child(&children[n], n, use_inherited, 2 + n);
	EXPECT_EQ(pattern_errors(inherited, SHARE, 1), 0);
	pattern_put(inherited, SHARE, 4);
	for (uint32_t n = 0; n < 2; n++)
		EXPECT_EQ(pressure_heard(&children[n]), 0);
	EXPECT_EQ(pattern_errors(inherited, SHARE, 4), 0);
	for (uint32_t n = 0; n < 2; n++)
		pressure_end(&children[n]);
	EXPECT_EQ(pattern_errors(inherited, SHARE, 4), 0);
	memory_free(inherited, SHARE);
	show_paging();
}

static void use_own(uint32_t rounds)
{
	vm_address_t memory = memory_new(3 * SHARE / 2);
	uint32_t errors = 0;

	for (uint32_t round = 1; round <= rounds; round++) {
		pattern_put(memory, 3 * SHARE / 2, round);
		errors += pattern_errors(memory, 3 * SHARE / 2, round);
	}
	pressure_report(errors);
}

TEST(tasks_compete)
{
	struct child children[2];

	for (uint32_t n = 0; n < 2; n++)
		pressure_child(&children[n], n, use_own, 3);
	for (uint32_t n = 0; n < 2; n++)
		EXPECT_EQ(pressure_heard(&children[n]), 0);
	for (uint32_t n = 0; n < 2; n++)
		pressure_end(&children[n]);
	show_paging();
}

/* ---------------- Messages ---------------- */

#define LETTERS 4

struct letter {
	mach_msg_header_t head;
	mach_msg_type_long_t type;
	vm_address_t data;
	uint32_t room[16];
};

static void send_letter(mach_port_t port, vm_address_t data, vm_size_t size)
{
	struct letter letter = {
		.head = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MAKE_SEND, 0) |
				      MACH_MSGH_BITS_COMPLEX,
			 .msgh_remote_port = port},
		.type = {.msgtl_header = {.msgt_longform = TRUE},
			 .msgtl_name = MACH_MSG_TYPE_BYTE,
			 .msgtl_size = 8,
			 .msgtl_number = size},
		.data = data,
	};

	EXPECT_EQ(mach_msg(&letter.head, MACH_SEND_MSG, offsetof(struct letter, room), 0,
			   MACH_PORT_NULL, 0, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
}

static void read_letter(mach_port_t port, vm_size_t size, uint32_t round)
{
	struct letter letter;

	if (!EXPECT_EQ(mach_msg(&letter.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof letter,
				port, MINUTE_MS, MACH_PORT_NULL),
		       MACH_MSG_SUCCESS))
		return;
	EXPECT_EQ(letter.type.msgtl_number, size);
	EXPECT_EQ(pattern_errors(letter.data, size, round), 0);
	memory_free(letter.data, size);
}

/* What is on its way to somebody can be in swap as well. */
TEST(large_messages)
{
	vm_size_t size = pressure_part(6 * MIB);
	vm_address_t memory = memory_new(size);
	mach_port_t port = port_new();

	for (uint32_t n = 0; n < LETTERS; n++) {
		pattern_put(memory, size, n);
		send_letter(port, memory, size);
	}
	pattern_put(memory, size, LETTERS);
	for (uint32_t n = 0; n < LETTERS; n++)
		read_letter(port, size, n);
	EXPECT_EQ(pattern_errors(memory, size, LETTERS), 0);
	memory_free(memory, size);
	port_destroy(port);
	show_paging();
}
