/* SPDX-License-Identifier: MIT */
/* A task's memory: see map.h.  Guarded by the kernel lock. */
#include "vm/map.h"

#include <stddef.h>

#include <assay/traps.h>

#include "i386/memory.h"
#include "i386/pmap.h"
#include "kern/lock.h"
#include "kern/string.h"
#include "kern/work.h"
#include "kern/zone.h"

#define ALL_RIGHTS (ASSAY_READ | ASSAY_WRITE | ASSAY_EXECUTE)

/* Where the search for free space begins: below it a null pointer with an offset points. */
#define FIRST_PLACE 0x10000u

_Static_assert(ASSAY_READ == PMAP_READ && ASSAY_WRITE == PMAP_WRITE &&
		       ASSAY_EXECUTE == PMAP_EXECUTE,
	       "rights are handed through");
_Static_assert(VM_PROT_READ == PMAP_READ && VM_PROT_WRITE == PMAP_WRITE &&
		       VM_PROT_EXECUTE == PMAP_EXECUTE,
	       "Mach's are the same");

static struct zone map_zone;

void map_module_init(void)
{
	zone_init(&map_zone, "maps", sizeof(struct vm_map), 4);
}

static void check(const struct vm_map *map)
{
	assert(kernel_locked());
	assert(map->magic == MAP_MAGIC && map->active);
}

/* ---------------- Making and unmaking ---------------- */

struct vm_map *map_create(void)
{
	struct vm_map *map = zone_alloc(&map_zone);

	if (map == NULL)
		return NULL;
	*map = (struct vm_map){
		.magic = MAP_MAGIC,
		.refs = 1,
		.active = true,
		.pmap = pmap_create(),
		.hint = FIRST_PLACE,
		.size_limit = USER_END,
		.size_limit_max = USER_END,
	};
	if (map->pmap == NULL) {
		zone_free(&map_zone, map);
		return NULL;
	}
	return map;
}

void map_terminate(struct vm_map *map)
{
	check(map);
	pmap_destroy(map->pmap);
	map->pmap = NULL;
	map->active = false;
}

void map_release(struct vm_map *map)
{
	assert(map->magic == MAP_MAGIC && map->refs > 0);
	if (--map->refs > 0)
		return;
	assert(!map->active);
	map->magic = 0;
	zone_free(&map_zone, map);
}

void map_destroy(struct vm_map *map)
{
	assert(map->refs == 1);
	map_terminate(map);
	map_release(map);
}

/* ---------------- Ranges and rights ---------------- */

static bool range_is_valid(uint32_t start, uint32_t size)
{
	if (((start | size) & PAGE_MASK) != 0)
		return false;
	return start >= USER_START && start <= USER_END && size <= USER_END - start;
}

static bool rights_are_valid(uint32_t rights)
{
	return (rights & ASSAY_READ) != 0 && (rights & ~ALL_RIGHTS) == 0;
}

static bool is_mapped(struct vm_map *map, uint32_t start, uint32_t end)
{
	return pmap_next_free(map->pmap, start, end) == end;
}

/* Whether `size` bytes more may be mapped. */
static bool limit_allows(const struct vm_map *map, uint32_t size)
{
	uint32_t limit = map->size_limit / PAGE_SIZE;

	return map->pmap->pages <= limit && size / PAGE_SIZE <= limit - map->pmap->pages;
}

static kern_return_t check_page(struct vm_map *map, uint32_t address, uint32_t rights)
{
	uint32_t has;

	if (pmap_lookup_rights(map->pmap, address, &has) == NULL)
		return KERN_INVALID_ADDRESS;
	return (has & rights) == rights ? KERN_SUCCESS : KERN_PROTECTION_FAILURE;
}

kern_return_t map_check(struct vm_map *map, uint32_t address, uint32_t size, uint32_t rights)
{
	uint32_t end = address + size;
	kern_return_t result = KERN_SUCCESS;

	check(map);
	if (address < USER_START || address > USER_END || size > USER_END - address)
		return KERN_INVALID_ADDRESS;
	for (address = page_trunc(address); address < end && result == KERN_SUCCESS;
	     address += PAGE_SIZE) {
		result = check_page(map, address, rights);
		if ((address / PAGE_SIZE) % 64 == 0)
			kernel_pause();
	}
	return result;
}

uint32_t map_size(const struct vm_map *map)
{
	assert(map->magic == MAP_MAGIC);
	return map->active ? map->pmap->pages * PAGE_SIZE : 0;
}

/* ---------------- Free space ---------------- */

/* `address` rounded up to one with no bit of `mask`; 0 if there is none. */
static uint32_t align_up(uint32_t address, uint32_t mask)
{
	uint32_t aligned = (address + mask) & ~mask;

	return aligned < address ? 0 : aligned;
}

/* The first place from `from` on with `size` bytes free; 0 if there is none. */
static uint32_t search(struct vm_map *map, uint32_t from, uint32_t size, uint32_t mask)
{
	uint32_t start = align_up(from, mask);

	for (unsigned turn = 1; start != 0 && start <= USER_END && size <= USER_END - start;
	     turn++) {
		uint32_t used = pmap_next(map->pmap, start, start + size);

		if (used == start + size)
			return start;
		start = align_up(pmap_next_free(map->pmap, used, USER_END), mask);
		if (turn % 64 == 0)
			kernel_pause();
	}
	return 0;
}

/*
 * Below the hint are only holes that were too small for somebody once, since what is freed moves
 * the hint down: so the first look nearly always finds a place, and addresses are used again.
 */
kern_return_t map_find_space(struct vm_map *map, uint32_t size, uint32_t mask, uint32_t *start)
{
	uint32_t found;

	check(map);
	assert(size > 0 && (size & PAGE_MASK) == 0);
	mask |= PAGE_MASK;
	found = search(map, map->hint, size, mask);
	if (found == 0)
		found = search(map, FIRST_PLACE, size, mask);
	if (found == 0)
		return KERN_NO_SPACE;
	if (mask == PAGE_MASK)
		map->hint = found + size;
	*start = found;
	return KERN_SUCCESS;
}

/* ---------------- Mapping ---------------- */

/* Maps `page`, which no map has yet; it is still nobody's if there is no table for it. */
static kern_return_t enter(struct vm_map *map, uint32_t address, struct page *page,
			   const struct map_attributes *attributes)
{
	page->max_rights = attributes->max_rights & VM_PROT_ALL;
	page->inheritance = attributes->inheritance & 3;
	page->copying = false;
	page->fixed = false;
	page->mappings = 1;
	return pmap_enter(map->pmap, address, page, attributes->rights);
}

kern_return_t map_enter_page(struct vm_map *map, uint32_t address, struct page *page)
{
	static const struct map_attributes attributes = {
		.rights = VM_PROT_DEFAULT,
		.max_rights = VM_PROT_ALL,
		.inheritance = VM_INHERIT_DEFAULT,
	};

	check(map);
	assert(page->use == PAGE_USER);
	if (!limit_allows(map, PAGE_SIZE))
		return KERN_NO_SPACE;
	return enter(map, address, page, &attributes);
}

static kern_return_t allocate_page(struct vm_map *map, uint32_t address,
				   const struct map_attributes *attributes)
{
	struct page *page = page_alloc_zeroed(PAGE_USER);
	kern_return_t result;

	if (page == NULL)
		return KERN_RESOURCE_SHORTAGE;
	result = enter(map, address, page, attributes);
	if (result != KERN_SUCCESS)
		page_free(page);
	return result;
}

kern_return_t map_allocate_as(struct vm_map *map, uint32_t start, uint32_t size,
			      const struct map_attributes *attributes)
{
	uint32_t end = start + size;

	check(map);
	if (!range_is_valid(start, size))
		return KERN_INVALID_ARGUMENT;
	if (!limit_allows(map, size) || pmap_next(map->pmap, start, end) < end)
		return KERN_NO_SPACE;
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		kern_return_t result = allocate_page(map, address, attributes);

		if (result != KERN_SUCCESS) {
			map_deallocate(map, start, address - start);
			return result;
		}
		/* Clearing a page is a thousand instructions: sixteen of them are a turn. */
		if ((address / PAGE_SIZE) % 16 == 0)
			kernel_pause();
	}
	return KERN_SUCCESS;
}

kern_return_t map_allocate(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights)
{
	struct map_attributes attributes = {rights, VM_PROT_ALL, VM_INHERIT_DEFAULT};

	if (!rights_are_valid(rights))
		return KERN_INVALID_ARGUMENT;
	return map_allocate_as(map, start, size, &attributes);
}

/*
 * Takes at most 64 pages from `*start` on out of the map, all CPUs told, and frees those that no
 * other map has.
 */
static void release_some(struct vm_map *map, uint32_t *start, uint32_t end)
{
	struct list pages = LIST_INITIALIZER(pages);
	uint32_t address = *start;
	uint32_t first = address;

	for (unsigned n = 0; n < 64 && address < end; n++) {
		struct page *page = pmap_lookup(map->pmap, address);

		assert(page->use == PAGE_USER && page->mappings > 0);
		if (--page->mappings == 0)
			list_add_last(&pages, &page->link);
		address = pmap_next(map->pmap, address + PAGE_SIZE, end);
	}
	pmap_remove(map->pmap, first, address);
	while (!list_empty(&pages)) {
		struct list *link = list_take_first(&pages);

		page_free(list_object(link, struct page, link));
	}
	*start = address;
}

/* What is freed is found first when space is looked for. */
static void hint_at(struct vm_map *map, uint32_t address)
{
	if (address < map->hint && address >= FIRST_PLACE)
		map->hint = address;
}

void map_forget(struct vm_map *map, uint32_t start, uint32_t size)
{
	check(map);
	if (size == 0)
		return;
	hint_at(map, start);
	pmap_remove(map->pmap, start, start + size);
}

kern_return_t map_deallocate(struct vm_map *map, uint32_t start, uint32_t size)
{
	uint32_t end = start + size;
	uint32_t address;

	check(map);
	if (!range_is_valid(start, size))
		return KERN_INVALID_ARGUMENT;
	address = pmap_next(map->pmap, start, end);
	if (address < end)
		hint_at(map, address);
	while (address < end) {
		release_some(map, &address, end);
		kernel_pause();
	}
	return KERN_SUCCESS;
}

kern_return_t map_protect(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights)
{
	uint32_t end = start + size;

	check(map);
	if (!range_is_valid(start, size) || !rights_are_valid(rights))
		return KERN_INVALID_ARGUMENT;
	if (!is_mapped(map, start, end))
		return KERN_INVALID_ADDRESS;
	pmap_protect(map->pmap, start, end, rights);
	return KERN_SUCCESS;
}

/* ---------------- Contents ---------------- */

/* Where the kernel sees the byte at `address`, and how many of `size` lie in the same page. */
static char *piece(struct vm_map *map, uint32_t address, uint32_t size, uint32_t *part)
{
	struct page *page = pmap_lookup(map->pmap, address);
	uint32_t offset = address & PAGE_MASK;

	assert(page != NULL);
	*part = PAGE_SIZE - offset < size ? PAGE_SIZE - offset : size;
	return (char *)page_data(page) + offset;
}

static char *piece_to_write(struct vm_map *map, uint32_t address, uint32_t size, uint32_t *part)
{
	char *place = piece(map, address, size, part);

	assert(!page_of_data(place)->copying);
	return place;
}

void map_write(struct vm_map *map, uint32_t address, const void *from, uint32_t size)
{
	const char *bytes = from;
	uint32_t part;

	for (; size > 0; size -= part, address += part, bytes += part) {
		char *place = piece_to_write(map, address, size, &part);

		memcpy(place, bytes, part);
	}
}

void map_read(struct vm_map *map, uint32_t address, void *to, uint32_t size)
{
	char *bytes = to;
	uint32_t part;

	for (; size > 0; size -= part, address += part, bytes += part) {
		const char *place = piece(map, address, size, &part);

		memcpy(bytes, place, part);
	}
}

void map_copy(struct vm_map *map, uint32_t from, uint32_t size, uint32_t to)
{
	uint32_t part;

	for (unsigned turn = 1; size > 0; turn++) {
		const char *source = piece(map, from, size, &part);
		char *target = piece_to_write(map, to, part, &part);

		if (part == PAGE_SIZE)
			page_copy(target, source);
		else
			memmove(target, source, part);
		from += part;
		to += part;
		size -= part;
		if (turn % 16 == 0)
			kernel_pause();
	}
}

/* The page stays where it is from now on, so that the answer stays right. */
kern_return_t map_physical(struct vm_map *map, uint32_t address, uint32_t *physical)
{
	kern_return_t result = map_own(map, address, 1);
	struct page *page = pmap_lookup(map->pmap, address);

	if (result != KERN_SUCCESS)
		return result;
	page->fixed = true;
	*physical = page_physical(page) + (address & PAGE_MASK);
	return KERN_SUCCESS;
}
