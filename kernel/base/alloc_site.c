/* SPDX-License-Identifier: MIT */
/*
 * Failing allocations on request: see alloc_site.h, and <assay/traps.h> for the traps.
 *
 * Owns the descriptors of the sites, and which of them is armed.  Guarded by the kernel lock.
 */
#include "base/alloc_site.h"

#include <assay/traps.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/lock.h"
#include "base/string.h"
#include "task/traps.h"

/* The bounds of the array, from kernel.ld. */
extern struct alloc_site alloc_sites_start[];
extern struct alloc_site alloc_sites_end[];

_Static_assert(sizeof(struct alloc_site) == 16, "the linker leaves no gaps in the array");

bool alloc_watched;

/* The site that is to fail, or NULL, and how many calls before that go through. */
static struct alloc_site *armed;
static uint32_t calls_left;
static bool for_ever;

bool alloc_site_hit(struct alloc_site *site)
{
	assert(kernel_locked());
	assert(site >= alloc_sites_start && site < alloc_sites_end);
	site->hits++;
	if (site != armed)
		return false;
	if (!for_ever && calls_left-- > 0)
		return false;
	if (!for_ever)
		armed = NULL;
	site->failed++;
	return true;
}

/* Watches from the first time on that somebody may ask; false if nobody may. */
static bool alloc_site_may_inject(void)
{
	if (argument_number("inject", 0) == 0)
		return false;
	alloc_watched = true;
	return true;
}

static struct alloc_site *site_number(uint32_t number)
{
	return number < (uint32_t)(alloc_sites_end - alloc_sites_start) ? &alloc_sites_start[number]
									: NULL;
}

TRAP_ABI kern_return_t trap_fail_allocation(uint32_t number, uint32_t nth)
{
	struct alloc_site *site = site_number(number);

	if (!alloc_site_may_inject())
		return KERN_NO_ACCESS;
	if (site == NULL && number != ASSAY_NO_SITE)
		return KERN_INVALID_ARGUMENT;
	armed = site;
	for_ever = nth == ASSAY_FAIL_ALWAYS;
	calls_left = for_ever ? 0 : nth - 1;
	return KERN_SUCCESS;
}

/* The whole structure is written: what lies behind the name is cleared. */
static void alloc_site_describe(const struct alloc_site *site, struct assay_allocation_site *info)
{
	memset(info, 0, sizeof *info);
	strlcpy(info->file, site->file, sizeof info->file);
	info->line = site->line;
	info->at_boot = site->at_boot;
	info->hits = site->hits;
	info->failed = site->failed;
}

TRAP_ABI kern_return_t trap_allocation_site(uint32_t number, user_address_t to)
{
	struct assay_allocation_site info;
	const struct alloc_site *site = site_number(number);

	if (!alloc_site_may_inject())
		return KERN_NO_ACCESS;
	if (site == NULL)
		return KERN_INVALID_ARGUMENT;
	alloc_site_describe(site, &info);
	return copyout(to, &info, sizeof info) ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}
