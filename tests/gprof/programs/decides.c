/* SPDX-License-Identifier: MIT */
/*
 * Waits, computes for a while, and waits again, so that a proxy can come and go.
 *
 * All computing is in one routine, whose instructions are executed differently often: it decides by
 * bits of random numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

unsigned decide(unsigned rounds);

__attribute__((noinline)) unsigned decide(unsigned rounds)
{
	unsigned state = 12345;
	unsigned sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		state = state * 1664525u + 1013904223u;
		if ((state >> 30) == 0)
			sum += state % 7;
		if ((state >> 29 & 1) != 0)
			sum ^= state << 5;
		else if ((state >> 25 & 3) != 0)
			sum = (sum << 7 | sum >> 25) + 3;
		for (unsigned n = state >> 27; n > 20; n--)
			sum += n * sum;
	}
	return sum;
}

int main(int count, char **arguments)
{
	unsigned rounds = count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : 6000000;

	usleep(500000);
	printf("%u\n", decide(rounds));
	fflush(stdout);
	usleep(500000);
	return 0;
}
