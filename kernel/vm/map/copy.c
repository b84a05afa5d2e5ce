/* SPDX-License-Identifier: MIT */
/*
 * Memory on its way: see copy.h.  Here are copies of pages, and what all copies are; those of
 * entries are in copy_entries.c.  Guarded by the kernel lock.
 */
#include "vm/map/copy.h"

#include <stddef.h>

#include "base/alloc_site.h"
#include "base/lock.h"
#include "base/string.h"
#include "base/zone.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/map.h"
#include "vm/object/object.h"
#include "vm/pager/pageout.h"
#include "vm/pager/pager.h"

/* Copies that were freed are kept, so that the next one costs a few instructions. */
static struct zone copy_zone;

#define KEPT_LINK offsetof(struct copy, pages)

void copy_module_init(void)
{
	zone_init(&copy_zone, "copies", sizeof(struct copy), 4);
	zone_init_kept(&copy_zone, KEPT_LINK, ZONE_KEPT);
}

/* ---------------- Copies ---------------- */

static struct copy *copy_take_copy(void)
{
	struct copy *copy = zone_take_kept(&copy_zone, KEPT_LINK);

	return copy != NULL ? copy : (zone_alloc)(&copy_zone);
}

/* A copy without contents; NULL when there is no memory. */
static struct copy *copy_alloc(enum copy_kind kind, uint32_t offset, uint32_t size)
{
	struct copy *copy = ALLOC_SITE(copy_take_copy());

	assert(size > 0);
	if (copy == NULL)
		return NULL;
	copy->kind = kind;
	copy->offset = offset;
	copy->size = size;
	list_init(&copy->pages);
	list_init(&copy->entries);
	copy->pager = NULL;
	copy->source = NULL;
	return copy;
}

/* Frees a copy whose contents have gone elsewhere. */
static void copy_free(struct copy *copy)
{
	assert(list_empty(&copy->pages) && list_empty(&copy->entries));
	assert(copy->source == NULL);
	if (copy->pager != NULL)
		pager_landed(copy->pager);
	if (!zone_keep(&copy_zone, copy, KEPT_LINK))
		zone_free(&copy_zone, copy);
}

static inline struct page *copy_page_of(struct list *link)
{
	return list_object(link, struct page, link);
}

static void copy_free_pages(struct list *pages)
{
	while (!list_empty(pages)) {
		page_free(copy_page_of(list_take_first(pages)));
		pause_each();
	}
}

void copy_destroy(struct copy *copy)
{
	assert(kernel_locked());
	copy->source = NULL;
	copy_free_pages(&copy->pages);
	if (!list_empty(&copy->entries))
		copy_entries_free(copy);
	copy_free(copy);
}

/* ---------------- Pages ---------------- */

void copy_clear_around(const struct copy *copy, uint32_t start, struct page *page)
{
	uint32_t first = copy_first_in(copy, start), last = copy_last_in(copy, start);
	char *data = page_data(page);

	if (first > 0)
		memset(data, 0, first);
	if (last < PAGE_SIZE)
		memset(data + last, 0, PAGE_SIZE - last);
}

static void copy_fill_part(const struct copy *copy, uint32_t start, struct page *page,
			   const char *data)
{
	uint32_t first = copy_first_in(copy, start), last = copy_last_in(copy, start);

	memcpy((char *)page_data(page) + first, data + first, last - first);
	copy_clear_around(copy, start, page);
}

/* Fills the page of the copy at `start` from `data`, a whole page, with zeroes around the bytes. */
static inline void copy_fill_page(const struct copy *copy, uint32_t start, struct page *page,
				  const char *data)
{
	if (copy_first_in(copy, start) == 0 && copy_last_in(copy, start) == PAGE_SIZE)
		page_copy(page_data(page), data);
	else
		copy_fill_part(copy, start, page, data);
}

kern_return_t copy_page_alloc(struct page **page)
{
	for (;;) {
		*page = page_alloc(PAGE_USER);
		if (*page != NULL)
			return KERN_SUCCESS;
		if (!page_wait())
			return thread_is_interrupted(current_thread()) ? KERN_ABORTED
								       : KERN_RESOURCE_SHORTAGE;
	}
}

struct copy *copy_for_pages(uint32_t size)
{
	return copy_alloc(COPY_PAGES, 0, size);
}

void copy_add_page(struct copy *copy, struct page *page)
{
	assert(copy->kind == COPY_PAGES && page->use == PAGE_USER && page->object == NULL);
	list_add_last(&copy->pages, &page->link);
}

struct copy *copy_of_kernel(const void *data, uint32_t size)
{
	struct copy *copy = copy_for_pages(size);
	const char *bytes = data;

	assert(kernel_locked());
	if (copy == NULL)
		return NULL;
	for (uint32_t start = 0; start < size; start += PAGE_SIZE) {
		struct page *page = page_alloc(PAGE_USER);

		if (page == NULL) {
			copy_destroy(copy);
			return NULL;
		}
		copy_fill_page(copy, start, page, bytes + start);
		copy_add_page(copy, page);
		pause_if_long((start / PAGE_SIZE + 1) * PAUSE_PAGE_TURNS);
	}
	return copy;
}

struct copy *copy_of_object(struct object *object)
{
	struct copy *copy = copy_alloc(COPY_ENTRIES, 0, object->size * PAGE_SIZE);
	struct map_entry *entry;

	if (copy == NULL)
		return NULL;
	entry = map_entry_alloc();
	if (entry == NULL) {
		copy_free(copy);
		return NULL;
	}
	*entry = (struct map_entry){
		.end = object->size * PAGE_SIZE,
		.object = object,
		.pending = object->refs > 1,
	};
	list_add_last(&copy->entries, &entry->link);
	return copy;
}

/* ---------------- Out of a map ---------------- */

/* The new page first: whose memory is copied is looked up when nothing is waited for any more. */
static kern_return_t copy_take_one_page(struct copy *copy, uint32_t start, struct vm_map *map,
					uint32_t address)
{
	struct page *page, *own;
	kern_return_t result = copy_page_alloc(&own);

	if (result != KERN_SUCCESS)
		return result;
	result = map_page(map, address, VM_PROT_READ, false, &page);
	if (result != KERN_SUCCESS) {
		page_free(own);
		return result;
	}
	copy_fill_page(copy, start, own, page_data(page));
	list_add_last(&copy->pages, &own->link);
	return KERN_SUCCESS;
}

static kern_return_t copy_take_pages(struct copy *copy, struct vm_map *map, uint32_t base)
{
	kern_return_t result = KERN_SUCCESS;
	uint32_t end = copy_span(copy);

	for (uint32_t start = 0; start < end && result == KERN_SUCCESS; start += PAGE_SIZE)
		result = copy_take_one_page(copy, start, map, base + start);
	return result;
}

kern_return_t copy_take(struct vm_map *map, uint32_t address, uint32_t size, struct copy **copy)
{
	uint32_t base = page_trunc(address);
	kern_return_t result;
	struct copy *new;

	assert(kernel_locked());
	assert(map->active);
	if (address < USER_START || address > USER_END || size > USER_END - address)
		return KERN_INVALID_ADDRESS;
	new = copy_alloc(COPY_PAGES, address - base, size);
	if (new == NULL)
		return KERN_RESOURCE_SHORTAGE;
	if (copy_span(new) > COPY_PAGES_MAX * PAGE_SIZE)
		result = copy_entries_take(new, map, base);
	else
		result = copy_take_pages(new, map, base);
	if (result != KERN_SUCCESS) {
		copy_destroy(new);
		return result;
	}
	*copy = new;
	return KERN_SUCCESS;
}

/* ---------------- Into a map ---------------- */

/* Takes the pages back, of those below `n` what is there, in their order. */
static void copy_take_back(struct copy *copy, struct object *object, uint32_t n)
{
	while (n > 0) {
		struct page *page = object_slot(object, --n);

		if (slot_is_page(page)) {
			object_remove(page, SLOT_EMPTY);
			list_add_first(&copy->pages, &page->link);
		}
		pause_each();
	}
}

/* Moves all pages of the copy into the object, all or none.  They are nowhere else: as written. */
static bool copy_fill_object(struct copy *copy, struct object *object)
{
	for (uint32_t n = 0; !list_empty(&copy->pages); n++) {
		struct page *page = copy_page_of(list_take_first(&copy->pages));

		page->dirty = true;
		if (!object_insert(object, n, page)) {
			list_add_first(&copy->pages, &page->link);
			copy_take_back(copy, object, n);
			return false;
		}
		pause_each();
	}
	return true;
}

/* An object with the pages of the copy; NULL when there is no memory, or none for the payer. */
static struct object *copy_make_object(struct copy *copy, const struct vm_map *map)
{
	struct object *object = object_create_for(map->payer, copy_span(copy) / PAGE_SIZE);

	if (object != NULL && !copy_fill_object(copy, object)) {
		object_release(object);
		return NULL;
	}
	return object;
}

/* Whoever is given a few pages will look at them.  What there is no table for he looks for. */
static inline void copy_enter_pages(struct vm_map *map, uint32_t base, const struct object *object)
{
	if (map->wire_future || object->size > COPY_PAGES_MAX)
		return;
	for (uint32_t n = 0; n < object->size; n++)
		pmap_enter(map->pmap, base + n * PAGE_SIZE, object_slot(object, n),
			   VM_PROT_DEFAULT);
}

/* Maps the copy's pages where there is room, and tells where. */
static inline kern_return_t copy_give_pages(struct copy *copy, struct vm_map *map, uint32_t *base)
{
	static const struct map_attributes attributes = {VM_PROT_DEFAULT, VM_PROT_ALL,
							 VM_INHERIT_DEFAULT};
	struct object *object = copy_make_object(copy, map);
	struct map_content content = {.object = object};
	kern_return_t result;

	if (object == NULL)
		return KERN_RESOURCE_SHORTAGE;
	result = map_enter_anywhere(map, base, object->size * PAGE_SIZE, 0, &attributes, &content);
	if (result == KERN_SUCCESS) {
		copy_enter_pages(map, *base, object);
		return KERN_SUCCESS;
	}
	copy_take_back(copy, object, object->size);
	object_release(object);
	return result;
}

kern_return_t copy_give(struct vm_map *map, struct copy *copy, uint32_t *address)
{
	uint32_t base;
	kern_return_t result;

	if (copy->kind == COPY_PAGES) {
		result = copy_give_pages(copy, map, &base);
	} else {
		result = map_find_space(map, copy_span(copy), 0, &base);
		if (result == KERN_SUCCESS)
			result = copy_entries_give(copy, map, base);
	}
	if (result != KERN_SUCCESS)
		return result;
	*address = base + copy->offset;
	copy_free(copy);
	return KERN_SUCCESS;
}
