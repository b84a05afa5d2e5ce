/* SPDX-License-Identifier: MIT */
/*
 * unfair: one() and two() call shared() equally often, but two() asks it for nine times the work.
 *
 * docs/reading-a-profile.md shows what profiles make of that.
 */
#include <stdio.h>

#define ROUNDS 1000
#define UNIT   25000

volatile unsigned sum;

void step(unsigned n)
{
	while (n-- != 0)
		sum += n;
}

void shared(unsigned n)
{
	step(n);
	sum++;
}

void one(void)
{
	shared(UNIT / 10);
	sum++;
}

void two(void)
{
	shared(UNIT * 9 / 10);
	sum++;
}

int main(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		one();
		two();
	}
	puts("unfair: one 10 %, two 90 %");
	return 0;
}
