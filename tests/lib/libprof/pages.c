/* SPDX-License-Identifier: MIT */
/* Memory of the host's, for libprof's core on the host: see pages.h. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>

#include "../../../libprof/core/pages.h"

unsigned test_pages_left = TEST_PAGES_ALL;

static size_t round_up(size_t size)
{
	return (size + PROF_PAGE - 1) & ~(size_t)(PROF_PAGE - 1);
}

void *__prof_pages(size_t size)
{
	void *pages = NULL;

	if (test_pages_left == 0)
		return NULL;
	if (test_pages_left != TEST_PAGES_ALL)
		test_pages_left--;
	if (posix_memalign(&pages, PROF_PAGE, round_up(size)) != 0)
		return NULL;
	return memset(pages, 0, round_up(size));
}

void __prof_pages_free(void *pages, size_t size)
{
	(void)size;
	free(pages);
}
