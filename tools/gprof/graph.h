/* SPDX-License-Identifier: MIT */
/*
 * The call graph, and each function's own and inherited share of the samples.
 *
 * A node is a function of the program, or one of a few that are none: they have names in angle
 * brackets.  The functions' nodes come first and have the functions' indices; the kernel's
 * functions, if they are known, come last, in the order of its symbols.  Amounts are in samples;
 * there is one for each flavor that is shown, and printing multiplies by what a sample is worth.
 *
 * Time goes up the graph as in 4.2BSD.  Functions that call each other in a circle are a cycle,
 * which is treated as one node: what it has, own and inherited, is divided among the callers from
 * outside by how often each called.  Calls inside of a cycle carry nothing, and so do a function's
 * calls of itself.
 */
#ifndef GPROF_GRAPH_H
#define GPROF_GRAPH_H

#include "model.h"
#include "options.h"

enum node_kind {
	NODE_FUNCTION,
	NODE_KERNEL,      /* Samples in kernel mode, under the functions that trapped. */
	NODE_OUTSIDE,     /* Samples at addresses of no function. */
	NODE_PROFILER,    /* The collecting thread's own. */
	NODE_SPONTANEOUS, /* Callers that are not known; has no entry of its own. */
	NODE_OF_KERNEL,   /* A function of the kernel, if its symbols are at hand (--kernel). */
};

#define NODE_EXTRA     4u /* Those that are no functions. */
#define COUNTING_NAMES 5u
#define KERNEL_NAME    "kernel:" /* What the names of the kernel's functions begin with. */
#define NODE_NONE      UINT32_MAX

struct node {
	const char *name;
	const struct elfsym_function *function; /* NULL: none. */
	uint64_t calls;                         /* From others, */
	uint64_t self_calls;                    /* from itself. */
	double fraction;                        /* Of its time in the graph: -E, -F. */
	uint32_t component;
	uint32_t first_out; /* Arcs to what it calls: [first_out, the next node's first_out), */
	uint32_t first_in;  /* and in by_callee those from callers likewise. */
	uint32_t index;     /* In the printed graph; 0: not in it. */
	uint8_t kind;       /* NODE_* */
	bool is_left_out;   /* Of the graph: mcount and its like. */
	bool is_hidden;     /* Has no entry: -e, -f. */
};

struct arc {
	uint32_t from;
	uint32_t to;
	uint64_t calls; /* 0: only found in the code (-c) or in stacks, or one to <kernel>. */
};

/* A cycle, or a single node.  Components are in such an order that callees come first. */
struct component {
	uint32_t first; /* In members; as many as up to the next component's first. */
	uint32_t cycle; /* Its number from 1; 0: one node alone. */
	uint32_t index; /* A cycle's in the printed graph. */
	uint64_t calls; /* From outside. */
	uint64_t inner; /* From one member to another. */
};

struct amounts {
	double self;
	double child;
};

struct graph {
	const struct elfsym *elf;
	struct node *nodes;
	uint32_t n_nodes;
	uint32_t n_functions;
	const struct elfsym *kernel_elf; /* NULL: what is in the kernel is one node. */
	char **kernel_names;             /* Of its functions' nodes. */
	uint32_t *owners; /* With -a, the node that counts for each function; else NULL. */
	struct arc *arcs; /* By (from, to), each pair once. */
	uint32_t n_arcs;
	size_t arcs_room;
	uint32_t *by_callee; /* Indices of arcs by (to, from). */
	struct component *components;
	uint32_t n_components;
	uint32_t n_cycles;
	uint32_t *members; /* Nodes by component. */

	unsigned n_flavors;
	/* [node * n_flavors + flavor]: */
	double *self;
	double *child;  /* From callees, those of the same cycle apart. */
	double *kernel; /* Of child, what was sampled in kernel mode: NULL: nothing. */
	/* [component * n_flavors + flavor]: */
	double *own;       /* Of all members, */
	double *inherited; /* and what they have from callees outside; */
	double *estimated; /* of that, what was divided among several callers on its way up. */
	/* [flavor]: */
	double total[PROFILE_FLAVORS];       /* All samples; */
	double graph_total[PROFILE_FLAVORS]; /* those that are in the graph; */
	double divided[PROFILE_FLAVORS];     /* of these, those that were divided among callers. */

	/* [arc * n_flavors + flavor]: */
	struct amounts
		*stacks; /* Of a profile with call stacks: what was sampled below the call. */

	uint64_t unknown_calls; /* Of addresses that are in no function. */
};

/* Which flavors of the profile the tables show. */
struct choice {
	const struct profile *profile;
	const struct profile_flavor *flavors[PROFILE_FLAVORS];
	double worth[PROFILE_FLAVORS]; /* Of one sample: seconds, or 1. */
	bool is_event[PROFILE_FLAVORS];
	unsigned n;
};

/* ---- graph.c ---- */

/* What counts calls is in no program's own graph; the names that compilers and systems call it. */
extern const char *const graph_counting_names[COUNTING_NAMES];

void graph_make(struct graph *graph, const struct elfsym *elf, const struct choice *choice,
		const struct options *options);
void graph_free(struct graph *graph);

/* Notes where each node's arcs are; again after some were taken out. */
void graph_index_arcs(struct graph *graph);

/* The node of an address: a function's, or <outside>. */
uint32_t graph_node(const struct graph *graph, uint64_t address);

static inline uint32_t graph_special(const struct graph *graph, enum node_kind kind)
{
	return graph->n_functions + kind - NODE_KERNEL;
}

static inline const struct component *graph_component(const struct graph *graph, uint32_t node)
{
	return &graph->components[graph->nodes[node].component];
}

static inline bool graph_same_cycle(const struct graph *graph, const struct arc *arc)
{
	return graph->nodes[arc->from].component == graph->nodes[arc->to].component;
}

/* The node of an address in the kernel. */
uint32_t graph_kernel_node(const struct graph *graph, uint64_t address);

void graph_add_arc(struct graph *graph, uint32_t from, uint32_t to, uint64_t calls);

/* ---- assign.c: samples to nodes ---- */

void assign_samples(struct graph *graph, const struct choice *choice);

/* ---- static_arcs.c: calls that the code has ---- */

void static_arcs_add(struct graph *graph);

/* ---- cycles.c ---- */

void cycles_find(struct graph *graph);

/* Takes every node as a component of its own. */
void cycles_ignore(struct graph *graph);

/* ---- breaking.c: -C ---- */

/* Takes as few arcs out as it can find until no cycle has so many members, and prints which. */
void cycles_break(struct graph *graph, unsigned size);

/* ---- propagate.c ---- */

void propagate(struct graph *graph);

/* What an arc gives to its caller. */
struct amounts arc_amounts(const struct graph *graph, const struct arc *arc, unsigned flavor);

/* ---- stacks.c: instead of propagation, for profiles with call stacks ---- */

bool stacks_are_there(const struct profile *profile);
void stacks_add_arcs(struct graph *graph, const struct profile *profile);
void stacks_count(struct graph *graph, const struct choice *choice);

/* One sample's functions, the innermost first.  All zeros: empty. */
struct chain {
	uint32_t *nodes;
	size_t n;
	size_t room;
};

/* Fills it anew. */
void stacks_chain(struct chain *chain, const struct graph *graph, const struct profile *profile,
		  const struct profile_sample *sample);

/* Of which of the flavors that are shown the sample is; their number: of none. */
unsigned stacks_column(const struct choice *choice, const struct profile_sample *sample);

/* ---- select.c: -e, -E, -f, -F ---- */

/* Ends the program if there is no function of a name that was given, also to -k. */
void select_check(const struct graph *graph, const struct options *options);

void select_nodes(struct graph *graph, const struct options *options);

#endif
