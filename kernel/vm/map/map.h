/* SPDX-License-Identifier: MIT */
/*
 * A task's memory: a map of entries, each of which shows a piece of an object.
 *
 * Entries are sorted, do not overlap, and are never empty.  They say what is mapped and what may be
 * done with it; the page tables (i386/mmu/pmap.h) only remember what faults have found out, and may
 * forget it at any time.  An entry without an object is memory that nobody has touched.
 *
 *   invariants   an entry without an object is neither pending nor shared, and nothing is
 *                translated where it is
 *                nobody can write by a translation where an entry is pending
 *                an entry never shows more than its object has (object->size)
 *                of an object without pager and copy object, the pages that an entry shows which is
 *                neither pending nor shared are seen by nobody else, whoever else refers to it
 *
 * Guarded by the kernel lock.  After any wait entries may be different ones.
 *
 * Addresses and sizes are of whole pages unless a function says that it takes bytes.
 */
#ifndef VM_MAP_MAP_H
#define VM_MAP_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/vm_inherit.h>
#include <mach/vm_prot.h>

#include "base/assert.h"
#include <assay/list.h>
#include "vm/page/page.h"

struct object;
struct owner;
struct page;
struct pmap;

#define MAP_MAGIC 0x564d4150u

/* How memory is mapped, and what its task may make of it. */
struct map_attributes {
	uint32_t rights;     /* VM_PROT_*. */
	uint32_t max_rights; /* The most that they may become. */
	vm_inherit_t inheritance;
};

enum entry_side {
	ENTRY_LEFT,
	ENTRY_RIGHT
};

struct map_entry {
	struct list link; /* On its map's list, by address; or a copy's (vm/map/copy.h). */
	struct entry_node {
		struct map_entry *below[2], /* ENTRY_LEFT and ENTRY_RIGHT */
			*parent;            /* In its map's tree (vm/map/entry_tree.h). */
		uint32_t height;
	} node;
	uint32_t start, end;   /* The addresses it covers. */
	struct object *object; /* A reference; or NULL: zeroes that nobody has touched. */
	uint32_t index;        /* Which page of the object is at `start`. */
	struct map_attributes attributes;
	bool pending; /* Copy-pending: before a write, map_entry_make_own(). */
	bool shared;  /* Others show the same memory, or may, and are to see what is written. */
	bool wired;   /* All its pages are there and wired, once for this entry. */
};

struct vm_map {
	uint32_t magic; /* MAP_MAGIC */
	uint32_t refs;
	bool active;      /* False from map_terminate() on: there is no memory and no pmap. */
	bool wire_future; /* What is mapped from now on is wired (vm_wire_all). */
	struct pmap *pmap;
	struct owner *payer; /* For it, its entries and tables, if he has limits; or NULL. */
	struct list entries; /* struct map_entry, by address, */
	uint32_t n_entries;  /* how many they are, */
	uint32_t n_paid;     /* for how many of them the payer is charged, all if there is none, */
	struct map_entry *root;  /* and the same as a tree, if they are many. */
	struct map_entry *last;  /* The one found last, where the next search begins; or NULL. */
	uint32_t size;           /* Bytes that are mapped, */
	uint32_t counted;        /* and those of them that somebody may touch. */
	uint32_t wired;          /* Bytes that are wired. */
	uint32_t hint;           /* Where the search for free space begins. */
	uint32_t size_limit;     /* How much may be `counted`, */
	uint32_t size_limit_max; /* and what the limit may be raised to. */
};

void map_module_init(void);

/*
 * An empty map with one reference, which `payer` pays for if that is not NULL; or NULL when there
 * is no memory, or he may not have it.
 */
struct vm_map *map_create(struct owner *payer);

/*
 * Who pays for the map from now on, whatever his limits, and for memory in it that is nobody
 * else's; NULL: nobody.
 */
void map_change_payer(struct vm_map *map, struct owner *payer);

/*
 * A new map with what `parent` leaves to a child, in *child: inherit.c.  KERN_RESOURCE_SHORTAGE, or
 * what a pager says whose object wants no copies.  May block.
 */
kern_return_t map_inherit(struct vm_map *parent, struct vm_map **child);

static inline struct vm_map *map_reference(struct vm_map *map)
{
	assert(map->magic == MAP_MAGIC && map->refs > 0);
	map->refs++;
	return map;
}

/* For map_release(): nothing points to the map any more. */
void map_free(struct vm_map *map);

/* Gives up one reference; with the last goes the structure, whose map must have been terminated. */
static inline void map_release(struct vm_map *map)
{
	if (map == NULL)
		return;
	assert(map->magic == MAP_MAGIC && map->refs > 0);
	if (--map->refs == 0)
		map_free(map);
}

/* Unmaps all and frees the page tables; loaded on no CPU.  Takes no reference. */
void map_terminate(struct vm_map *map);

/* Terminates and releases a map that nobody else has seen. */
void map_destroy(struct vm_map *map);

/* ---------------- Entries: map_entry.c ---------------- */

/* The entry that has `address`, or NULL. */
struct map_entry *map_entry_at(struct vm_map *map, uint32_t address);

/* The first entry that ends above `address`, or NULL: the one at it, else the next. */
struct map_entry *map_entry_from(struct vm_map *map, uint32_t address);

/* The entry after this one, and before, or NULL. */
static inline struct map_entry *map_entry_next(const struct vm_map *map,
					       const struct map_entry *entry)
{
	struct list *next = entry->link.next;

	return next == &map->entries ? NULL : list_object(next, struct map_entry, link);
}

static inline struct map_entry *map_entry_previous(const struct vm_map *map,
						   const struct map_entry *entry)
{
	struct list *previous = entry->link.prev;

	return previous == &map->entries ? NULL : list_object(previous, struct map_entry, link);
}

/* The one at the highest address, or NULL. */
static inline struct map_entry *map_entry_last(const struct vm_map *map)
{
	struct list *last = map->entries.prev;

	return last == &map->entries ? NULL : list_object(last, struct map_entry, link);
}

/* Which page of the entry's object `address` is. */
static inline uint32_t map_entry_index(const struct map_entry *entry, uint32_t address)
{
	return entry->index + (address - entry->start) / PAGE_SIZE;
}

/* How many pages the entry shows. */
static inline uint32_t map_entry_pages(const struct map_entry *entry)
{
	return (entry->end - entry->start) / PAGE_SIZE;
}

/*
 * Gives an entry without an object one, and makes the object of a copy-pending entry its own, so
 * that it is not pending any more.  False when there is no memory, or the map's payer may not have
 * it: nothing has changed.
 */
bool map_entry_make_object(const struct vm_map *map, struct map_entry *entry);
bool map_entry_make_own(const struct vm_map *map, struct map_entry *entry);

/*
 * Splits entries so that one begins at `start` and one ends at `end`.  `*entry` is the one that
 * map_entry_from() finds for `start`, and then the first that has something of the range, or NULL.
 * False when there is no memory; nothing that can be seen has changed then.
 */
bool map_split(struct vm_map *map, struct map_entry **entry, uint32_t start, uint32_t end);

/* Unites neighbours from the one before `first`, which may be NULL, to `end` that could be one. */
void map_join(struct vm_map *map, struct map_entry *first, uint32_t end);

/* Counts that so much is mapped with these attributes, or is no more. */
static inline void map_count(struct vm_map *map, const struct map_attributes *attributes,
			     uint32_t size)
{
	map->size += size;
	if (attributes->rights != VM_PROT_NONE)
		map->counted += size;
}

static inline void map_discount(struct vm_map *map, const struct map_attributes *attributes,
				uint32_t size)
{
	map->size -= size;
	if (attributes->rights != VM_PROT_NONE)
		map->counted -= size;
}

/* Counts what is wired, for which the map's payer is charged, or is no more. */
void map_count_wired(struct vm_map *map, uint32_t size);
void map_discount_wired(struct vm_map *map, uint32_t size);

/* Whether the limit allows so much more.  What nobody may touch is free: it costs no memory. */
static inline bool map_allows(const struct vm_map *map, uint32_t rights, uint32_t size)
{
	return (map->counted <= map->size_limit && size <= map->size_limit - map->counted) ||
	       rights == VM_PROT_NONE;
}

/* For the files of maps and copies: an entry of nobody's, undefined; NULL without memory. */
struct map_entry *map_entry_alloc(void);
#define map_entry_alloc() ALLOC_SITE((map_entry_alloc)())
void map_entry_free(struct map_entry *entry);

/*
 * The payer of a map is charged for PAID_AT_ONCE entries at a time, for the first when the map is
 * made, and has them back when it ends: that is cheaper than one by one.  Whether there may be `n`
 * more, for which he is charged if need be.
 */
#define PAID_AT_ONCE 16u

bool map_entries_pay(struct vm_map *map, uint32_t n);

static inline bool map_entries_are_paid(struct vm_map *map, uint32_t n)
{
	return map->n_entries + n <= map->n_paid || map_entries_pay(map, n);
}

/* As map_entry_alloc(), for this map; NULL, too, if its payer may have no more. */
struct map_entry *map_entry_alloc_for(struct vm_map *map);
#define map_entry_alloc_for(map) ALLOC_SITE((map_entry_alloc_for)(map))

/* Puts an entry, filled in, into the map between those two, or takes it out.  Counts nothing. */
void map_entry_link(struct vm_map *map, struct map_entry *entry, struct map_entry *before,
		    struct map_entry *after);
void map_entry_unlink(struct vm_map *map, struct map_entry *entry);

/* Whether nobody but the entry, which has an object, sees the object's own pages that it shows. */
bool map_entry_is_private(const struct map_entry *entry);

/*
 * The entry is about not to show [first, end) of its object any more, where nothing is translated:
 * frees those pages if nobody else can see them.
 */
void map_entry_forget_pages(const struct map_entry *entry, uint32_t first, uint32_t end);

/*
 * Makes the entry longer by `size` bytes of zeroes, whose attributes it has, where nothing is
 * mapped behind it.  False if that cannot be.  And makes it end at `end`, where nothing is
 * translated from there on, and nothing was touched if not `touched`; it can grow again then.
 */
bool map_entry_grow(struct map_entry *entry, uint32_t size,
		    const struct map_attributes *attributes);
void map_entry_trim(struct map_entry *entry, uint32_t end, bool touched);

void map_entry_module_init(void);

/* ---------------- Mapping ---------------- */

/*
 * Maps zeroed pages from `start`, with `rights`.  All or nothing: KERN_INVALID_ARGUMENT for a range
 * that is not of whole user pages or rights that make no sense, KERN_NO_SPACE if part of it is
 * mapped or the map's limit is reached, KERN_RESOURCE_SHORTAGE when there is no memory.
 */
kern_return_t map_allocate(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights);

/*
 * What to map: `object` with its reference, which goes over on success, or NULL for zeroes.  An
 * object that several entries may show at once without being copied is `shared`.
 */
struct map_content {
	struct object *object;
	uint32_t index;
	bool pending;
	bool shared;
};

/*
 * As map_allocate(), with every attribute, which make sense, and any content; NULL for zeroes.
 * May block if the map wires what is mapped (`wire_future`), and returns what fault_wire() says
 * then.
 */
kern_return_t map_enter(struct vm_map *map, uint32_t start, uint32_t size,
			const struct map_attributes *attributes, const struct map_content *content);

/* As map_enter(), somewhere; where, it tells in *start. */
kern_return_t map_enter_anywhere(struct vm_map *map, uint32_t *start, uint32_t size, uint32_t mask,
				 const struct map_attributes *attributes,
				 const struct map_content *content);

/*
 * Finds `size` bytes (not 0) where nothing is mapped, at an address with none of the bits of
 * `mask`; KERN_NO_SPACE.  Maps nothing.  Looks first behind what was found last.
 */
kern_return_t map_find_space(struct vm_map *map, uint32_t size, uint32_t mask, uint32_t *start);

/*
 * Unmaps; addresses where nothing is mapped are passed over.  KERN_RESOURCE_SHORTAGE if an entry
 * would have to be split and cannot be: nothing has changed then.
 */
kern_return_t map_deallocate(struct vm_map *map, uint32_t start, uint32_t size);

/*
 * Changes the rights; KERN_INVALID_ADDRESS if part of the range is not mapped, and otherwise as
 * map_set_rights().  Nothing has changed after a failure.
 */
kern_return_t map_protect(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights);

/*
 * Whether every byte of the range is mapped and has all of `rights`: KERN_SUCCESS,
 * KERN_INVALID_ADDRESS or KERN_PROTECTION_FAILURE.  Takes bytes, any number of them.
 */
kern_return_t map_check(struct vm_map *map, uint32_t address, uint32_t size, uint32_t rights);

/*
 * Copies into or out of mapped memory whatever its rights, in bytes.  KERN_INVALID_ADDRESS, or what
 * a fault says; part may be done then.  May block.
 */
kern_return_t map_write(struct vm_map *map, uint32_t address, const void *from, uint32_t size);
kern_return_t map_read(struct vm_map *map, uint32_t address, void *to, uint32_t size);

/* As map_write(), but where the map may write only; KERN_PROTECTION_FAILURE. */
kern_return_t map_store(struct vm_map *map, uint32_t address, const void *from, uint32_t size);

/* As fault_page(), which is not asked if the page is mapped with `rights`.  May block. */
kern_return_t map_page(struct vm_map *map, uint32_t address, uint32_t rights, bool force,
		       struct page **page);

/* Bytes that are mapped; 0 for a map that was terminated. */
uint32_t map_size(const struct vm_map *map);

/* ---------------- Attributes: map_attributes.c ---------------- */

/*
 * As Mach's vm_protect() and vm_inherit(): what is not mapped in the range is passed over.
 * map_set_rights() changes nothing and returns KERN_PROTECTION_FAILURE if some of it may not have
 * `rights`.  With `maximum` they become the most that it may have.  KERN_NO_SPACE if more would
 * count than the map's limit, KERN_RESOURCE_SHORTAGE if an entry cannot be split: nothing has
 * changed.
 */
kern_return_t map_set_rights(struct vm_map *map, uint32_t start, uint32_t size, bool maximum,
			     uint32_t rights);
kern_return_t map_set_inheritance(struct vm_map *map, uint32_t start, uint32_t size,
				  vm_inherit_t inheritance);

/*
 * Wires or unwires a range; wiring what is wired changes nothing, and one unwiring undoes it, as in
 * Mach.  KERN_INVALID_ADDRESS if some of it is not mapped, KERN_RESOURCE_SHORTAGE if an entry
 * cannot be split, and what fault_wire() says; nothing is wired then that was not.  Unwiring passes
 * over what is not mapped.  Wiring may block.
 */
kern_return_t map_wire(struct vm_map *map, uint32_t start, uint32_t size, bool wire);

/*
 * Wires a range as far as its payer may: KERN_RESOURCE_SHORTAGE otherwise.  What is being wired
 * counts from the beginning, so that several threads have no more than one.  Else as map_wire().
 */
kern_return_t map_wire_charged(struct vm_map *map, uint32_t start, uint32_t size);

/* ---------------- Copying entries: inherit.c ---------------- */

/*
 * Where copying has made entries pending, and nobody may write any more: neighbours are gathered,
 * so that CPUs are told once.  Begins as {map}; whoever has one flushes it before he waits.
 */
struct map_run {
	struct vm_map *map;
	uint32_t start, end;
};

void map_run_flush(struct map_run *run);

/*
 * Copies, for another entry, what the map shows from `start` on: up to `*end` or the end of the
 * entry, where it sets `*end`.  *content has a reference.  KERN_INVALID_ADDRESS if nothing is
 * mapped there, and as object_copy().  May block, with the run flushed.
 */
kern_return_t map_copy_part(struct map_run *run, uint32_t start, uint32_t *end,
			    struct map_content *content);

#endif
