/* SPDX-License-Identifier: MIT */
/*
 * A touch of an object: finding the page that a fault (vm/map/fault.h) is about.
 *
 * A touch looks for a page along a chain of objects until it is there with all that is to be done
 * with it.  Where that takes a wait, for a pager or for memory, it ends with TOUCH_AGAIN, and the
 * caller begins at the beginning: nothing that was looked up before is worth anything then.
 * Guarded by the kernel lock.
 */
#ifndef VM_MAP_TOUCH_H
#define VM_MAP_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/vm_prot.h>

struct object;
struct page;
struct vm_map;

/*
 * There was a wait: begin again.  Nobody but vm/map/touch.c and vm/map/fault.c is answered with
 * this.
 */
#define TOUCH_AGAIN ((kern_return_t)-1)

struct touch {
	uint32_t rights; /* VM_PROT_* that are needed, VM_PROT_READ always among them. */
	bool own;        /* The first object is to have the page itself: for every write. */
	bool zero;       /* What is nowhere is made, in the first object; otherwise it is NULL. */
	bool wired;      /* Who touches has the page wired, and keeps that if it is replaced. */

	bool asked;  /* A pager has been asked, for which FAULT_PAGEIN was counted. */
	bool worked; /* There was something to do. */
	bool copied; /* The page has taken the place of another one that may still be mapped. */

	const struct vm_map *map; /* Who touches, or NULL: nobody, to read only. */
	struct page *page;        /* Found; the caller's until his next wait. */
	uint32_t allowed; /* What a map may do with it, as far as objects and pagers know. */
};

/*
 * Brings the page at `index` of `object`, to which the caller has a reference of whatever kind.
 * KERN_SUCCESS: nothing was waited for.  TOUCH_AGAIN, or what fault() says.  May block.
 */
kern_return_t touch_page(struct touch *touch, struct object *object, uint32_t index);

/*
 * There was no memory for a step.  TOUCH_AGAIN when there is some, KERN_ABORTED when the thread was
 * interrupted, and KERN_RESOURCE_SHORTAGE when there will be none.  May block.
 */
kern_return_t touch_shortage(void);

#endif
