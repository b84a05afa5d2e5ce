/* SPDX-License-Identifier: MIT */
/* More threads than a message has room to list; all of them wait. */
#include <cthreads.h>
#include <unistd.h>

#define THREADS 40

static void *run(void *argument)
{
	for (;;)
		pause();
	return argument;
}

int main(void)
{
	for (unsigned n = 0; n < THREADS; n++)
		cthread_detach(cthread_fork(run, NULL));
	write(STDOUT_FILENO, "ready\n", 6);
	for (;;)
		pause();
}
