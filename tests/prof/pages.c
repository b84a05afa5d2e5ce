/* SPDX-License-Identifier: MIT */
/*
 * Samples of page-ins and reactivations: as many as the statistics count, each with where it was.
 * (tests/prof/events.c does the same for zero-fills and copies.)
 *
 * machine: cpus=1 append="pool=16"
 * machine: cpus=2 append="pool=16" seed=3
 */
#include "check.h"
#include "pager.h"
#include "samples.h"

#define TOUCHED 16u

static struct collected collected;

static struct task_events_info events(void)
{
	static struct task_events_info info;
	mach_msg_type_number_t n = TASK_EVENTS_INFO_COUNT;

	EXPECT_EQ(task_info(SELF, TASK_EVENTS_INFO, (task_info_t)&info, &n), KERN_SUCCESS);
	return info;
}

/* The same for all tasks together. */
static struct vm_statistics statistics(void)
{
	struct vm_statistics now = {0};

	EXPECT_EQ(vm_statistics(SELF, &now), KERN_SUCCESS);
	return now;
}

static void start(uint32_t flavors)
{
	samples_new(&collected);
	EXPECT_EQ(task_sample_start(SELF, flavors, 0, (sample_options_t){0}, collected.port),
		  KERN_SUCCESS);
}

static void stop(void)
{
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	EXPECT(samples_receive_all(&collected));
	samples_forget(&collected);
}

/*
 * Two threads touch each page, the second while it is on its way: one of them has asked.  They do
 * it by calls, so the kernel touches for them.
 */
TEST(page_ins)
{
	struct vm_statistics all_before;
	struct task_events_info before;
	uint32_t right = 0;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	before = events();
	all_before = statistics();
	start(SAMPLED_PC_VM_PAGEIN_FAULTS);
	for (uint32_t page = 0; page < PAGES; page++) {
		start_touch(0, (vm_address_t)at(page), false, 0);
		REQUIRE(expect(DATA_REQUEST));
		start_touch(1, (vm_address_t)at(page), false, 0);
		sleep_ms(20);
		fill(page, 1, page);
		EXPECT_EQ(end_touch(0), KERN_SUCCESS);
		EXPECT_EQ(end_touch(1), KERN_SUCCESS);
	}
	stop();
	EXPECT_EQ(events().pageins - before.pageins, PAGES);
	EXPECT_EQ(statistics().pageins - all_before.pageins, (int)PAGES);
	EXPECT_EQ(collected.samples, PAGES);
	for (uint32_t n = 0; n < collected.samples; n++)
		right += kept[n].flavor == SAMPLED_PC_VM_PAGEIN_FAULTS && kept[n].kernel_pc != 0 &&
			 kept[n].task == task_id_of(SELF) && kept[n].pc == kept[0].pc;
	EXPECT_EQ(right, PAGES);
	end();
}

/* One instruction that reads, at a label. */
__attribute__((noinline)) static uint32_t read_word(vm_address_t address)
{
	uint32_t value;

	__asm__ volatile(".globl pages_read\n"
			 "pages_read: movl (%1), %0"
			 : "=r"(value)
			 : "r"(address));
	return value;
}

extern char pages_read[];

TEST(reactivations)
{
	struct vm_statistics all_before;
	struct task_events_info before;
	vm_address_t pages = 0;
	uint32_t right = 0;

	EXPECT_EQ(vm_allocate(SELF, &pages, TOUCHED * PAGE_SIZE, TRUE), KERN_SUCCESS);
	for (uint32_t n = 0; n < TOUCHED; n++)
		*(volatile uint32_t *)(pages + n * PAGE_SIZE) = n;
	EXPECT_EQ(vm_msync(SELF, pages, TOUCHED * PAGE_SIZE, VM_SYNC_DEACTIVATE), KERN_SUCCESS);
	before = events();
	all_before = statistics();
	start(SAMPLED_PC_VM_REACTIVATION_FAULTS);
	for (uint32_t turn = 0; turn < 2; turn++)
		for (uint32_t n = 0; n < TOUCHED; n++)
			EXPECT_EQ(read_word(pages + n * PAGE_SIZE), n);
	stop();
	EXPECT_EQ(events().reactivations - before.reactivations, TOUCHED);
	EXPECT_EQ(statistics().reactivations - all_before.reactivations, (int)TOUCHED);
	EXPECT_EQ(collected.samples, TOUCHED);
	for (uint32_t n = 0; n < collected.samples; n++)
		right += kept[n].flavor == SAMPLED_PC_VM_REACTIVATION_FAULTS &&
			 kept[n].kernel_pc == 0 && kept[n].pc == (uint32_t)pages_read;
	EXPECT_EQ(right, TOUCHED);
	EXPECT_EQ(vm_deallocate(SELF, pages, TOUCHED * PAGE_SIZE), KERN_SUCCESS);
}
