/* SPDX-License-Identifier: MIT */
/*
 * What may be wired without the host's own right: threads whose memory has to be waited for must
 * not pass the limit together that each of them keeps to, of the task or of who pays.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 seed=4 arguments="${host-port}"
 */
#include "check.h"
#include "owners.h"
#include "pager.h"

/* Memory for so much at once takes tables that stay. */
BALANCE_AT_END;

#define THREADS 2u
#define SIZE    (6u << 20) /* Once is less than the limit of 8 MiB, twice is more. */

static struct wiring {
	vm_address_t start;
	vm_size_t size;
	mach_port_t host;
	volatile kern_return_t result;
} wirings[THREADS];

static void wire(void *argument)
{
	struct wiring *wiring = argument;

	wiring->result = vm_wire(wiring->host, SELF, wiring->start, wiring->size, VM_PROT_READ);
}

/* Zeroes, and at the end a page that the pager has. */
static vm_address_t memory_to_wait_for(uint32_t size)
{
	vm_address_t start = 0, last;

	EXPECT_EQ(vm_allocate(SELF, &start, size, TRUE), KERN_SUCCESS);
	last = start + size - PAGE_SIZE;
	EXPECT_EQ(vm_deallocate(SELF, last, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_map(SELF, &last, PAGE_SIZE, 0, FALSE, object, 0, FALSE, VM_PROT_DEFAULT,
			 VM_PROT_ALL, VM_INHERIT_NONE),
		  KERN_SUCCESS);
	return start;
}

TEST(two_threads_keep_to_the_limit)
{
	uint32_t refused = 0;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	for (uint32_t n = 0; n < THREADS; n++) {
		wirings[n].host = mach_host_self();
		wirings[n].size = SIZE;
		wirings[n].start = memory_to_wait_for(SIZE);
		worker_start(n, wire, &wirings[n]);
	}
	REQUIRE(expect(DATA_REQUEST));
	sleep_ms(100);
	fill(0, 1, 7);
	for (uint32_t n = 0; n < THREADS; n++) {
		EXPECT(worker_join(n));
		refused += wirings[n].result == KERN_NO_ACCESS;
		EXPECT_EQ(vm_deallocate(SELF, wirings[n].start, SIZE), KERN_SUCCESS);
		port_drop_send(wirings[n].host);
	}
	EXPECT_EQ(refused, 1);
	end();
}

/* What is being wired counts from the beginning. */
TEST(who_pays_keeps_to_the_limit_while_memory_is_waited_for)
{
	enum {
		LIMIT = 4,
		EACH = 3 * PAGE_SIZE
	};
	mach_port_t host = mach_host_self();
	vm_address_t other = 0;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	become(ALICE);
	EXPECT_EQ(set_limit(ALICE, OWNER_WIRED, LIMIT), KERN_SUCCESS);
	wirings[0] = (struct wiring){memory_to_wait_for(EACH), EACH, host, 0};
	EXPECT_EQ(vm_allocate(SELF, &other, EACH, TRUE), KERN_SUCCESS);
	worker_start(0, wire, &wirings[0]);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(used(ALICE, OWNER_WIRED), EACH / PAGE_SIZE);
	EXPECT_EQ(vm_wire(host, SELF, other, EACH, VM_PROT_READ), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(vm_wire(host, SELF, other, PAGE_SIZE, VM_PROT_READ), KERN_SUCCESS);
	fill(0, 1, 7);
	EXPECT(worker_join(0));
	EXPECT_EQ(wirings[0].result, KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_WIRED), LIMIT);
	EXPECT_EQ(vm_deallocate(SELF, wirings[0].start, EACH), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, other, EACH), KERN_SUCCESS);
	EXPECT_EQ(used(ALICE, OWNER_WIRED), 0);
	become(OWNER_SYSTEM);
	end();
	port_drop_send(host);
}
