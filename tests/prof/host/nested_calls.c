/* SPDX-License-Identifier: MIT */
/* links: libprof/core/arcs.c */
/*
 * Calls made while another is being counted (libprof/core/arcs.h), as another CPU or a signal's
 * handler makes them: here always at the same moment, when memory for arcs is asked for.
 */
#include "../../../libprof/core/arcs.h"

#include <stdlib.h>

#include "../../../libprof/core/pages.h"
#include "host/kernel.h"

#define CALLS 5000u
#define TEXT  0x08048000u

static uint32_t nested; /* Calls that came in between, */
static bool inside;     /* of which there is one at a time. */

void *__prof_pages(size_t size)
{
	if (!inside) {
		inside = true;
		mcountaux(TEXT + 4 * nested++, TEXT + 1);
		inside = false;
	}
	return calloc(1, size);
}

void __prof_pages_free(void *pages, size_t size)
{
	(void)size;
	free(pages);
}

static void add_up(const struct arc *arc, void *total)
{
	*(uint64_t *)total += (uint64_t)arc->high << 32 | arc->low;
}

TEST(a_call_inside_another_is_counted)
{
	uint64_t total = 0;

	for (uint32_t n = 0; n < CALLS; n++)
		mcountaux(TEXT + 4 * n, TEXT);
	__arcs_visit(add_up, &total);
	EXPECT_LT(10, nested);
	EXPECT_EQ(total, CALLS + nested);
	EXPECT_EQ(__arcs_lost(), 0);
}
