/* SPDX-License-Identifier: MIT */
/*
 * Programs larger than memory: what they write goes to the swap of /sbin/pager, and comes back.
 *
 * guest: user=root append="pool=24 ramdisk=32" limit=40
 */
#include <mach.h>
#include <mach/task_info.h>
#include <signal.h>

#include "help.h"

enum {
	MEGABYTES = 14,
	PAGES = MEGABYTES << 8
};

static unsigned word_of(unsigned page, unsigned who)
{
	return page * 2654435761u + who;
}

static void fill(volatile unsigned *memory, unsigned who)
{
	for (unsigned page = 0; page < PAGES; page++)
		memory[page * 1024] = word_of(page, who);
}

static unsigned count_wrong(const volatile unsigned *memory, unsigned who)
{
	unsigned wrong = 0;

	for (unsigned page = 0; page < PAGES; page++)
		wrong += memory[page * 1024] != word_of(page, who);
	return wrong;
}

/* Parent and child have memory of their own each, together more than there is. */
TEST(two_that_do_not_fit_together)
{
	vm_address_t memory = 0;
	struct task_events_info events;
	mach_msg_type_number_t count = TASK_EVENTS_INFO_COUNT;
	pid_t pid;

	REQUIRE(vm_allocate(mach_task_self(), &memory, PAGES << 12, TRUE) == KERN_SUCCESS);
	fill((unsigned *)memory, 1);
	pid = fork();
	if (pid == 0) {
		fill((unsigned *)memory, 2);
		_exit(count_wrong((unsigned *)memory, 2) != 0);
	}
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(count_wrong((unsigned *)memory, 1), 0);
	EXPECT_EQ(task_info(mach_task_self(), TASK_EVENTS_INFO, (task_info_t)&events, &count),
		  KERN_SUCCESS);
	EXPECT(events.pageins > 0);
	EXPECT_EQ(status_of_role("/bin/true", ""), 0);
}
