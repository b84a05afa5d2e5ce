/* SPDX-License-Identifier: MIT */
/*
 * readprog FILE: one page-in for each page of the file that is not in memory, all in read_pages().
 */
#include <errno.h>
#include <fcntl.h>
#include <mach/map_fd.h>
#include <string.h>
#include <sys/stat.h>

#include "pages.h"
#include "work.h"

unsigned read_pages(vm_address_t address, unsigned count);

SHOWN unsigned read_pages(vm_address_t address, unsigned count)
{
	unsigned sum = 0;

	for (unsigned page = 0; page < count; page++)
		sum += read_page(address, page);
	return sum;
}

static void fail(const char *file, const char *why)
{
	fprintf(stderr, "readprog: %s: %s\n", file, why);
	exit(1);
}

/* Maps the whole file; its size in pages. */
static unsigned map_file(const char *name, vm_offset_t *address)
{
	struct stat status;
	int file = open(name, O_RDONLY);

	if (file < 0 || fstat(file, &status) != 0)
		fail(name, strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_size == 0)
		fail(name, "not a file with contents");
	if (map_fd(file, 0, address, TRUE, (vm_size_t)status.st_size) != KERN_SUCCESS)
		fail(name, "cannot be mapped");
	return ((unsigned)status.st_size + PAGE - 1) / PAGE;
}

int main(int argc, char **argv)
{
	vm_offset_t address = 0;
	unsigned count, sum;
	rpc_long_natural_t before;

	if (argc != 2) {
		fprintf(stderr, "usage: readprog FILE\n");
		return 2;
	}
	count = map_file(argv[1], &address);
	/* What is executed from here on is in memory then, so that all page-ins are the file's. */
	read_pages(address, 0);
	events_now();
	before = events_now().pageins;
	sum = read_pages(address, count);
	printf("readprog: %u pages of %s read in read_pages, sum %08x; "
	       "the kernel counted %u page-ins\n",
	       count, argv[1], sum, (unsigned)(events_now().pageins - before));
	return 0;
}
