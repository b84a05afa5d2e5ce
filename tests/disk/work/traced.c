/* SPDX-License-Identifier: MIT */
/*
 * traced FILE: records words into a file that is there, has them written to the disk, and goes on
 * until nothing is recorded any more.  Prints how many bytes more each word makes, and ends the
 * machine while the last one is in no file yet.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ktrace.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <unistd.h>

#define TIMES 5

static long size_after_a_word(const char *path)
{
	struct stat status;
	int fd;

	utrace("word", 4);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &status) != 0)
		exit(1);
	close(fd);
	return (long)status.st_size;
}

int main(int argc, char **argv)
{
	long size = 0, before;

	if (argc != 2 || ktrace(argv[1], KTROP_SET, KTRFAC_USER, getpid()) != 0) {
		perror("traced");
		return 2;
	}
	for (int n = 0; n < TIMES; n++) {
		before = size;
		size = size_after_a_word(argv[1]);
		printf("%ld more\n", n == 0 ? 0 : size - before);
		sync();
	}
	fflush(stdout);
	utrace("last", 4);
	return ux_reboot(UX_HALT, 0);
}
