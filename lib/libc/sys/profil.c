/* SPDX-License-Identifier: MIT */
/* profil(): the kernel counts, in the program's own memory.  Its manual is docs/calls/profil.md. */
#include <mach.h>
#include <unistd.h>

#include "../internal.h"
#include "call.h"

static int profil_error(kern_return_t result)
{
	switch (result) {
	case KERN_INVALID_ARGUMENT: /* The scale. */
	case KERN_FAILURE:          /* There is no profile to add to. */
		return EINVAL;
	case KERN_INVALID_ADDRESS:
		return EFAULT;
	case KERN_NO_SPACE:
		return ENOSPC;
	default:
		return result == KERN_SUCCESS ? 0 : ENOMEM;
	}
}

static int profil_call(char *samples, size_t size, unsigned long offset, unsigned scale,
		       boolean_t more)
{
	return finish(profil_error(task_profil(mach_task_self_cached(), (vm_address_t)samples, size,
					       offset, scale, more)));
}

int profil(char *samples, size_t size, unsigned long offset, unsigned scale)
{
	return profil_call(samples, size, offset, scale, FALSE);
}

int add_profil(char *samples, size_t size, unsigned long offset, unsigned scale)
{
	return profil_call(samples, size, offset, scale, TRUE);
}
