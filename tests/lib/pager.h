/* SPDX-License-Identifier: MIT */
/*
 * A pager by hand, for tests of memory objects: the test receives the kernel's messages one by one
 * and answers as it wants, while a worker touches the memory.
 *
 * There is one object at a time.  A function that finds something else than it expects says so with
 * check_fail(); the test goes on.
 */
#ifndef TEST_PAGER_H
#define TEST_PAGER_H

#include "ipc.h"

#define SELF  mach_task_self()
#define PAGES 8u
#define BYTES (PAGES * PAGE_SIZE)

enum {
	INIT = 2200,
	TERMINATE = 2201,
	COPY = 2202,
	DATA_REQUEST = 2203,
	DATA_UNLOCK = 2204,
	LOCK_COMPLETED = 2206,
	SUPPLY_COMPLETED = 2207,
	DATA_RETURN = 2208,
	CHANGE_COMPLETED = 2209,
};

extern mach_port_t object, control, name; /* Of the test that runs. */
extern vm_address_t memory;
extern struct message got;

/* The nth word of a message's body that follows a short descriptor. */
static inline uint32_t word(uint32_t n)
{
	return got.body[2 * n + 1];
}

/* A page of the object, as it is mapped. */
static inline uint32_t *at(uint32_t page)
{
	return (uint32_t *)(memory + page * PAGE_SIZE);
}

/*
 * Receives the next message of the object, or from `port`: it is to be `id`.  If it brings the
 * control port a reference of that is given back.
 */
bool expect(int id);
bool expect_at(mach_port_t port, int id);

/* A mapping at any address. */
vm_address_t map(mach_port_t port, vm_offset_t offset, vm_size_t size, bool copy);

/* A new object, mapped, for which memory_object_init has come, and that is ready. */
bool begin(bool may_cache, int strategy);
bool begin_not_ready(void);

/* The end of the mapping; the kernel's farewell and the end of all ports; and both. */
void unmap(void);
void end_terminated(void);
void end(void);

/* A worker that reads or writes a word, as calls which fail where a store would be an exception. */
extern struct touch {
	vm_address_t address;
	bool write;
	uint32_t value;
	volatile kern_return_t result;
	volatile uint32_t done;
} touched[WORKERS];

void start_touch(uint32_t n, vm_address_t address, bool write, uint32_t value);
kern_return_t end_touch(uint32_t n);

/* Supplies pages that begin with `value` and the numbers after it; fill() without all that. */
void supply(uint32_t page, uint32_t pages, uint32_t value, int lock, bool precious,
	    mach_port_t reply);
void fill(uint32_t page, uint32_t pages, uint32_t value);

/* The next message returns so much, from `page` on, beginning with `value`. */
void expect_return(uint32_t page, uint32_t pages, uint32_t value, bool dirty, bool copy);

/* Asks with the object's own port for the answer. */
void lock_request(uint32_t page, uint32_t pages, int should_return, bool flush, int lock);

#endif
