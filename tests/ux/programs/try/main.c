/* SPDX-License-Identifier: MIT */
/* Runs the tests of a program: see try.h. */
#include "../try.h"

struct try *tries;
int try_failures;
const char *try_argument = "";

static bool run_one(const struct try *one)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		one->run();
		fflush(stdout);
		_exit(try_failures != 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	if (WIFSIGNALED(status))
		printf("  ended by signal %d\n", WTERMSIG(status));
	printf("%s %s\n", status == 0 ? "passed" : "failed", one->name);
	return status == 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc > 1)
		try_argument = argv[1];
	for (struct try *one = tries; one != NULL; one = one->next)
		failed += !run_one(one);
	printf("end\n");
	return failed != 0;
}
