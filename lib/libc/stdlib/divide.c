/* SPDX-License-Identifier: MIT */
/* Absolute values, and quotients with their remainders. */
#include <inttypes.h>
#include <stdlib.h>

int abs(int number)
{
	return number < 0 ? -number : number;
}

long labs(long number)
{
	return number < 0 ? -number : number;
}

long long llabs(long long number)
{
	return number < 0 ? -number : number;
}

intmax_t imaxabs(intmax_t number)
{
	return number < 0 ? -number : number;
}

div_t div(int number, int by)
{
	return (div_t){number / by, number % by};
}

ldiv_t ldiv(long number, long by)
{
	return (ldiv_t){number / by, number % by};
}

lldiv_t lldiv(long long number, long long by)
{
	return (lldiv_t){number / by, number % by};
}

imaxdiv_t imaxdiv(intmax_t number, intmax_t by)
{
	return (imaxdiv_t){number / by, number % by};
}
