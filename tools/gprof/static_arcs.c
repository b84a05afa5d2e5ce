/* SPDX-License-Identifier: MIT */
/*
 * Finds calls in the program's code: arcs that may not have been executed (-c).
 *
 * Every byte that may begin a call instruction with a 32-bit displacement is looked at; it is taken
 * for one if the displacement, forwards or backwards, leads to the first byte of a function.  A
 * false one needs just those five bytes inside of other instructions.
 */
#include "graph.h"
#include "util.h"

#define CALL       0xe8
#define CALL_BYTES 5u

static void static_arcs_add_arc(struct graph *graph, uint64_t from, uint64_t to)
{
	const struct elfsym_function *callee = elfsym_find(graph->elf, to, NULL);

	if (callee == NULL || callee->start != to)
		return;
	graph_add_arc(graph, graph_node(graph, from), graph_node(graph, to), 0);
}

static void static_arcs_scan(struct graph *graph, const struct elfsym_function *function)
{
	uint64_t length = function->end - function->start;
	const unsigned char *code = elfsym_bytes(graph->elf, function->start, length);
	uint64_t mask = graph->elf->is_64 ? UINT64_MAX : UINT32_MAX;

	if (code == NULL)
		return;
	for (uint64_t i = 0; i + CALL_BYTES <= length; i++) {
		uint64_t from = function->start + i;
		int64_t displacement = (int32_t)load_u32(code + i + 1);

		if (code[i] == CALL)
			static_arcs_add_arc(graph, from,
					    (from + CALL_BYTES + (uint64_t)displacement) & mask);
	}
}

void static_arcs_add(struct graph *graph)
{
	if (graph->elf->machine != ELFSYM_386 && graph->elf->machine != ELFSYM_X86_64)
		fail("-c: only code of the i386 and of x86-64 can be searched for calls");
	for (size_t i = 0; i < graph->elf->n_functions; i++)
		static_arcs_scan(graph, &graph->elf->functions[i]);
}
