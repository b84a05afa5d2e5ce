/* SPDX-License-Identifier: MIT */
/* The table of the kernel's calls: see call_sites.h. */
#include "i386/patch/call_sites.h"

extern const char kernel_start[], kernel_text_end[], kernel_data[];

#define GROUP_BITS 7
#define GROUP_MORE (1u << GROUP_BITS)

static void site_step(struct site *site)
{
	uint32_t group = *site->next++;
	unsigned shift = GROUP_BITS;

	site->address += group & (GROUP_MORE - 1);
	for (; __builtin_expect(group & GROUP_MORE, 0) != 0; shift += GROUP_BITS) {
		group = *site->next++;
		site->address += (group & (GROUP_MORE - 1)) << shift;
	}
}

bool site_first(struct site *site)
{
	if (site_count() == 0)
		return false;
	*site = (struct site){.next = call_sites.steps, .address = (uint32_t)kernel_start};
	site_step(site);
	return true;
}

bool site_next(struct site *site)
{
	if (++site->number == call_sites.count)
		return false;
	if (site->number == call_sites.first_constant)
		site->address = (uint32_t)kernel_text_end;
	if (site->number == call_sites.first_in_table)
		site->address = (uint32_t)kernel_data;
	site_step(site);
	return true;
}
