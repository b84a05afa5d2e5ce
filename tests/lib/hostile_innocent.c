/* SPDX-License-Identifier: MIT */
/*
 * The innocent beside the random pager: see hostile.h.  It has memory of nobody's, and a memory
 * object of its own whose pager does all as it should.
 */
#include "hostile.h"

#define OWN_BYTES (HOSTILE_PAGES * PAGE_SIZE)
#define STEP      64u /* Of the words of a page so many are passed over. */

enum {
	INIT = 2200,
	TERMINATE = 2201,
	DATA_REQUEST = 2203,
	DATA_RETURN = 2208,
};

/* What is found wrong. */
enum wrong {
	WRONG_MEMORY = 1, /* Its own memory has changed, */
	WRONG_COPY,       /* a copy is not what was copied, */
	WRONG_ZERO,       /* new memory is not zeroes, */
	WRONG_OBJECT,     /* the memory object's contents, */
	WRONG_RESULT,     /* or what a call said, in its line. */
};

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static bool succeeds(kern_return_t result, uint32_t line)
{
	if (result == KERN_SUCCESS)
		return true;
	hostile_report(HOSTILE_WRONG, WRONG_RESULT, (uint32_t)result, line);
	return false;
}

#define TRY(call)                                \
	do {                                     \
		if (!succeeds((call), __LINE__)) \
			return;                  \
	} while (0)

/* ---------------- The pager ---------------- */

static uint8_t store[OWN_BYTES] __attribute__((aligned(PAGE_SIZE)));

static void supply(mach_port_t control, uint32_t offset)
{
	if (offset < OWN_BYTES)
		TRY(memory_object_data_supply(control, offset, (vm_offset_t)store + offset,
					      PAGE_SIZE, FALSE, VM_PROT_NONE, FALSE,
					      MACH_PORT_NULL));
	else
		TRY(memory_object_data_unavailable(control, offset, PAGE_SIZE));
}

static void take_back(uint32_t offset, vm_offset_t data, uint32_t size)
{
	if (offset + size <= OWN_BYTES)
		memcpy(store + offset, (const void *)data, size);
	else
		hostile_report(HOSTILE_WRONG, WRONG_OBJECT, offset, size);
	TRY(vm_deallocate(self(), data, size));
}

static void serve(void)
{
	static struct message message;
	const uint32_t *body = message.body;

	if (message_get(&message, HOSTILE_GOOD, LONG_WAIT) != MACH_MSG_SUCCESS)
		return;
	switch (message.head.msgh_id) {
	case INIT:
		TRY(memory_object_ready(body[1], body[1] % 2, MEMORY_OBJECT_COPY_DELAY));
		break;
	case TERMINATE:
		mach_port_destroy(self(), body[1]);
		mach_port_destroy(self(), body[3]);
		break;
	case DATA_REQUEST:
		supply(body[1], body[3]);
		mach_port_deallocate(self(), body[1]);
		break;
	case DATA_RETURN:
		take_back(body[3], body[7], body[6]);
		mach_port_deallocate(self(), body[1]);
		break;
	}
}

/* ---------------- Memory ---------------- */

static uint32_t value_of(uint32_t offset, uint32_t round)
{
	return (offset ^ round << 24) * 2654435761u;
}

static void put(vm_address_t address, uint32_t size, uint32_t round)
{
	for (uint32_t at = 0; at < size; at += STEP)
		*(volatile uint32_t *)(address + at) = value_of(at, round);
}

static void check(enum wrong what, vm_address_t address, uint32_t size, uint32_t round)
{
	for (uint32_t at = 0; at < size; at += STEP) {
		uint32_t found = *(volatile uint32_t *)(address + at);

		if (found != value_of(at, round)) {
			hostile_report(HOSTILE_WRONG, what, found, value_of(at, round));
			return;
		}
	}
}

static void check_zero(vm_address_t address, uint32_t size)
{
	for (uint32_t at = 0; at < size; at += sizeof(uint32_t)) {
		uint32_t found = *(volatile uint32_t *)(address + at);

		if (found != 0) {
			hostile_report(HOSTILE_WRONG, WRONG_ZERO, found, at);
			return;
		}
	}
}

/* Copies in each of the ways that there are, which the original then leaves behind. */
static void use_copies(vm_address_t memory, uint32_t size, uint32_t round)
{
	vm_address_t other = 0;
	vm_offset_t data;
	mach_msg_type_number_t read;

	TRY(vm_allocate(self(), &other, size, TRUE));
	TRY(vm_copy(self(), memory, size, other));
	TRY(vm_read(self(), memory, size, &data, &read));
	put(memory, size, round + 1);
	check(WRONG_COPY, other, size, round);
	check(WRONG_COPY, data, size, round);
	check(WRONG_MEMORY, memory, size, round + 1);
	TRY(vm_deallocate(self(), other, size));
	TRY(vm_deallocate(self(), data, size));
}

static void use_new(void)
{
	vm_address_t memory = 0;

	TRY(vm_allocate(self(), &memory, 4 * PAGE_SIZE, TRUE));
	check_zero(memory, 4 * PAGE_SIZE);
	put(memory, 4 * PAGE_SIZE, 1);
	TRY(vm_deallocate(self(), memory, 4 * PAGE_SIZE));
}

/* Each time mapped anew; what was written last time is there, wherever it was meanwhile. */
static void use_object(uint32_t round)
{
	vm_address_t memory = 0;

	TRY(vm_map(self(), &memory, OWN_BYTES, 0, TRUE, HOSTILE_GOOD, 0, FALSE, VM_PROT_DEFAULT,
		   VM_PROT_ALL, VM_INHERIT_NONE));
	if (round > 0)
		check(WRONG_OBJECT, memory, OWN_BYTES, round);
	put(memory, OWN_BYTES, round + 1);
	if (round % 3 == 0)
		TRY(vm_msync(self(), memory, OWN_BYTES, VM_SYNC_SYNCHRONOUS | VM_SYNC_INVALIDATE));
	check(WRONG_OBJECT, memory, OWN_BYTES, round + 1);
	TRY(vm_deallocate(self(), memory, OWN_BYTES));
}

static void work(void)
{
	vm_address_t memory = 0;
	uint32_t size = hostile_plan.innocent_pages * PAGE_SIZE, round = 0;
	struct message message;

	TRY(vm_allocate(self(), &memory, size, TRUE));
	put(memory, size, 0);
	while (message_get(&message, HOSTILE_STOP, 0) != MACH_MSG_SUCCESS) {
		check(WRONG_MEMORY, memory, size, round);
		use_copies(memory, size, round);
		use_new();
		use_object(round);
		round++;
	}
	hostile_report(HOSTILE_OVER, round, 0, 0);
}

void hostile_innocent(uint32_t n)
{
	if (n == 0)
		work();
	for (;;) {
		if (n == 0)
			sleep_ms(LONG_WAIT);
		else
			serve();
	}
}
