/* SPDX-License-Identifier: MIT */
/*
 * Counters that are moved often, gathered.
 *
 * What was counted for an event goes over to somebody's counters each time that somebody claims it
 * (machine_calls_move()), and has few of some thousands of sites.  So a site that has
 * been found to count for such a set counts from then on in another counter, behind those of all
 * sites, with others like it: its thunk is pointed there.  Afterwards there is little to look at,
 * and other pages only if they were written to.
 *
 * A site is gathered for all sets, and for good.  Under the kernel lock.
 */
#ifndef I386_PATCH_GATHER_H
#define I386_PATCH_GATHER_H

#include <stdint.h>

/* Behind the last counter that there can be. */
uint32_t gather_end(void);

#endif
