/* SPDX-License-Identifier: MIT */
/*
 * The page-out daemon: makes memory free when there is little.
 *
 * It is a thread of the kernel.  When it is woken it deactivates the oldest active pages until a
 * third of the pages on queues is inactive, and takes the oldest inactive ones away: clean ones
 * are freed, others go to their pagers (vm/pager/pager.h).  It never makes a page active again: who
 * touches an inactive page does that himself, by a fault.  Guarded by the kernel lock.
 */
#ifndef VM_PAGER_PAGEOUT_H
#define VM_PAGER_PAGEOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the daemon, which has something to do from page_levels_set() on. */
void pageout_start(void);

/* Tells the daemon that there is little memory; costs little when it knows. */
void pageout_wake(void);

/*
 * Waits until there are pages for users, after an attempt to have one, with no wait in between, has
 * failed.  False if there are some and so none for the caller, if none can be made though no user
 * has any, or if the current thread is interrupted (thread_is_interrupted() tells).  May block.
 */
bool page_wait(void);

/* Timers that the daemon has set, for the balance: it may rest though there is memory by now. */
uint32_t pageout_timers(void);

/* Pages sent to pagers since boot. */
extern uint32_t pageouts;

/* Pages that the default pager gave back, as it has no room for them. */
extern uint32_t pageouts_refused;

#endif
