/* SPDX-License-Identifier: MIT */
/* Calls about who pays (defs/mach/assay.defs, base/owner.h).  Guarded by the kernel lock. */
#include <mach/mach_types.h>

#include "base/owner.h"
#include "base/string.h"
#include "mach/assay_server.h"
#include "task/culprit.h"
#include "task/task.h"

_Static_assert(OWNER_KINDS <= OWNER_KINDS_MAX, "a message has room for all kinds");
_Static_assert(sizeof(owner_uses_t) == 50 * sizeof(uint32_t), "as defs/mach/assay.defs says");

kern_return_t task_set_owner(host_t host, task_t task, unsigned id)
{
	if (host == NULL || id == OWNER_OTHERS)
		return KERN_INVALID_ARGUMENT;
	if (task == NULL || task->ending)
		return KERN_INVALID_TASK;
	return task_change_owner(task, id) ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

kern_return_t host_owner(host_t host, unsigned *id, owner_uses_t *uses)
{
	const struct owner *owner = owner_next(*id);

	if (host == NULL)
		return KERN_INVALID_ARGUMENT;
	memset(uses, 0, sizeof *uses);
	memcpy(uses, owner->uses, sizeof owner->uses);
	uses->lost = owner->lost;
	uses->culprit = culprit_last();
	*id = owner->id;
	return KERN_SUCCESS;
}

kern_return_t host_owner_limit(host_t host, unsigned id, int kind, unsigned limit)
{
	struct owner *owner = owner_find(id);

	if (host == NULL || kind < 0 || kind >= OWNER_KINDS)
		return KERN_INVALID_ARGUMENT;
	if (owner == NULL || owner == &owner_system)
		return KERN_INVALID_VALUE;
	owner_set_limit(owner, (enum owner_kind)kind, limit);
	return KERN_SUCCESS;
}
