/* SPDX-License-Identifier: MIT */
/*
 * Calls that the kernel counts by label.
 *
 * A thread of a server does not know for whom it works; the kernel does.  So it is told of each
 * call, and counts it for that (docs/for-whom.md).
 */
#include "arcs.h"

#include <mach.h>

void __mcount_by_label(uint32_t from, uint32_t self)
{
	if ((__atomic_load_n(&__mcount_is_on, __ATOMIC_RELAXED) & ARCS_IN_TABLE) != 0)
		mcountaux(from, self);
	assay_count_call(from, self);
}
