/* SPDX-License-Identifier: MIT */
/* A task's memory: see map.h.  Guarded by the kernel lock. */
#include "vm/map/map.h"

#include <stddef.h>

#include <assay/traps.h>

#include "base/lock.h"
#include "base/owner.h"
#include "base/zone.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/map/fault.h"
#include "vm/object/object.h"

/* Where the search for free space begins: below it a null pointer with an offset points. */
#define FIRST_PLACE 0x10000u

_Static_assert(ASSAY_READ == VM_PROT_READ && ASSAY_WRITE == VM_PROT_WRITE &&
		       ASSAY_EXECUTE == VM_PROT_EXECUTE,
	       "rights are handed through");
_Static_assert(VM_PROT_READ == PMAP_READ && VM_PROT_WRITE == PMAP_WRITE &&
		       VM_PROT_EXECUTE == PMAP_EXECUTE,
	       "the machine's are the same");

static struct zone map_zone;

void map_module_init(void)
{
	owner_set_price(OWNER_WIRED, PAGE_SIZE);
	zone_init(&map_zone, "maps", sizeof(struct vm_map), 4);
	map_entry_module_init();
}

static inline void map_assert_held(const struct vm_map *map)
{
	assert(kernel_locked());
	assert(map->magic == MAP_MAGIC && map->active);
}

/* ---------------- Making and unmaking ---------------- */

/* What is charged for the map is `payer`'s from now on, or nobody's. */
static void map_charge_to(struct vm_map *map, struct owner *payer)
{
	struct owner *old = map->payer;
	const uint32_t charged[OWNER_KINDS] = {
		[OWNER_ENTRIES] =
			old == NULL ? (map->n_entries | (PAID_AT_ONCE - 1)) + 1 : map->n_paid,
		[OWNER_TABLES] = map->pmap == NULL ? 0 : map->pmap->tables,
		[OWNER_WIRED] = map->wired / PAGE_SIZE,
	};

	for (unsigned kind = 0; kind < OWNER_KINDS && payer != NULL; kind++)
		owner_burden(payer, kind, charged[kind]);
	map->payer = payer;
	map->n_paid = payer == NULL ? UINT32_MAX : charged[OWNER_ENTRIES];
	if (map->pmap != NULL)
		map->pmap->payer = payer;
	for (unsigned kind = 0; kind < OWNER_KINDS && old != NULL; kind++)
		if (charged[kind] > 0 && kind != OWNER_ENTRIES)
			owner_uncharge(old, kind, charged[kind]);
	if (old != NULL)
		owner_uncharge(old, OWNER_ENTRIES, charged[OWNER_ENTRIES]);
}

/* The structure; NULL when there is no memory, or `payer` may not have it. */
static struct vm_map *map_alloc_for(struct owner *payer)
{
	struct vm_map *map;

	if (payer != NULL && !owner_charge(payer, OWNER_ENTRIES, PAID_AT_ONCE))
		return NULL;
	map = zone_alloc(&map_zone);
	if (map == NULL && payer != NULL)
		owner_uncharge(payer, OWNER_ENTRIES, PAID_AT_ONCE);
	return map;
}

struct vm_map *map_create(struct owner *payer)
{
	struct vm_map *map = map_alloc_for(payer);

	if (map == NULL)
		return NULL;
	*map = (struct vm_map){
		.magic = MAP_MAGIC,
		.refs = 1,
		.active = true,
		.pmap = pmap_create(),
		.payer = payer,
		.n_paid = payer == NULL ? UINT32_MAX : PAID_AT_ONCE,
		.hint = FIRST_PLACE,
		.size_limit = USER_END,
		.size_limit_max = USER_END,
	};
	list_init(&map->entries);
	if (map->pmap == NULL) {
		map_charge_to(map, NULL);
		zone_free(&map_zone, map);
		return NULL;
	}
	map->pmap->payer = payer;
	return map;
}

/* Takes the objects of an entry along that were paid by `old`, and are nobody else's to see. */
static void map_change_payer_of(const struct map_entry *entry, const struct owner *old,
				struct owner *payer)
{
	struct object *object = entry->object;

	while (object != NULL && object->payer == old && object_can_move_from(object)) {
		object_change_payer(object, payer);
		object = object->shadow;
		pause_each();
	}
}

void map_change_payer(struct vm_map *map, struct owner *payer)
{
	const struct owner *old = map->payer;

	map_assert_held(map);
	if (payer == old)
		return;
	list_for_each_object (struct map_entry, entry, &map->entries, link)
		map_change_payer_of(entry, old, payer);
	map_charge_to(map, payer);
}

void map_count_wired(struct vm_map *map, uint32_t size)
{
	map->wired += size;
	if (map->payer != NULL)
		owner_burden(map->payer, OWNER_WIRED, size / PAGE_SIZE);
}

void map_discount_wired(struct vm_map *map, uint32_t size)
{
	map->wired -= size;
	if (map->payer != NULL && size > 0)
		owner_uncharge(map->payer, OWNER_WIRED, size / PAGE_SIZE);
}

static struct map_entry *map_entry_of(struct list *link)
{
	return list_object(link, struct map_entry, link);
}

static void map_unwire_all(struct vm_map *map)
{
	struct list *link;

	if (map->wired == 0)
		return;
	list_for_each (link, &map->entries) {
		struct map_entry *entry = map_entry_of(link);

		if (entry->wired)
			fault_unwire(map, entry->start, entry->end);
		pause_each();
	}
	map_discount_wired(map, map->wired);
}

/* An entry that is in no map any more gives up its object, and what nobody else sees of that. */
static inline void map_end_entry(struct map_entry *entry)
{
	struct object *object = entry->object;

	if (object != NULL) {
		if (object->refs > 1)
			map_entry_forget_pages(entry, entry->index,
					       entry->index + map_entry_pages(entry));
		object_release(object);
	}
	map_entry_free(entry);
}

/* The translations go first, all at once, so that no page has to look for its own. */
void map_terminate(struct vm_map *map)
{
	map_assert_held(map);
	map_unwire_all(map);
	map->active = false;
	if (map->payer != NULL)
		map_charge_to(map, NULL);
	pmap_destroy(map->pmap);
	map->pmap = NULL;
	map->root = NULL;
	map->last = NULL;
	map->n_entries = 0;
	map->size = 0;
	map->counted = 0;
	while (!list_empty(&map->entries)) {
		map_end_entry(map_entry_of(list_take_first(&map->entries)));
		pause_each();
	}
}

void map_free(struct vm_map *map)
{
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

static inline bool map_range_is_valid(uint32_t start, uint32_t size)
{
	if (((start | size) & PAGE_MASK) != 0)
		return false;
	return start >= USER_START && start <= USER_END && size <= USER_END - start;
}

static bool map_rights_are_valid(uint32_t rights)
{
	return (rights & VM_PROT_READ) != 0 && (rights & ~(uint32_t)VM_PROT_ALL) == 0;
}

/* Whether every page of the range is mapped, and with `rights`. */
static kern_return_t map_check_range(struct vm_map *map, uint32_t start, uint32_t end,
				     uint32_t rights)
{
	struct map_entry *entry = map_entry_from(map, start);

	while (start < end) {
		if (entry == NULL || entry->start > start)
			return KERN_INVALID_ADDRESS;
		if ((entry->attributes.rights & rights) != rights)
			return KERN_PROTECTION_FAILURE;
		start = entry->end;
		entry = map_entry_next(map, entry);
		pause_each();
	}
	return KERN_SUCCESS;
}

kern_return_t map_check(struct vm_map *map, uint32_t address, uint32_t size, uint32_t rights)
{
	map_assert_held(map);
	if (address < USER_START || address > USER_END || size > USER_END - address)
		return KERN_INVALID_ADDRESS;
	return map_check_range(map, address, address + size, rights);
}

uint32_t map_size(const struct vm_map *map)
{
	assert(map->magic == MAP_MAGIC);
	return map->size;
}

/* ---------------- Free space ---------------- */

/* `address` rounded up to one with no bit of `mask`; 0 if there is none. */
static inline uint32_t map_align_up(uint32_t address, uint32_t mask)
{
	uint32_t aligned = (address + mask) & ~mask;

	return aligned < address ? 0 : aligned;
}

/* Free space, and the entries before and after it, if there are any. */
struct place {
	uint32_t start;
	struct map_entry *before, *after;
};

/* Whether there are `size` bytes free at `start`: *place then. */
static inline bool map_is_place(struct vm_map *map, uint32_t start, uint32_t size,
				struct place *place)
{
	struct map_entry *after = map_entry_from(map, start);
	uint32_t end = after == NULL ? USER_END : after->start;

	if (start > end || size > end - start)
		return false;
	place->start = start;
	place->after = after;
	return true;
}

/* The first place from `from` on with `size` bytes free; false if there is none. */
static bool map_search(struct vm_map *map, uint32_t from, uint32_t size, uint32_t mask,
		       struct place *place)
{
	uint32_t start = map_align_up(from, mask);
	struct map_entry *entry = map_entry_from(map, start);

	while (start != 0) {
		uint32_t end = entry == NULL ? USER_END : entry->start;

		if (start <= end && size <= end - start) {
			place->start = start;
			place->after = entry;
			return true;
		}
		if (entry == NULL)
			return false;
		if (entry->end > start)
			start = map_align_up(entry->end, mask);
		entry = map_entry_next(map, entry);
		pause_each();
	}
	return false;
}

/*
 * Below the hint are only holes that were too small for somebody once, since what is freed moves
 * the hint down: so the first look nearly always finds a place, and addresses are used again.
 */
static inline bool map_find_place(struct vm_map *map, uint32_t size, uint32_t mask,
				  struct place *place)
{
	map_assert_held(map);
	assert(size > 0 && (size & PAGE_MASK) == 0);
	mask |= PAGE_MASK;
	if (((map->hint & mask) != 0 || !map_is_place(map, map->hint, size, place)) &&
	    !map_search(map, map->hint, size, mask, place) &&
	    !map_search(map, FIRST_PLACE, size, mask, place))
		return false;
	place->before =
		place->after == NULL ? map_entry_last(map) : map_entry_previous(map, place->after);
	if (mask == PAGE_MASK)
		map->hint = place->start + size;
	return true;
}

kern_return_t map_find_space(struct vm_map *map, uint32_t size, uint32_t mask, uint32_t *start)
{
	struct place place;

	if (!map_find_place(map, size, mask, &place))
		return KERN_NO_SPACE;
	*start = place.start;
	return KERN_SUCCESS;
}

/* ---------------- Mapping ---------------- */

static inline bool map_enter_new(struct vm_map *map, const struct place *place, uint32_t size,
				 const struct map_attributes *attributes,
				 const struct map_content *content)
{
	struct map_entry *entry = map_entry_alloc_for(map);

	if (entry == NULL)
		return false;
	entry->start = place->start;
	entry->end = place->start + size;
	entry->object = NULL;
	entry->index = 0;
	entry->attributes = *attributes;
	entry->pending = false;
	entry->shared = false;
	entry->wired = false;
	if (content != NULL && content->object != NULL) {
		assert(content->index + size / PAGE_SIZE <= content->object->size);
		entry->object = content->object;
		entry->index = content->index;
		entry->pending = content->pending;
		entry->shared = content->shared;
	}
	map_entry_link(map, entry, place->before, place->after);
	return true;
}

/*
 * Wires what has just been mapped.  If that cannot be, it is not mapped any more, and the reference
 * to the object is the caller's again; the map may have ended meanwhile.
 */
static kern_return_t map_wire_entered(struct vm_map *map, uint32_t start, uint32_t size,
				      struct object *object)
{
	kern_return_t result;

	if (object != NULL)
		object_reference(object);
	result = map_wire(map, start, size, true);
	if (result == KERN_SUCCESS) {
		if (object != NULL)
			object_release(object);
		return KERN_SUCCESS;
	}
	if (map->active)
		map_deallocate(map, start, size);
	return result;
}

/* Maps the content at the place, where there is room. */
static inline kern_return_t map_enter_place(struct vm_map *map, const struct place *place,
					    uint32_t size, const struct map_attributes *attributes,
					    const struct map_content *content)
{
	struct object *object = content == NULL ? NULL : content->object;
	struct map_entry *before = place->before;

	if (!map_allows(map, attributes->rights, size))
		return KERN_NO_SPACE;
	if (object != NULL || before == NULL || before->end != place->start ||
	    !map_entry_grow(before, size, attributes)) {
		if (!map_enter_new(map, place, size, attributes, content))
			return KERN_RESOURCE_SHORTAGE;
	}
	map_count(map, attributes, size);
	return map->wire_future ? map_wire_entered(map, place->start, size, object) : KERN_SUCCESS;
}

kern_return_t map_enter(struct vm_map *map, uint32_t start, uint32_t size,
			const struct map_attributes *attributes, const struct map_content *content)
{
	struct place place = {.start = start};

	map_assert_held(map);
	if (!map_range_is_valid(start, size))
		return KERN_INVALID_ARGUMENT;
	if (size == 0)
		return KERN_SUCCESS;
	place.after = map_entry_from(map, start);
	if (place.after != NULL && place.after->start < start + size)
		return KERN_NO_SPACE;
	place.before =
		place.after == NULL ? map_entry_last(map) : map_entry_previous(map, place.after);
	return map_enter_place(map, &place, size, attributes, content);
}

kern_return_t map_enter_anywhere(struct vm_map *map, uint32_t *start, uint32_t size, uint32_t mask,
				 const struct map_attributes *attributes,
				 const struct map_content *content)
{
	struct place place;
	kern_return_t result;

	if (!map_find_place(map, size, mask, &place))
		return KERN_NO_SPACE;
	result = map_enter_place(map, &place, size, attributes, content);
	if (result == KERN_SUCCESS)
		*start = place.start;
	return result;
}

kern_return_t map_allocate(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights)
{
	struct map_attributes attributes = {rights, VM_PROT_ALL, VM_INHERIT_DEFAULT};

	if (!map_rights_are_valid(rights))
		return KERN_INVALID_ARGUMENT;
	return map_enter(map, start, size, &attributes, NULL);
}

/* ---------------- Unmapping ---------------- */

/* What is freed is found first when space is looked for. */
static inline void map_hint_at(struct vm_map *map, uint32_t address)
{
	if (address < map->hint && address >= FIRST_PLACE)
		map->hint = address;
}

/* Whether nobody has touched [start, end) of the entry, so that there is no translation of it. */
static bool map_is_untouched(const struct map_entry *entry, uint32_t start, uint32_t end)
{
	const struct object *object = entry->object;
	uint32_t index;

	if (object == NULL)
		return true;
	if (object->shadow != NULL || object->pager != NULL || object->kernel)
		return false;
	index = map_entry_index(entry, start);
	if (end - start == PAGE_SIZE)
		return object_slot(object, index) == SLOT_EMPTY;
	return page_tree_next(&object->slots, &index, map_entry_index(entry, end)) == SLOT_EMPTY;
}

static void map_unwire(struct vm_map *map, uint32_t start, uint32_t end)
{
	fault_unwire(map, start, end);
	map_discount_wired(map, end - start);
}

/*
 * Unwires what is wired in the range, from `entry` on, and takes all its translations away.  The
 * CPUs know of nothing there any more when this returns.  Says whether anybody has touched it.
 */
static bool map_unmap(struct vm_map *map, struct map_entry *entry, uint32_t start, uint32_t end)
{
	bool touched = false;

	while (entry != NULL && entry->start < end) {
		uint32_t from = entry->start > start ? entry->start : start;
		uint32_t to = entry->end < end ? entry->end : end;

		if (entry->wired)
			map_unwire(map, from, to);
		if (!touched)
			touched = !map_is_untouched(entry, from, to);
		pause_each();
		entry = map_entry_next(map, entry);
	}
	if (touched)
		pmap_remove(map->pmap, start, end);
	return touched;
}

/* The entry loses its pages up to `end`. */
static void map_cut_front(struct map_entry *entry, uint32_t end)
{
	uint32_t index = map_entry_index(entry, end);

	if (entry->object != NULL) {
		map_entry_forget_pages(entry, entry->index, index);
		entry->index = index;
	}
	entry->start = end;
}

/* Takes what the range has of entries, from `entry` on, out of the map: nothing is translated. */
static void map_remove_entries(struct vm_map *map, struct map_entry *entry, uint32_t start,
			       uint32_t end, bool touched)
{
	while (entry != NULL && entry->start < end) {
		struct map_entry *next = map_entry_next(map, entry);

		if (entry->start < start) {
			map_discount(map, &entry->attributes, entry->end - start);
			map_entry_trim(entry, start, touched);
		} else if (entry->end > end) {
			map_discount(map, &entry->attributes, end - entry->start);
			map_cut_front(entry, end);
		} else {
			map_discount(map, &entry->attributes, entry->end - entry->start);
			map_entry_unlink(map, entry);
			map_end_entry(entry);
		}
		entry = next;
		pause_each();
	}
}

/*
 * Whether all that may be translated is one page that ends with the entry: it knows itself where it
 * is mapped, which is quicker than to look for it in the page tables.
 */
static inline bool map_is_one_page(const struct map_entry *entry)
{
	const struct object *object = entry->object;

	return entry->end - entry->start == PAGE_SIZE && object->refs == 1 &&
	       object->shadow == NULL && object->pager == NULL && !object->kernel;
}

/* What is usual: an entry goes as it was mapped, or an entry that had grown by this. */
static inline void map_remove_whole(struct vm_map *map, struct map_entry *entry)
{
	if (entry->object != NULL && !map_is_one_page(entry))
		pmap_remove(map->pmap, entry->start, entry->end);
	map_discount(map, &entry->attributes, entry->end - entry->start);
	map_entry_unlink(map, entry);
	map_end_entry(entry);
}

static inline void map_remove_end(struct vm_map *map, struct map_entry *entry, uint32_t start)
{
	bool touched = !map_is_untouched(entry, start, entry->end);

	if (touched)
		pmap_remove(map->pmap, start, entry->end);
	map_discount(map, &entry->attributes, entry->end - start);
	map_entry_trim(entry, start, touched);
}

kern_return_t map_deallocate(struct vm_map *map, uint32_t start, uint32_t size)
{
	uint32_t end = start + size;
	struct map_entry *entry, *behind;

	map_assert_held(map);
	if (!map_range_is_valid(start, size))
		return KERN_INVALID_ARGUMENT;
	behind = entry = map_entry_from(map, start);
	if (size == 0 || entry == NULL || entry->start >= end)
		return KERN_SUCCESS;
	if (entry->start < start && entry->end > end && !map_split(map, &behind, end, end))
		return KERN_RESOURCE_SHORTAGE;
	map_hint_at(map, entry->start > start ? entry->start : start);
	if (entry->end != end || entry->start > start || entry->wired)
		map_remove_entries(map, entry, start, end, map_unmap(map, entry, start, end));
	else if (entry->start == start)
		map_remove_whole(map, entry);
	else
		map_remove_end(map, entry, start);
	return KERN_SUCCESS;
}

kern_return_t map_protect(struct vm_map *map, uint32_t start, uint32_t size, uint32_t rights)
{
	kern_return_t result;

	map_assert_held(map);
	if (!map_range_is_valid(start, size) || !map_rights_are_valid(rights))
		return KERN_INVALID_ARGUMENT;
	result = map_check_range(map, start, start + size, 0);
	return result == KERN_SUCCESS ? map_set_rights(map, start, size, false, rights) : result;
}
