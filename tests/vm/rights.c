/* SPDX-License-Identifier: MIT */
/*
 * Accesses that a page's rights do not allow, on the CPU that changed them and on another: `rights
 * NAME` makes one, which must end the program.  test_rights.py reads in the kernel's log what it
 * was.
 *
 * The page has been used the other way before, so that its translation is in the CPU's cache.
 */
#include "check.h"
#include <assay.h>

#define CASE(name) TEST(name)

#define RW (ASSAY_READ | ASSAY_WRITE)
#define RX (ASSAY_READ | ASSAY_EXECUTE)

#define AREA  ((volatile uint8_t *)0x08100000)
#define SIZE  (16 * PAGE_SIZE) /* More than is flushed page by page. */
#define FIRST AREA
#define LAST  (AREA + SIZE - PAGE_SIZE)

static uint8_t stack[2 * PAGE_SIZE] __attribute__((aligned(16)));
static volatile uint32_t turns;

static void map(uint32_t size, uint32_t rights)
{
	if (assay_memory_map((void *)AREA, size, rights) != KERN_SUCCESS)
		check_fail("no memory");
}

static void protect(uint32_t size, uint32_t rights)
{
	if (assay_memory_protect((void *)AREA, size, rights) != KERN_SUCCESS)
		check_fail("rights do not change");
}

static void call(volatile uint8_t *code)
{
	((void (*)(void))(uintptr_t)code)();
}

/* ---------------- On this CPU ---------------- */

CASE(write_to_read_only)
{
	map(PAGE_SIZE, ASSAY_READ);
	turns = FIRST[0];
	FIRST[0] = 1;
}

CASE(write_after_protect)
{
	map(PAGE_SIZE, RW);
	FIRST[0] = 1;
	protect(PAGE_SIZE, ASSAY_READ);
	FIRST[0] = 2;
}

CASE(write_after_protect_of_many)
{
	map(SIZE, RW);
	LAST[0] = 1;
	protect(SIZE, ASSAY_READ);
	LAST[0] = 2;
}

CASE(execute_data)
{
	map(PAGE_SIZE, RW);
	FIRST[0] = 0xc3; /* ret */
	call(FIRST);
}

CASE(execute_after_protect)
{
	map(PAGE_SIZE, RW | ASSAY_EXECUTE);
	FIRST[0] = 0xc3;
	call(FIRST);
	protect(PAGE_SIZE, RW);
	call(FIRST);
}

CASE(write_to_code)
{
	map(PAGE_SIZE, RX);
	turns = FIRST[0];
	FIRST[0] = 0xc3;
}

CASE(read_after_unmap)
{
	map(PAGE_SIZE, RW);
	FIRST[0] = 1;
	assay_memory_unmap((void *)AREA, PAGE_SIZE);
	turns = FIRST[0];
}

CASE(read_after_unmap_of_many)
{
	map(SIZE, RW);
	LAST[0] = 1;
	assay_memory_unmap((void *)AREA, SIZE);
	turns = LAST[0];
}

CASE(read_behind_unmapped)
{
	map(SIZE, RW);
	assay_memory_unmap((void *)LAST, PAGE_SIZE);
	turns = LAST[-1];
	turns = LAST[0];
}

/* ---------------- On another CPU, which is in the page all the time ---------------- */

/* Under the instruction clock QEMU changes to the next CPU here, and else may not for long. */
static void relax(void)
{
	for (volatile uint32_t turn = 0; turn < 500; turn++)
		continue;
	__asm__ volatile("pause" ::: "memory");
}

static void work_on_other_cpu(void *work)
{
	assay_thread_bind(1);
	for (;;) {
		((void (*)(void))(uintptr_t)work)();
		turns++;
		relax();
	}
}

/* Has the other CPU do `work` again and again, and returns when it is in the midst of it. */
static void start_other(void (*work)(void))
{
	uint32_t id;

	assay_thread_bind(0);
	turns = 0;
	thread_start(work_on_other_cpu, (void *)(uintptr_t)work, stack, sizeof stack,
		     PRIORITY_USUAL, &id);
	while (turns < 10)
		relax();
}

/* The rights are gone: if the other CPU gets on, its translation is stale. */
static _Noreturn void wait_for_fault(void)
{
	uint32_t before = turns;

	while (turns < before + 10)
		relax();
	print("the other CPU gets on\n");
	assay_exit(1);
}

static void read_last(void)
{
	(void)*LAST;
}

static void write_last(void)
{
	*LAST = 1;
}

static void call_last(void)
{
	call(LAST);
}

CASE(other_reads_unmapped)
{
	map(SIZE, RW);
	start_other(read_last);
	assay_memory_unmap((void *)AREA, SIZE);
	wait_for_fault();
}

CASE(other_reads_one_unmapped)
{
	map(SIZE, RW);
	start_other(read_last);
	assay_memory_unmap((void *)LAST, PAGE_SIZE);
	wait_for_fault();
}

CASE(other_writes_protected)
{
	map(SIZE, RW);
	start_other(write_last);
	protect(SIZE, ASSAY_READ);
	wait_for_fault();
}

CASE(other_executes_protected)
{
	map(SIZE, RW | ASSAY_EXECUTE);
	*LAST = 0xc3;
	start_other(call_last);
	protect(SIZE, RW);
	wait_for_fault();
}
