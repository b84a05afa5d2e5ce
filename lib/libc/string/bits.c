/* SPDX-License-Identifier: MIT */
/* The first bit that is set, counted from 1. */
#include <strings.h>

int ffs(int number)
{
	return number != 0 ? __builtin_ctz((unsigned)number) + 1 : 0;
}

int ffsl(long number)
{
	return number != 0 ? __builtin_ctzl((unsigned long)number) + 1 : 0;
}

int ffsll(long long number)
{
	return number != 0 ? __builtin_ctzll((unsigned long long)number) + 1 : 0;
}
