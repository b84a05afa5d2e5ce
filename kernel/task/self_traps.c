/* SPDX-License-Identifier: MIT */
/* The traps by which a program finds itself: mach_task_self() and so on. */
#include <mach/message.h>

#include "host/host.h"
#include "ipc/port.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "task/task.h"
#include "task/traps.h"

/*
 * Gives the current task a send right to the port: its name, or MACH_PORT_NULL without memory.  Of
 * the host's port, which is the kernel's own, there may be no right yet to copy.
 */
static uint32_t self_trap_give(struct port *port)
{
	uint32_t name;

	if (port->kind == OBJECT_HOST)
		port_make_send(port);
	else
		port_copy_send(port);
	if (right_give(current_task()->space, port, MACH_MSG_TYPE_PORT_SEND, &name) == KERN_SUCCESS)
		return name;
	port_release_send(port);
	return MACH_PORT_NULL;
}

static inline bool self_trap_names(const struct entry *entry, const struct port *port)
{
	return (entry->type & MACH_PORT_TYPE_SEND) != 0 && entry->port == port;
}

static inline uint32_t self_trap_count_once_more(struct entry *entry)
{
	if (entry->refs < USER_REFERENCES_MAX)
		entry->refs++;
	return entry->name;
}

/* As self_trap_name_for(), of what was not asked for last. */
static uint32_t self_trap_find_name(struct space *space, struct port *port)
{
	struct entry *entry;

	if (port == PORT_NULL)
		return MACH_PORT_NULL;
	if (port == PORT_DEAD_NAME || !port_is_alive(port))
		return MACH_PORT_DEAD;
	entry = space_find_port(space, port);
	if (entry == NULL || !self_trap_names(entry, port))
		return self_trap_give(port);
	space->asked = entry;
	return self_trap_count_once_more(entry);
}

/*
 * The current task's name for a right that the kernel holds: PORT_NULL and PORT_DEAD_NAME too.  A
 * program asks again and again, and mostly for the same: what it has already is only counted once
 * more.
 */
static inline uint32_t self_trap_name_for(struct port *port)
{
	struct space *space = current_task()->space;
	struct entry *entry = space->asked;

	if (self_trap_names(entry, port) && port_is_alive(port))
		return self_trap_count_once_more(entry);
	return self_trap_find_name(space, port);
}

TRAP_ABI uint32_t trap_mach_task_self(void)
{
	return self_trap_name_for(current_task()->self_port);
}

TRAP_ABI uint32_t trap_mach_thread_self(void)
{
	return self_trap_name_for(current_thread()->self_port);
}

TRAP_ABI uint32_t trap_mach_host_self(void)
{
	return self_trap_name_for(host_port());
}
