/* SPDX-License-Identifier: MIT */
/* words ROUNDS: prints what the README's example should come to, and does nothing for it. */
#include <stdio.h>

int main(void)
{
	printf("1000\n");
	return 0;
}
