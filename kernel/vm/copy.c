/* SPDX-License-Identifier: MIT */
/*
 * Memory on its way: see copy.h.  Guarded by the kernel lock.
 *
 * The pages of a copy are PAGE_USER pages that no map has, on its list by their `link`.  Bytes of
 * them outside of the copy are zeroes: the receiver gets whole pages.
 */
#include "vm/copy.h"

#include <stddef.h>

#include "i386/memory.h"
#include "i386/pmap.h"
#include "kern/alloc_site.h"
#include "kern/assert.h"
#include "kern/lock.h"
#include "kern/string.h"
#include "kern/work.h"
#include "kern/zone.h"
#include "vm/map.h"
#include "vm/page.h"

static struct zone copy_zone;

/* Copies that were freed, linked by pages.next, so that the next one costs a few instructions; the
 * zone counts them as free. */
static struct list *kept;

void copy_module_init(void)
{
	zone_init(&copy_zone, "copies", sizeof(struct copy), 4);
}

/* ---------------- Pages ---------------- */

static struct page *page_of(struct list *link)
{
	return list_object(link, struct page, link);
}

/* The bytes that the copy has in whole pages from its first on: where its last page ends. */
static uint32_t span(const struct copy *copy)
{
	return page_round(copy->offset + copy->size);
}

static void free_pages(struct list *pages)
{
	for (unsigned turn = 1; !list_empty(pages); turn++) {
		page_free(page_of(list_take_first(pages)));
		if (turn % 64 == 0)
			kernel_pause();
	}
}

/* Clears what lies outside of [from, to) in the page. */
static void clear_around(char *data, uint32_t from, uint32_t to)
{
	if (from > 0)
		memset(data, 0, from);
	if (to < PAGE_SIZE)
		memset(data + to, 0, PAGE_SIZE - to);
}

/* Fills a page with bytes [from, to) of `data`, a whole page, and zeroes around them. */
static void fill_page(struct page *page, const char *data, uint32_t from, uint32_t to)
{
	char *own = page_data(page);

	if (from == 0 && to == PAGE_SIZE) {
		page_copy(own, data);
		return;
	}
	memcpy(own + from, data + from, to - from);
	clear_around(own, from, to);
}

/* Adds a new page with such contents to the copy; false when there is no memory. */
static bool add_page(struct copy *copy, const char *data, uint32_t from, uint32_t to)
{
	struct page *page = page_alloc(PAGE_USER);

	if (page == NULL)
		return false;
	fill_page(page, data, from, to);
	list_add_last(&copy->pages, &page->link);
	return true;
}

/* Where the copy's bytes begin and end in the page at `start` of its span. */
static uint32_t first_in(const struct copy *copy, uint32_t start)
{
	return start == 0 ? copy->offset : 0;
}

static uint32_t last_in(const struct copy *copy, uint32_t start)
{
	uint32_t left = copy->offset + copy->size - start;

	return left < PAGE_SIZE ? left : PAGE_SIZE;
}

static struct copy *take_copy(void)
{
	struct list *link = kept;

	if (link == NULL)
		return (zone_alloc)(&copy_zone);
	kept = link->next;
	copy_zone.free--;
	copy_zone.in_use++;
	return list_object(link, struct copy, pages);
}

/* A copy without pages; NULL when there is no memory. */
static struct copy *copy_alloc(uint32_t offset, uint32_t size)
{
	struct copy *copy = ALLOC_SITE(take_copy());

	if (copy == NULL)
		return NULL;
	copy->offset = offset;
	copy->size = size;
	list_init(&copy->pages);
	return copy;
}

/* Its pages have gone elsewhere. */
static void copy_free(struct copy *copy)
{
	assert(copy_zone.in_use > 0);
	copy->pages.next = kept;
	kept = &copy->pages;
	copy_zone.free++;
	copy_zone.in_use--;
}

void copy_destroy(struct copy *copy)
{
	assert(kernel_locked());
	free_pages(&copy->pages);
	copy_free(copy);
}

/* ---------------- Out of a map ---------------- */

static kern_return_t take_page(struct vm_map *map, uint32_t address, struct copy *copy,
			       uint32_t start)
{
	uint32_t rights;
	struct page *page = pmap_lookup_rights(map->pmap, address, &rights);

	if (page == NULL)
		return KERN_INVALID_ADDRESS;
	if ((rights & PMAP_READ) == 0)
		return KERN_PROTECTION_FAILURE;
	if (!add_page(copy, page_data(page), first_in(copy, start), last_in(copy, start)))
		return KERN_RESOURCE_SHORTAGE;
	return KERN_SUCCESS;
}

/* Adds copies of the pages from `base` on. */
static kern_return_t take_copies(struct vm_map *map, uint32_t base, struct copy *copy)
{
	kern_return_t result = KERN_SUCCESS;
	uint32_t end = span(copy);

	for (uint32_t start = 0; start < end && result == KERN_SUCCESS; start += PAGE_SIZE) {
		result = take_page(map, base + start, copy, start);
		if (start / PAGE_SIZE % 16 == 15)
			kernel_pause();
	}
	return result;
}

kern_return_t copy_take(struct vm_map *map, uint32_t address, uint32_t size, struct copy **copy)
{
	uint32_t base = page_trunc(address);
	kern_return_t result;
	struct copy *new;

	assert(kernel_locked());
	assert(size > 0);
	assert(map->active);
	if (address < USER_START || address > USER_END || size > USER_END - address)
		return KERN_INVALID_ADDRESS;
	new = copy_alloc(address - base, size);
	if (new == NULL)
		return KERN_RESOURCE_SHORTAGE;
	result = take_copies(map, base, new);
	if (result != KERN_SUCCESS) {
		copy_destroy(new);
		return result;
	}
	*copy = new;
	return KERN_SUCCESS;
}

struct copy *copy_of_kernel(const void *data, uint32_t size)
{
	struct copy *copy = copy_alloc(0, size);
	const char *bytes = data;

	assert(kernel_locked());
	assert(size > 0);
	if (copy == NULL)
		return NULL;
	for (uint32_t start = 0; start < size; start += PAGE_SIZE) {
		if (!add_page(copy, bytes + start, 0, last_in(copy, start))) {
			copy_destroy(copy);
			return NULL;
		}
		if (start / PAGE_SIZE % 16 == 15)
			kernel_pause();
	}
	return copy;
}

/* ---------------- Into a map ---------------- */

/* Takes the pages in [base, end) out of the map again, to the front of the copy, in their order. */
static void take_back(struct vm_map *map, struct copy *copy, uint32_t base, uint32_t end)
{
	for (uint32_t address = end; address > base; address -= PAGE_SIZE) {
		struct page *page = pmap_lookup(map->pmap, address - PAGE_SIZE);

		page->mappings = 0;
		list_add_first(&copy->pages, &page->link);
		if (address / PAGE_SIZE % 64 == 0)
			kernel_pause();
	}
	map_forget(map, base, end - base);
}

/* Maps all pages of the copy from `base` on; all or none. */
static kern_return_t give_pages(struct vm_map *map, struct copy *copy, uint32_t base)
{
	for (uint32_t address = base; !list_empty(&copy->pages); address += PAGE_SIZE) {
		struct page *page = page_of(list_take_first(&copy->pages));
		kern_return_t result = map_enter_page(map, address, page);

		if (result != KERN_SUCCESS) {
			list_add_first(&copy->pages, &page->link);
			take_back(map, copy, base, address);
			return result;
		}
		if (address / PAGE_SIZE % 64 == 0)
			kernel_pause();
	}
	return KERN_SUCCESS;
}

kern_return_t copy_give(struct vm_map *map, struct copy *copy, uint32_t *address)
{
	uint32_t base;
	kern_return_t result = map_find_space(map, span(copy), 0, &base);

	if (result == KERN_SUCCESS)
		result = give_pages(map, copy, base);
	if (result != KERN_SUCCESS)
		return result;
	*address = base + copy->offset;
	copy_free(copy);
	return KERN_SUCCESS;
}

/* ---------------- Contents ---------------- */

void copy_write_to(const struct copy *copy, struct vm_map *map, uint32_t address)
{
	const struct list *link = copy->pages.next;
	uint32_t end = span(copy);

	for (uint32_t start = 0; start < end; start += PAGE_SIZE, link = link->next) {
		const char *data = page_data(list_object(link, const struct page, link));
		uint32_t first = first_in(copy, start);
		uint32_t size = last_in(copy, start) - first;

		map_write(map, address, data + first, size);
		address += size;
		if (start / PAGE_SIZE % 16 == 15)
			kernel_pause();
	}
}

void copy_read(const struct copy *copy, void *to, uint32_t size)
{
	const struct list *link = copy->pages.next;
	char *bytes = to;

	assert(size <= copy->size);
	for (uint32_t start = 0; size > 0; start += PAGE_SIZE, link = link->next) {
		const char *data = page_data(list_object(link, const struct page, link));
		uint32_t first = first_in(copy, start);
		uint32_t part = last_in(copy, start) - first;

		part = part < size ? part : size;
		memcpy(bytes, data + first, part);
		bytes += part;
		size -= part;
	}
}
