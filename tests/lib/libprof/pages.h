/* SPDX-License-Identifier: MIT */
/* How often libprof's core still gets memory, in tests on the host. */
#ifndef LIBPROF_TEST_PAGES_H
#define LIBPROF_TEST_PAGES_H

#define TEST_PAGES_ALL 0xffffffffu /* Always. */

extern unsigned test_pages_left;

#endif
