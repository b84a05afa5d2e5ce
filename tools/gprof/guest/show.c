/* SPDX-License-Identifier: MIT */
/* Views are the host's.  See show.h. */
#include "../show.h"

#include "../util.h"

void show_view(const struct options *options, struct profile *profile, const struct elfsym *program)
{
	(void)profile;
	(void)program;
	fail("--view=%s: views are not made here: take the profile to the host", options->view);
}
