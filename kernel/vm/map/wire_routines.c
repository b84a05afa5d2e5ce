/* SPDX-License-Identifier: MIT */
/*
 * The calls about what memory there is and how much of it may be used: wiring, limits, physical
 * addresses, statistics.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "i386/cpu/memory.h"
#include "ipc/port.h"
#include "mach/gnumach_server.h"
#include "mach/mach_host_server.h"
#include "mach/mach_server.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/map/fault.h"
#include "vm/map/map.h"
#include "vm/map/map_routines.h"
#include "vm/object/object.h"
#include "vm/page/kernel_memory.h"
#include "vm/page/page.h"
#include "vm/page/page_queue.h"
#include "vm/pager/pageout.h"
#include "vm/pager/pager.h"

/*
 * The host's ports carry different rights; what else a user may send here is no host.  The right is
 * that of the message's destination, so the caller of the stub keeps it.
 */
static bool wire_is_host(const struct port *port, enum object_kind kind)
{
	return port_is_valid(port) && port_is_alive(port) && port->kind == kind;
}

/* ---------------- Wiring ---------------- */

/* Bytes that a task may have wired without the host's privileged port. */
#define WIRE_FREELY (8u << 20)

kern_return_t vm_wire(ipc_port_t host, struct vm_map *map, vm_address_t address, vm_size_t size,
		      vm_prot_t access)
{
	bool privileged = wire_is_host(host, OBJECT_HOST_PRIV);
	uint32_t start, bytes;
	kern_return_t result;

	if (!privileged && !wire_is_host(host, OBJECT_HOST))
		return KERN_INVALID_HOST;
	if (!map_is_usable(map))
		return KERN_INVALID_TASK;
	if ((access & ~VM_PROT_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	if (access == VM_PROT_NONE)
		return map_wire(map, start, bytes, false);
	if (!privileged && (bytes > WIRE_FREELY || map->wired > WIRE_FREELY - bytes))
		return KERN_NO_ACCESS;
	result = map_check(map, start, bytes, (uint32_t)access);
	if (result == KERN_INVALID_ADDRESS)
		return KERN_NO_SPACE;
	if (result == KERN_SUCCESS)
		result = privileged ? map_wire(map, start, bytes, true)
				    : map_wire_charged(map, start, bytes);
	if (result != KERN_SUCCESS || privileged || map->wired <= WIRE_FREELY)
		return result;
	/* Others have wired while this waited: the whole range is let go of. */
	map_wire(map, start, bytes, false);
	return KERN_NO_ACCESS;
}

/*
 * Wires all that is mapped, piece by piece: each of them may block, and others may map meanwhile.
 */
static kern_return_t wire_mapped(struct vm_map *map)
{
	uint32_t address = USER_START;
	kern_return_t result = KERN_SUCCESS;

	while (result == KERN_SUCCESS && map->active) {
		const struct map_entry *entry = map_entry_from(map, address);
		uint32_t start;

		if (entry == NULL)
			return KERN_SUCCESS;
		start = entry->start > address ? entry->start : address;
		address = entry->end;
		if (!entry->wired)
			result = map_wire(map, start, address - start, true);
		kernel_pause();
	}
	return result;
}

/* On failure what has been wired stays so, and nothing is said of the future. */
kern_return_t vm_wire_all(ipc_port_t host, struct vm_map *map, vm_wire_t flags)
{
	kern_return_t result = KERN_SUCCESS;

	if (!wire_is_host(host, OBJECT_HOST_PRIV))
		return KERN_INVALID_HOST;
	if (!map_is_usable(map))
		return KERN_INVALID_TASK;
	if ((flags & ~VM_WIRE_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	if ((flags & VM_WIRE_CURRENT) != 0)
		result = wire_mapped(map);
	else if (flags == VM_WIRE_NONE)
		result = map_wire(map, USER_START, USER_END - USER_START, false);
	if (result == KERN_SUCCESS)
		map->wire_future = (flags & VM_WIRE_FUTURE) != 0;
	return result;
}

/* ---------------- Limits ---------------- */

kern_return_t vm_set_size_limit(ipc_port_t host, struct vm_map *map, vm_size_t limit,
				vm_size_t limit_max)
{
	bool privileged = wire_is_host(host, OBJECT_HOST_PRIV);

	if (!map_is_usable(map) || limit > limit_max)
		return KERN_INVALID_ARGUMENT;
	if (!privileged && !wire_is_host(host, OBJECT_HOST))
		return KERN_INVALID_HOST;
	if (!privileged && limit_max > map->size_limit_max)
		return KERN_NO_ACCESS;
	map->size_limit = limit;
	map->size_limit_max = limit_max;
	return KERN_SUCCESS;
}

kern_return_t vm_get_size_limit(struct vm_map *map, vm_size_t *limit, vm_size_t *limit_max)
{
	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	*limit = map->size_limit;
	*limit_max = map->size_limit_max;
	return KERN_SUCCESS;
}

/* ---------------- Physical addresses ---------------- */

/* What stands in the list for a page that is not in memory. */
#define NOWHERE UINT64_MAX

/* Where the page at `address` is now; it stays there as long as it is wired. */
static rpc_phys_addr_t wire_physical_address(struct vm_map *map, uint32_t address)
{
	const struct map_entry *entry = map_entry_at(map, address);
	const struct object *object = entry != NULL ? entry->object : NULL;
	uint32_t index = entry != NULL ? map_entry_index(entry, address) : 0;

	while (object != NULL) {
		struct page *slot = object_slot(object, index);

		if (slot_is_page(slot))
			return page_physical(slot);
		if (slot != SLOT_EMPTY && slot != SLOT_ABSENT)
			return NOWHERE;
		index += object->shadow_index;
		object = object->shadow;
	}
	return NOWHERE;
}

static void wire_list_pages(struct vm_map *map, uint32_t start, uint32_t n, rpc_phys_addr_t *pages)
{
	for (uint32_t i = 0; i < n; i++) {
		pages[i] = wire_physical_address(map, start + i * PAGE_SIZE);
		pause_each();
	}
}

/* A list too long for the reply goes out of line. */
static kern_return_t wire_list_far(struct vm_map *map, uint32_t start, uint32_t n,
				   rpc_phys_addr_t **pages)
{
	uint32_t bytes = n * sizeof **pages;
	rpc_phys_addr_t *list;
	struct copy *copy;

	if (bytes > KERNEL_MEMORY_MAX)
		return KERN_RESOURCE_SHORTAGE;
	list = kernel_memory_alloc(bytes);
	if (list == NULL)
		return KERN_RESOURCE_SHORTAGE;
	wire_list_pages(map, start, n, list);
	copy = copy_of_kernel(list, bytes);
	kernel_memory_free(list, bytes);
	*pages = (rpc_phys_addr_t *)copy;
	return copy != NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

kern_return_t vm_pages_phys(host_t host, struct vm_map *map, vm_address_t address, vm_size_t size,
			    rpc_phys_addr_t **pages, mach_msg_type_number_t *n)
{
	kern_return_t result = KERN_SUCCESS;
	uint32_t room = *n;
	uint32_t start, bytes;

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (!map_is_usable(map))
		return KERN_INVALID_TASK;
	if (((address | size) & PAGE_MASK) != 0)
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	if (bytes / PAGE_SIZE <= room)
		wire_list_pages(map, start, bytes / PAGE_SIZE, *pages);
	else
		result = wire_list_far(map, start, bytes / PAGE_SIZE, pages);
	*n = bytes / PAGE_SIZE;
	return result;
}

/* ---------------- Statistics ---------------- */

static uint32_t wire_kernel_pages(void)
{
	uint32_t sum = 0;

	for (unsigned use = PAGE_FREE + 1; use < PAGE_USES; use++)
		if (use != PAGE_USER)
			sum += page_count(use);
	return sum;
}

kern_return_t vm_statistics(struct vm_map *map, vm_statistics_data_t *statistics)
{
	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	*statistics = (struct vm_statistics){
		.pagesize = PAGE_SIZE,
		.free_count = (integer_t)page_count(PAGE_FREE),
		.active_count = (integer_t)page_queue_length(PAGE_QUEUE_ACTIVE),
		.inactive_count = (integer_t)page_queue_length(PAGE_QUEUE_INACTIVE),
		.wire_count = (integer_t)(wire_kernel_pages() + page_wired_count()),
		.zero_fill_count = (integer_t)host_faults.n[FAULT_ZFILL],
		.reactivations = (integer_t)host_faults.n[FAULT_REACTIVATION],
		.pageins = (integer_t)host_faults.n[FAULT_PAGEIN],
		.pageouts = (integer_t)pageouts,
		.faults = (integer_t)host_faults.n[FAULT_ANY],
		.cow_faults = (integer_t)host_faults.n[FAULT_COW],
		.lookups = (integer_t)pager_lookups,
		.hits = (integer_t)pager_hits,
	};
	return KERN_SUCCESS;
}

kern_return_t vm_cache_statistics(struct vm_map *map, vm_cache_statistics_data_t *statistics)
{
	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	*statistics = (struct vm_cache_statistics){
		.cache_object_count = (integer_t)pager_cached_objects(),
		.active_tmp_count = (integer_t)page_queue_length(PAGE_QUEUE_ACTIVE),
		.inactive_tmp_count = (integer_t)page_queue_length(PAGE_QUEUE_INACTIVE),
		.laundry_count = (integer_t)pager_swap_flights,
		.slab_count = (integer_t)page_count(PAGE_ZONE),
	};
	return KERN_SUCCESS;
}
