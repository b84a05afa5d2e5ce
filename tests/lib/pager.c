/* SPDX-License-Identifier: MIT */
/* A pager by hand: see pager.h. */
#include "pager.h"

#include "check.h"

mach_port_t object, control, name;
vm_address_t memory;
struct message got;

/* ---------------- Messages ---------------- */

/* What memory_object_data_return has: words 0 and 1, and these. */
#define RETURN_SIZE  got.body[6]
#define RETURN_DATA  got.body[7]
#define RETURN_DIRTY got.body[9]
#define RETURN_COPY  got.body[11]

/* Receives the next message from `port`, which is to be `id`; one that brings its control port
 * gives a reference of that back. */
bool expect_at(mach_port_t port, int id)
{
	if (message_get(&got, port, LONG_WAIT) != MACH_MSG_SUCCESS) {
		check_fail("no message, but %d is due", id);
		return false;
	}
	if (got.head.msgh_id != id) {
		check_fail("message %d, but %d is due", got.head.msgh_id, id);
		return false;
	}
	if (id != INIT && id != TERMINATE && id != CHANGE_COMPLETED)
		port_drop_send(word(0));
	return true;
}

bool expect(int id)
{
	return expect_at(object, id);
}

/* ---------------- The object ---------------- */

vm_address_t map(mach_port_t port, vm_offset_t offset, vm_size_t size, bool copy)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_map(SELF, &address, size, 0, TRUE, port, offset, copy, VM_PROT_DEFAULT,
			 VM_PROT_ALL, VM_INHERIT_COPY),
		  KERN_SUCCESS);
	return address;
}

/* A new object, mapped, for which the kernel's first message has come. */
bool begin_not_ready(void)
{
	object = port_new_with_send();
	memory = map(object, 0, BYTES, false);
	if (!expect(INIT))
		return false;
	control = word(0);
	name = word(1);
	EXPECT_EQ(word(2), PAGE_SIZE);
	return true;
}

bool begin(bool may_cache, int strategy)
{
	if (!begin_not_ready())
		return false;
	EXPECT_EQ(memory_object_ready(control, may_cache, strategy), KERN_SUCCESS);
	return true;
}

void unmap(void)
{
	EXPECT_EQ(vm_deallocate(SELF, memory, BYTES), KERN_SUCCESS);
}

/* The kernel's farewell, and the end of all ports. */
void end_terminated(void)
{
	if (expect(TERMINATE)) {
		EXPECT_EQ(word(0), control);
		EXPECT_EQ(word(1), name);
	}
	port_destroy(control);
	port_destroy(name);
	EXPECT(message_none(object));
	port_destroy(object);
}

void end(void)
{
	unmap();
	end_terminated();
}

/* ---------------- Touching ---------------- */

struct touch touched[WORKERS];

/* By vm_read() and vm_write(), which fail where a store would be an exception. */
static void touch_memory(void *argument)
{
	struct touch *touch = argument;
	mach_msg_type_number_t size = 0;
	vm_offset_t data = 0;

	if (touch->write) {
		touch->result = vm_write(SELF, touch->address, (vm_offset_t)&touch->value,
					 sizeof touch->value);
	} else {
		touch->result = vm_read(SELF, touch->address, sizeof touch->value, &data, &size);
		if (touch->result == KERN_SUCCESS) {
			touch->value = *(uint32_t *)data;
			vm_deallocate(SELF, data, size);
		}
	}
	touch->done = 1;
}

void start_touch(uint32_t n, vm_address_t address, bool write, uint32_t value)
{
	touched[n] = (struct touch){.address = address, .write = write, .value = value};
	worker_start(n, touch_memory, &touched[n]);
}

kern_return_t end_touch(uint32_t n)
{
	EXPECT(worker_join(n));
	return touched[n].result;
}

void supply(uint32_t page, uint32_t pages, uint32_t value, int lock, bool precious,
	    mach_port_t reply)
{
	vm_address_t data = 0;

	EXPECT_EQ(vm_allocate(SELF, &data, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
	for (uint32_t i = 0; i < pages; i++)
		*(uint32_t *)(data + i * PAGE_SIZE) = value + i;
	EXPECT_EQ(memory_object_data_supply(control, page * PAGE_SIZE, data, pages * PAGE_SIZE,
					    TRUE, lock, precious, reply),
		  KERN_SUCCESS);
}

/* Brings pages in that nobody has asked for. */
void fill(uint32_t page, uint32_t pages, uint32_t value)
{
	supply(page, pages, value, VM_PROT_NONE, false, MACH_PORT_NULL);
}

/* The next message returns so much, from `page` on, beginning with `value`. */
void expect_return(uint32_t page, uint32_t pages, uint32_t value, bool dirty, bool copy)
{
	if (!expect(DATA_RETURN))
		return;
	EXPECT_EQ(word(1), page * PAGE_SIZE);
	EXPECT_EQ(RETURN_SIZE, pages * PAGE_SIZE);
	EXPECT_EQ(*(uint32_t *)RETURN_DATA, value);
	EXPECT_EQ(RETURN_DIRTY, dirty);
	EXPECT_EQ(RETURN_COPY, copy);
	vm_deallocate(SELF, RETURN_DATA, RETURN_SIZE);
}

void lock_request(uint32_t page, uint32_t pages, int should_return, bool flush, int lock)
{
	EXPECT_EQ(memory_object_lock_request(control, page * PAGE_SIZE, pages * PAGE_SIZE,
					     should_return, flush, lock, object),
		  KERN_SUCCESS);
}
