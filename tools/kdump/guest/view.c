/* SPDX-License-Identifier: MIT */
/* Views are the host's.  See view.h. */
#include "../view.h"

bool timeline_write(const struct timeline_choice *choice, struct ktrace_print *print)
{
	(void)print;
	fprintf(stderr, "kdump: --view=%s: views are not made here: take the trace to the host\n",
		choice->name);
	return false;
}
