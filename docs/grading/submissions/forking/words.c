/* SPDX-License-Identifier: MIT */
/*
 * words ROUNDS: how many different words there are in its input, one word a line.  Each line is for
 * a process of its own, so that several CPUs can work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 4096
#define ROOM  32

static char lines[LINES][ROOM];

int read_lines(void)
{
	int n = 0;

	while (n < LINES && fgets(lines[n], ROOM, stdin) != NULL) {
		lines[n][strcspn(lines[n], "\n")] = '\0';
		n++;
	}
	return n;
}

int is_first(int line)
{
	for (int i = 0; i < line; i++)
		if (strcmp(lines[i], lines[line]) == 0)
			return 0;
	return 1;
}

int main(void)
{
	int n = read_lines(), different = 0;

	for (int i = 0; i < n; i++)
		if (fork() == 0)
			different += is_first(i); /* The fault: the child goes on with the loop. */
	while (wait(NULL) > 0)
		;
	printf("%d\n", different);
	return 0;
}
