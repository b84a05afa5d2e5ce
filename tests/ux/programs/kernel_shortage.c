/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of the kernel's that a use of the system makes fails once, in turn, wherever it
 * is: in a call of the program's or in one that the server makes for it.  The program is told that
 * there is no memory, is ended, or does not notice.  After that it works, and the server has no
 * more than before: above all, nobody waits for ever, and it is nobody else's concern.
 *
 * The argument's last number: so many turns at most of one site in one use; if there are more
 * allocations they are spread over all of them.
 *
 * guest: user=root append="inject=1" limit=300 argument="${heap_test},${n_pieces},3"
 * guest: user=root append="inject=1" limit=900 when=nightly \
 * argument="${heap_test},${n_pieces},1000"
 */
#include "uses.h"

#define SITES_MAX (PAGE / sizeof(unsigned))

/* How a child ends whose use was not as it should be, and one whose own child a signal ended. */
enum {
	WRONG = 254,
	ENDED = 255,
};

static unsigned n_sites;
static unsigned all_failed;
static unsigned *hits; /* Of each site in a use; children write there, too. */

static struct assay_allocation_site site_info(unsigned site)
{
	struct assay_allocation_site info = {0};

	assay_allocation_site(site, &info);
	return info;
}

static bool find_sites(void)
{
	struct assay_allocation_site info;
	vm_address_t page = 0;

	while (n_sites < SITES_MAX && assay_allocation_site(n_sites, &info) == KERN_SUCCESS)
		n_sites++;
	if (hits == NULL &&
	    (vm_allocate(mach_task_self(), &page, PAGE, TRUE) != KERN_SUCCESS ||
	     vm_inherit(mach_task_self(), page, PAGE, VM_INHERIT_SHARE) != KERN_SUCCESS))
		return false;
	if (hits == NULL)
		hits = (unsigned *)page;
	return n_sites > 0 && n_sites < SITES_MAX;
}

/* ---------------- In a child, which the kernel may end ---------------- */

static int act_and_count(int (*act)(void))
{
	int error;

	for (unsigned site = 0; site < n_sites; site++)
		hits[site] = site_info(site).hits;
	error = act();
	for (unsigned site = 0; site < n_sites; site++)
		hits[site] = site_info(site).hits - hits[site];
	return error;
}

static int act_failing(int (*act)(void), unsigned site, unsigned nth)
{
	int error;

	assay_fail_allocation(site, nth);
	error = act();
	assay_fail_allocation(ASSAY_NO_SITE, 0);
	return error;
}

/* With the nth allocation at the site failing, or if it is 0 counting them.  What came of it. */
static int act_in_child(int (*act)(void), unsigned site, unsigned nth)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int error = nth == 0 ? act_and_count(act) : act_failing(act, site, nth);

		fflush(stdout);
		_exit(check_failures != 0 ? WRONG : error);
	}
	status = status_of(pid);
	assay_fail_allocation(ASSAY_NO_SITE, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : ENDED;
}

/* ---------------- One failure after the other ---------------- */

static void fail_once(int (*act)(void), unsigned site, unsigned nth)
{
	struct assay_allocation_site info = site_info(site);
	int error = act_in_child(act, site, nth);

	clean_up();
	if (error != 0 && error != ENOMEM && error != EAGAIN && error != ENDED)
		check_fail("error %d", error);
	EXPECT_EQ(act_in_child(act, 0, 0), 0);
	if (check_failures != 0)
		printf("  with allocation %u at %s:%u failing\n", nth, info.file, info.line);
}

static void fail_all(int (*act)(void))
{
	unsigned turns = 0, failed = 0, pieces, counted[SITES_MAX];

	REQUIRE(find_server() && find_sites());
	for (unsigned n = 0; n < 3; n++) /* The first two fill caches. */
		EXPECT_EQ(act_in_child(act, 0, 0), 0);
	memcpy(counted, hits, sizeof counted);
	pieces = read_word(pieces_address);
	for (unsigned site = 0; site < n_sites && check_failures == 0; site++) {
		unsigned step = (counted[site] + last_argument - 1) / last_argument;
		unsigned before = site_info(site).failed;

		for (unsigned nth = 1; nth <= counted[site] && check_failures == 0; nth += step) {
			fail_once(act, site, nth);
			turns++;
		}
		failed += site_info(site).failed - before;
	}
	EXPECT(2 * failed >= turns); /* For the others the kernel had kept something by then. */
	all_failed += failed;
	EXPECT(pieces_at_most(pieces) <= pieces);
	printf("  %u allocations failed in %u turns\n", failed, turns);
}

TEST(every_use)
{
	for (unsigned n = 0; n < N_USES && check_failures == 0; n++) {
		printf("%s:\n", uses[n].name);
		fail_all(uses[n].run);
	}
	EXPECT(all_failed >= 300);
}

/* What allocates nothing in the kernel works, however little is left. */
TEST(what_needs_no_memory)
{
	REQUIRE(find_server() && find_sites());
	EXPECT_EQ(use_directory(), 0);
	EXPECT_EQ(use_semaphore(), 0);
	for (unsigned site = 0; site < n_sites; site++) {
		if (site_info(site).at_boot != 0)
			continue;
		EXPECT_EQ(act_failing(use_directory, site, ASSAY_FAIL_ALWAYS), 0);
		EXPECT_EQ(act_failing(use_semaphore, site, ASSAY_FAIL_ALWAYS), 0);
	}
}
