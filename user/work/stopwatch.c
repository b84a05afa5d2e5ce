/* SPDX-License-Identifier: MIT */
/*
 * stopwatch: how long a command took, in turns of the time stamp counter: under the fixed
 * instruction clock, in instructions.  `make bench` compares commands with and without a profiler.
 *
 * What the command leaves to be written to the disk is in it: the Unix server does that some time,
 * or for whoever wants something on the disk at once, as a profiler does with its file.  Left out,
 * it would be paid by one of two that are compared.  `tools/hot --marked` counts the same part.
 */
#include <assay.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void run(char **command)
{
	execvp(command[0], command);
	fprintf(stderr, "stopwatch: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

int main(int count, char **words)
{
	int status = 0;
	uint64_t begin;
	pid_t pid;

	if (count < 2) {
		fprintf(stderr, "usage: stopwatch COMMAND [ARGUMENT...]\n");
		return 2;
	}
	sync();
	hot_start();
	begin = cycles();
	pid = fork();
	if (pid == 0)
		run(words + 1);
	if (pid < 0) {
		fprintf(stderr, "stopwatch: cannot fork: %s\n", strerror(errno));
		return 1;
	}
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return 1;
	sync();
	begin = cycles() - begin;
	hot_stop();
	printf("cycles %llu\n", (unsigned long long)begin);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
