/* SPDX-License-Identifier: MIT */
/*
 * Programs that are about to be executed: see program.h.  Guarded by the server's lock.
 *
 * The server is the pager of what it maps here, so the kernel may ask it something before it
 * answers: vm_map() is called without the lock.  All else that is done to the new task touches
 * memory of nobody's, which the kernel fills with zeros or gets from the default pager.
 */
#include "process/program.h"

#include <sys/unistd.h>

#include "fs/vnode.h"
#include "paging/paging.h"
#include "process/executed.h"
#include "process/limits.h"
#include "process/script.h"
#include "process/task.h"
#include "process/thread.h"

/* ---------------- The file ---------------- */

/* From now on it cannot be written. */
static int program_take_vnode(struct program *program, struct vnode *vnode)
{
	int error = 0;

	if (!S_ISREG(vnode->mode))
		error = EACCES;
	if (error == 0)
		error = vnode_access(vnode, &program->process->credentials, X_OK);
	if (error == 0 && vnode->writers > 0)
		error = ETXTBSY;
	if (error != 0) {
		vnode_release(vnode);
		return error;
	}
	vnode->executions++;
	program->vnode = vnode;
	return 0;
}

static void program_leave_vnode(struct program *program)
{
	struct vnode *vnode = program->vnode;

	program->vnode = NULL;
	if (vnode == NULL)
		return;
	vnode->executions--;
	vnode_release(vnode);
}

/* Notes the path of what is executed: of a script and its interpreter the latter's. */
static int program_take_name(struct program *program, const char *path)
{
	executed_release(program->executed);
	program->executed = executed_new(path);
	return program->executed == NULL ? ENOMEM : 0;
}

static int program_open_file(struct program *program, const char *path)
{
	char whole[PATH_MAX];
	struct vnode *vnode;
	int error = path_lookup_whole(program->process, path, &vnode, whole);

	if (error == 0)
		error = program_take_vnode(program, vnode);
	if (error == 0)
		error = program_take_name(program, whole);
	if (error == 0)
		error = vnode_read(program->vnode, 0, program->head, sizeof program->head,
				   &program->head_size);
	return error;
}

/* The last part of the path, as much of it as there is room for. */
static void program_name_after(struct program *program, const char *path)
{
	const char *name = path;

	for (const char *at = path; *at != '\0'; at++) {
		if (*at == '/' && at[1] != '\0')
			name = at + 1;
	}
	format(program->command, sizeof program->command, "%s", name);
}

/* The interpreter's file takes the place of a script's. */
static int program_open_interpreter(struct program *program, const char *script)
{
	const char *interpreter, *option;
	int error;

	if (!script_read(program->head, program->head_size, &interpreter, &option))
		return 0;
	error = arguments_put_interpreter(&program->arguments, interpreter, option, script);
	program_leave_vnode(program);
	if (error == 0)
		error = program_open_file(program, program->arguments.strings);
	return error;
}

int program_find(struct program *program, const char *path)
{
	int error = program_open_file(program, path);

	program_name_after(program, path);
	if (error == 0)
		error = program_open_interpreter(program, path);
	if (error == 0)
		error = elf_read(program->head, program->head_size, program->vnode->size,
				 UX_STACK_TOP - UX_STACK_SIZE, &program->elf);
	return error;
}

bool program_changes_user(const struct program *program)
{
	return vnode_changes_user(program->vnode, &program->process->credentials);
}

/* ---------------- Its memory ---------------- */

static vm_prot_t program_rights_of(const struct elf_segment *segment)
{
	return VM_PROT_READ | (segment->is_writable ? VM_PROT_WRITE : 0) |
	       (segment->is_executable ? VM_PROT_EXECUTE : 0);
}

/*
 * What may be written is a copy.  What may not is the file itself, for children too: so the kernel
 * has one object for all who run the program.  Unlocks.
 */
static int program_map_file(const struct program *program, const struct elf_segment *segment)
{
	vm_address_t address = segment->start;
	vm_prot_t rights = program_rights_of(segment);
	mach_port_t object;
	kern_return_t result;
	int error;

	if (segment->mapped == 0)
		return 0;
	error = paging_object(program->vnode, &object);
	if (error != 0)
		return error;
	ux_unlock();
	result = vm_map(program->task, &address, segment->mapped, 0, FALSE, object, segment->offset,
			segment->is_writable, rights, segment->is_writable ? VM_PROT_ALL : rights,
			segment->is_writable ? VM_INHERIT_COPY : VM_INHERIT_SHARE);
	ux_lock();
	syscall_mach_port_deallocate(mach_task_self_cached(), object);
	return result == KERN_SUCCESS ? 0 : ENOMEM;
}

/* Copies the beginning of the first page that is not mapped from the file. */
static int program_copy_tail(const struct program *program, const struct elf_segment *segment)
{
	void *page = ux_allocate_pages(PAGE_SIZE);
	size_t done;
	int error;

	if (page == NULL)
		return ENOMEM;
	error = vnode_read(program->vnode, (off_t)segment->offset + segment->mapped, page,
			   segment->tail, &done);
	if (error == 0 && done != segment->tail)
		error = EIO;
	if (error == 0 && vm_write(program->task, segment->start + segment->mapped, (pointer_t)page,
				   PAGE_SIZE) != KERN_SUCCESS)
		error = ENOMEM;
	ux_free_pages(page, PAGE_SIZE);
	return error;
}

/* Memory that is zero at first, but for the tail. */
static int program_make_rest(const struct program *program, const struct elf_segment *segment)
{
	vm_address_t address = segment->start + segment->mapped;
	vm_size_t size = segment->size - segment->mapped;
	int error = 0;

	if (size == 0)
		return 0;
	if (vm_allocate(program->task, &address, size, FALSE) != KERN_SUCCESS)
		return ENOMEM;
	if (segment->tail > 0)
		error = program_copy_tail(program, segment);
	if (error == 0 && vm_protect(program->task, address, size, FALSE,
				     program_rights_of(segment)) != KERN_SUCCESS)
		error = ENOMEM;
	return error;
}

static int program_make_stack(struct program *program)
{
	size_t size = arguments_room(&program->arguments);
	vm_address_t stack = UX_STACK_TOP - UX_STACK_SIZE;
	kern_return_t result;
	void *top;

	if (vm_allocate(program->task, &stack, UX_STACK_SIZE, FALSE) != KERN_SUCCESS)
		return ENOMEM;
	if (program->elf.has_executable_stack &&
	    vm_protect(program->task, stack, UX_STACK_SIZE, FALSE, VM_PROT_ALL) != KERN_SUCCESS)
		return ENOMEM;
	top = ux_allocate_pages(size);
	if (top == NULL)
		return ENOMEM;
	program->stack = arguments_lay_out(&program->arguments, top, UX_STACK_TOP);
	result = vm_write(program->task, UX_STACK_TOP - size, (pointer_t)top, size);
	ux_free_pages(top, size);
	return result == KERN_SUCCESS ? 0 : ENOMEM;
}

static int program_make_memory(struct program *program)
{
	int error = program_make_stack(program);

	for (unsigned n = 0; n < program->elf.n_segments && error == 0; n++) {
		error = program_map_file(program, &program->elf.segments[n]);
		if (error == 0)
			error = program_make_rest(program, &program->elf.segments[n]);
	}
	return error;
}

/* ---------------- Its task ---------------- */

/*
 * The registered ports are those of the task before, unless that could do with them what its user
 * may not.
 */
static mach_port_t program_parent_of(const struct program *program)
{
	mach_port_t task = program->process->task;

	return task == MACH_PORT_NULL || program_changes_user(program) ? mach_task_self_cached()
								       : task;
}

int program_load(struct program *program)
{
	mach_port_t parent = program_parent_of(program), task;
	int error = task_new(parent, false, &task);

	if (error != 0)
		return error;
	program->task = task;
	task_call(task, program->command);
	if (parent == mach_task_self_cached())
		error = task_charge(task, program->process->credentials.uid);
	if (error == 0)
		error = limits_of_task(program->process, task);
	if (error == 0)
		error = program_make_memory(program);
	if (error != 0)
		return error;
	program->first = thread_new_in(program->process, task, program->elf.entry, program->stack);
	if (program->first == NULL)
		return EAGAIN;
	return thread_give_bootstrap(program->first, task) ? 0 : ENOMEM;
}

void program_forget(struct program *program)
{
	if (program->task != MACH_PORT_NULL)
		task_end(program->task);
	if (program->first != NULL)
		thread_end(program->first);
	program_leave_vnode(program);
	executed_release(program->executed);
	arguments_free(&program->arguments);
	ux_free(program);
}
