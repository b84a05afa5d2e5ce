/* SPDX-License-Identifier: MIT */
/*
 * Shared memory: pages of the kernel's that several processes map, by a proxy that the server has.
 *
 * The memory comes to be when its size is set, which is once.  It is made in a task that the
 * caller's is the parent of and that is gone at once, so that its pages are charged to the caller's
 * user by the kernel, wherever they are touched.  They stay when all programs of that user's have
 * ended, and so nobody may have much of it (memory_is_allowed()).
 */
#include <mach/host_info.h>
#include <mach/mach4.h>
#include <ux/bsd_server.h>

#include "file/named.h"
#include "trace/trace.h"

/* Parts of the machine's memory that one user may have shared, and all together; not root. */
#define USER_PART 8
#define ALL_PART  4

#define RIGHTS (VM_PROT_READ | VM_PROT_WRITE)

/* ---------------- Its memory ---------------- */

static uint64_t memory_of_machine(void)
{
	struct host_basic_info info = {.memory_size = 0};
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;
	mach_port_t host = mach_host_self();

	host_info(host, HOST_BASIC_INFO, (host_info_t)&info, &count);
	syscall_mach_port_deallocate(mach_task_self_cached(), host);
	return info.memory_size;
}

static bool memory_is_allowed(const struct named *named, off_t size)
{
	uint64_t machine = memory_of_machine(), bytes = (uint64_t)size;

	if (named->payer == 0)
		return bytes <= machine;
	return bytes <= machine &&
	       named_bytes_of(named->payer, false) + bytes <= machine / USER_PART &&
	       named_bytes_of(0, true) + bytes <= machine / ALL_PART;
}

static kern_return_t memory_make_in(mach_port_t task, vm_size_t size, mach_port_t *memory)
{
	vm_address_t address = 0;
	kern_return_t result = vm_allocate(task, &address, size, TRUE);

	if (result != KERN_SUCCESS)
		return result;
	return vm_region_create_proxy(task, address, RIGHTS, size, memory);
}

/* Nobody else ever has a right to the task, so that what is shown is this memory and no other. */
static int memory_make(const struct process *process, vm_size_t size, mach_port_t *memory)
{
	kern_return_t result;
	mach_port_t task;

	if (syscall_task_create(process->task, FALSE, &task) != KERN_SUCCESS)
		return ENOMEM;
	result = memory_make_in(task, size, memory);
	syscall_task_terminate(task);
	syscall_mach_port_deallocate(mach_task_self_cached(), task);
	return result == KERN_SUCCESS ? 0 : ENOMEM;
}

static int shared_memory_set_size(struct open_file *file, const struct process *process, off_t size)
{
	struct named *named = file->data;
	int error;

	if (size == named->size && size > 0)
		return 0;
	if (named->size > 0 || size <= 0)
		return EINVAL;
	if (!memory_is_allowed(named, size))
		return ENOMEM;
	error = memory_make(process, ux_whole_pages((size_t)size), &named->memory);
	if (error == 0)
		named->size = size;
	return error;
}

/* ---------------- Its map ---------------- */

/* Whoever may only read gets a proxy of the proxy. */
static kern_return_t memory_show(const struct named *named, bool is_writable, mach_port_t *object)
{
	mach_port_t self = mach_task_self_cached(), memory = named->memory;
	vm_size_t size = ux_whole_pages((size_t)named->size);
	vm_offset_t beginning = 0;

	*object = memory;
	if (is_writable)
		return mach_port_mod_refs(self, memory, MACH_PORT_RIGHT_SEND, 1);
	return memory_object_create_proxy(self, VM_PROT_READ, &memory, MACH_MSG_TYPE_COPY_SEND, 1,
					  &beginning, 1, &beginning, 1, &size, 1, object);
}

static int shared_memory_map(const struct open_file *file, mach_port_t *object, off_t *size)
{
	const struct named *named = file->data;

	if (named->memory == MACH_PORT_NULL)
		return ENXIO;
	*size = named->size;
	return memory_show(named, file_is_writable(file), object) == KERN_SUCCESS ? 0 : ENOMEM;
}

static const struct file_operations shared_memory_file = {
	.stat = named_stat,
	.close = named_close,
	.set_size = shared_memory_set_size,
	.map = shared_memory_map,
};

/* ---------------- Calls ---------------- */

/* Of memory that has its size there is nothing to truncate. */
kern_return_t ux_shm_open(struct thread *caller, const char *name, int flags, unsigned mode,
			  int *fd)
{
	const int known = O_ACCMODE | O_CREAT | O_EXCL | O_CLOEXEC;
	const struct named_opening opening = {NAMED_MEMORY, name, flags, mode, 0};
	struct named *named;

	trace_path(caller->process, name);
	if ((flags & ~known) != 0 ||
	    ((flags & O_ACCMODE) != O_RDONLY && (flags & O_ACCMODE) != O_RDWR))
		return EINVAL;
	return named_open(caller->process, &opening, &shared_memory_file, fd, &named);
}

kern_return_t ux_shm_unlink(struct thread *caller, const char *name)
{
	trace_path(caller->process, name);
	return named_unlink(caller->process, NAMED_MEMORY, name);
}
