/* SPDX-License-Identifier: MIT */
/*
 * The queues of pages that the page-out daemon may take: active and inactive, oldest first.
 *
 * Every PAGE_USER page that belongs to an object and is not wired is on one of them.  A page on the
 * inactive queue is mapped nowhere: deactivating it takes all translations away, so that the next
 * touch is a fault of whoever touches it (a reactivation).  Guarded by the kernel lock.
 */
#ifndef VM_PAGE_PAGE_QUEUE_H
#define VM_PAGE_PAGE_QUEUE_H

#include <stdint.h>

#include "vm/page/page.h"

/* Puts the page, which may be on any queue or none, at the end of the active one, unless wired. */
void page_activate(struct page *page);

/* Unmaps the page everywhere and puts it at the end of the inactive queue, if it is not wired. */
void page_deactivate(struct page *page);

/* Takes the page off its queue, if it is on one. */
void page_unqueue(struct page *page);

/* Wirings: with the first the page leaves its queue, with the last it becomes active. */
void page_wire(struct page *page);
void page_unwire(struct page *page);

/* The oldest page of a queue, or NULL. */
struct page *page_queue_first(enum page_queue queue);

uint32_t page_queue_length(enum page_queue queue);
uint32_t page_wired_count(void); /* Pages of PAGE_USER that are wired. */

#endif
