/* SPDX-License-Identifier: MIT */
/* The table of the kernel's calls: see call_sites.h. */
#include "i386/patch/call_sites.h"

extern const char kernel_start[], kernel_text_end[], kernel_data[];

#define GROUP_BITS 7
#define GROUP_MORE (1u << GROUP_BITS)

static uint32_t site_take_step(struct site *site)
{
	uint32_t step = 0;
	unsigned shift = 0;
	uint8_t group;

	do {
		group = *site->next++;
		step |= (group & (GROUP_MORE - 1)) << shift;
		shift += GROUP_BITS;
	} while ((group & GROUP_MORE) != 0);
	return step;
}

bool site_first(struct site *site)
{
	if (site_count() == 0)
		return false;
	*site = (struct site){.next = call_sites.steps, .address = (uint32_t)kernel_start};
	site->address += site_take_step(site);
	return true;
}

bool site_next(struct site *site)
{
	if (++site->number == site_count())
		return false;
	if (site->number == call_sites.n_calls)
		site->address = (uint32_t)kernel_text_end;
	if (site->number == call_sites.n_calls + call_sites.n_constants)
		site->address = (uint32_t)kernel_data;
	site->address += site_take_step(site);
	return true;
}
