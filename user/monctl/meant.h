/* SPDX-License-Identifier: MIT */
/* Words of the command line that are none of monctl's options, and what was meant by them. */
#ifndef MONCTL_MEANT_H
#define MONCTL_MEANT_H

#include <stdbool.h>
#include <stddef.h>

/* An option, as far as it matters here. */
struct word {
	const char *name;
	bool takes_value;
};

/* Tells what `word` is not, and what is perhaps meant.  `words` are all options that there are. */
void meant_report(const char *word, const struct word *words, size_t count);

#endif
