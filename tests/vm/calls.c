/* SPDX-License-Identifier: MIT */
/*
 * Mach's calls about memory: vm_allocate and the others, by message and by trap.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 seed=11 arguments="${host-port}"
 */
#include "check.h"
#include <assay.h>
#include <mach.h>

#define SELF mach_task_self()

static uint8_t *allocate(vm_size_t size)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(SELF, &address, size, 1), KERN_SUCCESS);
	return (uint8_t *)address;
}

static void fill(uint8_t *bytes, uint32_t size)
{
	for (uint32_t n = 0; n < size; n++)
		bytes[n] = (uint8_t)(n * 7 + n / PAGE_SIZE);
}

static bool is_filled(const uint8_t *bytes, uint32_t from, uint32_t size)
{
	for (uint32_t n = from; n < from + size; n++)
		if (*bytes++ != (uint8_t)(n * 7 + n / PAGE_SIZE))
			return false;
	return true;
}

static bool is_clear(const uint8_t *bytes, uint32_t size)
{
	while (size > 0)
		if (bytes[--size] != 0)
			return false;
	return true;
}

TEST(allocate_and_deallocate)
{
	uint8_t *memory = allocate(3 * PAGE_SIZE - 5);
	vm_address_t same = (vm_address_t)memory, none = 77;

	EXPECT(is_clear(memory, 3 * PAGE_SIZE));
	EXPECT_EQ(vm_allocate(SELF, &same, PAGE_SIZE, 0), KERN_NO_SPACE);
	EXPECT_EQ(vm_deallocate(SELF, same + 5, PAGE_SIZE * 2), KERN_SUCCESS);
	same += 5;
	EXPECT_EQ(vm_allocate(SELF, &same, 1, 0), KERN_SUCCESS);
	EXPECT_EQ(same, (vm_address_t)memory);
	EXPECT_EQ(vm_deallocate(SELF, same, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(SELF, &none, 0, 0), KERN_SUCCESS);
	EXPECT_EQ(none, 0);
}

/* What is freed is found again, so that a loop neither walks through memory nor grows. */
TEST(freed_places_are_used_again)
{
	uint8_t *first = allocate(PAGE_SIZE);

	EXPECT_EQ(vm_deallocate(SELF, (vm_address_t)first, PAGE_SIZE), KERN_SUCCESS);
	for (unsigned n = 0; n < 100; n++) {
		EXPECT(allocate(PAGE_SIZE) == first);
		EXPECT_EQ(vm_deallocate(SELF, (vm_address_t)first, PAGE_SIZE), KERN_SUCCESS);
	}
}

TEST(bad_ranges)
{
	vm_address_t address = 0xbfffffff;

	EXPECT_NE(vm_allocate(SELF, &address, 2 * PAGE_SIZE, 0), KERN_SUCCESS);
	address = 0;
	EXPECT_EQ(vm_allocate(SELF, &address, PAGE_SIZE, 0), KERN_INVALID_ADDRESS);
	EXPECT_EQ(vm_allocate(SELF, &address, 0xffffffff, 1), KERN_NO_SPACE);
	EXPECT_EQ(vm_allocate(SELF, &address, 0xc0000000, 1), KERN_NO_SPACE);
	EXPECT_EQ(vm_deallocate(SELF, 0xc0000000, 0x40000000), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, 0xfffff000, 0xffffffff), KERN_SUCCESS);
}

TEST(traps)
{
	vm_address_t address = 0;

	EXPECT_EQ(syscall_vm_allocate(SELF, &address, PAGE_SIZE, 1), KERN_SUCCESS);
	EXPECT(is_clear((uint8_t *)address, PAGE_SIZE));
	EXPECT_EQ(syscall_vm_deallocate(SELF, address, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(syscall_vm_map(SELF, &address, PAGE_SIZE, 0xffff, 1, 0, 0, 0, VM_PROT_READ,
				 VM_PROT_READ, VM_INHERIT_NONE),
		  KERN_SUCCESS);
	EXPECT_EQ(address & 0xffff, 0);
	EXPECT_EQ(vm_protect(SELF, address, PAGE_SIZE, 0, VM_PROT_DEFAULT),
		  KERN_PROTECTION_FAILURE);
	EXPECT_EQ(syscall_vm_deallocate(SELF, address, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(syscall_vm_allocate(SELF, (vm_address_t *)4, PAGE_SIZE, 1), KERN_INVALID_ADDRESS);
	EXPECT_EQ(syscall_vm_allocate(12345, &address, PAGE_SIZE, 1), MACH_SEND_INTERRUPTED);
}

TEST(read_and_write)
{
	uint8_t *memory = allocate(4 * PAGE_SIZE), *target = allocate(4 * PAGE_SIZE);
	mach_msg_type_number_t size;
	vm_offset_t data;

	fill(memory, 4 * PAGE_SIZE);
	EXPECT_EQ(vm_read(SELF, (vm_address_t)memory + 100, 2 * PAGE_SIZE, &data, &size),
		  KERN_SUCCESS);
	EXPECT_EQ(size, 2 * PAGE_SIZE);
	EXPECT(is_filled((uint8_t *)data, 100, size));
	EXPECT(is_clear((uint8_t *)(data - data % PAGE_SIZE), data & (PAGE_SIZE - 1)));
	EXPECT_EQ(vm_write(SELF, (vm_address_t)target + 33, data, size), KERN_SUCCESS);
	EXPECT(is_filled(target + 33, 100, size));
	EXPECT(is_clear(target, 33));
	EXPECT_EQ(vm_deallocate(SELF, data, size), KERN_SUCCESS);
	EXPECT_EQ(vm_read(SELF, 0x1000, PAGE_SIZE, &data, &size), KERN_INVALID_ADDRESS);
	EXPECT_EQ(vm_protect(SELF, (vm_address_t)memory, PAGE_SIZE, 0, VM_PROT_NONE), KERN_SUCCESS);
	EXPECT_EQ(vm_read(SELF, (vm_address_t)memory, PAGE_SIZE, &data, &size),
		  KERN_PROTECTION_FAILURE);
	EXPECT_EQ(vm_protect(SELF, (vm_address_t)memory, PAGE_SIZE, 0, VM_PROT_READ), KERN_SUCCESS);
	EXPECT(is_filled(memory, 0, PAGE_SIZE));
	EXPECT_EQ(vm_write(SELF, (vm_address_t)memory, (vm_offset_t)target, 8),
		  KERN_PROTECTION_FAILURE);
	vm_deallocate(SELF, (vm_address_t)memory, 4 * PAGE_SIZE);
	vm_deallocate(SELF, (vm_address_t)target, 4 * PAGE_SIZE);
}

TEST(copy_overlapping)
{
	const uint32_t size = 3 * PAGE_SIZE;
	uint8_t *memory = allocate(5 * PAGE_SIZE);
	vm_address_t address = (vm_address_t)memory;

	fill(memory, size);
	EXPECT_EQ(vm_copy(SELF, address, size, address + 700), KERN_SUCCESS);
	EXPECT(is_filled(memory + 700, 0, size));
	EXPECT_EQ(vm_copy(SELF, address + 700, size, address + 300), KERN_SUCCESS);
	EXPECT(is_filled(memory + 300, 0, size));
	EXPECT_EQ(vm_copy(SELF, address, PAGE_SIZE, 0x1000), KERN_INVALID_ADDRESS);
	EXPECT_EQ(vm_copy(SELF, 0, 0, 0), KERN_SUCCESS);
	vm_deallocate(SELF, address, 5 * PAGE_SIZE);
}

static void expect_region(vm_address_t at, vm_address_t start, vm_size_t size, vm_prot_t rights,
			  vm_inherit_t inheritance)
{
	vm_prot_t has, max;
	vm_inherit_t inherits;
	boolean_t shared;
	mach_port_t object;
	vm_offset_t offset;
	vm_size_t found;

	EXPECT_EQ(vm_region(SELF, &at, &found, &has, &max, &inherits, &shared, &object, &offset),
		  KERN_SUCCESS);
	EXPECT_EQ(at, start);
	EXPECT_EQ(found, size);
	EXPECT_EQ(has, rights);
	EXPECT_EQ(inherits, inheritance);
	EXPECT_EQ(object, MACH_PORT_NULL);
}

TEST(regions)
{
	vm_address_t base = (vm_address_t)allocate(16 * PAGE_SIZE);
	vm_address_t middle = base + 4 * PAGE_SIZE;

	vm_deallocate(SELF, base, PAGE_SIZE);
	vm_deallocate(SELF, base + 15 * PAGE_SIZE, PAGE_SIZE);
	EXPECT_EQ(vm_protect(SELF, middle, PAGE_SIZE, 0, VM_PROT_NONE), KERN_SUCCESS);
	EXPECT_EQ(vm_inherit(SELF, middle + PAGE_SIZE, PAGE_SIZE, VM_INHERIT_SHARE), KERN_SUCCESS);
	EXPECT_EQ(vm_inherit(SELF, middle, PAGE_SIZE, 3), KERN_INVALID_ARGUMENT);
	expect_region(base, base + PAGE_SIZE, 3 * PAGE_SIZE, VM_PROT_DEFAULT, VM_INHERIT_COPY);
	expect_region(middle, middle, PAGE_SIZE, VM_PROT_NONE, VM_INHERIT_COPY);
	expect_region(middle + PAGE_SIZE + 9, middle + PAGE_SIZE, PAGE_SIZE, VM_PROT_DEFAULT,
		      VM_INHERIT_SHARE);
	expect_region(base + 14 * PAGE_SIZE, base + 6 * PAGE_SIZE, 9 * PAGE_SIZE, VM_PROT_DEFAULT,
		      VM_INHERIT_COPY);
	vm_deallocate(SELF, base, 16 * PAGE_SIZE);
}

/* A child has copies, the very page, or nothing. */
TEST(inheritance)
{
	vm_address_t base = (vm_address_t)allocate(3 * PAGE_SIZE);
	volatile uint32_t *word = (volatile uint32_t *)base;
	mach_msg_type_number_t size;
	vm_offset_t data;
	uint32_t new = 44;
	mach_port_t child;

	word[0] = 11;
	word[1024] = 22;
	vm_inherit(SELF, base + PAGE_SIZE, PAGE_SIZE, VM_INHERIT_SHARE);
	vm_inherit(SELF, base + 2 * PAGE_SIZE, PAGE_SIZE, VM_INHERIT_NONE);
	EXPECT_EQ(task_create(SELF, 1, &child), KERN_SUCCESS);
	word[0] = 33;
	EXPECT_EQ(vm_write(child, base + PAGE_SIZE, (vm_offset_t) & new, 4), KERN_SUCCESS);
	EXPECT_EQ(word[1024], 44);
	EXPECT_EQ(vm_read(child, base, 4, &data, &size), KERN_SUCCESS);
	EXPECT_EQ(*(uint32_t *)data, 11);
	vm_deallocate(SELF, data, size);
	EXPECT_EQ(vm_read(child, base + 2 * PAGE_SIZE, 4, &data, &size), KERN_INVALID_ADDRESS);
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	EXPECT_EQ(word[1024], 44);
	EXPECT_EQ(mach_port_deallocate(SELF, child), KERN_SUCCESS);
	vm_deallocate(SELF, base, 3 * PAGE_SIZE);
}

TEST(size_limit)
{
	vm_size_t limit, max;
	vm_address_t address = 0;
	mach_port_t host = mach_host_self(), child;

	EXPECT_EQ(task_create(SELF, 0, &child), KERN_SUCCESS);
	EXPECT_EQ(vm_get_size_limit(child, &limit, &max), KERN_SUCCESS);
	EXPECT_EQ(vm_set_size_limit(host, child, 2 * PAGE_SIZE, 4 * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_set_size_limit(host, child, 2 * PAGE_SIZE, max), KERN_NO_ACCESS);
	EXPECT_EQ(vm_allocate(child, &address, 3 * PAGE_SIZE, 1), KERN_NO_SPACE);
	EXPECT_EQ(vm_allocate(child, &address, 2 * PAGE_SIZE, 1), KERN_SUCCESS);
	task_terminate(child);
	mach_port_deallocate(SELF, child);
	mach_port_deallocate(SELF, host);
}

#define READ_WRITE (VM_PROT_READ | VM_PROT_WRITE)

static kern_return_t map_with(mach_port_t task, vm_address_t *address, uint32_t pages,
			      vm_prot_t rights, vm_prot_t max_rights)
{
	return vm_map(task, address, pages * PAGE_SIZE, 0, TRUE, MACH_PORT_NULL, 0, FALSE, rights,
		      max_rights, VM_INHERIT_COPY);
}

/* A child that may have so many pages. */
static mach_port_t limited_child(uint32_t pages)
{
	mach_port_t host = mach_host_self(), child = MACH_PORT_NULL;

	EXPECT_EQ(task_create(SELF, 0, &child), KERN_SUCCESS);
	EXPECT_EQ(vm_set_size_limit(host, child, pages * PAGE_SIZE, pages * PAGE_SIZE),
		  KERN_SUCCESS);
	mach_port_deallocate(SELF, host);
	return child;
}

/* What nobody may touch costs no memory, and does not count: reserved, guarded or given up. */
TEST(the_limit_leaves_out_what_nobody_may_touch)
{
	mach_port_t child = limited_child(2);
	vm_address_t reserved = 0, never = 0, used = 0, more = 0;

	EXPECT_EQ(map_with(child, &reserved, 100, VM_PROT_NONE, VM_PROT_ALL), KERN_SUCCESS);
	EXPECT_EQ(map_with(child, &never, 100, VM_PROT_NONE, VM_PROT_NONE), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(child, &used, 2 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(child, &more, PAGE_SIZE, TRUE), KERN_NO_SPACE);
	EXPECT_EQ(vm_protect(child, used, PAGE_SIZE, TRUE, VM_PROT_NONE), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(child, &more, PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(child, more, PAGE_SIZE), KERN_SUCCESS);
	/* What never counted is not taken off when it goes. */
	EXPECT_EQ(vm_deallocate(child, never, 100 * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(child, used, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(child, reserved, 10 * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(child, &more, 2 * PAGE_SIZE, TRUE), KERN_NO_SPACE);
	EXPECT_EQ(vm_allocate(child, &more, PAGE_SIZE, TRUE), KERN_SUCCESS);
	task_terminate(child);
	mach_port_deallocate(SELF, child);
}

/* It counts from when somebody may touch it: nobody gets round the limit so. */
TEST(the_limit_counts_what_may_be_touched_later)
{
	mach_port_t child = limited_child(2);
	vm_address_t base = 0;

	EXPECT_EQ(map_with(child, &base, 4, VM_PROT_NONE, VM_PROT_ALL), KERN_SUCCESS);
	EXPECT_EQ(vm_protect(child, base, 3 * PAGE_SIZE, FALSE, READ_WRITE), KERN_NO_SPACE);
	EXPECT_EQ(vm_protect(child, base + PAGE_SIZE, 2 * PAGE_SIZE, FALSE, READ_WRITE),
		  KERN_SUCCESS);
	/* Those two count already. */
	EXPECT_EQ(vm_protect(child, base + PAGE_SIZE, 2 * PAGE_SIZE, FALSE, VM_PROT_READ),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_protect(child, base, 4 * PAGE_SIZE, FALSE, VM_PROT_READ), KERN_NO_SPACE);
	EXPECT_EQ(vm_protect(child, base + PAGE_SIZE, PAGE_SIZE, FALSE, VM_PROT_NONE),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_protect(child, base, PAGE_SIZE, FALSE, VM_PROT_READ), KERN_SUCCESS);
	task_terminate(child);
	mach_port_deallocate(SELF, child);
}

/* A child has the limit and, of what counts, what it has inherited. */
TEST(the_limit_is_inherited)
{
	mach_port_t parent = limited_child(3), child = MACH_PORT_NULL;
	vm_address_t none = 0, used = 0, more = 0;

	EXPECT_EQ(map_with(parent, &none, 50, VM_PROT_NONE, VM_PROT_ALL), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(parent, &used, 2 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(task_create(parent, TRUE, &child), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(child, &more, 2 * PAGE_SIZE, TRUE), KERN_NO_SPACE);
	EXPECT_EQ(vm_allocate(child, &more, PAGE_SIZE, TRUE), KERN_SUCCESS);
	task_terminate(child);
	task_terminate(parent);
	mach_port_deallocate(SELF, child);
	mach_port_deallocate(SELF, parent);
}

/* ---------------- Pages in a row ---------------- */

#define HOST check_number(0)
#define MIB  (1024u * 1024)

/* What is at `address` is clear, can be written to, and is the physical memory it is said to be. */
static void expect_row(vm_address_t address, rpc_phys_addr_t physical, uint32_t size)
{
	static rpc_phys_addr_t places[64];
	rpc_phys_addr_t *list = places;
	mach_msg_type_number_t n = 64;

	EXPECT(is_clear((uint8_t *)address, size));
	memset((void *)address, 1, size);
	EXPECT_EQ(vm_pages_phys(HOST, SELF, address, size, &list, &n), KERN_SUCCESS);
	EXPECT_EQ(n, size / PAGE_SIZE);
	for (uint32_t i = 0; i < n; i++)
		EXPECT_EQ(list[i], physical + i * PAGE_SIZE);
	if (list != places)
		EXPECT_EQ(vm_deallocate(SELF, (vm_address_t)list, n * sizeof *list), KERN_SUCCESS);
}

static int wired_pages(void)
{
	vm_statistics_data_t statistics = {0};

	EXPECT_EQ(vm_statistics(SELF, &statistics), KERN_SUCCESS);
	return statistics.wire_count;
}

TEST(pages_in_a_row)
{
	vm_address_t address[4];
	rpc_phys_addr_t physical[4];
	int wired = wired_pages();

	for (uint32_t turn = 0; turn < 4; turn++) {
		EXPECT_EQ(vm_allocate_contiguous(HOST, SELF, &address[turn], &physical[turn],
						 32 * PAGE_SIZE - 5, MIB, 16 * MIB, 32 * PAGE_SIZE),
			  KERN_SUCCESS);
		EXPECT_EQ(physical[turn] % (32 * PAGE_SIZE), 0);
		EXPECT(physical[turn] >= MIB && physical[turn] + 32 * PAGE_SIZE <= 16 * MIB);
		expect_row(address[turn], physical[turn], 32 * PAGE_SIZE);
		EXPECT_LE(wired + 32 * ((int)turn + 1), wired_pages());
	}
	for (uint32_t turn = 0; turn < 4; turn++)
		EXPECT_EQ(vm_deallocate(SELF, address[turn], 32 * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_LT(wired_pages(), wired + 32);
}

/* A child has copies: the parent's pages, which are wired, stay where they are. */
TEST(pages_in_a_row_and_a_child)
{
	vm_address_t address;
	rpc_phys_addr_t physical;
	mach_port_t child;

	EXPECT_EQ(
		vm_allocate_contiguous(HOST, SELF, &address, &physical, 8 * PAGE_SIZE, 0, ~0ull, 0),
		KERN_SUCCESS);
	EXPECT_EQ(task_create(SELF, 1, &child), KERN_SUCCESS);
	expect_row(address, physical, 8 * PAGE_SIZE);
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	EXPECT_EQ(mach_port_deallocate(SELF, child), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, address, 8 * PAGE_SIZE), KERN_SUCCESS);
}

/* The machine has some hundred MiB. */
TEST(pages_in_a_row_that_are_not_there)
{
	static const struct {
		vm_size_t size;
		rpc_phys_addr_t least, end, alignment;
		kern_return_t result;
	} cases[] = {
		{0, 0, ~0ull, 0, KERN_INVALID_ARGUMENT},
		{PAGE_SIZE, 0, ~0ull, 3, KERN_INVALID_ARGUMENT},
		{PAGE_SIZE, 0, ~0ull, 1ull << 40, KERN_RESOURCE_SHORTAGE},
		{PAGE_SIZE, 0, PAGE_SIZE - 1, 0, KERN_RESOURCE_SHORTAGE},
		{2 * PAGE_SIZE, 8 * MIB + 1, 8 * MIB + 2 * PAGE_SIZE, 0, KERN_RESOURCE_SHORTAGE},
		{PAGE_SIZE, 1ull << 32, ~0ull, 0, KERN_RESOURCE_SHORTAGE},
		{1024 * MIB, 0, ~0ull, 0, KERN_RESOURCE_SHORTAGE},
		{~0u, 0, ~0ull, 0, KERN_RESOURCE_SHORTAGE},
	};
	mach_port_t host = mach_host_self();
	vm_address_t address;
	rpc_phys_addr_t physical;

	for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		EXPECT_EQ(vm_allocate_contiguous(HOST, SELF, &address, &physical, cases[i].size,
						 cases[i].least, cases[i].end, cases[i].alignment),
			  cases[i].result);
	EXPECT_EQ(vm_allocate_contiguous(host, SELF, &address, &physical, PAGE_SIZE, 0, ~0ull, 0),
		  KERN_INVALID_HOST);
	EXPECT_EQ(mach_port_deallocate(SELF, host), KERN_SUCCESS);
}
