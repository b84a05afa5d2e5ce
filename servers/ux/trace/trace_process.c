/* SPDX-License-Identifier: MIT */
/*
 * Who is traced, for what and into which file: ktrace().  Guarded by the server's lock.
 *
 * The rules are 4.4BSD's.  A trace tells all that a program reads and writes, so it is for who may
 * be the process: its user, if it never had the rights of another.  What root has set, only root
 * changes.
 */
#include <sys/ktrace.h>
#include <sys/unistd.h>
#include <ux/bsd_server.h>

#include "fs/vnode.h"
#include "process/process.h"
#include "process/thread.h"
#include "trace/trace.h"
#include "trace/trace_file.h"

#define FACILITIES                                                                                 \
	(KTRFAC_SYSCALL | KTRFAC_SYSRET | KTRFAC_NAMEI | KTRFAC_GENIO | KTRFAC_PSIG | KTRFAC_CSW | \
	 KTRFAC_USER)

/* What a call of ktrace() does to each process that it names. */
struct change {
	struct process *caller;
	int operation;
	uint32_t flags;
	bool descends;
	struct trace_file *file; /* Of KTROP_SET. */
	unsigned changed;        /* So many processes, */
	int error;               /* of some of which not all could be. */
};

/* ---------------- One process ---------------- */

void trace_stop(struct process *process)
{
	struct trace_file *file = process->trace_file;

	trace_waits_end(process);
	process->trace_flags = 0;
	process->trace_file = NULL;
	if (file == NULL)
		return;
	ux_wakeup(file); /* Who waits for room records nothing any more. */
	trace_file_release(file);
}

static bool trace_may_change(const struct process *caller, const struct process *process)
{
	uid_t owner = owner_of(process);

	if (is_root(caller))
		return true;
	return (process->trace_flags & KTRFAC_ROOT) == 0 && owner != 0 &&
	       owner == caller->credentials.euid &&
	       process->credentials.gid == caller->credentials.gid;
}

static void trace_clear(struct process *process, uint32_t flags)
{
	process->trace_flags &= ~flags;
	if ((process->trace_flags & KTRFAC_CSW) == 0)
		trace_waits_end(process);
	if ((process->trace_flags & FACILITIES) == 0)
		trace_stop(process);
}

/* The kernel tells of the waits of so many and no more. */
static int trace_set_waits(struct process *process)
{
	if ((process->trace_flags & KTRFAC_CSW) == 0 || process->trace_stream != NULL ||
	    trace_waits_begin(process))
		return 0;
	trace_clear(process, KTRFAC_CSW);
	return EAGAIN;
}

static int trace_set(struct process *process, const struct change *change)
{
	if (process->trace_file != change->file) {
		trace_stop(process);
		process->trace_file = trace_file_reference(change->file);
	}
	process->trace_flags |= change->flags | (is_root(change->caller) ? KTRFAC_ROOT : 0);
	return trace_set_waits(process);
}

static void trace_change_one(struct process *process, struct change *change)
{
	int error = 0;

	if (process->is_exiting || !trace_may_change(change->caller, process))
		return;
	change->changed++;
	if (change->operation == KTROP_SET)
		error = trace_set(process, change);
	else
		trace_clear(process, change->flags);
	if (error != 0)
		change->error = error;
}

/* ---------------- Several ---------------- */

/* The next one of a tree, whose root is `top`: children before their siblings. */
static struct process *trace_next_below(struct process *process, const struct process *top)
{
	if (!list_empty(&process->children))
		return list_first_object(&process->children, struct process, sibling);
	while (process != top && process->sibling.next == &process->parent->children)
		process = process->parent;
	return process == top ? NULL : list_object(process->sibling.next, struct process, sibling);
}

static void trace_change_tree(struct process *top, struct change *change)
{
	struct process *process = top;

	do {
		trace_change_one(process, change);
		process = trace_next_below(process, top);
	} while (process != NULL && change->descends);
}

static bool trace_change_group(pid_t pgrp, struct change *change)
{
	bool is_found = false;
	struct list *link;

	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (process->pgrp != pgrp || process->is_exiting)
			continue;
		is_found = true;
		trace_change_tree(process, change);
	}
	return is_found;
}

static int trace_change(pid_t pid, struct change *change)
{
	struct process *process = pid > 0 ? process_by_pid(pid) : NULL;
	bool is_found = process != NULL && !process->is_exiting;

	if (is_found)
		trace_change_tree(process, change);
	else if (pid < 0)
		is_found = trace_change_group(-pid, change);
	if (!is_found)
		return ESRCH;
	return change->changed > 0 ? change->error : EPERM;
}

/* EPERM if somebody is left who is traced into it. */
static int trace_clear_file(const struct process *caller, const struct trace_file *file)
{
	struct list *link;
	int error = 0;

	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (file == NULL || process->trace_file != file)
			continue;
		if (trace_may_change(caller, process))
			trace_stop(process);
		else
			error = EPERM;
	}
	return error;
}

/* ---------------- The file ---------------- */

/* A file that the caller may read and write; not by a link, which leads anywhere.  Unlocks. */
static int trace_find_file(struct process *caller, const char *path, struct vnode **vnode)
{
	int error = path_lookup(caller, path, false, vnode);

	if (error != 0)
		return error;
	if (!S_ISREG((*vnode)->mode))
		error = EACCES;
	if (error == 0)
		error = vnode_access(*vnode, &caller->credentials, R_OK | W_OK);
	if (error == 0 && (*vnode)->executions > 0)
		error = ETXTBSY;
	if (error != 0)
		vnode_release(*vnode);
	return error;
}

static int trace_change_into(struct vnode *vnode, pid_t pid, struct change *change)
{
	int error = trace_file_get(vnode, &change->file);

	if (error != 0)
		return error;
	error = trace_change(pid, change);
	trace_file_release(change->file);
	return error;
}

/* ---------------- The call ---------------- */

static int trace_with_file(const char *path, pid_t pid, struct change *change)
{
	struct vnode *vnode;
	int error = trace_find_file(change->caller, path, &vnode);

	if (error != 0)
		return error;
	if (change->operation == KTROP_CLEARFILE)
		error = trace_clear_file(change->caller, vnode->trace);
	else if ((change->flags & FACILITIES) == 0)
		error = EINVAL;
	else
		error = trace_change_into(vnode, pid, change);
	vnode_release(vnode);
	return error;
}

kern_return_t ux_ktrace(caller_t caller, const_path_t path, int operation, unsigned facilities,
			int pid)
{
	struct change change = {
		.caller = caller->process,
		.operation = KTROP(operation),
		.flags = facilities & (FACILITIES | KTRFAC_INHERIT),
		.descends = (operation & KTRFLAG_DESCEND) != 0,
	};

	if ((operation & ~(3 | KTRFLAG_DESCEND)) != 0 || change.operation > KTROP_CLEARFILE)
		return EINVAL;
	if (change.operation != KTROP_CLEAR)
		return trace_with_file(path, pid, &change);
	return change.flags != 0 ? trace_change(pid, &change) : EINVAL;
}

kern_return_t ux_utrace(caller_t caller, bytes_t data, mach_msg_type_number_t size)
{
	if (size > KTR_USER_MAX)
		return EINVAL;
	trace_words(caller, data, size);
	return 0;
}

/* ---------------- The life of a process ---------------- */

void trace_fork(struct process *child, const struct process *parent)
{
	if ((parent->trace_flags & KTRFAC_INHERIT) == 0)
		return;
	child->trace_flags = parent->trace_flags;
	child->trace_file = trace_file_reference(parent->trace_file);
	trace_waits_inherit(child, parent);
}

void trace_change_user(struct process *process)
{
	if ((process->trace_flags & KTRFAC_ROOT) == 0) {
		trace_stop(process);
		return;
	}
	/* The process's new task is not the old one's child, and so not watched with it. */
	trace_waits_end(process);
	if (trace_set_waits(process) != 0)
		ux_log("ktrace: waits of process %d are not recorded any more", process->pid);
}

void trace_exit(struct process *process)
{
	trace_stop(process);
}
