/* SPDX-License-Identifier: MIT */
/*
 * Proxies: see proxy.h.  Guarded by the kernel lock.
 *
 * A proxy of a proxy is one of what that stands for.
 */
#include "vm/map/proxy.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/zone.h"
#include "ipc/ipc_port.h"
#include "mach/mach4_server.h"
#include "task/task.h"
#include "vm/map/map.h"
#include "vm/map/map_routines.h"
#include "vm/object/object.h"

static struct zone proxy_zone;

void proxy_module_init(void)
{
	zone_init(&proxy_zone, "proxies", sizeof(struct proxy), 4);
}

struct proxy *proxy_of_port(const struct port *port)
{
	struct proxy *proxy;

	if (!port_is_valid(port) || port->kind != OBJECT_PROXY || !port_is_alive(port))
		return NULL;
	proxy = port->object;
	assert(proxy->magic == PROXY_MAGIC);
	return proxy;
}

void proxy_destroy(struct proxy *proxy)
{
	assert(proxy->magic == PROXY_MAGIC);
	proxy->magic = 0;
	port_release_send(proxy->memory);
	if (proxy->object != NULL)
		object_release(proxy->object);
	zone_free(&proxy_zone, proxy);
}

/* A send right to a new port for such a proxy, which takes its right and its reference; PORT_NULL,
 * and they are the caller's, when there is no memory. */
static struct port *proxy_make(const struct proxy *part)
{
	struct proxy *proxy = zone_alloc(&proxy_zone);
	struct port *port;

	if (proxy == NULL)
		return PORT_NULL;
	*proxy = *part;
	port = port_create(OBJECT_PROXY, proxy, task_payer());
	if (port == NULL) {
		zone_free(&proxy_zone, proxy);
		return PORT_NULL;
	}
	return port_make_send(port);
}

/* ---------------- Of memory objects ---------------- */

/* Makes `part` one of what the proxy `of` stands for; false if it is not all in there. */
static bool proxy_resolve(struct proxy *part, const struct proxy *of)
{
	if (part->start > of->size || part->size > of->size - part->start)
		return false;
	part->memory = of->memory;
	part->object = of->object;
	part->start += of->start;
	part->rights &= of->rights;
	return true;
}

/* What the part is of: no references are taken yet. */
static kern_return_t proxy_find(struct proxy *part, struct port *port)
{
	const struct proxy *of = proxy_of_port(port);

	if (of != NULL)
		return proxy_resolve(part, of) ? KERN_SUCCESS : KERN_INVALID_ARGUMENT;
	if (!port_is_alive(port) || (port->kind != OBJECT_NONE && port->kind != OBJECT_MEMORY))
		return KERN_INVALID_ARGUMENT;
	part->memory = port;
	return KERN_SUCCESS;
}

/* Makes the proxy with references of its own. */
static kern_return_t proxy_make_part(struct proxy *part, struct port **proxy)
{
	part->memory = port_copy_send(part->memory);
	if (part->object != NULL)
		object_reference(part->object);
	*proxy = proxy_make(part);
	if (*proxy != PORT_NULL)
		return KERN_SUCCESS;
	port_release_send(part->memory);
	if (part->object != NULL)
		object_release(part->object);
	return KERN_RESOURCE_SHORTAGE;
}

/* Makes a proxy of one part, as in GNU Mach, which begins where the proxy begins. */
kern_return_t
memory_object_create_proxy(ipc_space_t space, vm_prot_t max_rights,
			   const memory_object_array_t ports, mach_msg_type_number_t n_ports,
			   const vm_offset_array_t offsets, mach_msg_type_number_t n_offsets,
			   const vm_offset_array_t starts, mach_msg_type_number_t n_starts,
			   const vm_size_array_t sizes, mach_msg_type_number_t n_sizes,
			   ipc_port_t *proxy)
{
	struct proxy part = {.magic = PROXY_MAGIC};
	kern_return_t result;
	struct port *port;

	if (space == NULL)
		return KERN_INVALID_TASK;
	if (n_ports != 1 || n_offsets != 1 || n_starts != 1 || n_sizes != 1 || offsets[0] != 0)
		return KERN_INVALID_ARGUMENT;
	port = (struct port *)ports[0];
	if (!port_is_valid(port))
		return KERN_INVALID_NAME;
	if ((max_rights & ~VM_PROT_ALL) != 0 || (starts[0] & PAGE_MASK) != 0 ||
	    starts[0] + sizes[0] < starts[0])
		return KERN_INVALID_ARGUMENT;
	part.start = starts[0];
	part.size = sizes[0];
	part.rights = (uint32_t)max_rights;
	result = proxy_find(&part, port);
	if (result == KERN_SUCCESS)
		result = proxy_make_part(&part, proxy);
	if (result == KERN_SUCCESS)
		port_release_send(port);
	return result;
}

/* ---------------- Of what is mapped ---------------- */

/*
 * The entry with an object that it does not see copied before a write, as others will see it too
 * from now on.  False when there is no memory.
 */
static bool proxy_share(const struct vm_map *map, struct map_entry *entry)
{
	if (!map_entry_make_object(map, entry) ||
	    (entry->pending && !map_entry_make_own(map, entry)))
		return false;
	if (entry->object->pager == NULL)
		entry->shared = true;
	return true;
}

kern_return_t vm_region_create_proxy(task_t task, vm_address_t address, vm_prot_t max_rights,
				     vm_size_t size, ipc_port_t *proxy)
{
	struct proxy part = {.magic = PROXY_MAGIC};
	struct map_entry *entry;

	if (task == NULL || !map_is_usable(task->map) || (max_rights & ~VM_PROT_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	entry = map_entry_at(task->map, address);
	if (entry == NULL)
		return KERN_INVALID_ARGUMENT;
	if (!proxy_share(task->map, entry))
		return KERN_RESOURCE_SHORTAGE;
	part.object = entry->object;
	part.start = (uint64_t)entry->index * PAGE_SIZE;
	part.size = entry->end - entry->start;
	if (size < part.size)
		part.size = size;
	part.rights = (uint32_t)max_rights & entry->attributes.max_rights;
	return proxy_make_part(&part, proxy);
}
