/* SPDX-License-Identifier: MIT */
/*
 * Page-ins and reactivations are counted exactly, for the task and for the host: n pages that a
 * pager is asked for are n, however many touch them, and so are n inactive pages that are touched.
 * (tests/vm/faults.c does the same for zero-fills and copies.)
 *
 * machine: cpus=1 append="pool=16 ramdisk=48" module="pager ${host-port} ${device-port} rd0" \
 *          arguments="${host-port}"
 * machine: cpus=2 seed=3 append="pool=16 ramdisk=48" \
 *          module="pager ${host-port} ${device-port} rd0" arguments="${host-port}"
 */
#include "check.h"
#include "pager.h"

/* Where pages are moves under pressure, and with it what the kernel counts. */
BALANCE_AT_END;

struct counts {
	uint32_t pageins;
	uint32_t reactivations;
};

static struct vm_statistics statistics(void)
{
	struct vm_statistics now;

	EXPECT_EQ(vm_statistics(SELF, &now), KERN_SUCCESS);
	return now;
}

static struct counts of_host(void)
{
	struct vm_statistics now = statistics();

	return (struct counts){(uint32_t)now.pageins, (uint32_t)now.reactivations};
}

static struct counts of_task(void)
{
	struct task_events_info info;
	mach_msg_type_number_t n = TASK_EVENTS_INFO_COUNT;

	EXPECT_EQ(task_info(SELF, TASK_EVENTS_INFO, (task_info_t)&info, &n), KERN_SUCCESS);
	return (struct counts){(uint32_t)info.pageins, (uint32_t)info.reactivations};
}

/* ---------------- Page-ins ---------------- */

/* Two threads touch each page, the second while it is on its way: one of them has asked. */
TEST(page_ins)
{
	struct counts task, host;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	host = of_host();
	task = of_task();
	for (uint32_t page = 0; page < PAGES; page++) {
		start_touch(0, (vm_address_t)at(page), false, 0);
		REQUIRE(expect(DATA_REQUEST));
		start_touch(1, (vm_address_t)at(page), false, 0);
		sleep_ms(20);
		fill(page, 1, page);
		EXPECT_EQ(end_touch(0), KERN_SUCCESS);
		EXPECT_EQ(end_touch(1), KERN_SUCCESS);
	}
	EXPECT_EQ(of_task().pageins - task.pageins, PAGES);
	EXPECT_EQ(of_host().pageins - host.pageins, PAGES);
	for (uint32_t page = 0; page < PAGES; page++)
		EXPECT_EQ(*at(page), page);
	EXPECT_EQ(of_task().pageins - task.pageins, PAGES);
	end();
}

/* ---------------- Reactivations ---------------- */

#define OLDER   256u  /* Pages that page-out takes first, */
#define TOUCHED 64u   /* those that become inactive behind them, */
#define MOST    8192u /* and how many may follow until they are. */

static vm_address_t memory_of(uint32_t pages)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(SELF, &address, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
	return address;
}

static void write_pages(vm_address_t address, uint32_t pages)
{
	for (uint32_t n = 0; n < pages; n++)
		*(volatile uint32_t *)(address + n * PAGE_SIZE) = n + 1;
}

/* Uses memory up until the oldest third of all pages has been made inactive. */
static uint32_t press(vm_address_t address)
{
	uint32_t n = 0;

	while (n < MOST && (uint32_t)statistics().inactive_count < 2 * (OLDER + TOUCHED)) {
		*(volatile uint32_t *)(address + n * PAGE_SIZE) = n;
		n++;
	}
	return n;
}

TEST(reactivations)
{
	vm_address_t older = memory_of(OLDER), touched_pages = memory_of(TOUCHED);
	vm_address_t newer = memory_of(MOST);
	struct counts task, host;
	uint32_t right = 0;

	write_pages(older, OLDER);
	write_pages(touched_pages, TOUCHED);
	EXPECT_LT(press(newer), MOST);
	/* Looking makes what it needs active again, if it was not. */
	of_task();
	host = of_host();
	task = of_task();
	for (uint32_t n = 0; n < TOUCHED; n++)
		right += *(volatile uint32_t *)(touched_pages + n * PAGE_SIZE) == n + 1;
	EXPECT_EQ(right, TOUCHED);
	EXPECT_EQ(of_task().reactivations - task.reactivations, TOUCHED);
	EXPECT_EQ(of_host().reactivations - host.reactivations, TOUCHED);
	EXPECT_EQ(of_task().pageins - task.pageins, 0);
	EXPECT_EQ(vm_deallocate(SELF, older, OLDER * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, touched_pages, TOUCHED * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, newer, MOST * PAGE_SIZE), KERN_SUCCESS);
}

/* Pages that are made inactive by request, without any pressure: all of them, and no others. */
TEST(reactivations_by_request)
{
	vm_address_t pages = memory_of(TOUCHED);
	struct counts task;

	write_pages(pages, TOUCHED);
	EXPECT_EQ(vm_msync(SELF, pages + PAGE_SIZE, (TOUCHED - 2) * PAGE_SIZE, VM_SYNC_DEACTIVATE),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_msync(SELF, pages, PAGE_SIZE, VM_SYNC_DEACTIVATE | VM_SYNC_SYNCHRONOUS),
		  KERN_INVALID_ARGUMENT);
	task = of_task();
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t n = 0; n < TOUCHED; n++)
			EXPECT_EQ(*(volatile uint32_t *)(pages + n * PAGE_SIZE), n + 1);
	}
	EXPECT_EQ(of_task().reactivations - task.reactivations, TOUCHED - 2);
	EXPECT_EQ(vm_deallocate(SELF, pages, TOUCHED * PAGE_SIZE), KERN_SUCCESS);
}
