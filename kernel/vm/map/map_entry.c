/* SPDX-License-Identifier: MIT */
/*
 * The entries of maps: finding, splitting and joining them, and what becomes of their objects.
 * Guarded by the kernel lock.
 */
#include <stddef.h>

#include "base/lock.h"
#include "base/owner.h"
#include "base/zone.h"
#include "thread/work.h"
#include "vm/map/entry_tree.h"
#include "vm/map/map.h"
#include "vm/object/object.h"

/* Entries that were freed are kept, so that the next one costs a few instructions. */
static struct zone entry_zone;

#define KEPT_LINK offsetof(struct map_entry, link)

void map_entry_module_init(void)
{
	zone_init(&entry_zone, "map entries", sizeof(struct map_entry), 4);
	zone_init_kept(&entry_zone, KEPT_LINK, ZONE_KEPT);
	owner_set_price(OWNER_ENTRIES, sizeof(struct map_entry) + sizeof(struct object));
}

struct map_entry *(map_entry_alloc)(void)
{
	struct map_entry *entry = zone_take_kept(&entry_zone, KEPT_LINK);

	return entry != NULL ? entry : (zone_alloc)(&entry_zone);
}

bool map_entries_pay(struct vm_map *map, uint32_t n)
{
	uint32_t more = (map->n_entries + n - map->n_paid + PAID_AT_ONCE - 1) & ~(PAID_AT_ONCE - 1);

	assert(map->payer != NULL && map->n_entries + n > map->n_paid);
	if (!owner_charge(map->payer, OWNER_ENTRIES, more))
		return false;
	map->n_paid += more;
	return true;
}

struct map_entry *(map_entry_alloc_for)(struct vm_map *map)
{
	return map_entries_are_paid(map, 1) ? (map_entry_alloc)() : NULL;
}

void map_entry_free(struct map_entry *entry)
{
	if (!zone_keep(&entry_zone, entry, KEPT_LINK))
		zone_free(&entry_zone, entry);
}

/* ---------------- In their map ---------------- */

/*
 * A map of few entries has no tree: they are found as quickly along the list, and come and go more
 * cheaply.  It gets one when there are TREE_FROM, and loses it when there are half of that.
 */
#define TREE_FROM 16u

static void map_entry_make_tree(struct vm_map *map)
{
	struct map_entry *before = NULL;

	list_for_each_object (struct map_entry, entry, &map->entries, link) {
		entry_tree_insert(&map->root, entry, before, NULL);
		before = entry;
	}
}

void map_entry_link(struct vm_map *map, struct map_entry *entry, struct map_entry *before,
		    struct map_entry *after)
{
	assert(entry->start < entry->end);
	assert(before == NULL || before->end <= entry->start);
	assert(after == NULL || entry->end <= after->start);
	list_insert_after(before == NULL ? &map->entries : &before->link, &entry->link);
	map->last = entry;
	map->n_entries++;
	if (map->root != NULL)
		entry_tree_insert(&map->root, entry, before, after);
	else if (map->n_entries == TREE_FROM)
		map_entry_make_tree(map);
}

void map_entry_unlink(struct vm_map *map, struct map_entry *entry)
{
	if (map->last == entry) {
		map->last = map_entry_previous(map, entry);
		if (map->last == NULL)
			map->last = map_entry_next(map, entry);
	}
	assert(map->n_entries > 0);
	map->n_entries--;
	if (map->root != NULL)
		entry_tree_remove(&map->root, entry);
	if (map->n_entries == TREE_FROM / 2)
		map->root = NULL;
	entry->link.prev->next = entry->link.next;
	entry->link.next->prev = entry->link.prev;
}

/* The first entry that ends above `address`, among few. */
static struct map_entry *map_entry_find_in_list(const struct vm_map *map, uint32_t address)
{
	list_for_each_object (struct map_entry, entry, &map->entries, link) {
		if (address < entry->end)
			return entry;
	}
	return NULL;
}

/* The one found last and its neighbours are asked first: who touches memory often goes on there. */
struct map_entry *map_entry_from(struct vm_map *map, uint32_t address)
{
	struct map_entry *entry = map->last;
	struct map_entry *other;

	assert(kernel_locked());
	if (entry == NULL)
		return NULL;
	if (address < entry->start) {
		other = map_entry_previous(map, entry);
		if (other == NULL || address >= other->end)
			return entry;
	} else {
		if (address < entry->end)
			return entry;
		other = map_entry_next(map, entry);
		if (other == NULL)
			return NULL;
		if (address < other->end) {
			map->last = other;
			return other;
		}
	}
	entry = map->root == NULL ? map_entry_find_in_list(map, address)
				  : entry_tree_from(map->root, address);
	if (entry != NULL)
		map->last = entry;
	return entry;
}

struct map_entry *map_entry_at(struct vm_map *map, uint32_t address)
{
	struct map_entry *entry = map_entry_from(map, address);

	return entry != NULL && entry->start <= address ? entry : NULL;
}

/* ---------------- Their objects ---------------- */

/* Where the next touch asks, too: the allocation is none of those that tests let fail. */
bool map_entry_make_object(const struct vm_map *map, struct map_entry *entry)
{
	if (entry->object != NULL)
		return true;
	entry->object = (object_create_for)(map->payer, map_entry_pages(entry));
	entry->index = 0;
	return entry->object != NULL;
}

bool map_entry_make_own(const struct vm_map *map, struct map_entry *entry)
{
	if (!entry->pending)
		return true;
	if (entry->object != NULL &&
	    !object_make_own(map->payer, &entry->object, &entry->index, map_entry_pages(entry)))
		return false;
	entry->pending = false;
	return true;
}

/*
 * Others that refer to the object may be entries that were one with this once, and copies of those,
 * which are pending, as is what they were copied from.
 */
bool map_entry_is_private(const struct map_entry *entry)
{
	const struct object *object = entry->object;

	if (object->pager != NULL || object->kernel || object->copy != NULL)
		return false;
	return object->refs == 1 || (!entry->pending && !entry->shared);
}

void map_entry_forget_pages(const struct map_entry *entry, uint32_t first, uint32_t end)
{
	if (map_entry_is_private(entry))
		object_free_range(entry->object, first, end);
}

/* ---------------- Splitting and joining ---------------- */

/*
 * Makes what the entry shows from `address` on an entry of its own.  One that is pending though
 * nobody else has the object is so no longer: the other half would look like somebody else.
 */
static bool map_entry_split_at(struct vm_map *map, struct map_entry *entry, uint32_t address)
{
	struct map_entry *upper = map_entry_alloc_for(map);

	if (upper == NULL)
		return false;
	if (entry->pending && map_entry_is_private(entry))
		map_entry_make_own(map, entry);
	*upper = *entry;
	upper->start = address;
	if (entry->object != NULL) {
		upper->index = map_entry_index(entry, address);
		object_reference(entry->object);
	}
	entry->end = address;
	map_entry_link(map, upper, entry, map_entry_next(map, entry));
	return true;
}

bool map_split(struct vm_map *map, struct map_entry **first, uint32_t start, uint32_t end)
{
	struct map_entry *entry = *first;

	if (entry != NULL && entry->start < start) {
		if (!map_entry_split_at(map, entry, start))
			return false;
		entry = map_entry_next(map, entry);
	}
	*first = entry != NULL && entry->start < end ? entry : NULL;
	if (*first != NULL && entry->end < end)
		entry = map_entry_at(map, end);
	return entry == NULL || entry->start >= end || entry->end == end ||
	       map_entry_split_at(map, entry, end);
}

static bool map_entry_same_attributes(const struct map_attributes *one,
				      const struct map_attributes *other)
{
	return one->rights == other->rights && one->max_rights == other->max_rights &&
	       one->inheritance == other->inheritance;
}

static bool map_entry_can_join(const struct map_entry *entry, const struct map_entry *upper)
{
	if (entry->end != upper->start || entry->object != upper->object)
		return false;
	if (entry->object != NULL && map_entry_index(entry, upper->start) != upper->index)
		return false;
	return entry->pending == upper->pending && entry->shared == upper->shared &&
	       entry->wired == upper->wired &&
	       map_entry_same_attributes(&entry->attributes, &upper->attributes);
}

static void map_entry_join(struct vm_map *map, struct map_entry *entry, struct map_entry *upper)
{
	map_entry_unlink(map, upper);
	entry->end = upper->end;
	if (upper->object != NULL)
		object_release(upper->object);
	map_entry_free(upper);
}

void map_join(struct vm_map *map, struct map_entry *first, uint32_t end)
{
	struct map_entry *entry = first == NULL ? NULL : map_entry_previous(map, first);
	struct map_entry *next;

	if (entry == NULL)
		entry = first;
	while (entry != NULL && entry->end <= end) {
		next = map_entry_next(map, entry);
		if (next != NULL && map_entry_can_join(entry, next))
			map_entry_join(map, entry, next);
		else
			entry = next;
		pause_each();
	}
}

/* ---------------- Growing ---------------- */

/* Whether nobody but one entry knows anything of what is in the object, or is not. */
static bool map_entry_is_resizable(const struct object *object)
{
	return object->refs == 1 && object->pager == NULL && object->swap == NULL &&
	       object->copy == NULL && object->shadow == NULL && !object->kernel;
}

bool map_entry_grow(struct map_entry *entry, uint32_t size, const struct map_attributes *attributes)
{
	struct object *object = entry->object;

	if (!map_entry_same_attributes(&entry->attributes, attributes) || entry->pending ||
	    entry->shared || entry->wired)
		return false;
	if (object != NULL) {
		if (!map_entry_is_resizable(object) ||
		    map_entry_index(entry, entry->end) != object->size)
			return false;
		object->size += size / PAGE_SIZE;
	}
	entry->end += size;
	return true;
}

void map_entry_trim(struct map_entry *entry, uint32_t end, bool touched)
{
	struct object *object = entry->object;
	uint32_t first = map_entry_index(entry, end);
	uint32_t last = map_entry_index(entry, entry->end);

	entry->end = end;
	if (object == NULL)
		return;
	if (touched)
		map_entry_forget_pages(entry, first, last);
	if (last == object->size && map_entry_is_resizable(object))
		object->size = first;
}
