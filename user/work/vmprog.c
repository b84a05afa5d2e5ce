/* SPDX-License-Identifier: MIT */
/*
 * vmprog N: N zero-fill faults, all in touch_new().
 * vmprog -r N: N reactivations, all in touch_again(), of pages that were made inactive before.
 */
#include <mach/vm_sync.h>
#include <string.h>

#include "pages.h"
#include "work.h"

#define USAGE "vmprog [-r] N"

void touch_new(vm_address_t address, unsigned count);
void touch_again(vm_address_t address, unsigned count);

SHOWN void touch_new(vm_address_t address, unsigned count)
{
	for (unsigned page = 0; page < count; page++)
		write_page(address, page);
}

SHOWN void touch_again(vm_address_t address, unsigned count)
{
	for (unsigned page = 0; page < count; page++)
		read_page(address, page);
}

static void zero_fills(unsigned count)
{
	vm_address_t address = pages_or_die(count);
	rpc_long_natural_t before = events_now().zero_fills;

	touch_new(address, count);
	printf("vmprog: %u zero-fills in touch_new (the kernel counted %u)\n", count,
	       (unsigned)(events_now().zero_fills - before));
}

static void reactivations(unsigned count)
{
	vm_address_t address = pages_or_die(count);
	rpc_long_natural_t before;

	touch_new(address, count);
	before = events_now().reactivations;
	if (vm_msync(mach_task_self(), address, count * PAGE, VM_SYNC_DEACTIVATE) != KERN_SUCCESS) {
		fprintf(stderr, "vmprog: the kernel does not make pages inactive\n");
		exit(1);
	}
	touch_again(address, count);
	printf("vmprog: %u reactivations in touch_again (the kernel counted %u)\n", count,
	       (unsigned)(events_now().reactivations - before));
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "-r") == 0)
		reactivations(number_of(argv[2], USAGE));
	else
		zero_fills(number_of(argc == 2 ? argv[1] : NULL, USAGE));
	return 0;
}
