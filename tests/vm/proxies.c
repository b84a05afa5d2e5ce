/* SPDX-License-Identifier: MIT */
/*
 * Proxies: parts of memory objects and of regions, with fewer rights.
 *
 * machine: cpus=1
 */
#include "check.h"
#include "ipc.h"

#include <mach/mach4.h>

#define SELF  mach_task_self()
#define BYTES (8 * PAGE_SIZE)

static vm_address_t region;

/* New memory with a number at the beginning of each page, and a proxy for all of it. */
static mach_port_t begin(vm_prot_t rights)
{
	mach_port_t proxy = MACH_PORT_NULL;

	region = 0;
	EXPECT_EQ(vm_allocate(SELF, &region, BYTES, TRUE), KERN_SUCCESS);
	for (uint32_t page = 0; page < BYTES / PAGE_SIZE; page++)
		*(uint32_t *)(region + page * PAGE_SIZE) = 100 + page;
	EXPECT_EQ(vm_region_create_proxy(SELF, region + PAGE_SIZE, rights, BYTES, &proxy),
		  KERN_SUCCESS);
	return proxy;
}

static void end(mach_port_t proxy)
{
	EXPECT_EQ(vm_deallocate(SELF, region, BYTES), KERN_SUCCESS);
	port_drop_send(proxy);
}

static kern_return_t map(mach_port_t proxy, vm_offset_t offset, vm_size_t size, vm_prot_t rights,
			 boolean_t copy, vm_address_t *address)
{
	*address = 0;
	return vm_map(SELF, address, size, 0, TRUE, proxy, offset, copy, rights, VM_PROT_ALL,
		      VM_INHERIT_NONE);
}

/* A proxy for a part of `object`. */
static kern_return_t part_of(mach_port_t object, vm_prot_t rights, vm_offset_t start,
			     vm_size_t size, mach_port_t *proxy)
{
	vm_offset_t zero = 0;

	return memory_object_create_proxy(SELF, rights, &object, MACH_MSG_TYPE_COPY_SEND, 1, &zero,
					  1, &start, 1, &size, 1, proxy);
}

TEST(regions_are_shown)
{
	mach_port_t proxy = begin(VM_PROT_DEFAULT);
	vm_address_t address;

	EXPECT_EQ(map(proxy, 0, BYTES, VM_PROT_DEFAULT, FALSE, &address), KERN_SUCCESS);
	EXPECT_EQ(*(uint32_t *)(address + PAGE_SIZE), 101);
	*(uint32_t *)address = 5;
	EXPECT_EQ(*(uint32_t *)region, 5);
	*(uint32_t *)(region + 3 * PAGE_SIZE) = 6;
	EXPECT_EQ(*(uint32_t *)(address + 3 * PAGE_SIZE), 6);
	EXPECT_EQ(vm_deallocate(SELF, address, BYTES), KERN_SUCCESS);
	end(proxy);
}

TEST(they_outlive_the_region)
{
	mach_port_t proxy = begin(VM_PROT_READ);
	vm_address_t address;

	EXPECT_EQ(vm_deallocate(SELF, region, BYTES), KERN_SUCCESS);
	EXPECT_EQ(map(proxy, PAGE_SIZE, PAGE_SIZE, VM_PROT_READ, FALSE, &address), KERN_SUCCESS);
	EXPECT_EQ(*(uint32_t *)address, 101);
	port_drop_send(proxy);
	EXPECT_EQ(*(uint32_t *)address, 101);
	EXPECT_EQ(vm_deallocate(SELF, address, PAGE_SIZE), KERN_SUCCESS);
}

TEST(rights_are_limited)
{
	mach_port_t proxy = begin(VM_PROT_READ);
	vm_address_t address;

	EXPECT_EQ(map(proxy, 0, PAGE_SIZE, VM_PROT_DEFAULT, FALSE, &address), KERN_SUCCESS);
	EXPECT_EQ(vm_write(SELF, address, (vm_offset_t)&address, 4), KERN_PROTECTION_FAILURE);
	EXPECT_EQ(vm_protect(SELF, address, PAGE_SIZE, FALSE, VM_PROT_DEFAULT),
		  KERN_PROTECTION_FAILURE);
	EXPECT_EQ(vm_deallocate(SELF, address, PAGE_SIZE), KERN_SUCCESS);
	end(proxy);
}

TEST(copies_are_the_mappers_own)
{
	mach_port_t proxy = begin(VM_PROT_READ);
	vm_address_t address;

	EXPECT_EQ(map(proxy, 0, BYTES, VM_PROT_DEFAULT, TRUE, &address), KERN_SUCCESS);
	*(uint32_t *)address = 1;
	EXPECT_EQ(*(uint32_t *)region, 100);
	*(uint32_t *)(region + PAGE_SIZE) = 2;
	EXPECT_EQ(*(uint32_t *)(address + PAGE_SIZE), 101);
	EXPECT_EQ(vm_deallocate(SELF, address, BYTES), KERN_SUCCESS);
	end(proxy);
	proxy = begin(VM_PROT_NONE);
	EXPECT_EQ(map(proxy, 0, BYTES, VM_PROT_DEFAULT, TRUE, &address), KERN_PROTECTION_FAILURE);
	end(proxy);
}

TEST(parts_of_parts)
{
	mach_port_t proxy = begin(VM_PROT_ALL), part, of_part;
	vm_address_t address;

	EXPECT_EQ(part_of(proxy, VM_PROT_DEFAULT, PAGE_SIZE, 6 * PAGE_SIZE, &part), KERN_SUCCESS);
	EXPECT_EQ(part_of(part, VM_PROT_ALL, 2 * PAGE_SIZE, PAGE_SIZE, &of_part), KERN_SUCCESS);
	EXPECT_EQ(map(of_part, 0, PAGE_SIZE, VM_PROT_DEFAULT, FALSE, &address), KERN_SUCCESS);
	EXPECT_EQ(*(uint32_t *)address, 103);
	EXPECT_EQ(vm_protect(SELF, address, PAGE_SIZE, FALSE, VM_PROT_ALL),
		  KERN_PROTECTION_FAILURE);
	EXPECT_EQ(vm_deallocate(SELF, address, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(map(of_part, PAGE_SIZE, PAGE_SIZE, VM_PROT_READ, FALSE, &address),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(map(of_part, 0, 2 * PAGE_SIZE, VM_PROT_READ, FALSE, &address),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(part_of(part, VM_PROT_ALL, 6 * PAGE_SIZE, PAGE_SIZE, &of_part),
		  KERN_INVALID_ARGUMENT);
	port_drop_send(part);
	port_drop_send(of_part);
	end(proxy);
}

TEST(what_makes_no_sense)
{
	mach_port_t port = port_new_with_send();
	mach_port_t proxy, null = MACH_PORT_NULL;
	vm_offset_t zero = 0, page = PAGE_SIZE;

	EXPECT_EQ(part_of(MACH_PORT_NULL, VM_PROT_ALL, 0, PAGE_SIZE, &proxy), KERN_INVALID_NAME);
	EXPECT_EQ(part_of(mach_task_self_cached(), VM_PROT_ALL, 0, PAGE_SIZE, &proxy),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(part_of(port, 64, 0, PAGE_SIZE, &proxy), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(part_of(port, VM_PROT_ALL, 5, PAGE_SIZE, &proxy), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(part_of(port, VM_PROT_ALL, PAGE_SIZE, 0xfffff000, &proxy), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(memory_object_create_proxy(SELF, VM_PROT_ALL, &port, MACH_MSG_TYPE_COPY_SEND, 1,
					     &page, 1, &zero, 1, &page, 1, &proxy),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(memory_object_create_proxy(SELF, VM_PROT_ALL, &null, MACH_MSG_TYPE_COPY_SEND, 0,
					     &zero, 1, &zero, 1, &page, 1, &proxy),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(vm_region_create_proxy(SELF, 0, VM_PROT_ALL, PAGE_SIZE, &proxy),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	port_destroy(port);
}

TEST(objects_are_told_as_usual)
{
	mach_port_t port = port_new_with_send(), proxy;
	struct message message;
	vm_address_t address;

	EXPECT_EQ(part_of(port, VM_PROT_READ, PAGE_SIZE, PAGE_SIZE, &proxy), KERN_SUCCESS);
	EXPECT(message_none(port));
	EXPECT_EQ(map(proxy, 0, PAGE_SIZE, VM_PROT_READ, FALSE, &address), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 2200);
	port_destroy(message.body[1]);
	port_destroy(message.body[3]);
	EXPECT_EQ(vm_deallocate(SELF, address, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 2201);
	port_destroy(message.body[1]);
	port_destroy(message.body[3]);
	port_destroy(port);
	EXPECT_EQ(map(proxy, 0, PAGE_SIZE, VM_PROT_READ, FALSE, &address), KERN_INVALID_ARGUMENT);
	port_drop_send(proxy);
}

/* Who asks for all that there is need not know how much that is. */
TEST(all_of_an_object)
{
	mach_port_t port = port_new_with_send(), proxy;
	struct message message;
	vm_address_t address;

	EXPECT_EQ(part_of(port, VM_PROT_READ, 0, 0xffffffff, &proxy), KERN_SUCCESS);
	EXPECT_EQ(map(proxy, 0, PAGE_SIZE, VM_PROT_READ, FALSE, &address), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	port_destroy(message.body[1]);
	port_destroy(message.body[3]);
	EXPECT_EQ(vm_deallocate(SELF, address, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	port_destroy(message.body[1]);
	port_destroy(message.body[3]);
	port_destroy(port);
	port_drop_send(proxy);
}
