/* SPDX-License-Identifier: MIT */
/*
 * Has the Unix server work in two ways, each from a function of its own: one reads a file, the
 * other looks it up.  So it is known what any work of the server's was for.
 *
 *	two_ways TIMES
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "/etc/passwd"

/* To be found in stacks by their names. */
__attribute__((noinline)) int only_reads(int times);
__attribute__((noinline)) int only_looks_up(int times);

int only_reads(int times)
{
	int file = open(FILE_NAME, O_RDONLY), bytes = 0;
	char buffer[64];

	while (times-- > 0) {
		lseek(file, 0, SEEK_SET);
		bytes += (int)read(file, buffer, sizeof(buffer));
	}
	close(file);
	return bytes;
}

int only_looks_up(int times)
{
	struct stat status;
	int found = 0;

	while (times-- > 0)
		found += stat(FILE_NAME, &status) == 0;
	return found;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, bytes = only_reads(times),
	    found = only_looks_up(times);

	printf("%d bytes, found %d times\n", bytes, found);
	return 0;
}
