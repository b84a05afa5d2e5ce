/* SPDX-License-Identifier: MIT */
/*
 * Whether counts of samples agree with shares that are known: how a profile is proved right.
 *
 * Of n samples, each of which finds a function with probability p, the function has n p, give or
 * take the standard error sqrt(n p (1 - p)).
 */
#ifndef TEST_SHARES_H
#define TEST_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#define SHARES_MAX 16u

struct shares {
	uint32_t places;
	double truth[SHARES_MAX]; /* Of each place; their sum is 1. */
	uint32_t counts[SHARES_MAX];
};

uint32_t shares_total(const struct shares *shares);

/* Adds the counts of another with the same places. */
void shares_add(struct shares *to, const struct shares *from);

/* How far chance may take a place, in the unit of shares_worst(): once in 1.7 million times. */
#define SHARES_ERRORS 5000u

/* And for all samples of a proof, which are compared once: once in 16,000 times. */
#define SHARES_POOLED 4000u

/*
 * How far a place is from its truth, at the most: in thousandths of the standard error.  Places
 * with fewer than 25 expected samples count together as one.
 */
uint32_t shares_worst(const struct shares *shares);

/* Chi-square over the places with at least 25 expected samples, in thousandths. */
uint32_t shares_chi_square(const struct shares *shares);

/* What chi-square exceeds once in 10,000 times, in thousandths, with 4 degrees of freedom. */
#define CHI_SQUARE_4 23513u

/* A line that begins with `# what`: each count, in thousandths of all. */
void shares_print(const char *what, const struct shares *shares);

#endif
