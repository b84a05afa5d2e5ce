/* SPDX-License-Identifier: MIT */
/*
 * What may be wired without the host's own right: threads whose memory has to be waited for must
 * not pass the limit together that each of them keeps to.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=4
 */
#include "check.h"
#include "pager.h"

/* Memory for so much at once takes tables that stay. */
BALANCE_AT_END;

#define THREADS 2u
#define SIZE    (6u << 20) /* Once is less than the limit of 8 MiB, twice is more. */

static struct wiring {
	vm_address_t start;
	mach_port_t host;
	volatile kern_return_t result;
} wirings[THREADS];

static void wire(void *argument)
{
	struct wiring *wiring = argument;

	wiring->result = vm_wire(wiring->host, SELF, wiring->start, SIZE, VM_PROT_READ);
}

/* Zeroes, and at the end a page that the pager has. */
static vm_address_t memory_to_wait_for(void)
{
	vm_address_t start = 0, last;

	EXPECT_EQ(vm_allocate(SELF, &start, SIZE, TRUE), KERN_SUCCESS);
	last = start + SIZE - PAGE_SIZE;
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
		wirings[n].start = memory_to_wait_for();
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
