/* SPDX-License-Identifier: MIT */
/*
 * Programs that end with threads in every state: `exits NAME` ends in one way.  test_exits.py looks
 * at the status and at what is left.
 */
#include "block.h"
#include "check.h"
#include <assay.h>

#define CASE(name) TEST(name)

#define THREADS 24
#define STATUS  7

static uint8_t stacks[THREADS][PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[THREADS];

static void spin(void *unused)
{
	(void)unused;
	for (;;)
		use_cpu();
}

static void spin_and_trap(void *unused)
{
	(void)unused;
	for (;;)
		null_trap();
}

static void yield(void *unused)
{
	(void)unused;
	for (;;)
		swtch_pri(0);
}

static void sleep_long(void *unused)
{
	(void)unused;
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, 0xfffffff0);
}

static void sleep_briefly(void *unused)
{
	(void)unused;
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, 1);
}

static void join_first(void *unused)
{
	(void)unused;
	assay_thread_join(ids[0], TIMEOUT_NONE);
}

static void join_with_limit(void *unused)
{
	(void)unused;
	assay_thread_join(ids[0], 100000);
}

static void map_and_unmap(void *number)
{
	uint8_t *area = (uint8_t *)0x08200000 - (uint32_t)number * 8 * PAGE_SIZE;

	for (;;) {
		assay_memory_map(area, 4 * PAGE_SIZE, ASSAY_READ | ASSAY_WRITE);
		assay_memory_unmap(area, 4 * PAGE_SIZE);
	}
}

static void make_threads(void *unused)
{
	uint32_t id;

	(void)unused;
	for (;;)
		assay_thread_create(assay_thread_exit, NULL, PRIORITY_USUAL + 1, &id);
}

/* The first one never ends by itself: others wait for it. */
static void (*const kinds[])(void *) = {spin,          spin_and_trap, yield,
					sleep_long,    join_first,    join_with_limit,
					sleep_briefly, map_and_unmap, make_threads};

/* All worse than the first thread, which is to end the program in time. */
static void start_all(void)
{
	for (uint32_t i = 0; i < THREADS; i++)
		thread_start(kinds[i % (sizeof kinds / sizeof kinds[0])], (void *)(i + 1),
			     stacks[i], sizeof stacks[i], i % 2 ? PRIORITY_USUAL + 1 : 60, &ids[i]);
}

/* Lets them run for a while, on other CPUs too. */
static void start_and_wait(void)
{
	start_all();
	thread_switch(0, SWITCH_OPTION_WAIT, 30);
}

CASE(at_once)
{
	start_all();
	assay_exit(STATUS);
}

CASE(after_a_while)
{
	start_and_wait();
	assay_exit(STATUS);
}

static void exit_now(void *unused)
{
	(void)unused;
	assay_exit(STATUS);
}

static void exit_later(void *unused)
{
	thread_switch(0, SWITCH_OPTION_WAIT, 30);
	exit_now(unused);
}

static void fail_later(void *unused)
{
	(void)unused;
	thread_switch(0, SWITCH_OPTION_WAIT, 30);
	__asm__ volatile("ud2");
}

/*
 * The first thread waits for ever when another one ends the program.  That one is there before the
 * others, who may use up all memory.
 */
static void wait_for_the_end(void (*end_later)(void *))
{
	static uint8_t stack[PAGE_SIZE] __attribute__((aligned(16)));
	uint32_t id;

	thread_start(end_later, NULL, stack, sizeof stack, PRIORITY_USUAL - 1, &id);
	start_all();
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, 1000);
}

CASE(by_another_thread)
{
	wait_for_the_end(exit_later);
}

CASE(by_an_exception)
{
	wait_for_the_end(fail_later);
}

/* The last thread to go ends the program, with status 0. */
CASE(thread_by_thread)
{
	for (uint32_t i = 0; i < THREADS; i++)
		assay_thread_create(assay_thread_exit, NULL, PRIORITY_USUAL, &ids[i]);
	assay_thread_exit();
}

/* Every thread wants to end it, each with the same status. */
CASE(by_all_at_once)
{
	for (uint32_t i = 0; i < THREADS; i++)
		thread_start(exit_now, NULL, stacks[i], sizeof stacks[i], PRIORITY_USUAL, &ids[i]);
	assay_exit(STATUS);
}

/* Where the new thread starts is its own business. */
CASE(by_a_thread_without_code)
{
	uint32_t id;

	assay_thread_create((void (*)(void))0xc0100000, NULL, PRIORITY_USUAL, &id);
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, 1000);
}
