/* SPDX-License-Identifier: MIT */
/* The current task's names: see named.h. */
#include "task/named.h"

#include <stddef.h>

#include <mach/port.h>

#include "ipc/port.h"
#include "ipc/space.h"
#include "task/task.h"

struct entry *named_send_right(uint32_t name)
{
	struct entry *entry = space_find(current_task()->space, name);

	return entry != NULL && (entry->type & MACH_PORT_TYPE_SEND) != 0 ? entry : NULL;
}

static void *named_object(uint32_t name, enum object_kind kind)
{
	const struct entry *entry = named_send_right(name);

	return entry != NULL && entry->port->kind == kind ? entry->port->object : NULL;
}

struct task *named_task(uint32_t name)
{
	return named_object(name, OBJECT_TASK);
}

struct thread *named_thread(uint32_t name)
{
	return named_object(name, OBJECT_THREAD);
}
