/* SPDX-License-Identifier: MIT */
/*
 * again TIMES: asks the kernel for its parent ten times more often than it is to execute itself,
 * and ten times; and then does that, with one time less.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OFTEN 10

static __attribute__((noinline)) int ask(int n)
{
	return n + (getppid() == 0);
}

int main(int count, char **arguments)
{
	int times = count > 1 ? atoi(arguments[1]) : 0, n = 0;
	char left[12];

	for (int i = 0; i < OFTEN * (times + 1); i++)
		n = ask(n);
	if (times == 0)
		return n != 0;
	snprintf(left, sizeof(left), "%d", times - 1);
	execl(arguments[0], arguments[0], left, (char *)NULL);
	return 1;
}
