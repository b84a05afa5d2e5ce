/* SPDX-License-Identifier: MIT */
/* Memory by the page as POSIX has it, upon the kernel's maps; and shared memory. */
#include <mach.h>
#include <sys/mman.h>

#include "../internal.h"
#include "call.h"

#define RIGHTS (PROT_READ | PROT_WRITE | PROT_EXEC)

_Static_assert(PROT_READ == VM_PROT_READ && PROT_WRITE == VM_PROT_WRITE &&
		       PROT_EXEC == VM_PROT_EXECUTE,
	       "rights are the kernel's");

static size_t whole_pages(size_t size)
{
	return (size + LIBC_PAGE - 1) & ~(size_t)(LIBC_PAGE - 1);
}

/* Whether it can be pages of a program's. */
static int is_range(const void *address, size_t size)
{
	return (uintptr_t)address % LIBC_PAGE == 0 && size > 0 && size <= VM_MAX_ADDRESS &&
	       (uintptr_t)address <= VM_MAX_ADDRESS - whole_pages(size);
}

/* ---------------- What is asked for ---------------- */

struct request {
	vm_address_t address;
	vm_size_t size;
	int rights, flags;
	mach_port_t object; /* Null: new memory. */
	vm_offset_t offset;
};

static int is_well_formed(const void *address, size_t size, int rights, int flags, off_t offset)
{
	const int known = MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS;
	int shared = (flags & MAP_SHARED) != 0, private = (flags & MAP_PRIVATE) != 0;

	if ((flags & ~known) != 0 || shared == private || (rights & ~RIGHTS) != 0)
		return 0;
	if ((flags & MAP_FIXED) == 0)
		address = NULL;
	return is_range(address, size) && offset >= 0 && offset % LIBC_PAGE == 0;
}

static int error_of(kern_return_t result)
{
	switch (result) {
	case KERN_SUCCESS:
		return 0;
	case KERN_PROTECTION_FAILURE:
		return EACCES;
	case KERN_INVALID_ARGUMENT:
		return ENXIO; /* All else was looked at: there is no such part. */
	default:
		return ENOMEM;
	}
}

/* What is shared has no more rights than its descriptor, whatever is asked for. */
static kern_return_t map(struct request *request)
{
	mach_port_t self = mach_task_self_cached();
	int is_shared = (request->flags & MAP_SHARED) != 0;
	int is_fixed = (request->flags & MAP_FIXED) != 0;
	kern_return_t result;

	if (is_fixed)
		vm_deallocate(self, request->address, request->size);
	else
		request->address = 0;
	result = vm_map(self, &request->address, request->size, 0, !is_fixed, request->object,
			request->offset, !is_shared && request->object != MACH_PORT_NULL,
			VM_PROT_NONE, VM_PROT_ALL, is_shared ? VM_INHERIT_SHARE : VM_INHERIT_COPY);
	if (result != KERN_SUCCESS)
		return result;
	result = vm_protect(self, request->address, request->size, FALSE, request->rights);
	if (result != KERN_SUCCESS)
		vm_deallocate(self, request->address, request->size);
	return result;
}

void *mmap(void *address, size_t size, int rights, int flags, int fd, off_t offset)
{
	struct request request = {
		.address = (vm_address_t)address,
		.size = whole_pages(size),
		.rights = rights,
		.flags = flags,
		.offset = (vm_offset_t)offset,
	};
	int64_t file_size = 0;
	int error = 0;

	if (!is_well_formed(address, size, rights, flags, offset))
		error = EINVAL;
	else if ((flags & MAP_ANONYMOUS) == 0)
		error = offset > UINT32_MAX
				? EOVERFLOW
				: CALL(bsd_file_object, fd, &request.object, &file_size);
	if (error == 0)
		error = error_of(map(&request));
	if (request.object != MACH_PORT_NULL)
		syscall_mach_port_deallocate(mach_task_self_cached(), request.object);
	return finish(error) == 0 ? (void *)request.address : MAP_FAILED;
}

int munmap(void *address, size_t size)
{
	if (!is_range(address, size))
		return finish(EINVAL);
	vm_deallocate(mach_task_self_cached(), (vm_address_t)address, whole_pages(size));
	return 0;
}

int mprotect(void *address, size_t size, int rights)
{
	if (!is_range(address, size) || (rights & ~RIGHTS) != 0)
		return finish(EINVAL);
	switch (vm_protect(mach_task_self_cached(), (vm_address_t)address, whole_pages(size), FALSE,
			   rights)) {
	case KERN_SUCCESS:
		return 0;
	case KERN_PROTECTION_FAILURE:
		return finish(EACCES);
	default:
		return finish(ENOMEM);
	}
}

/* ---------------- Shared memory ---------------- */

int shm_open(const char *name, int flags, mode_t mode)
{
	int fd = -1;

	return finish(PATH_CALL(bsd_shm_open, name, flags, mode, &fd)) == 0 ? fd : -1;
}

int shm_unlink(const char *name)
{
	return finish(PATH_CALL(bsd_shm_unlink, name));
}
