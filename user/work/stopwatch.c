/* SPDX-License-Identifier: MIT */
/*
 * stopwatch: how long a command took, in turns of the time stamp counter: under the fixed
 * instruction clock, in instructions.  `make bench` compares commands with and without a profiler.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static _Noreturn void run(char **command)
{
	execvp(command[0], command);
	fprintf(stderr, "stopwatch: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

int main(int count, char **words)
{
	uint64_t begin = cycles();
	int status = 0;
	pid_t pid;

	if (count < 2) {
		fprintf(stderr, "usage: stopwatch COMMAND [ARGUMENT...]\n");
		return 2;
	}
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
	printf("cycles %llu\n", (unsigned long long)(cycles() - begin));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
