/* SPDX-License-Identifier: MIT */
/*
 * Where gmon.out goes, if it is no usual file: the first word says what gprof_gmon_out is, the
 * second what else is to be done.  Ends with 9 unless the file's writing changes that.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

char *gprof_gmon_out = NULL;

/* Holds the pipe open until this process ends. */
static void await_reader(const char *path)
{
	while (open(path, O_WRONLY | O_NONBLOCK) < 0)
		usleep(1000);
}

/* Another process reads a byte, and is gone. */
static void have_read_little(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	char byte;

	if (fork() == 0) {
		while (read(fd, &byte, 1) != 1)
			usleep(1000);
		_exit(0);
	}
	close(fd);
}

static void have_a_child(void)
{
	if (fork() == 0) {
		spin(1);
		exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	const char *then = argc > 2 ? argv[2] : "";

	if (argc > 1)
		gprof_gmon_out = argv[1];
	if (strcmp(then, "unread") == 0)
		mkfifo(gprof_gmon_out, 0600);
	if (strcmp(then, "read") == 0)
		await_reader(gprof_gmon_out);
	if (strcmp(then, "little") == 0)
		have_read_little(gprof_gmon_out);
	if (strcmp(then, "fork") == 0)
		have_a_child();
	spin(3);
	return 9;
}
