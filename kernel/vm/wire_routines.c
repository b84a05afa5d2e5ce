/* SPDX-License-Identifier: MIT */
/*
 * The calls about what memory there is and how much of it may be used: wiring, limits, physical
 * addresses, statistics, synchronisation.
 *
 * All memory of tasks is present and stays where it is, so that all of it is as good as wired, and
 * nothing has to be written back anywhere.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "i386/memory.h"
#include "ipc/port.h"
#include "kern/work.h"
#include "mach/gnumach_server.h"
#include "mach/mach_host_server.h"
#include "mach/mach_server.h"
#include "vm/copy.h"
#include "vm/kernel_memory.h"
#include "vm/map.h"
#include "vm/map_routines.h"
#include "vm/page.h"

/*
 * The host's ports carry different rights; what else a user may send here is no host.  The right is
 * that of the message's destination, so the caller of the stub keeps it.
 */
static bool is_host(const struct port *port, enum object_kind kind)
{
	return port_is_valid(port) && port_is_alive(port) && port->kind == kind;
}

/* ---------------- Wiring ---------------- */

kern_return_t vm_wire(ipc_port_t host, struct vm_map *map, vm_address_t address, vm_size_t size,
		      vm_prot_t access)
{
	uint32_t start, bytes;
	kern_return_t result;

	if (!is_host(host, OBJECT_HOST) && !is_host(host, OBJECT_HOST_PRIV))
		return KERN_INVALID_HOST;
	if (!map_is_usable(map))
		return KERN_INVALID_TASK;
	if ((access & ~VM_PROT_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	map_clip(address, size, &start, &bytes);
	result = map_check(map, start, bytes, (uint32_t)access);
	return result == KERN_INVALID_ADDRESS ? KERN_NO_SPACE : result;
}

kern_return_t vm_wire_all(ipc_port_t host, struct vm_map *map, vm_wire_t flags)
{
	if (!is_host(host, OBJECT_HOST) && !is_host(host, OBJECT_HOST_PRIV))
		return KERN_INVALID_HOST;
	if (!map_is_usable(map))
		return KERN_INVALID_TASK;
	if ((flags & ~VM_WIRE_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	return KERN_SUCCESS;
}

/* ---------------- Limits ---------------- */

kern_return_t vm_set_size_limit(ipc_port_t host, struct vm_map *map, vm_size_t limit,
				vm_size_t limit_max)
{
	bool privileged = is_host(host, OBJECT_HOST_PRIV);

	if (!map_is_usable(map) || limit > limit_max)
		return KERN_INVALID_ARGUMENT;
	if (!privileged && !is_host(host, OBJECT_HOST))
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

/* What stands in the list for a page that is not mapped. */
#define NOWHERE UINT64_MAX

static kern_return_t list_pages(struct vm_map *map, uint32_t start, uint32_t n,
				rpc_phys_addr_t *pages)
{
	kern_return_t result = KERN_SUCCESS;

	for (uint32_t i = 0; i < n && result == KERN_SUCCESS; i++) {
		uint32_t address = start + i * PAGE_SIZE;
		uint32_t physical;

		pages[i] = NOWHERE;
		if (i % 64 == 63)
			kernel_pause();
		if (map_check(map, address, PAGE_SIZE, 0) != KERN_SUCCESS)
			continue;
		result = map_physical(map, address, &physical);
		if (result == KERN_SUCCESS)
			pages[i] = physical;
	}
	return result;
}

/* A list too long for the reply goes out of line. */
static kern_return_t list_far(struct vm_map *map, uint32_t start, uint32_t n,
			      rpc_phys_addr_t **pages)
{
	uint32_t bytes = n * sizeof **pages;
	rpc_phys_addr_t *list;
	kern_return_t result;
	struct copy *copy;

	if (bytes > KERNEL_MEMORY_MAX)
		return KERN_RESOURCE_SHORTAGE;
	list = kernel_memory_alloc(bytes);
	if (list == NULL)
		return KERN_RESOURCE_SHORTAGE;
	result = list_pages(map, start, n, list);
	copy = result == KERN_SUCCESS ? copy_of_kernel(list, bytes) : NULL;
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
		result = list_pages(map, start, bytes / PAGE_SIZE, *pages);
	else
		result = list_far(map, start, bytes / PAGE_SIZE, pages);
	*n = bytes / PAGE_SIZE;
	return result;
}

/* ---------------- Statistics ---------------- */

static uint32_t kernel_pages(void)
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
		.active_count = (integer_t)page_count(PAGE_USER),
		.wire_count = (integer_t)kernel_pages(),
	};
	return KERN_SUCCESS;
}

kern_return_t vm_cache_statistics(struct vm_map *map, vm_cache_statistics_data_t *statistics)
{
	if (!map_is_usable(map))
		return KERN_INVALID_ARGUMENT;
	*statistics = (struct vm_cache_statistics){
		.active_tmp_count = (integer_t)page_count(PAGE_USER),
		.slab_count = (integer_t)page_count(PAGE_ZONE),
	};
	return KERN_SUCCESS;
}

/* ---------------- Writing back ---------------- */

kern_return_t vm_msync(struct vm_map *map, vm_address_t address, vm_size_t size, vm_sync_t flags)
{
	const vm_sync_t both = VM_SYNC_SYNCHRONOUS | VM_SYNC_ASYNCHRONOUS;

	(void)address;
	(void)size;
	if (!map_is_usable(map) || (flags & both) == both)
		return KERN_INVALID_ARGUMENT;
	return KERN_SUCCESS;
}

/* No memory has an object that could be named. */
kern_return_t vm_object_sync(ipc_port_t object, vm_offset_t offset, vm_size_t size,
			     boolean_t should_flush, boolean_t should_return,
			     boolean_t should_iosync)
{
	(void)object;
	(void)offset;
	(void)size;
	(void)should_flush;
	(void)should_return;
	(void)should_iosync;
	return KERN_INVALID_ARGUMENT;
}
