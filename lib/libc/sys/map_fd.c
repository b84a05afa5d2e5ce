/* SPDX-License-Identifier: MIT */
/* Files as memory: see <mach/map_fd.h>. */
#include <mach.h>
#include <mach/map_fd.h>

#include "../internal.h"
#include "call.h"

kern_return_t map_fd(int fd, vm_offset_t offset, vm_offset_t *address, boolean_t find_space,
		     vm_size_t size)
{
	mach_port_t object = MACH_PORT_NULL;
	int64_t file_size = 0;
	kern_return_t result;

	if (offset % LIBC_PAGE != 0 || size == 0)
		return KERN_INVALID_ARGUMENT;
	if (CALL(bsd_file_object, fd, &object, &file_size) != 0)
		return KERN_FAILURE;
	result = vm_map(mach_task_self_cached(), address, size, 0, find_space, object, offset, TRUE,
			VM_PROT_READ | VM_PROT_WRITE, VM_PROT_ALL, VM_INHERIT_COPY);
	syscall_mach_port_deallocate(mach_task_self_cached(), object);
	return result;
}
