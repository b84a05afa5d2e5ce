/* SPDX-License-Identifier: MIT */
/*
 * What tests of memory pressure share: more memory than there is, full of patterns, and children
 * that use it until they end or something goes wrong.
 *
 * Where pages are moves under such tests, and with them what the kernel counts.  So each of their
 * programs says BALANCE_AT_END once (check.h).
 */
#ifndef TEST_PRESSURE_H
#define TEST_PRESSURE_H

#include <assay.h>
#include <mach.h>

#define MIB (1024u * 1024u)

/*
 * So much, divided by the number `small` of the command line, if it has one: for a machine with
 * that much less memory, whose runs are that much shorter (docs/tools/seeds.md).
 */
uint32_t pressure_part(uint32_t size);

/* The privileged host port, which must be the first number on the command line. */
mach_port_t pressure_host(void);

/* Waits until there is a default pager. */
bool pressure_ready(void);

/* A send right to the default pager's task, the only other one. */
mach_port_t pressure_pager(void);

/* Keeps the program, as it is now, in memory; what it allocates later may go to swap. */
void pressure_wire_program(void);

/* ---------------- Patterns ---------------- */

/* New memory of this task's. */
vm_address_t memory_new(vm_size_t size);
void memory_free(vm_address_t address, vm_size_t size);

/* Each word's value follows from where it is behind `address`, and from `round`. */
void pattern_put(vm_address_t address, vm_size_t size, uint32_t round);

/* How many words are wrong. */
uint32_t pattern_errors(vm_address_t address, vm_size_t size, uint32_t round);

/* The same page by page, as `order`, an odd number, mixes them; the number of pages is 2^n. */
void pattern_put_mixed(vm_address_t address, vm_size_t size, uint32_t round, uint32_t order);
uint32_t pattern_errors_mixed(vm_address_t address, vm_size_t size, uint32_t round, uint32_t order);

/* ---------------- Children ---------------- */

/* A child and where it reports to, and where its exceptions go. */
struct child {
	mach_port_t task;
	mach_port_t thread;
	mach_port_t reports;
	mach_port_t handler;
	mach_port_t answer; /* To an exception, which it waits for; nobody will give it. */
};

#define MINUTE_MS 60000u /* Of the machine's time; what takes as long has failed. */

/* A child that does run(argument), on stack number `stack` (ipc.h). */
void pressure_child(struct child *child, uint32_t stack, void (*run)(uint32_t), uint32_t argument);

/* In the child: tells its parent a number. */
void pressure_report(uint32_t number);

/* Receives a number; ~0 if there was none, and the test has failed. */
uint32_t pressure_heard(const struct child *child);

/* Waits for an exception of the child's: its code, or ~0, and the test has failed. */
uint32_t pressure_exception(struct child *child);

void pressure_end(struct child *child);

#endif
