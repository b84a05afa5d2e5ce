/* SPDX-License-Identifier: MIT */
/*
 * Who a process is, and what that allows it.  Guarded by the server's lock.
 *
 * The rules are those of 4.4BSD: root may become anybody, and for good; others may only give up
 * what a program with a set-user-id bit gave them.
 */
#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/task.h"
#include "process/thread.h"

#define GROUP_KMEM 2

bool is_root(const struct process *process)
{
	return process->credentials.euid == 0;
}

bool is_in_group(const struct credentials *credentials, gid_t group)
{
	if (credentials->egid == group)
		return true;
	for (unsigned n = 0; n < credentials->n_groups; n++) {
		if (credentials->groups[n] == group)
			return true;
	}
	return false;
}

bool may_control(const struct process *one, const struct process *other)
{
	const struct credentials *who = &one->credentials, *whom = &other->credentials;

	return who->euid == 0 || who->uid == whom->uid || who->uid == whom->suid ||
	       who->euid == whom->uid || who->euid == whom->suid;
}

uid_t owner_of(const struct process *process)
{
	const struct credentials *whose = &process->credentials;
	bool is_one = whose->uid == whose->euid && whose->uid == whose->suid &&
		      whose->gid == whose->egid && whose->gid == whose->sgid;

	return is_one && !process->was_other ? whose->uid : 0;
}

bool may_own(const struct process *one, const struct process *other)
{
	uid_t who = one->credentials.euid;

	return who == 0 || one == other || who == owner_of(other);
}

bool may_have_server(const struct process *process)
{
	return is_root(process) || is_in_group(&process->credentials, GROUP_KMEM);
}

/* ---------------- Calls ---------------- */

kern_return_t ux_identity(caller_t caller, identity_t *identity)
{
	const struct process *process = caller->process;
	const struct credentials *credentials = &process->credentials;

	*identity = (identity_t){
		.pid = process->pid,
		.parent = process->parent == NULL ? 0 : process->parent->pid,
		.pgrp = process->pgrp,
		.uid = credentials->uid,
		.euid = credentials->euid,
		.gid = credentials->gid,
		.egid = credentials->egid,
		.thread = caller->id,
	};
	return 0;
}

kern_return_t ux_getpid(caller_t caller, int *pid)
{
	*pid = caller->process->pid;
	return 0;
}

kern_return_t ux_getgroups(caller_t caller, groups_t groups, mach_msg_type_number_t *n_groups)
{
	const struct credentials *credentials = &caller->process->credentials;

	memcpy(groups, credentials->groups, credentials->n_groups * sizeof groups[0]);
	*n_groups = credentials->n_groups;
	return 0;
}

kern_return_t ux_setgroups(caller_t caller, const groups_t groups, mach_msg_type_number_t n_groups)
{
	struct credentials *credentials = &caller->process->credentials;

	if (!is_root(caller->process))
		return EPERM;
	if (n_groups > UX_GROUPS_MAX)
		return EINVAL;
	memcpy(credentials->groups, groups, n_groups * sizeof groups[0]);
	credentials->n_groups = n_groups;
	return 0;
}

kern_return_t ux_setuid(caller_t caller, unsigned uid)
{
	struct credentials *credentials = &caller->process->credentials;

	if (uid != credentials->uid && !is_root(caller->process))
		return EPERM;
	if (uid != credentials->uid && task_charge(caller->process->task, uid) != 0)
		return EAGAIN;
	caller->process->was_other |= uid != credentials->euid || uid != credentials->suid;
	credentials->uid = credentials->euid = credentials->suid = uid;
	return 0;
}

/* For a while: back to the real one, or to what the program's file gave it, is always allowed. */
kern_return_t ux_seteuid(caller_t caller, unsigned uid)
{
	struct credentials *credentials = &caller->process->credentials;

	if (uid != credentials->uid && uid != credentials->suid && !is_root(caller->process))
		return EPERM;
	caller->process->was_other |= uid != credentials->euid;
	credentials->euid = uid;
	return 0;
}

kern_return_t ux_setegid(caller_t caller, unsigned gid)
{
	struct credentials *credentials = &caller->process->credentials;

	if (gid != credentials->gid && gid != credentials->sgid && !is_root(caller->process))
		return EPERM;
	caller->process->was_other |= gid != credentials->egid;
	credentials->egid = gid;
	return 0;
}

kern_return_t ux_setgid(caller_t caller, unsigned gid)
{
	struct credentials *credentials = &caller->process->credentials;

	if (gid != credentials->gid && !is_root(caller->process))
		return EPERM;
	caller->process->was_other |= gid != credentials->egid || gid != credentials->sgid;
	credentials->gid = credentials->egid = credentials->sgid = gid;
	return 0;
}

/* ---------------- Process groups ---------------- */

static bool identity_is_group_of(pid_t pgrp, const struct process *process)
{
	struct list *link;

	if (pgrp == process->pid)
		return true;
	list_for_each (link, &processes) {
		const struct process *other = list_object(link, struct process, link);

		if (other->pgrp == pgrp && other->credentials.uid == process->credentials.uid)
			return true;
	}
	return false;
}

/* Of the caller itself, or of a child of its own that has not executed another program yet. */
kern_return_t ux_setpgid(caller_t caller, int pid, int pgrp)
{
	struct process *process = caller->process;

	if (pid < 0 || pgrp < 0)
		return EINVAL;
	if (pid != 0 && pid != process->pid) {
		process = process_by_pid(pid);
		if (process == NULL || process->parent != caller->process || process->is_zombie)
			return ESRCH;
		if (process->has_executed)
			return EACCES;
	}
	if (pgrp == 0)
		pgrp = process->pid;
	if (!identity_is_group_of(pgrp, process))
		return EPERM;
	process->pgrp = pgrp;
	return 0;
}
