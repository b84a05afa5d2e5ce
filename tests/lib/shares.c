/* SPDX-License-Identifier: MIT */
/* Counts of samples and shares that are known: see shares.h. */
#include "shares.h"

#include <assay.h>

#define ENOUGH    25.0 /* Expected samples of a place that counts by itself. */
#define THOUSANDS 1000.0

uint32_t shares_total(const struct shares *shares)
{
	uint32_t total = 0;

	for (uint32_t n = 0; n < shares->places; n++)
		total += shares->counts[n];
	return total;
}

void shares_add(struct shares *to, const struct shares *from)
{
	for (uint32_t n = 0; n < from->places; n++)
		to->counts[n] += from->counts[n];
}

/* By Heron's method, from above. */
static double square_root(double number)
{
	double root = number > 1 ? number : 1;

	for (uint32_t turn = 0; turn < 64; turn++)
		root = (root + number / root) / 2;
	return root;
}

static double errors(double count, double truth, double total)
{
	double distance = count - total * truth;
	double error = square_root(total * truth * (1 - truth));

	return (distance < 0 ? -distance : distance) / error;
}

uint32_t shares_worst(const struct shares *shares)
{
	double total = shares_total(shares), rest_count = 0, rest_truth = 0, worst = 0;

	for (uint32_t n = 0; n < shares->places; n++) {
		double here;

		if (total * shares->truth[n] < ENOUGH) {
			rest_count += shares->counts[n];
			rest_truth += shares->truth[n];
			continue;
		}
		here = errors(shares->counts[n], shares->truth[n], total);
		worst = here > worst ? here : worst;
	}
	/* So few have no bell curve; one more or less than a handful is no fault. */
	if (total * rest_truth >= ENOUGH && errors(rest_count, rest_truth, total) > worst)
		worst = errors(rest_count, rest_truth, total);
	else if (rest_count > total * rest_truth + ENOUGH)
		worst = rest_count;
	return (uint32_t)(worst * THOUSANDS);
}

uint32_t shares_chi_square(const struct shares *shares)
{
	double total = shares_total(shares), sum = 0;

	for (uint32_t n = 0; n < shares->places; n++) {
		double expected = total * shares->truth[n], distance = shares->counts[n] - expected;

		if (expected >= ENOUGH)
			sum += distance * distance / expected;
	}
	return (uint32_t)(sum * THOUSANDS);
}

void shares_print(const char *what, const struct shares *shares)
{
	double total = shares_total(shares);

	print("# %s: %u samples:", what, (uint32_t)total);
	for (uint32_t n = 0; n < shares->places; n++)
		print(" %u", (uint32_t)(shares->counts[n] * THOUSANDS / total));
	print(" per thousand, worst %u, chi-square %u thousandths\n", shares_worst(shares),
	      shares_chi_square(shares));
}
