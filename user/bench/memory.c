/* SPDX-License-Identifier: MIT */
/*
 * Memory: one page mapped and unmapped, many pages filled with zeroes, and far more than that.
 * What other faults cost is in faults.c.
 */
#include "measure.h"

#include "mach.h"

#define PLACE      ((uint8_t *)0x40000000)
#define READ_WRITE (ASSAY_READ | ASSAY_WRITE)

#define FILL_PAGES 64

#define BULK_SIZE (64u << 20)
#define BULK_HOLE (2 * PAGE_SIZE)

#define SCATTERED       200
#define SCATTERED_PLACE ((uint8_t *)0x60000000)
#define SCATTERED_STEP  ((2u << 20) + PAGE_SIZE) /* Each has a page table to itself. */

void bench_map(uint32_t n)
{
	measure_calibrate();
	MEASURE(n, assay_memory_map(PLACE, PAGE_SIZE, READ_WRITE);
		assay_memory_unmap(PLACE, PAGE_SIZE));
	report_samples(n, 1);
}

/*
 * A program gets fresh pages and writes to each of them: what that costs a page, whether the kernel
 * clears pages when they are mapped or when they are touched.
 */
static void fill(volatile uint8_t *place)
{
	assay_memory_map((void *)place, FILL_PAGES * PAGE_SIZE, READ_WRITE);
	for (uint32_t page = 0; page < FILL_PAGES; page++)
		place[page * PAGE_SIZE] = 1;
}

void bench_zero_fill(uint32_t n)
{
	uint8_t *place = PLACE;

	measure_calibrate();
	MEASURE(n, fill(place); place += FILL_PAGES * PAGE_SIZE);
	report_samples(n, FILL_PAGES);
}

/* By Mach's traps, wherever there is room. */
void bench_allocate(uint32_t n)
{
	mach_port_t self = mach_task_self();
	vm_address_t page;

	measure_calibrate();
	MEASURE(n, syscall_vm_allocate(self, &page, PAGE_SIZE, true);
		syscall_vm_deallocate(self, page, PAGE_SIZE));
	report_samples(n, 1);
}

void bench_allocate_touch(uint32_t n)
{
	mach_port_t self = mach_task_self();
	vm_address_t page;

	measure_calibrate();
	MEASURE(n, syscall_vm_allocate(self, &page, PAGE_SIZE, true); *(volatile uint8_t *)page = 1;
		syscall_vm_deallocate(self, page, PAGE_SIZE));
	report_samples(n, 1);
}

/* One of many pages, so that each call has neighbours to split the page from and to join it to. */
void bench_protect(uint32_t n)
{
	vm_address_t page = (vm_address_t)PLACE + FILL_PAGES / 2 * PAGE_SIZE;
	mach_port_t self = mach_task_self();

	fill(PLACE);
	measure_calibrate();
	MEASURE(n, vm_protect(self, page, PAGE_SIZE, false, VM_PROT_READ);
		vm_protect(self, page, PAGE_SIZE, false, VM_PROT_DEFAULT));
	report_samples(n, 1);
}

static void touch(uint32_t step)
{
	for (uint32_t at = 0; at < BULK_SIZE; at += step)
		((volatile uint8_t *)PLACE)[at] = 1;
}

/* Many pages far apart, for whoever looks for them page by page. */
static void scatter(void)
{
	for (uint32_t i = 0; i < SCATTERED; i++)
		must(assay_memory_map(SCATTERED_PLACE + i * SCATTERED_STEP, PAGE_SIZE, READ_WRITE),
		     "mapping a page far away");
}

/* More than most programs have, in single calls; then in pieces; then left to the task's end. */
void bench_bulk(uint32_t n)
{
	(void)n;
	must(assay_memory_map(PLACE, BULK_SIZE, READ_WRITE), "mapping much");
	touch(PAGE_SIZE);
	must(assay_memory_protect(PLACE, BULK_SIZE, ASSAY_READ), "protecting much");
	must(assay_memory_protect(PLACE, BULK_SIZE, READ_WRITE), "protecting much");
	for (uint32_t at = 0; at < BULK_SIZE; at += 64 * BULK_HOLE)
		must(assay_memory_unmap(PLACE + at, BULK_HOLE), "unmapping a little");
	must(assay_memory_unmap(PLACE, BULK_SIZE), "unmapping much");
	must(assay_memory_map(PLACE, BULK_SIZE, READ_WRITE), "mapping much");
	scatter();
}
