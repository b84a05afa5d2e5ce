/* SPDX-License-Identifier: MIT */
/*
 * Faults: making a page that somebody touches be there.
 *
 * Kinds, each defined once, here:
 *   zfill         a page was zeroed for the toucher
 *   cow           a page was copied for the toucher (not: a right was raised, or a page moved)
 *   pagein        the toucher's fault sent the request to a pager
 *   reactivation  the page was there but had been deactivated
 *   any           a fault is over and the touch can go on: once, however often it was tried again
 * fault_event() counts each in the host's statistics and the task's, so that they cannot differ.
 *
 * Guarded by the kernel lock.  What may block says so; a wait for a pager or for memory ends when
 * the thread is aborted or ends.
 */
#ifndef VM_MAP_FAULT_H
#define VM_MAP_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

struct object;
struct page;
struct vm_map;

enum fault_flavor {
	FAULT_ZFILL,
	FAULT_COW,
	FAULT_PAGEIN,
	FAULT_REACTIVATION,
	FAULT_ANY,
	FAULT_FLAVORS
};

/* How often each has happened: one for the host, one in each task. */
struct fault_counts {
	uint32_t n[FAULT_FLAVORS];
};

extern struct fault_counts host_faults;

/* Counts for the host and for the current thread's task, if it has one. */
void fault_event(enum fault_flavor flavor);

/*
 * The current thread touched `address` of `map`, any address, with `rights` (VM_PROT_*).
 * KERN_SUCCESS: it is mapped so; try again.  KERN_INVALID_ADDRESS, KERN_PROTECTION_FAILURE,
 * KERN_MEMORY_ERROR (the pager said so), KERN_MEMORY_FAILURE (there is no pager any more),
 * KERN_RESOURCE_SHORTAGE (no memory, and none can be made), KERN_ABORTED (the thread has to go to
 * the edge of user mode).  May block.
 */
kern_return_t fault(struct vm_map *map, uint32_t address, uint32_t rights);

/*
 * As fault(), for the kernel, which looks at another's memory: maps nothing, and gives the page,
 * which is the caller's to read, or with VM_PROT_WRITE in `rights` to write to, until its next
 * wait.  The rights of the map entry are not asked if `force`.  Counts as fault() does when there
 * is something to do.  May block.
 */
kern_return_t fault_page(struct vm_map *map, uint32_t address, uint32_t rights, bool force,
			 struct page **page);

/*
 * Makes [start, end), of whole pages all mapped, present, mapped and wired, with the rights of
 * their entries; and lets go of that.  On failure nothing is wired.  The entries' own counts are
 * the map's business.  May block.
 */
kern_return_t fault_wire(struct vm_map *map, uint32_t start, uint32_t end);
void fault_unwire(struct vm_map *map, uint32_t start, uint32_t end);

/*
 * The page that is seen at `index` of `object`, to be read until the caller's next wait: looks
 * along the chain and asks pagers.  *page is NULL for zeroes.  For object_copy_now(), and for what
 * a pager orders about pages that are in swap.  Errors and counts as fault_page().  May block.
 */
kern_return_t fault_object_page(struct object *object, uint32_t index, struct page **page);

#endif
