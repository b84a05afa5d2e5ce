/* SPDX-License-Identifier: MIT */
/*
 * Every allocation that a user's call can reach is made to fail, one after the other: the call says
 * that there was no memory or does without, nothing panics or hangs, and everything is as it was.
 *
 * Each scenario is run once to see which sites it reaches and how often; then for each of them with
 * the first call failing, then the second, and so on.
 *
 * With the argument `tell=1` it says what it is about to do, for a run that hangs.
 *
 * machine: limit=120 append="inject=1 ramdisk=1" arguments="${host-port} ${device-port}"
 */
#include "check.h"
#include "shortage.h"

#define MOST_SITES 256u
#define MOST_TURNS 12u /* Of one site in one scenario; more are spread over all its calls. */

static uint32_t n_sites;
static uint32_t hits_before[MOST_SITES], hits[MOST_SITES];
static bool covered[MOST_SITES];
static uint32_t turns;

static struct assay_allocation_site site_info(uint32_t site)
{
	struct assay_allocation_site info = {0};

	assay_allocation_site(site, &info);
	return info;
}

/* Counts them; what is not there answers an error. */
static void find_sites(void)
{
	struct assay_allocation_site info;

	while (n_sites < MOST_SITES && assay_allocation_site(n_sites, &info) == KERN_SUCCESS)
		n_sites++;
	EXPECT(n_sites > 0 && n_sites < MOST_SITES);
}

static void clean_up(const struct scenario *scenario)
{
	shortage_expected = false;
	shortage_restore();
	if (scenario->undo != NULL)
		scenario->undo();
}

/* Which sites the scenario reaches; the first time the kernel gets what it keeps. */
static void count_hits(const struct scenario *scenario)
{
	scenario->run();
	clean_up(scenario);
	for (uint32_t site = 0; site < n_sites; site++)
		hits_before[site] = site_info(site).hits;
	scenario->run();
	for (uint32_t site = 0; site < n_sites; site++)
		hits[site] = site_info(site).hits - hits_before[site];
	clean_up(scenario);
}

static void say(const struct scenario *scenario, uint32_t site, uint32_t nth)
{
	struct assay_allocation_site info = site_info(site);

	print("# in \"%s\", with allocation %u at %s:%u failing\n", scenario->name, nth, info.file,
	      info.line);
}

/* Runs the scenario with the nth allocation at this site failing. */
static void run_failing(const struct scenario *scenario, uint32_t site, uint32_t nth)
{
	uint32_t failed = site_info(site).failed;

	if (check_parameter("tell", 0) != 0)
		say(scenario, site, nth);
	balance_note();
	shortage_expected = true;
	assay_fail_allocation(site, nth);
	scenario->run();
	assay_fail_allocation(ASSAY_NO_SITE, 0);
	clean_up(scenario);
	balance_settle();
	covered[site] = covered[site] || site_info(site).failed > failed;
	turns++;
	if (check_failed())
		say(scenario, site, nth);
}

static void run_all_failing(const struct scenario *scenario, uint32_t site)
{
	uint32_t step = (hits[site] + MOST_TURNS - 1) / MOST_TURNS;

	for (uint32_t nth = 1; nth <= hits[site] && !check_failed(); nth += step)
		run_failing(scenario, site, nth);
}

/* A site that no scenario reaches is no test of anything: it has to get one. */
static void report_sites(void)
{
	uint32_t n_covered = 0, n_boot = 0;

	for (uint32_t site = 0; site < n_sites; site++) {
		struct assay_allocation_site info = site_info(site);

		n_covered += covered[site];
		n_boot += info.at_boot != 0;
		if (!covered[site] && info.at_boot == 0)
			check_fail("no scenario reaches %s:%u", info.file, info.line);
	}
	print("shortage: %u of %u sites failed in %u runs, %u are reached at boot only\n",
	      n_covered, n_sites, turns, n_boot);
}

TEST(every_site_fails_in_order)
{
	find_sites();
	shortage_note();
	for (uint32_t i = 0; i < n_scenarios && !check_failed(); i++) {
		count_hits(&scenarios[i]);
		for (uint32_t site = 0; site < n_sites; site++)
			run_all_failing(&scenarios[i], site);
	}
	if (!check_failed())
		report_sites();
}
