/* SPDX-License-Identifier: MIT */
/* Command substitution: a child's output as a string. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "expand.h"
#include "sh.h"

static _Noreturn void run_child(struct node *command, const int ends[2])
{
	if (dup2(ends[1], STDOUT_FILENO) < 0)
		die("cannot substitute: %s", strerror(errno));
	if (ends[1] != STDOUT_FILENO)
		close(ends[1]);
	if (ends[0] != STDOUT_FILENO)
		close(ends[0]);
	shell_exit(execute(command, true));
}

static void read_all(int descriptor, struct string *output)
{
	char block[1024];
	ssize_t got;

	while ((got = read(descriptor, block, sizeof(block))) != 0) {
		if (got < 0 && errno != EINTR)
			fail(STATUS_SYNTAX, "cannot read a command's output: %s", strerror(errno));
		for (ssize_t i = 0; i < got; i++)
			if (block[i] != '\0')
				string_add(output, block[i]);
	}
}

char *substitute(struct node *command)
{
	struct string output;
	int ends[2];
	pid_t pid;

	string_start(&output, &scratch);
	shell.substitution = 0;
	if (command == NULL)
		return region_copy(&scratch, "", 0);
	if (pipe2(ends, O_CLOEXEC) != 0)
		fail(STATUS_SYNTAX, "cannot make a pipe: %s", strerror(errno));
	pid = fork_child(CHILD_SUBSTITUTION);
	if (pid == 0)
		run_child(command, ends);
	close(ends[1]);
	read_all(ends[0], &output);
	close(ends[0]);
	shell.substitution = job_wait_foreground(pid);
	while (output.used > 0 && output.bytes[output.used - 1] == '\n')
		output.bytes[--output.used] = '\0';
	return output.bytes;
}
