/* SPDX-License-Identifier: MIT */
/*
 * Zones (base/zone.h).
 *
 * Owns the list of all zones, and of every page with PAGE_ZONE the page's `zone`.  Guarded by the
 * kernel lock.
 */
#include "base/zone.h"

#include "base/assert.h"
#include "vm/page/page.h"

/*
 * What the zone keeps in a free element.  The mark tells a free element from one in use, and a
 * write through a stale pointer from none; it depends on the address, so that a copied element has
 * none.
 */
struct zone_free {
	struct zone_free *next;
	uintptr_t mark;
};

#define FREE_MARK 0x5a465245u

/* All zones, in the order of their creation. */
static struct list zones = LIST_INITIALIZER(zones);

static uintptr_t zone_mark_of(const struct zone_free *element)
{
	return FREE_MARK ^ (uintptr_t)element;
}

/* A free element must hold what the zone keeps in it; that is the least size and alignment. */
void zone_init(struct zone *zone, const char *name, size_t size, size_t alignment)
{
	assert(name != NULL);
	assert(alignment >= 4 && (alignment & (alignment - 1)) == 0);
	assert(size > 0 && size <= PAGE_SIZE && alignment <= PAGE_SIZE);
	if (alignment < _Alignof(struct zone_free))
		alignment = _Alignof(struct zone_free);
	if (size < sizeof(struct zone_free))
		size = sizeof(struct zone_free);
	size = (size + alignment - 1) & ~(alignment - 1);
	*zone = (struct zone){
		.name = name,
		.element_size = (uint32_t)size,
		.alignment = (uint32_t)alignment,
		.per_page = (uint32_t)(PAGE_SIZE / size),
	};
	list_add_last(&zones, &zone->link);
}

static void zone_push_free(struct zone *zone, struct zone_free *element)
{
	element->next = zone->free_list;
	element->mark = zone_mark_of(element);
	zone->free_list = element;
}

/*
 * Takes one more page for the zone, for good; false when there is none.  Whose allocation that is
 * only the caller of zone_alloc() knows: the site is there.
 */
static bool zone_grow(struct zone *zone)
{
	struct page *page;
	char *data;

	assert(zone->per_page != 0); /* zone_init() has been called. */
	/* What is neither in use nor free has been lost. */
	assert(zone->in_use == zone->elements);
	page = (page_alloc)(PAGE_ZONE);
	if (page == NULL)
		return false;
	page->zone = zone;
	zone->pages++;
	zone->elements += zone->per_page;
	data = page_data(page);
	/* From the end, so that elements go out in the order of their addresses. */
	for (uint32_t i = zone->per_page; i > 0; i--)
		zone_push_free(zone, (struct zone_free *)(data + (i - 1) * zone->element_size));
	return true;
}

/*
 * The mark is taken away from what goes out, so that an element that has never been written to does
 * not look free either.
 */
void *(zone_alloc)(struct zone *zone)
{
	struct zone_free *element;

	if (zone->free_list == NULL && !zone_grow(zone))
		return NULL;
	element = zone->free_list;
	/* A wrong mark: someone has written to the element after freeing it. */
	assert(element->mark == zone_mark_of(element));
	assert(zone->in_use < zone->elements);
	zone->free_list = element->next;
	zone->in_use++;
	element->mark = 0;
	return element;
}

/*
 * Whether the element is on the free list.  A mark is what its owner may have written by accident,
 * or what a user had it write, so that the list is asked before the kernel is called broken.
 */
static bool zone_is_free(const struct zone *zone, const struct zone_free *element)
{
	const struct zone_free *other = zone->free_list;

	if (element->mark != zone_mark_of(element))
		return false;
	while (other != NULL && other != element)
		other = other->next;
	return other != NULL;
}

/* Whether the address is where an element of this zone begins. */
static bool zone_is_element(const struct zone *zone, const void *address)
{
	const struct page *page = page_of_data(address);
	uint32_t offset = (uint32_t)((uintptr_t)address & PAGE_MASK);

	return page->use == PAGE_ZONE && page->zone == zone && offset % zone->element_size == 0 &&
	       offset / zone->element_size < zone->per_page;
}

/*
 * A few dozen instructions, one of them a division: what is freed in a hot path is kept by its
 * user.
 */
void zone_free(struct zone *zone, void *element)
{
	assert(zone_is_element(zone, element));
	assert(!zone_is_free(zone, element));
	assert(zone->in_use > 0);
	zone->in_use--;
	zone_push_free(zone, element);
}

void zone_for_each(void (*visit)(const struct zone *zone, void *context), void *context)
{
	list_for_each_object (struct zone, zone, &zones, link)
		visit(zone, context);
}

static void zone_sum_pages(const struct zone *zone, void *context)
{
	uint32_t *sum = context;

	*sum += zone->pages;
}

uint32_t zone_pages(void)
{
	uint32_t sum = 0;

	zone_for_each(zone_sum_pages, &sum);
	assert(sum == page_count(PAGE_ZONE));
	return sum;
}
