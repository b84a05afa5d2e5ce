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
#ifndef VM_PAGE_PAGE_H
#define VM_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc_site.h"
#include <assay/list.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE  (1u << PAGE_SHIFT)
#define PAGE_MASK  (PAGE_SIZE - 1)

#define page_round(x) (((x) + PAGE_MASK) & ~PAGE_MASK)
#define page_trunc(x) ((x) & ~PAGE_MASK)

/* What a page is used for.  Each use is counted. */
enum page_use {
	PAGE_FREE,
	PAGE_ZONE,         /* Elements of a zone. */
	PAGE_TABLE,        /* A page table or directory of a task, or a table's links. */
	PAGE_KERNEL_TABLE, /* A table of the kernel's gigabyte: never given back. */
	PAGE_STACK,        /* Part of a kernel stack. */
	PAGE_USER,         /* Memory of a task, or on its way to one. */
	PAGE_KERNEL,       /* Kernel memory of more than a page, and queues of devices. */
	PAGE_USES
};

#define PAGE_MAGIC 0x50414745u

struct object;
struct pmap;
struct zone;
struct zone_free;

/* Which queue of the page-out daemon's a page of PAGE_USER is on (vm/page/page_queue.h). */
enum page_queue {
	PAGE_QUEUE_NONE,
	PAGE_QUEUE_ACTIVE,
	PAGE_QUEUE_INACTIVE, /* Not mapped anywhere: whoever touches it next faults. */
	PAGE_QUEUES
};

/*
 * A page of PAGE_USER belongs to one object, at one index, or to whoever has it in hand on its way
 * to one (`object` is NULL then, and it is on no queue and mapped nowhere).  Nobody holds a page
 * that belongs to an object over a wait, unless he has wired it: it may be gone afterwards.
 */
struct page {
	union {
		struct page *next_free; /* PAGE_FREE: the next one on the free list. */
		struct {
			struct pmap *pmap; /* PAGE_TABLE: whose table it is, */
			uint32_t linked;   /* and how many of its entries are linked. */
		};
		struct list link; /* PAGE_USER: on its queue.  PAGE_ZONE: on the zone's list.
				     Otherwise the owner's; undefined. */
	};
	uint32_t magic; /* PAGE_MAGIC, from the moment the page is first allocated. */
	union {
		uint32_t wirings; /* PAGE_USER: how often it is wired.  If at all, on no queue. */
		uint32_t n_used;  /* PAGE_ZONE: elements that are not free. */
	};
	union {
		struct {
			struct object *object; /* PAGE_USER: NULL, or whose it is, */
			uint32_t index;        /* and which page of that. */
		};
		struct {
			uint32_t base; /* PAGE_TABLE: the first address that it is for. */
			uint32_t used; /* A bit for each 16 entries of which one ever was. */
		} table;
		struct {
			struct zone *zone;      /* PAGE_ZONE: whose elements it holds, */
			struct zone_free *free; /* and those that are free. */
		};
	};
	uintptr_t mappings; /* PAGE_USER: where it is mapped, 0 for nowhere.  PAGE_TABLE: its links,
			       or whose links these are.  i386/mmu/pmap_mapping.c */
	uint8_t use;        /* enum page_use */
	uint8_t queue;      /* PAGE_USER: enum page_queue. */
	uint8_t dirty : 1;  /* PAGE_USER: written to; entries of page tables may know of more. */
	uint8_t precious : 1;  /* Its pager wants it back even if it is clean. */
	uint8_t in_swap : 1;   /* The default pager has the same contents, unless it is dirty. */
	uint8_t lock : 3;      /* VM_PROT_*: what its pager forbids. */
	uint8_t unlocking : 1; /* Its pager has been asked to allow more. */
};

/* How a page of PAGE_USER is when it is given out: nobody's, clean, mapped nowhere. */
static inline void page_init_user(struct page *page)
{
	page->queue = PAGE_QUEUE_NONE;
	page->wirings = 0;
	page->object = NULL;
	page->index = 0;
	page->mappings = 0;
	page->dirty = false;
	page->precious = false;
	page->in_swap = false;
	page->lock = 0;
	page->unlocking = false;
}

/*
 * Gives the allocator a range of physical memory; the ends are rounded inwards, and what lies above
 * the limit is left alone.  No byte may be given twice.
 */
void page_add_range(uint32_t start, uint32_t end);

/*
 * A page with undefined contents, or NULL when there is none for this caller.  The last pages are
 * kept: users leave some for the system, its programs' pages leave some for the kernel's own needs,
 * and those leave some for the threads that make memory free (struct thread, `vm_privileged`).
 * Wakes the page-out daemon in time.  A PAGE_USER page is as page_init_user() makes it.
 */
struct page *page_alloc(enum page_use use);
#define page_alloc(use) ALLOC_SITE((page_alloc)(use))

/* As page_alloc(), cleared. */
struct page *page_alloc_zeroed(enum page_use use);
#define page_alloc_zeroed(use) ALLOC_SITE((page_alloc_zeroed)(use))

/*
 * `n` pages in a row (not 0), the first at a multiple of `alignment` (a power of two, or 0), all in
 * [least, end) of physical memory: the first, with the others behind it in `page_array`.  Their
 * contents are undefined; each is freed by itself.  NULL, and none is taken, if there are not so
 * many for this caller, as page_alloc(), or not in a row.  May look at all pages there are.
 */
struct page *page_alloc_run(enum page_use use, uint32_t n, uint32_t alignment, uint64_t least,
			    uint64_t end);
#define page_alloc_run(use, n, alignment, least, end) \
	ALLOC_SITE((page_alloc_run)(use, n, alignment, least, end))

/* Frees a page.  One of PAGE_USER is nobody's, not wired, mapped nowhere and on no queue. */
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

/* All that the kernel has, whatever for. */
uint32_t page_count_all(void);

/*
 * Who asks for a page, by on whose behalf it is: each class leaves more pages than the one before.
 */
enum page_class {
	PAGE_FOR_SYSTEM, /* The system's tasks, root's programs among them, for themselves; */
	PAGE_FOR_SERVED, /* for a user, and what the kernel keeps for one; */
	PAGE_FOR_USER,   /* the memory of a user's programs. */
	PAGE_CLASSES
};

/*
 * How many free pages there should be.  Below `wake` the page-out daemon is woken, and works until
 * there are `target`; below `user` no PAGE_USER pages are given out, below `kernel` none to anybody
 * but vm_privileged threads.  As long as users have tasks, there are `reserve` more, which they
 * leave to the system: see page_level().  Set from the number of pages there are, when the boot
 * programs run.
 */
struct page_levels {
	uint32_t few; /* `wake` and `reserve`: so many, and page_alloc() looks more closely. */
	uint32_t target;
	uint32_t wake;
	uint32_t user;
	uint32_t kernel;
	uint32_t reserve;
};

extern struct page_levels page_levels;

void page_levels_set(void);

/* How many free pages are left when PAGE_USER pages are given to the class. */
uint32_t page_level(enum page_class who);

static inline bool page_is_free_for(enum page_class who)
{
	return page_count(PAGE_FREE) > page_level(who);
}

/* How many there are to be free, so that nobody waits. */
uint32_t page_target(void);

/* Whether the current thread is vm_privileged, what class it is of, for whom it works, and whether
 * there are users: page_caller.c. */
bool page_caller_is_privileged(void);
enum page_class page_caller_class(void);
uint32_t page_caller_label(void);
bool page_users_are_there(void);

/*
 * Sets up the allocator, without memory yet: `array` is room for a struct page for every page that
 * ends at or below `limit`.  Its contents do not matter and are left alone.
 * Returns the bytes of `array` it needs for the limit, and does nothing else when `array` is NULL.
 */
size_t page_init(struct page *array, uint32_t limit);

#endif
