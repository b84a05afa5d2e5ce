/* SPDX-License-Identifier: MIT */
/*
 * The same again and again: each count of the kernel's is afterwards what it was, and what a cycle
 * needs does not grow with their number.
 *
 *     tools/guest boot --icount -- 'vm/cycles n=1000000'
 *
 * machine: cpus=1 limit=300 arguments="n=10000 slow=1500"
 * machine: cpus=2 limit=300 arguments="n=5000 slow=700" seed=4
 */
#include "check.h"
#include "ipc.h"

#define CYCLES     1000u
#define BYTES      (4 * PAGE_SIZE)
#define FORK_BYTES (24 * PAGE_SIZE)
#define CHILDREN   3u
#define MORE       40u /* Objects that so few children may need. */

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static uint32_t many(void)
{
	return check_parameter("n", CYCLES);
}

/* Of those that take long fewer can be wanted. */
static uint32_t fewer(void)
{
	return check_parameter("slow", many());
}

static vm_address_t new_memory(vm_size_t size)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(self(), &address, size, TRUE), KERN_SUCCESS);
	return address;
}

static void touch_all(vm_address_t address, vm_size_t size, uint32_t value)
{
	for (uint32_t at = 0; at < size; at += PAGE_SIZE)
		*(volatile uint32_t *)(address + at) = value;
}

/* ---------------- Memory ---------------- */

TEST(allocate_touch_deallocate)
{
	for (uint32_t n = 0; n < many() && !check_failed(); n++) {
		vm_address_t address = 0;

		EXPECT_EQ(syscall_vm_allocate(self(), &address, BYTES, TRUE), KERN_SUCCESS);
		touch_all(address, BYTES, n);
		EXPECT_EQ(syscall_vm_deallocate(self(), address, BYTES), KERN_SUCCESS);
	}
}

/* From the middle, so that entries are split and joined. */
TEST(holes)
{
	vm_address_t address = new_memory(BYTES);

	touch_all(address, BYTES, 1);
	for (uint32_t n = 0; n < many() && !check_failed(); n++) {
		vm_address_t page = address + (1 + n % 2) * PAGE_SIZE;

		EXPECT_EQ(syscall_vm_deallocate(self(), page, PAGE_SIZE), KERN_SUCCESS);
		EXPECT_EQ(syscall_vm_allocate(self(), &page, PAGE_SIZE, FALSE), KERN_SUCCESS);
		EXPECT_EQ(*(volatile uint32_t *)page, 0);
		*(volatile uint32_t *)page = n;
	}
	EXPECT_EQ(vm_deallocate(self(), address, BYTES), KERN_SUCCESS);
}

/* ---------------- Messages ---------------- */

static void pages_out_of_line(uint32_t pages, uint32_t n)
{
	vm_address_t from = new_memory(pages * PAGE_SIZE);
	mach_port_t port = port_new();
	struct message message;

	touch_all(from, pages * PAGE_SIZE, 1);
	for (uint32_t i = 0; i < n && !check_failed(); i++) {
		*(volatile uint32_t *)from = i;
		message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
		message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
		message.body[0] = TYPE_LONG;
		message.body[1] = MACH_MSG_TYPE_BYTE | 8u << 16;
		message.body[2] = pages * PAGE_SIZE;
		message.body[3] = from;
		EXPECT_EQ(message_post(&message, 4), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(*(volatile uint32_t *)message.body[3], i);
		EXPECT_EQ(syscall_vm_deallocate(self(), message.body[3], pages * PAGE_SIZE),
			  KERN_SUCCESS);
	}
	port_destroy(port);
	EXPECT_EQ(vm_deallocate(self(), from, pages * PAGE_SIZE), KERN_SUCCESS);
}

TEST(a_page_out_of_line)
{
	pages_out_of_line(1, many());
}

TEST(many_pages_out_of_line)
{
	pages_out_of_line(16, fewer());
}

/* ---------------- Memory objects ---------------- */

enum {
	INIT = 2200,
	TERMINATE = 2201,
	DATA_RETURN = 2208,
};

static struct message got;

static bool expect(mach_port_t object, int id)
{
	EXPECT_EQ(message_get(&got, object, LONG_WAIT), MACH_MSG_SUCCESS);
	return EXPECT_EQ(got.head.msgh_id, id);
}

/* One life of a memory object, all of whose messages are received and answered. */
static void live(mach_port_t object, uint32_t value)
{
	vm_address_t address = 0, data = new_memory(PAGE_SIZE);
	mach_port_t control, name;

	EXPECT_EQ(vm_map(self(), &address, BYTES, 0, TRUE, object, 0, FALSE, VM_PROT_DEFAULT,
			 VM_PROT_ALL, VM_INHERIT_COPY),
		  KERN_SUCCESS);
	if (!expect(object, INIT))
		return;
	control = got.body[1];
	name = got.body[3];
	*(volatile uint32_t *)data = value;
	memory_object_ready(control, FALSE, MEMORY_OBJECT_COPY_DELAY);
	memory_object_data_supply(control, 0, data, PAGE_SIZE, TRUE, VM_PROT_NONE, FALSE,
				  MACH_PORT_NULL);
	EXPECT_EQ(*(volatile uint32_t *)address, value);
	*(volatile uint32_t *)address = value + 1;
	EXPECT_EQ(vm_deallocate(self(), address, BYTES), KERN_SUCCESS);
	if (!expect(object, DATA_RETURN))
		return;
	EXPECT_EQ(*(volatile uint32_t *)got.body[7], value + 1);
	EXPECT_EQ(vm_deallocate(self(), got.body[7], PAGE_SIZE), KERN_SUCCESS);
	port_drop_send(got.body[1]);
	expect(object, TERMINATE);
	port_destroy(control);
	port_destroy(name);
}

TEST(lives_of_a_memory_object)
{
	mach_port_t object = port_new_with_send();

	for (uint32_t n = 0; n < fewer() && !check_failed(); n++)
		live(object, n);
	port_destroy(object);
}

/* ---------------- Tasks ---------------- */

TEST(forks)
{
	vm_address_t memory = new_memory(FORK_BYTES);
	mach_port_t child;

	touch_all(memory, FORK_BYTES, 0);
	for (uint32_t n = 0; n < fewer() && !check_failed(); n++) {
		EXPECT_EQ(task_create(self(), TRUE, &child), KERN_SUCCESS);
		*(volatile uint32_t *)(memory + n % (FORK_BYTES / PAGE_SIZE) * PAGE_SIZE) = n;
		child_end(child);
	}
	EXPECT_EQ(vm_deallocate(self(), memory, FORK_BYTES), KERN_SUCCESS);
}

/* How many objects the kernel has. */
static uint32_t count_objects(void)
{
	static struct machine_count counts[MACHINE_COUNTS];
	uint32_t n = 0, found = 0;

	EXPECT_EQ(assay_counts(counts, MACHINE_COUNTS, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(counts[i].name, "objects") == 0)
			found += counts[i].after;
	}
	EXPECT(found > 0);
	return found;
}

/*
 * There is always a child from before the last write.  Chains of objects are as long as there are
 * children all the same, and not as there were.
 */
TEST(forks_that_overlap)
{
	vm_address_t memory = new_memory(FORK_BYTES);
	mach_port_t children[CHILDREN] = {MACH_PORT_NULL};
	uint32_t most = 0, first = 0;

	touch_all(memory, FORK_BYTES, 0);
	for (uint32_t n = 0; n < fewer() && !check_failed(); n++) {
		if (n >= CHILDREN)
			child_end(children[n % CHILDREN]);
		EXPECT_EQ(task_create(self(), TRUE, &children[n % CHILDREN]), KERN_SUCCESS);
		*(volatile uint32_t *)(memory + n % (FORK_BYTES / PAGE_SIZE) * PAGE_SIZE) = n;
		if (n == 2 * CHILDREN)
			first = count_objects();
		if (n > 2 * CHILDREN && n % 50 == 0)
			most = count_objects();
		if (most > 0)
			EXPECT_LE(most, first + MORE);
	}
	for (uint32_t n = 0; n < CHILDREN; n++)
		child_end(children[n]);
	EXPECT_EQ(vm_deallocate(self(), memory, FORK_BYTES), KERN_SUCCESS);
}
