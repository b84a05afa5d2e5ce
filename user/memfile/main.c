/* SPDX-License-Identifier: MIT */
/*
 * A small pager, and somebody who uses its memory: the example of docs/pagers.md.
 *
 * One thread is the pager (pager.c): it has the pages of a file that lies nowhere.  The other maps
 * the file, reads, writes, and gives it up; when it maps the file again what it wrote is there.
 */
#include "memfile.h"

static char stack[16 * 1024];

static void run_pager(void *unused)
{
	(void)unused;
	pager_serve();
}

static char *map_file(mach_port_t file)
{
	vm_address_t address = 0;
	kern_return_t result;

	result = vm_map(mach_task_self_cached(), &address, FILE_PAGES * PAGE_SIZE, 0, TRUE, file, 0,
			FALSE, VM_PROT_DEFAULT, VM_PROT_ALL, VM_INHERIT_NONE);
	if (result != KERN_SUCCESS) {
		print("memfile: vm_map: error %d\n", result);
		assay_exit(1);
	}
	return (char *)address;
}

static void unmap_file(char *file)
{
	vm_deallocate(mach_task_self_cached(), (vm_address_t)file, FILE_PAGES * PAGE_SIZE);
}

int main(void)
{
	mach_port_t port = pager_create();
	uint32_t thread;
	char *file;

	thread_start(run_pager, NULL, stack, sizeof stack, PRIORITY_USUAL, &thread);
	file = map_file(port);
	print("mapped    page 0 is \"%s\", page 2 is \"%s\"\n", file, file + 2 * PAGE_SIZE);
	format(file + 2 * PAGE_SIZE, PAGE_SIZE, "what the program wrote");
	unmap_file(file);

	file = map_file(port);
	print("once more page 1 is \"%s\", page 2 is \"%s\"\n", file + PAGE_SIZE,
	      file + 2 * PAGE_SIZE);
	unmap_file(file);
	pager_report();
	return strcmp(pager_page(2), "what the program wrote") != 0;
}
