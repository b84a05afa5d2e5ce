/* SPDX-License-Identifier: MIT */
/* Reads a file three times, by a function that calls the stub in a loop. */
#include <fcntl.h>
#include <unistd.h>

#define TIMES 3

static __attribute__((noinline)) int read_all(int file)
{
	char piece[4096];
	int n = 0;

	while (read(file, piece, sizeof(piece)) > 0)
		n++;
	return n;
}

int main(int count, char **arguments)
{
	int n = 0;

	(void)count;
	for (int i = 0; i < TIMES; i++) {
		int file = open(arguments[1], O_RDONLY);

		n += read_all(file);
		close(file);
	}
	return n == 0;
}
