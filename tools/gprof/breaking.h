/* SPDX-License-Identifier: MIT */
/* What breaking.c and splitting.c share. */
#ifndef GPROF_BREAKING_H
#define GPROF_BREAKING_H

#include "graph.h"

/* One cycle as a graph of its own, some of whose arcs are out for a trial. */
struct trial {
	struct graph graph;
	struct arc *arcs;
	uint32_t n_arcs;
	uint32_t *places; /* Of arcs in the whole graph. */
	bool *is_out;
	uint32_t size; /* A cycle must have fewer members. */
	uint32_t left; /* Trials. */
};

/* Takes arcs out of a cycle of very many. */
void breaking_split(struct trial *trial);

#endif
