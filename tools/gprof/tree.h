/* SPDX-License-Identifier: MIT */
/*
 * A call tree: paths of calls from where a program begins, with what was sampled on each.
 *
 * From call stacks it is measured (tree_stacks.c).  Without them it is what the call graph says if
 * each caller's part of a function is divided below it as the whole is (tree_calls.c).
 */
#ifndef GPROF_TREE_H
#define GPROF_TREE_H

#include "print.h"

#define TREE_DEPTH_MOST 200u
#define TREE_NONE       UINT32_MAX

struct branch {
	uint32_t id; /* Of the node, or of the component of a cycle. */
	bool is_cycle;
	bool is_again; /* The function is above already. */
	double self;
	double total; /* With all below it. */
	uint32_t child;
	uint32_t next; /* Of the same parent. */
};

struct tree {
	const struct report *report;
	unsigned flavor;
	double least;         /* What has less is not shown. */
	struct branch *items; /* The first is above all paths. */
	uint32_t n;
	size_t room;
};

/* The child of that id, made if it is not there. */
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t id, bool is_cycle);

/* Each fills an empty tree. */
void tree_from_stacks(struct tree *tree);
void tree_from_calls(struct tree *tree);

/* How wide the terminal is that is written to; 0: it is none, or does not say. */
unsigned terminal_width(void);

void print_tree(const struct report *report);

#endif
