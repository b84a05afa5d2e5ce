/* SPDX-License-Identifier: MIT */
/* cost N: calls a function that does nothing, N times. */
#include <stdlib.h>

void nothing(void);

__attribute__((noinline, noclone)) void nothing(void)
{
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int times = argc == 2 ? atoi(argv[1]) : 0;

	while (times-- > 0)
		nothing();
	return 0;
}
