/* SPDX-License-Identifier: MIT */
/*
 * Physical pages.
 *
 * The kernel maps the first 768 MiB of memory at KERNEL_BASE and uses no more than that.  Each page
 * there has a `struct page`.  Ranges of memory that nobody has asked for yet are not touched, not
 * even their page structures, so that the time to boot does not grow with the machine: the
 * allocator takes from the free list first and then from the untouched ranges.
 *
 * Guarded by the kernel lock.  Pages are identified by their structure; page_data() is where the
 * kernel sees the contents.
 */
#ifndef VM_PAGE_H
#define VM_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/vm_inherit.h>

#include "kern/alloc_site.h"
#include "kern/list.h"

#define PAGE_SHIFT 12
#define PAGE_SIZE  (1u << PAGE_SHIFT)
#define PAGE_MASK  (PAGE_SIZE - 1)

#define page_round(x) (((x) + PAGE_MASK) & ~PAGE_MASK)
#define page_trunc(x) ((x) & ~PAGE_MASK)

/* What a page is used for.  Each use is counted. */
enum page_use {
	PAGE_FREE,
	PAGE_ZONE,         /* Elements of a zone. */
	PAGE_TABLE,        /* A page table or page directory of a task, */
	PAGE_KERNEL_TABLE, /* or of the kernel's gigabyte: never given back. */
	PAGE_STACK,        /* Part of a kernel stack: never given back. */
	PAGE_USER,         /* Memory of a task, or on its way to one. */
	PAGE_KERNEL,       /* Kernel memory of more than a page (vm/kernel_memory.h). */
	PAGE_USES
};

#define PAGE_MAGIC 0x50414745u

struct zone;

struct page {
	union {
		struct page *next_free; /* PAGE_FREE: the next one on the free list. */
		struct zone *zone;      /* PAGE_ZONE: whose elements it holds. */
		struct {
			uint16_t first, end; /* PAGE_TABLE: all entries that were ever used. */
		} span;
		struct list link; /* Otherwise the owner's to use; undefined at first. */
	};
	uint32_t magic; /* PAGE_MAGIC, from the moment the page is first allocated. */
	uint8_t use;    /* enum page_use */

	/* PAGE_USER, from the moment a map has it: what holds wherever it is mapped. */
	uint8_t max_rights : 3;  /* The most that vm_protect() may give. */
	uint8_t inheritance : 2; /* VM_INHERIT_... */
	uint8_t copying : 1;     /* Its maps share it for copying: nobody may write to it. */
	uint8_t fixed : 1;       /* Never shared for copying: somebody knows its address. */
	uint16_t mappings;       /* How many maps have it. */
};

#define PAGE_MAPPINGS_MAX UINT16_MAX

/* Whether one more map, a child's, may share the page for copying. */
static inline bool page_is_for_copying(const struct page *page)
{
	return page->inheritance == VM_INHERIT_COPY && !page->fixed &&
	       (page->mappings == 1 || (page->copying && page->mappings < PAGE_MAPPINGS_MAX));
}

/*
 * Gives the allocator a range of physical memory; the ends are rounded inwards, and what lies above
 * the limit is left alone.  No byte may be given twice.
 */
void page_add_range(uint32_t start, uint32_t end);

/* A page with undefined contents, or NULL when there is none. */
struct page *page_alloc(enum page_use use);
#define page_alloc(use) ALLOC_SITE((page_alloc)(use))

/* The same, cleared. */
struct page *page_alloc_zeroed(enum page_use use);
#define page_alloc_zeroed(use) ALLOC_SITE((page_alloc_zeroed)(use))

void page_free(struct page *page);

/*
 * Where the kernel sees the page, its physical address, and the way back from either: from any
 * address in a page that has been allocated.
 */
void *page_data(const struct page *page);
uint32_t page_physical(const struct page *page);
struct page *page_of_data(const void *data);
struct page *page_of_physical(uint32_t physical);

/* The structures of all pages, by their numbers. */
extern struct page *page_array;

/* As page_of_physical(), for a page that a page table names, and without its checks. */
static inline struct page *page_of_entry(uint32_t entry)
{
	return &page_array[entry >> PAGE_SHIFT];
}

/* One function each clears and copies a page: by `rep stosl` and `rep movsl`. */
void page_clear(void *page);
void page_copy(void *to, const void *from);

/* How many pages are in `use`; PAGE_FREE counts the untouched ones too. */
uint32_t page_count(enum page_use use);

/*
 * Sets up the allocator, without memory yet: `array` is room for a struct page for every page that
 * ends at or below `limit`.  Its contents do not matter and are left alone.
 * Returns the bytes of `array` it needs for the limit, and does nothing else when `array` is NULL.
 */
size_t page_init(struct page *array, uint32_t limit);

#endif
