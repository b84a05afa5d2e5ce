/* SPDX-License-Identifier: MIT */
/* What vm_statistics() tells of the machine's memory; counts are of pages unless they say else. */
#ifndef MACH_VM_STATISTICS_H
#define MACH_VM_STATISTICS_H

#include <mach/vm_types.h>

struct vm_statistics {
	integer_t pagesize; /* In bytes. */
	integer_t free_count;
	integer_t active_count;
	integer_t inactive_count;
	integer_t wire_count;
	integer_t zero_fill_count;
	integer_t reactivations;
	integer_t pageins;
	integer_t pageouts;
	integer_t faults;     /* Of any kind, and */
	integer_t cow_faults; /* those that copied a page. */
	integer_t lookups;    /* In the cache of objects, and */
	integer_t hits;       /* those that found one. */
};

typedef struct vm_statistics vm_statistics_data_t;
typedef struct vm_statistics *vm_statistics_t;

#endif
