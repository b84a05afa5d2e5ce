/* SPDX-License-Identifier: MIT */
/* What vm_cache_statistics() tells: counts of pages, but for the first. */
#ifndef MACH_VM_CACHE_STATISTICS_H
#define MACH_VM_CACHE_STATISTICS_H

#include <mach/vm_types.h>

struct vm_cache_statistics {
	integer_t cache_object_count; /* Objects kept though nobody maps them, */
	integer_t cache_count;        /* and their pages. */
	integer_t active_tmp_count;
	integer_t inactive_tmp_count;
	integer_t active_perm_count;
	integer_t inactive_perm_count;
	integer_t dirty_count;
	integer_t laundry_count;
	integer_t writeback_count;
	integer_t slab_count;         /* Held by the kernel's zones, */
	integer_t slab_reclaim_count; /* and what of it could be given back. */
};

typedef struct vm_cache_statistics vm_cache_statistics_data_t;
typedef struct vm_cache_statistics *vm_cache_statistics_t;

#endif
