/* SPDX-License-Identifier: MIT */
/* Names of shared memory and of semaphores: see named.h.  Guarded by the server's lock. */
#include <ux/bsd_server.h>

#include "file/named.h"

#include <sys/dirent.h>
#include <sys/unistd.h>
#include <sys/ux.h>

#define READ_WRITE (R_OK | W_OK)

_Static_assert(NAME_MAX + 2 <= UX_NAMED_ROOM, "a name fits, with its `/` and its zero");

static struct list all = LIST_INITIALIZER(all);
static unsigned n_all;

/* ---------------- Names ---------------- */

static int named_check_name(const char *name)
{
	if (name[0] != '/' || name[1] == '\0' || strchr(name + 1, '/') != NULL)
		return EINVAL;
	return strlen(name + 1) <= NAME_MAX ? 0 : ENAMETOOLONG;
}

static struct named *named_find(enum named_kind kind, const char *name)
{
	list_for_each_object (struct named, named, &all, link) {
		if (named->kind == kind && named->name != NULL && strcmp(named->name, name) == 0)
			return named;
	}
	return NULL;
}

/* ---------------- Beginning and end ---------------- */

/* What has no name any more counts too, as long as it is there. */
static bool named_is_allowed(const struct process *process)
{
	unsigned n = 0;

	if (n_all >= NAMED_MAX)
		return false;
	if (is_root(process))
		return true;
	list_for_each_object (const struct named, named, &all, link)
		n += named->payer == process->credentials.uid;
	return n < NAMED_USER;
}

/* It has the name's reference. */
static int named_make(const struct process *process, const struct named_opening *opening,
		      struct named **made)
{
	static inumber_t last_number;
	size_t size = strlen(opening->name) + 1;
	struct named *named;

	if (!named_is_allowed(process))
		return ENOSPC;
	named = ux_allocate(sizeof *named);
	if (named == NULL)
		return ENOMEM;
	*named = (struct named){
		.kind = opening->kind,
		.name = ux_allocate(size),
		.references = 1,
		.number = ++last_number,
		.uid = process->credentials.euid,
		.gid = process->credentials.egid,
		.mode = opening->mode & ~process->umask & 0777,
		.payer = process->credentials.uid,
		.made = ux_seconds(),
		.value = opening->value,
	};
	if (named->name == NULL) {
		ux_free(named);
		return ENOMEM;
	}
	memcpy(named->name, opening->name, size);
	list_add_last(&all, &named->link);
	n_all++;
	*made = named;
	return 0;
}

static void named_release(struct named *named)
{
	assert(named->references > 0);
	if (--named->references > 0)
		return;
	assert(named->name == NULL);
	if (named->memory != MACH_PORT_NULL)
		syscall_mach_port_deallocate(mach_task_self_cached(), named->memory);
	list_remove(&named->link);
	n_all--;
	ux_free(named);
}

static void named_take_name(struct named *named)
{
	ux_free(named->name);
	named->name = NULL;
	named_release(named);
}

int named_unlink(const struct process *process, enum named_kind kind, const char *name)
{
	struct named *named;
	int error = named_check_name(name);

	assert(ux_lock_held());
	if (error != 0)
		return error;
	named = named_find(kind, name);
	if (named == NULL)
		return ENOENT;
	if (!is_root(process) && process->credentials.euid != named->uid)
		return EACCES;
	named_take_name(named);
	return 0;
}

/* ---------------- Listing ---------------- */

static struct ux_named named_describe(const struct named *named)
{
	struct ux_named described = {
		.number = (uint32_t)named->number,
		.kind = named->kind == NAMED_MEMORY ? UX_NAMED_MEMORY : UX_NAMED_SEMAPHORE,
		.uid = named->uid,
		.gid = named->gid,
		.mode = named->mode,
		.files = named->references - (named->name != NULL),
		.size = (uint32_t)named->size,
		.value = named->value,
	};

	if (named->name != NULL)
		memcpy(described.name, named->name, strlen(named->name) + 1);
	return described;
}

/* The list is in the order of numbers. */
kern_return_t ux_named_next(struct thread *caller, unsigned after, struct ux_named *result)
{
	const struct process *process = caller->process;

	list_for_each_object (const struct named, named, &all, link) {
		if (named->number > after &&
		    (is_root(process) || process->credentials.euid == named->uid)) {
			*result = named_describe(named);
			return 0;
		}
	}
	return ENOENT;
}

/* ---------------- Opening ---------------- */

static int named_check_rights(const struct process *process, const struct named *named, int flags)
{
	const struct credentials *who = &process->credentials;
	int wanted = (flags & O_ACCMODE) == O_RDONLY ? R_OK : READ_WRITE;
	int granted = named->mode & 7;

	if (who->euid == named->uid)
		granted = named->mode >> 6 & 7;
	else if (is_in_group(who, named->gid))
		granted = named->mode >> 3 & 7;
	return is_root(process) || (wanted & ~granted) == 0 ? 0 : EACCES;
}

/* Finds it or makes it, as the flags say. */
static int named_obtain(const struct process *process, const struct named_opening *opening,
			struct named **named, bool *is_new)
{
	int error = named_check_name(opening->name);

	if (error != 0)
		return error;
	*named = named_find(opening->kind, opening->name);
	*is_new = *named == NULL;
	if (*is_new)
		return (opening->flags & O_CREAT) == 0 ? ENOENT
						       : named_make(process, opening, named);
	if ((opening->flags & O_CREAT) != 0 && (opening->flags & O_EXCL) != 0)
		return EEXIST;
	return named_check_rights(process, *named, opening->flags);
}

/* Takes a reference for the file. */
static int named_open_file(struct process *process, struct named *named, int flags,
			   const struct file_operations *operations, int *fd)
{
	struct open_file *file = open_file_new(operations, NULL, flags & O_ACCMODE);
	int error;

	if (file == NULL)
		return ENOMEM;
	named->references++;
	file->data = named;
	error = descriptor_add(process, 0, file, true, fd);
	if (error != 0)
		open_file_release(file);
	return error;
}

int named_open(struct process *process, const struct named_opening *opening,
	       const struct file_operations *operations, int *fd, struct named **named)
{
	bool is_new = false;
	int error = named_obtain(process, opening, named, &is_new);

	assert(ux_lock_held());
	if (error != 0)
		return error;
	error = named_open_file(process, *named, opening->flags, operations, fd);
	if (error != 0 && is_new)
		named_take_name(*named);
	return error;
}

/* ---------------- Open files ---------------- */

uint64_t named_bytes_of(uid_t payer, bool all_users)
{
	uint64_t bytes = 0;

	list_for_each_object (const struct named, named, &all, link) {
		if (all_users ? named->payer != 0 : named->payer == payer)
			bytes += (uint64_t)named->size;
	}
	return bytes;
}

void named_stat(struct open_file *file, struct stat *result)
{
	const struct named *named = file->data;

	*result = (struct stat){
		.st_ino = named->number,
		.st_mode = named->mode | (named->kind == NAMED_MEMORY ? S_IFREG : 0),
		.st_nlink = named->name != NULL,
		.st_uid = named->uid,
		.st_gid = named->gid,
		.st_size = named->size,
		.st_blksize = PAGE_SIZE,
		.st_atime = named->made,
		.st_mtime = named->made,
		.st_ctime = named->made,
	};
}

void named_close(struct open_file *file)
{
	assert(ux_lock_held());
	named_release(file->data);
}
