/* SPDX-License-Identifier: MIT */
/* What lies in a task's memory, as the kernel reads and writes it: see map.h. */
#include "vm/map/map.h"

#include "base/lock.h"
#include "base/string.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/map/fault.h"

kern_return_t map_page(struct vm_map *map, uint32_t address, uint32_t rights, bool force,
		       struct page **page)
{
	uint32_t has;

	assert(kernel_locked());
	if (map->active && address < USER_END) {
		*page = pmap_lookup(map->pmap, address, &has);
		if (*page != NULL && (has & rights) == rights) {
			if ((rights & VM_PROT_WRITE) != 0)
				(*page)->dirty = true;
			return KERN_SUCCESS;
		}
	}
	return fault_page(map, address, rights, force, page);
}

/* How many of `size` bytes from `address` on lie in its page. */
static inline uint32_t map_part_of(uint32_t address, uint32_t size)
{
	uint32_t part = PAGE_SIZE - (address & PAGE_MASK);

	return part < size ? part : size;
}

/* Where the kernel has what is at this address of the map, up to its page's end. */
static kern_return_t map_data(struct vm_map *map, uint32_t address, uint32_t rights, bool force,
			      char **data)
{
	struct page *page;
	kern_return_t result = map_page(map, address, rights, force, &page);

	if (result == KERN_SUCCESS)
		*data = (char *)page_data(page) + (address & PAGE_MASK);
	return result;
}

static kern_return_t map_put(struct vm_map *map, uint32_t address, const char *from, uint32_t size,
			     bool force)
{
	while (size > 0) {
		uint32_t part = map_part_of(address, size);
		char *data;
		kern_return_t result = map_data(map, address, VM_PROT_WRITE, force, &data);

		if (result != KERN_SUCCESS)
			return result;
		memcpy(data, from, part);
		address += part;
		from += part;
		size -= part;
		pause_each_page();
	}
	return KERN_SUCCESS;
}

kern_return_t map_write(struct vm_map *map, uint32_t address, const void *from, uint32_t size)
{
	return map_put(map, address, from, size, true);
}

kern_return_t map_store(struct vm_map *map, uint32_t address, const void *from, uint32_t size)
{
	return map_put(map, address, from, size, false);
}

kern_return_t map_read(struct vm_map *map, uint32_t address, void *to, uint32_t size)
{
	char *into = to;

	while (size > 0) {
		uint32_t part = map_part_of(address, size);
		char *data;
		kern_return_t result = map_data(map, address, VM_PROT_READ, true, &data);

		if (result != KERN_SUCCESS)
			return result;
		memcpy(into, data, part);
		address += part;
		into += part;
		size -= part;
		pause_each_page();
	}
	return KERN_SUCCESS;
}
