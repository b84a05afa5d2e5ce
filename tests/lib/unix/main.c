/* SPDX-License-Identifier: MIT */
/* Runs the tests of a program under the Unix server, each in a process of its own. */
#include "check_unix.h"

/* The bounds of the section that TEST fills; the linker defines them. */
extern const struct check *const __start_checks[];
extern const struct check *const __stop_checks[];

const char *check_argument = "";

/* By their lines; tests of two files whose lines are the same come one after the other. */
static int compare(const void *one, const void *other)
{
	const struct check *a = *(const struct check *const *)one;
	const struct check *b = *(const struct check *const *)other;

	return a->line != b->line ? a->line - b->line : strcmp(a->name, b->name);
}

static bool run_one(const struct check *check)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		check->run();
		fflush(stdout);
		_exit(check_failures != 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	if (WIFSIGNALED(status))
		printf("  ended by signal %d\n", WTERMSIG(status));
	printf("%s %s\n", status == 0 ? "passed" : "failed", check->name);
	return status == 0;
}

int main(int argc, char **argv)
{
	size_t n = (size_t)(__stop_checks - __start_checks);
	const struct check *checks[n];
	int failed = 0;

	if (argc > 1)
		check_argument = argv[1];
	memcpy(checks, __start_checks, sizeof checks);
	qsort(checks, n, sizeof *checks, compare);
	for (size_t i = 0; i < n; i++)
		failed += !run_one(checks[i]);
	printf("end\n");
	return failed != 0;
}
