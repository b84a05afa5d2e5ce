/* SPDX-License-Identifier: MIT */
/* A program that takes all the memory that there is, and keeps it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB (1 << 20)

int main(void)
{
	for (;;) {
		char *memory = malloc(MIB);

		if (memory != NULL)
			memset(memory, 1, MIB);
		else
			sleep(1);
	}
}
