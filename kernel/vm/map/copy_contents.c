/* SPDX-License-Identifier: MIT */
/*
 * What is in a copy (vm/map/copy.h): reading it, writing it over memory, and making pages of it.
 * Guarded by the kernel lock.
 *
 * Of entries each page may have to be waited for, and is gone with the next wait: it is read into a
 * page of nobody's, and from there goes on to where that may wait again.
 */
#include <stddef.h>

#include "base/lock.h"
#include "base/string.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/map/fault.h"
#include "vm/map/map.h"
#include "vm/object/object.h"

static struct page *copy_contents_page(struct list *link)
{
	return list_object(link, struct page, link);
}

static struct map_entry *copy_contents_entry(struct list *link)
{
	return list_object(link, struct map_entry, link);
}

/* ---------------- Walking over a copy ---------------- */

/* A place in a copy: at `start` of its span, in the page or the entry that `link` is of. */
struct walk {
	struct copy *copy;
	struct list *link;
	uint32_t start;
	struct page *page; /* COPY_ENTRIES: where pages are read into. */
};

/* The walk is to be ended if this succeeds. */
static kern_return_t contents_walk_begin(struct walk *walk, struct copy *copy)
{
	assert(kernel_locked());
	*walk = (struct walk){.copy = copy, .link = copy->pages.next};
	if (copy->kind == COPY_PAGES)
		return KERN_SUCCESS;
	walk->link = copy->entries.next;
	return copy_page_alloc(&walk->page);
}

static void contents_walk_end(struct walk *walk)
{
	if (walk->page != NULL)
		page_free(walk->page);
}

/* Goes on by `size` bytes, whole pages; those of a COPY_PAGES one by one. */
static void contents_walk_on(struct walk *walk, uint32_t size)
{
	walk->start += size;
	if (walk->copy->kind == COPY_PAGES || walk->start == copy_contents_entry(walk->link)->end)
		walk->link = walk->link->next;
	pause_each_page();
}

/* Makes `own` a copy of the page at `at` of the copy, which the entry has. */
static kern_return_t copy_contents_read_page(const struct map_entry *entry, uint32_t at,
					     struct page *own)
{
	struct page *page = NULL;
	kern_return_t result;

	if (entry->object != NULL) {
		result = fault_object_page(entry->object, map_entry_index(entry, at), &page);
		if (result != KERN_SUCCESS)
			return result;
	}
	if (page == NULL)
		page_clear(page_data(own));
	else
		page_copy(page_data(own), page_data(page));
	return KERN_SUCCESS;
}

/* Where the bytes of the page are, until the walk goes on. */
static kern_return_t contents_walk_data(struct walk *walk, const char **data)
{
	struct page *page = walk->page;
	kern_return_t result = KERN_SUCCESS;

	if (walk->copy->kind == COPY_PAGES)
		page = copy_contents_page(walk->link);
	else
		result =
			copy_contents_read_page(copy_contents_entry(walk->link), walk->start, page);
	*data = page_data(page);
	return result;
}

/* ---------------- Reading ---------------- */

static kern_return_t contents_read(struct walk *walk, char *to, uint32_t size)
{
	while (size > 0) {
		uint32_t first = copy_first_in(walk->copy, walk->start);
		uint32_t part = copy_last_in(walk->copy, walk->start) - first;
		const char *data;
		kern_return_t result = contents_walk_data(walk, &data);

		if (result != KERN_SUCCESS)
			return result;
		part = part < size ? part : size;
		memcpy(to, data + first, part);
		to += part;
		size -= part;
		contents_walk_on(walk, PAGE_SIZE);
	}
	return KERN_SUCCESS;
}

kern_return_t copy_read(struct copy *copy, void *to, uint32_t size)
{
	struct walk walk;
	kern_return_t result = contents_walk_begin(&walk, copy);

	assert(size <= copy->size);
	if (result != KERN_SUCCESS)
		return result;
	result = contents_read(&walk, to, size);
	contents_walk_end(&walk);
	return result;
}

/* ---------------- Writing ---------------- */

/* Whether other memory may take the place of what the entry shows, and nobody else notices. */
static bool contents_is_replaceable(const struct map_entry *entry)
{
	const struct object *object = entry->object;

	if (entry->wired || entry->shared || (entry->attributes.rights & VM_PROT_WRITE) == 0)
		return false;
	return object == NULL || (object->pager == NULL && !object->kernel);
}

/* How much of the copy from where the walk is can be shared with what the map shows at `address`:
 * whole pages of one entry each.  0: none. */
static uint32_t contents_can_share(const struct walk *walk, struct vm_map *map, uint32_t address)
{
	const struct map_entry *from, *to;
	uint32_t size = page_trunc(walk->copy->size - walk->start);

	if (walk->copy->kind != COPY_ENTRIES || walk->copy->offset != 0 ||
	    (address & PAGE_MASK) != 0)
		return 0;
	from = copy_contents_entry(walk->link);
	to = map_entry_at(map, address);
	if (to == NULL || !contents_is_replaceable(to))
		return 0;
	if (size > from->end - walk->start)
		size = from->end - walk->start;
	return size < to->end - address ? size : to->end - address;
}

/* Shows `size` bytes of the copy at `address`, both pending, where contents_can_share() says so. */
static kern_return_t copy_contents_share(struct walk *walk, struct vm_map *map, uint32_t address,
					 uint32_t size)
{
	struct map_entry *from = copy_contents_entry(walk->link);
	struct map_entry *to = map_entry_at(map, address);
	struct object *old;

	if (!map_split(map, &to, address, address + size))
		return KERN_RESOURCE_SHORTAGE;
	assert(to->start == address && to->end == address + size);
	old = to->object;
	if (old != NULL) {
		pmap_remove(map->pmap, to->start, to->end);
		map_entry_forget_pages(to, to->index, to->index + map_entry_pages(to));
	}
	to->object = NULL;
	to->pending = false;
	if (from->object != NULL) {
		to->object = object_reference(from->object);
		to->index = map_entry_index(from, walk->start);
		to->pending = true;
		from->pending = true;
	}
	if (old != NULL)
		object_release(old);
	return KERN_SUCCESS;
}

/* Writes the bytes of one page. */
static kern_return_t contents_write_page(struct walk *walk, struct vm_map *map, uint32_t address)
{
	uint32_t first = copy_first_in(walk->copy, walk->start);
	const char *data;
	kern_return_t result = contents_walk_data(walk, &data);

	if (result != KERN_SUCCESS)
		return result;
	return map_store(map, address, data + first, copy_last_in(walk->copy, walk->start) - first);
}

static kern_return_t copy_contents_write(struct walk *walk, struct vm_map *map, uint32_t address)
{
	uint32_t end = copy_span(walk->copy);
	uint32_t base = address - walk->copy->offset; /* Where its first page would begin. */
	kern_return_t result = KERN_SUCCESS;

	while (walk->start < end && result == KERN_SUCCESS) {
		uint32_t at = walk->start == 0 ? address : base + walk->start;
		uint32_t size = contents_can_share(walk, map, at);

		if (size > 0) {
			result = copy_contents_share(walk, map, at, size);
		} else {
			size = PAGE_SIZE;
			result = contents_write_page(walk, map, at);
		}
		contents_walk_on(walk, size);
	}
	return result;
}

kern_return_t copy_write_to(struct copy *copy, struct vm_map *map, uint32_t address)
{
	struct walk walk;
	kern_return_t result = contents_walk_begin(&walk, copy);

	if (result != KERN_SUCCESS)
		return result;
	result = copy_contents_write(&walk, map, address);
	contents_walk_end(&walk);
	if (copy->kind == COPY_ENTRIES && map->active)
		map_join(map, map_entry_from(map, address), address + copy->size);
	return result;
}

/* ---------------- Making pages ---------------- */

/*
 * The page at `at` of the copy, which the entry has, if nobody else can see it: taken out of its
 * object, which nobody looks at any more.  NULL if there is no such.
 */
static struct page *contents_take_own_page(const struct map_entry *entry, uint32_t at)
{
	struct object *object = entry->object;
	struct page *page;

	if (object == NULL || !object_can_move_from(object))
		return NULL;
	page = object_slot(object, map_entry_index(entry, at));
	if (!slot_is_page(page) || page->wirings > 0)
		return NULL;
	object_remove(page, SLOT_EMPTY);
	page_init_user(page);
	return page;
}

static kern_return_t contents_make_page(const struct map_entry *entry, uint32_t at,
					struct page **page)
{
	kern_return_t result;

	*page = contents_take_own_page(entry, at);
	if (*page != NULL)
		return KERN_SUCCESS;
	result = copy_page_alloc(page);
	if (result == KERN_SUCCESS) {
		result = copy_contents_read_page(entry, at, *page);
		if (result != KERN_SUCCESS)
			page_free(*page);
	}
	return result;
}

/* The first page of a COPY_ENTRIES is taken: its first entry has one less, or ends. */
static void contents_shorten(struct map_entry *entry)
{
	entry->start += PAGE_SIZE;
	entry->index++;
	if (entry->start < entry->end)
		return;
	list_remove(&entry->link);
	if (entry->object != NULL)
		object_release(entry->object);
	map_entry_free(entry);
}

static kern_return_t contents_take_of_entries(struct copy *copy, struct page **page)
{
	struct map_entry *entry = copy_contents_entry(copy->entries.next);
	kern_return_t result;

	assert(kernel_locked());
	result = contents_make_page(entry, entry->start, page);
	if (result != KERN_SUCCESS)
		return result;
	copy_clear_around(copy, entry->start, *page);
	contents_shorten(entry);
	return KERN_SUCCESS;
}

kern_return_t copy_take_page(struct copy *copy, struct page **page)
{
	*page = NULL;
	if (!list_empty(&copy->entries))
		return contents_take_of_entries(copy, page);
	if (!list_empty(&copy->pages))
		*page = copy_contents_page(list_take_first(&copy->pages));
	return KERN_SUCCESS;
}

kern_return_t copy_make_pages(struct copy *copy)
{
	struct page *page;

	while (!list_empty(&copy->entries)) {
		kern_return_t result = copy_take_page(copy, &page);

		if (result != KERN_SUCCESS)
			return result;
		list_add_last(&copy->pages, &page->link);
		pause_each_page();
	}
	copy->kind = COPY_PAGES;
	return KERN_SUCCESS;
}
