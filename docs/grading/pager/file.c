/* SPDX-License-Identifier: MIT */
/*
 * file SEED STEPS: reads and writes a file that pager.c has, in an order that the seed makes, and
 * prints a sum of all that it read.  Every 16 steps it gives the file up, and maps it again.
 */
#include "pager.h"

#define STEPS_MAPPED 16

static char stack[16 * 1024];

static void run_pager(void *unused)
{
	(void)unused;
	pager_serve();
}

static volatile uint32_t *map_file(mach_port_t file)
{
	vm_address_t address = 0;

	if (vm_map(mach_task_self_cached(), &address, FILE_PAGES * PAGE_SIZE, 0, TRUE, file, 0,
		   FALSE, VM_PROT_DEFAULT, VM_PROT_ALL, VM_INHERIT_NONE) != KERN_SUCCESS) {
		print("the file cannot be mapped\n");
		assay_exit(1);
	}
	return (volatile uint32_t *)address;
}

static void unmap_file(volatile uint32_t *file)
{
	vm_deallocate(mach_task_self_cached(), (vm_address_t)file, FILE_PAGES * PAGE_SIZE);
}

static uint32_t use(volatile uint32_t *file, uint32_t *random, uint32_t sum)
{
	volatile uint32_t *page;

	*random = *random * 1664525u + 1013904223u;
	page = file + (*random >> 8) % FILE_PAGES * (PAGE_SIZE / sizeof(*file));
	if ((*random >> 16 & 1) != 0)
		*page = *random;
	return sum * 31 + *page;
}

int main(int argc, char **argv)
{
	mach_port_t port = pager_create();
	uint32_t thread, sum = 0, random, steps;
	volatile uint32_t *file;

	if (argc < 3)
		return 1;
	random = (uint32_t)strtoul(argv[1], NULL, 10);
	steps = (uint32_t)strtoul(argv[2], NULL, 10);
	thread_start(run_pager, NULL, stack, sizeof stack, PRIORITY_USUAL, &thread);
	file = map_file(port);
	for (uint32_t step = 1; step <= steps; step++) {
		sum = use(file, &random, sum);
		if (step % STEPS_MAPPED == 0) {
			unmap_file(file);
			file = map_file(port);
		}
	}
	print("%u\n", sum);
	return 0;
}
