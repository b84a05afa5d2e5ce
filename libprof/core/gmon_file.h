/* SPDX-License-Identifier: MIT */
/* Writes what was collected as a gmon.out: see <gmon.h> and <servers/gprof_types.h>. */
#ifndef LIBPROF_GMON_FILE_H
#define LIBPROF_GMON_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <servers/gprof_types.h>

#include "collection.h"

/* Room that the file needs; `with_arcs`: those of this program (arcs.h) are part of it. */
size_t __gmon_room(const struct collection *collection, bool with_arcs, enum gprof_format format);

/*
 * Writes it into `room` zeroed bytes, as many as were said; returns its size, or 0 if more arcs
 * have come since then than there is room for.
 */
size_t __gmon_write(const struct collection *collection, bool with_arcs, enum gprof_format format,
		    char *to, size_t room);

/*
 * Both, in pages that are the caller's, as often as it takes; NULL: there is no memory.  Tells the
 * file's size, and how much room there is for it (pages.h).
 */
char *__gmon_make(const struct collection *collection, bool with_arcs, enum gprof_format format,
		  size_t *size, size_t *room);

#endif
