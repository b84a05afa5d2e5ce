/* SPDX-License-Identifier: MIT */
/*
 * The balance of a test in the guest: what the kernel counts is after the test what it was before.
 *
 * Owns the counts noted before the running test.
 */
#include "check.h"
#include <assay.h>
#include <mach.h>

#define SETTLE_TRIES 50  /* Of a millisecond each. */
#define NAMES_READY  320 /* Names for which the kernel has tables from the first test on, */
#define PAGES_READY  64  /* and pages. */

extern const bool balance_at_end __attribute__((weak)); /* BALANCE_AT_END */

static struct machine_count noted[MACHINE_COUNTS];
static struct machine_count now[MACHINE_COUNTS];

/* Reads the kernel's counts; returns how many, 0 if it has none to give. */
static uint32_t read_counts(struct machine_count *counts)
{
	uint32_t n = 0;

	if (assay_counts(counts, MACHINE_COUNTS, &n) != KERN_SUCCESS || n > MACHINE_COUNTS)
		return 0;
	return n;
}

/*
 * What a task keeps for good is there before the first test: its own ports' names and the tables of
 * as many names, and as much memory, as a small test needs.
 */
static void settle_in(void)
{
	static bool settled;
	static mach_port_t names[NAMES_READY];
	vm_address_t address = 0;

	if (settled)
		return;
	settled = true;
	mach_task_self_cached();
	mach_thread_self();
	mach_host_self();
	for (int i = 0; i < NAMES_READY; i++)
		names[i] = mach_reply_port();
	for (int i = NAMES_READY - 1; i >= 0; i--)
		mach_port_destroy(mach_task_self(), names[i]);
	/* The page table where the kernel finds free space first. */
	vm_allocate(mach_task_self(), &address, PAGE_SIZE, 1);
	*(volatile char *)address = 0;
	vm_deallocate(mach_task_self(), address, PAGE_SIZE);
}

#define STILL       3u             /* Milliseconds in which nothing has changed. */
#define TOUCHED_MAX (1024u * 1024) /* Larger pieces of memory are a test's own business. */

/* In one instruction, for other threads may write there; of C's own ways clang makes a read. */
static void write_same(uint32_t *word)
{
	__asm__ volatile("lock orl $0, %0" : "+m"(*word)::"cc");
}

/*
 * Writes to every page of the program, its stack among them: a page that is first touched, or first
 * its own again after a child has shared it, in the middle of a test would be out of balance.
 */
static void touch_all(void)
{
	vm_address_t address = 0;
	vm_prot_t rights, max_rights;
	vm_inherit_t inheritance;
	mach_port_t object;
	vm_offset_t offset;
	boolean_t shared;
	vm_size_t size;

	while (vm_region(mach_task_self(), &address, &size, &rights, &max_rights, &inheritance,
			 &shared, &object, &offset) == KERN_SUCCESS) {
		if (MACH_PORT_VALID(object))
			mach_port_deallocate(mach_task_self(), object);
		for (vm_size_t at = 0; at < size; at += PAGE_SIZE)
			if ((rights & VM_PROT_WRITE) != 0 && size <= TOUCHED_MAX)
				write_same((uint32_t *)(address + at));
		address += size;
	}
}

/* A kernel that counts nothing has no balance to keep, and a test that cannot fail is a defect. */
void balance_note(void)
{
	if (&balance_at_end != NULL)
		return;
	settle_in();
	touch_all();
	mig_release_reply_ports();
	if (read_counts(noted) == 0)
		check_fail("balance: the kernel gives no counts");
}

static bool is_balanced(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (now[i].after != noted[i].after)
			return false;
	}
	return true;
}

void balance_rest(void)
{
	uint32_t n = read_counts(noted);
	unsigned still = 0;

	for (int tries = 0; tries < SETTLE_TRIES && still < STILL; tries++) {
		thread_switch(0, SWITCH_OPTION_WAIT, 1);
		read_counts(now);
		still = is_balanced(n) ? still + 1 : 0;
		memcpy(noted, now, sizeof noted);
	}
}

/*
 * A thread that has been joined may still be on its way into the kernel's free list on another CPU,
 * so counts that differ get a moment to settle.
 */
void balance_settle(void)
{
	uint32_t n;

	if (&balance_at_end != NULL)
		return;
	touch_all();
	mig_release_reply_ports();
	n = read_counts(now);
	for (int tries = 0; tries < SETTLE_TRIES && !is_balanced(n); tries++) {
		thread_switch(0, SWITCH_OPTION_WAIT, 1);
		n = read_counts(now);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (now[i].after != noted[i].after)
			check_fail("balance: %s %u -> %u", now[i].name, noted[i].after,
				   now[i].after);
	}
}
