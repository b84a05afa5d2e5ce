/* SPDX-License-Identifier: MIT */
/* cowprog N: N copy-on-write faults, all in write_copies(). */
#include "pages.h"
#include "work.h"

void write_copies(vm_address_t address, unsigned count);

SHOWN void write_copies(vm_address_t address, unsigned count)
{
	for (unsigned page = 0; page < count; page++)
		write_page(address, page);
}

int main(int argc, char **argv)
{
	unsigned count = number_of(argc == 2 ? argv[1] : NULL, "cowprog N");
	vm_address_t original = pages_or_die(count), copy = pages_or_die(count);
	rpc_long_natural_t before;

	for (unsigned page = 0; page < count; page++)
		write_page(original, page);
	if (vm_copy(mach_task_self(), original, count * PAGE, copy) != KERN_SUCCESS) {
		fprintf(stderr, "cowprog: the kernel does not copy\n");
		return 1;
	}
	before = events_now().cow_faults;
	write_copies(copy, count);
	printf("cowprog: %u copy-on-write faults in write_copies (the kernel counted %u)\n", count,
	       (unsigned)(events_now().cow_faults - before));
	return 0;
}
