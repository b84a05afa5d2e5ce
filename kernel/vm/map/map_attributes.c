/* SPDX-License-Identifier: MIT */
/*
 * What memory may be used for: rights, the most they may become, inheritance; and wiring.
 *
 * Rights that are taken away are taken out of the page tables too; those that come, come with the
 * next fault.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "base/lock.h"
#include "base/owner.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/map/fault.h"
#include "vm/map/map.h"

static void attributes_check_range(const struct vm_map *map, uint32_t start, uint32_t size)
{
	assert(kernel_locked());
	assert(map->magic == MAP_MAGIC && map->active);
	assert(((start | size) & PAGE_MASK) == 0);
	assert(start >= USER_START && start <= USER_END && size <= USER_END - start);
}

static struct map_entry *map_attributes_within(struct map_entry *entry, uint32_t end)
{
	return entry != NULL && entry->start < end ? entry : NULL;
}

/* The entry after this one that has something of the range; NULL when there is none. */
static struct map_entry *map_attributes_next_in(struct vm_map *map, const struct map_entry *entry,
						uint32_t end)
{
	pause_each();
	return map_attributes_within(map_entry_next(map, entry), end);
}

/* ---------------- Rights and inheritance ---------------- */

/* What the CPU can do: whoever may write or execute may read. */
static uint32_t map_attributes_machine_rights(uint32_t rights)
{
	return rights == 0 ? 0 : rights | VM_PROT_READ;
}

/* Whether all memory from `entry` to `end` may have `rights`. */
static bool map_attributes_may_have(struct vm_map *map, struct map_entry *entry, uint32_t end,
				    uint32_t rights)
{
	for (entry = map_attributes_within(entry, end); entry != NULL;
	     entry = map_attributes_next_in(map, entry, end))
		if ((rights & ~entry->attributes.max_rights) != 0)
			return false;
	return true;
}

/* How much of the range counts for the limit as soon as it may be touched. */
static uint32_t map_attributes_uncounted(struct vm_map *map, struct map_entry *entry,
					 uint32_t start, uint32_t end)
{
	uint32_t size = 0;

	for (entry = map_attributes_within(entry, end); entry != NULL;
	     entry = map_attributes_next_in(map, entry, end))
		if (entry->attributes.rights == VM_PROT_NONE)
			size += (entry->end < end ? entry->end : end) -
				(entry->start > start ? entry->start : start);
	return size;
}

/* Whether the limit allows that the range, which begins in `entry`, gets these rights. */
static bool map_attributes_limit_allows(struct vm_map *map, struct map_entry *entry, uint32_t start,
					uint32_t end, uint32_t rights)
{
	return rights == VM_PROT_NONE || map->counted == map->size ||
	       map_allows(map, rights, map_attributes_uncounted(map, entry, start, end));
}

/* Says whether the entry has lost rights. */
static bool map_attributes_set_rights(struct vm_map *map, struct map_entry *entry, bool maximum,
				      uint32_t rights)
{
	struct map_attributes *attributes = &entry->attributes;
	uint32_t before = attributes->rights;

	map_discount(map, attributes, entry->end - entry->start);
	if (maximum) {
		attributes->max_rights = rights;
		rights &= before;
	}
	attributes->rights = map_attributes_machine_rights(rights);
	map_count(map, attributes, entry->end - entry->start);
	return entry->object != NULL && (before & ~attributes->rights) != 0;
}

/*
 * Of a range where some entry has lost rights, every translation gets those of its entry: with
 * `maximum` there may be several kinds.
 */
static void map_attributes_restrict_translations(struct vm_map *map, struct map_entry *entry,
						 uint32_t start, uint32_t end, bool maximum,
						 uint32_t rights)
{
	if (!maximum) {
		pmap_protect(map->pmap, start, end, map_attributes_machine_rights(rights));
		return;
	}
	for (; entry != NULL; entry = map_attributes_next_in(map, entry, end))
		pmap_protect(map->pmap, entry->start, entry->end, entry->attributes.rights);
}

kern_return_t map_set_rights(struct vm_map *map, uint32_t start, uint32_t size, bool maximum,
			     uint32_t rights)
{
	uint32_t end = start + size;
	struct map_entry *first, *entry;
	bool lost = false;

	attributes_check_range(map, start, size);
	if (size == 0)
		return KERN_SUCCESS;
	first = map_entry_from(map, start);
	if (!map_attributes_may_have(map, first, end, rights))
		return KERN_PROTECTION_FAILURE;
	if (!maximum && !map_attributes_limit_allows(map, first, start, end, rights))
		return KERN_NO_SPACE;
	if (!map_split(map, &first, start, end))
		return KERN_RESOURCE_SHORTAGE;
	for (entry = first; entry != NULL; entry = map_attributes_next_in(map, entry, end))
		lost |= map_attributes_set_rights(map, entry, maximum, rights);
	if (lost)
		map_attributes_restrict_translations(map, first, start, end, maximum, rights);
	map_join(map, first, end);
	return KERN_SUCCESS;
}

kern_return_t map_set_inheritance(struct vm_map *map, uint32_t start, uint32_t size,
				  vm_inherit_t inheritance)
{
	uint32_t end = start + size;
	struct map_entry *first, *entry;

	attributes_check_range(map, start, size);
	if (size == 0)
		return KERN_SUCCESS;
	first = map_entry_from(map, start);
	if (!map_split(map, &first, start, end))
		return KERN_RESOURCE_SHORTAGE;
	for (entry = first; entry != NULL; entry = map_attributes_next_in(map, entry, end))
		entry->attributes.inheritance = inheritance;
	map_join(map, first, end);
	return KERN_SUCCESS;
}

/* ---------------- Wiring ---------------- */

static void attributes_unwire(struct vm_map *map, struct map_entry *entry)
{
	if (!entry->wired)
		return;
	fault_unwire(map, entry->start, entry->end);
	entry->wired = false;
	map_discount_wired(map, entry->end - entry->start);
}

static kern_return_t map_attributes_unwire_range(struct vm_map *map, uint32_t start, uint32_t end)
{
	struct map_entry *first = map_entry_from(map, start), *entry;

	if (!map_split(map, &first, start, end))
		return KERN_RESOURCE_SHORTAGE;
	for (entry = first; entry != NULL; entry = map_attributes_next_in(map, entry, end))
		attributes_unwire(map, entry);
	map_join(map, first, end);
	return KERN_SUCCESS;
}

/*
 * All pages of the range have just been wired once, since the last wait.  Those of entries that
 * were wired before have it twice now, and keep it once.
 */
static kern_return_t map_attributes_note_wired(struct vm_map *map, uint32_t start, uint32_t end)
{
	struct map_entry *first = map_entry_from(map, start), *entry;

	if (!map_split(map, &first, start, end)) {
		fault_unwire(map, start, end);
		return KERN_RESOURCE_SHORTAGE;
	}
	for (entry = first; entry != NULL; entry = map_attributes_next_in(map, entry, end)) {
		if (entry->wired) {
			fault_unwire(map, entry->start, entry->end);
		} else {
			entry->wired = true;
			map_count_wired(map, entry->end - entry->start);
		}
	}
	map_join(map, first, end);
	return KERN_SUCCESS;
}

/*
 * If `payer` is not NULL the pages are charged to it already, and are free again before what the
 * entries cost is charged: between the two nobody waits.
 */
static kern_return_t attributes_wire(struct vm_map *map, uint32_t start, uint32_t size,
				     struct owner *payer)
{
	kern_return_t result = map_check(map, start, size, 0);

	if (result == KERN_SUCCESS)
		result = fault_wire(map, start, start + size);
	if (payer != NULL)
		owner_uncharge(payer, OWNER_WIRED, size / PAGE_SIZE);
	return result == KERN_SUCCESS ? map_attributes_note_wired(map, start, start + size)
				      : result;
}

kern_return_t map_wire(struct vm_map *map, uint32_t start, uint32_t size, bool wire)
{
	attributes_check_range(map, start, size);
	if (size == 0)
		return KERN_SUCCESS;
	if (!wire)
		return map_attributes_unwire_range(map, start, start + size);
	return attributes_wire(map, start, size, NULL);
}

kern_return_t map_wire_charged(struct vm_map *map, uint32_t start, uint32_t size)
{
	struct owner *payer = map->payer;

	attributes_check_range(map, start, size);
	if (size == 0)
		return KERN_SUCCESS;
	if (payer != NULL && !owner_charge(payer, OWNER_WIRED, size / PAGE_SIZE))
		return KERN_RESOURCE_SHORTAGE;
	return attributes_wire(map, start, size, payer);
}
