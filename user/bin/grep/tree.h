/* SPDX-License-Identifier: MIT */
/* The tree of a regular expression. */
#ifndef GREP_TREE_H
#define GREP_TREE_H

#include <stdint.h>

#include "grep/regex.h"

enum kind {
	KIND_EMPTY,
	KIND_CHARACTER,
	KIND_ANY,
	KIND_CLASS,
	KIND_START,
	KIND_END,
	KIND_SEQUENCE,
	KIND_CHOICE,
	KIND_REPEAT,
};

#define REPEAT_FOREVER (-1)

struct tree {
	enum kind kind;
	unsigned char character;
	uint8_t *class;
	struct tree *left;
	struct tree *right;
	int minimum; /* Of repetitions, */
	int maximum; /* perhaps without end. */
};

/* NULL, and what is wrong in `error`, if the pattern is no expression. */
struct tree *tree_parse(const char *pattern, size_t length, enum syntax syntax, bool ignores_case,
			const char **error);

#endif
