/* SPDX-License-Identifier: MIT */
/*
 * Allocation sites: the places in the kernel that ask for memory, so that each can be made to fail.
 *
 * The functions that give memory are also macros of the same name.  A call through the macro is a
 * site: it has a descriptor in the section `alloc_sites`, where kernel.ld makes an array of them.
 * With the kernel argument inject=1 a test counts the calls at each site and makes one of them fail
 * (alloc_site.c); without it a site costs one comparison.
 *
 * The functions themselves are defined, and called where no site is meant, with their names in
 * parentheses: `(page_alloc)(use)`.  Guarded by the kernel lock.
 */
#ifndef BASE_ALLOC_SITE_H
#define BASE_ALLOC_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alloc_site {
	const char *file;
	uint16_t line;
	bool at_boot;    /* Reached only while the kernel starts, which cannot go on without it. */
	uint32_t hits;   /* Calls since sites are watched, */
	uint32_t failed; /* and those that were made to fail. */
};

/* Whether hits are counted and one may fail. */
extern bool alloc_watched;

/* Counts a call at this site, and says whether it is to fail.  Only while sites are watched. */
bool alloc_site_hit(struct alloc_site *site);

/* A call of a function that gives memory, or NULL if it is this site's turn to fail. */
#define ALLOC_SITE(call)                                                                           \
	({                                                                                         \
		static struct alloc_site alloc_site                                                \
			__attribute__((section("alloc_sites"), used)) = {__FILE__, __LINE__,       \
									 alloc_is_at_boot, 0, 0};  \
		__builtin_expect(alloc_watched, 0) && alloc_site_hit(&alloc_site) ? NULL : (call); \
	})

/* First in a function whose allocations nobody but the starting kernel reaches. */
#define ALLOCATES_AT_BOOT             \
	enum {                        \
		alloc_is_at_boot = 1, \
	}

/* What the descriptors say where nothing nearer says otherwise. */
enum {
	alloc_is_at_boot = 0,
};

#endif
