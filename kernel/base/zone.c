/* SPDX-License-Identifier: MIT */
/*
 * Zones (base/zone.h).
 *
 * Owns the list of all zones, and of every page with PAGE_ZONE what it says of its elements.
 * Guarded by the kernel lock.
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

/* Stands for the current page of a zone that has none. */
static struct page no_page;

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
	zone->current = &no_page;
	list_init(&zone->open);
	list_add_last(&zones, &zone->link);
}

/* ---------------- Pages ---------------- */

static void zone_push_free(struct page *page, struct zone_free *element)
{
	element->next = page->free;
	element->mark = zone_mark_of(element);
	page->free = element;
}

/*
 * Takes one more page for the zone; NULL when there is none.  Whose allocation that is only the
 * caller of zone_alloc() knows: the site is there.
 */
static struct page *zone_grow(struct zone *zone)
{
	struct page *page;
	char *data;

	/* What is neither taken nor free has been lost. */
	assert(zone->taken == zone->elements);
	page = (page_alloc)(PAGE_ZONE);
	if (page == NULL)
		return NULL;
	page->zone = zone;
	page->n_used = 0;
	page->free = NULL;
	list_init(&page->link);
	zone->pages++;
	zone->elements += zone->per_page;
	data = page_data(page);
	/* From the end, so that elements go out in the order of their addresses. */
	for (uint32_t i = zone->per_page; i > 0; i--)
		zone_push_free(page, (struct zone_free *)(data + (i - 1) * zone->element_size));
	return page;
}

/* Gives a page back of which no element is in use. */
static void zone_give_back(struct zone *zone, struct page *page)
{
	assert(page->n_used == 0);
	list_remove(&page->link);
	zone->pages--;
	zone->elements -= zone->per_page;
	page_free(page);
}

/* The current page has no free element: another one becomes that; NULL when there is none. */
static struct page *zone_next_page(struct zone *zone)
{
	struct page *page;

	if (zone->taken == zone->elements) {
		page = zone_grow(zone);
	} else {
		page = list_first_object(&zone->open, struct page, link);
		list_remove(&page->link);
	}
	if (page != NULL)
		zone->current = page;
	return page;
}

/* ---------------- Elements ---------------- */

/*
 * The mark is taken away from what goes out, so that an element that has never been written to does
 * not look free either.
 */
void *(zone_alloc)(struct zone *zone)
{
	struct page *page = zone->current;
	struct zone_free *element;

	assert(page != NULL); /* zone_init() has been called. */
	if (page->free == NULL)
		page = zone_next_page(zone);
	if (page == NULL)
		return NULL;
	element = page->free;
	/* A wrong mark: someone has written to the element after freeing it. */
	assert(element->mark == zone_mark_of(element));
	page->free = element->next;
	page->n_used++;
	zone->taken++;
	element->mark = 0;
	return element;
}

/*
 * Whether the element of this page is free.  A mark is what its owner may have written by accident,
 * or what a user had it write, so that the list is asked before the kernel is called broken.
 */
static bool zone_is_free(const struct page *page, const struct zone_free *element)
{
	const struct zone_free *other = page->free;

	if (element->mark != zone_mark_of(element))
		return false;
	while (other != NULL && other != element)
		other = other->next;
	return other != NULL;
}

/* Whether the address is where an element of this zone begins. */
static bool zone_is_element(const struct zone *zone, const struct page *page, const void *address)
{
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
	struct page *page = page_of_data(element);

	assert(zone_is_element(zone, page, element));
	assert(!zone_is_free(page, element));
	assert(page->n_used > 0);
	zone->taken--;
	if (page->free == NULL && page != zone->current)
		list_add_first(&zone->open, &page->link);
	zone_push_free(page, element);
	if (--page->n_used == 0 && page != zone->current)
		zone_give_back(zone, page);
}

/* ---------------- All zones ---------------- */

static void zone_trim(struct zone *zone)
{
	void *element;

	while ((element = zone_take_kept(zone, zone->kept_link)) != NULL)
		zone_free(zone, element);
	if (zone->current == &no_page || zone->current->n_used > 0)
		return;
	zone_give_back(zone, zone->current);
	zone->current = &no_page;
}

/* Needs no pause: what zones keep is little, by their constants, whatever was done before. */
void zones_trim(void)
{
	list_for_each_object (struct zone, zone, &zones, link)
		zone_trim(zone);
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
