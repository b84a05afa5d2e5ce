/* SPDX-License-Identifier: MIT */
/* Which code a file tells of, so that nobody takes it for another program's (<gmon_program.h>). */
#ifndef LIBPROF_CODE_H
#define LIBPROF_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "collection.h"

/* So much code, from that address on, has this sum. */
typedef void (*code_visit_t)(uint32_t code, uint32_t bytes, uint32_t sum, void *argument);

/*
 * What the collection says of its program and, if that is the one that runs here, each further page
 * that samples or, `with_arcs`, calls are of: they have been in memory, so that nothing is paged in
 * that the program has not had.
 */
void __code_visit(const struct collection *collection, bool with_arcs, code_visit_t visit,
		  void *argument);

/* How often that calls `visit`, at most. */
uint32_t __code_ranges(const struct collection *collection);

#endif
