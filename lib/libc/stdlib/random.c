/* SPDX-License-Identifier: MIT */
/*
 * Pseudo-random numbers.  The state is one 64-bit word, which a linear congruence (Knuth's for
 * MMIX) moves on; its upper bits, the good ones, are given out.  rand() and random() share it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "../internal.h"

#define MULTIPLIER 6364136223846793005ull
#define INCREMENT  1442695040888963407ull

static libc_lock_t lock = LIBC_LOCK_INITIALIZER;
static uint64_t state = MULTIPLIER + INCREMENT; /* By the lock.  As after srand(1). */

static int step(uint64_t *from)
{
	*from = *from * MULTIPLIER + INCREMENT;
	return (int)(*from >> 33);
}

void srand(unsigned seed)
{
	__lock(&lock);
	state = seed * MULTIPLIER + INCREMENT;
	__unlock(&lock);
}

int rand(void)
{
	int number;

	__lock(&lock);
	number = step(&state);
	__unlock(&lock);
	return number;
}

/* The caller's state is one short word: it is spread before and taken from the top after. */
int rand_r(unsigned *seed)
{
	uint64_t wide = *seed * MULTIPLIER + INCREMENT;
	int number = step(&wide);

	*seed = (unsigned)(wide >> 16);
	return number;
}

void srandom(unsigned seed)
{
	srand(seed);
}

long random(void)
{
	return rand();
}
