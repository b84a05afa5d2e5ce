/* SPDX-License-Identifier: MIT */
/*
 * Limits of processes: see limits.h.  Guarded by the server's lock.
 *
 * Three are kept: of a user's processes, of descriptors and of memory.  There are no core files, so
 * that any limit of theirs holds.  The others are told as none, and cannot be set: a program shall
 * not believe in what nobody sees to.
 */
#include "process/limits.h"

#include <mach/vm_param.h>
#include <mach/vm_wire.h>
#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/thread.h"

/* Of the server's tables one user may have three quarters: others find room. */
#define USER_PROCESSES (UX_PROCESSES_MAX * 3 / 4)
#define USER_THREADS   (UX_THREADS_MAX * 3 / 4)

void limits_init(struct rlimit *limits)
{
	for (int which = 0; which < RLIM_NLIMITS; which++)
		limits[which] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	limits[RLIMIT_CORE] = (struct rlimit){0, RLIM_INFINITY};
	limits[RLIMIT_NPROC] = (struct rlimit){USER_PROCESSES, USER_PROCESSES};
	limits[RLIMIT_NOFILE] = (struct rlimit){UX_OPEN_MAX, UX_OPEN_MAX};
}

/* ---------------- What a user has ---------------- */

bool limits_allow_process(const struct process *parent)
{
	unsigned long n = 0, most = parent->limits[RLIMIT_NPROC].rlim_cur;
	struct list *link;

	if (is_root(parent) || n_processes < most)
		return true;
	list_for_each (link, &processes) {
		const struct process *other = list_object(link, struct process, link);

		n += other->credentials.uid == parent->credentials.uid;
	}
	return n < most;
}

bool limits_allow_thread(const struct process *process)
{
	unsigned n = 0;
	struct list *link;

	if (is_root(process) || threads_there_were() < USER_THREADS)
		return true;
	list_for_each (link, &processes) {
		const struct process *other = list_object(link, struct process, link);
		struct list *thread;

		if (other->credentials.uid != process->credentials.uid)
			continue;
		list_for_each (thread, &other->threads)
			n++;
	}
	return n < USER_THREADS;
}

/* ---------------- What its task has ---------------- */

int limits_of_task(const struct process *process, mach_port_t task)
{
	const struct rlimit *memory = &process->limits[RLIMIT_AS];
	vm_size_t limit = memory->rlim_cur, most = memory->rlim_max;

	if (limit > VM_MAX_ADDRESS)
		limit = VM_MAX_ADDRESS;
	if (most > VM_MAX_ADDRESS)
		most = VM_MAX_ADDRESS;
	if (limit == VM_MAX_ADDRESS && most == VM_MAX_ADDRESS && task != process->task)
		return 0;
	return vm_set_size_limit(ux_boot.host_control, task, limit, most) == KERN_SUCCESS ? 0
											  : ENOMEM;
}

/* ---------------- Calls ---------------- */

static bool limits_are_kept(int which)
{
	return which == RLIMIT_CORE || which == RLIMIT_NPROC || which == RLIMIT_NOFILE ||
	       which == RLIMIT_AS;
}

kern_return_t ux_getrlimit(caller_t caller, int which, unsigned *limit, unsigned *most)
{
	const struct rlimit *limits = caller->process->limits;

	if (which < 0 || which >= RLIM_NLIMITS)
		return EINVAL;
	*limit = limits[which].rlim_cur;
	*most = limits[which].rlim_max;
	return 0;
}

kern_return_t ux_setrlimit(caller_t caller, int which, unsigned limit, unsigned most)
{
	struct process *process = caller->process;
	struct rlimit old;
	int error = 0;

	if (which < 0 || which >= RLIM_NLIMITS || limit > most)
		return EINVAL;
	if (!limits_are_kept(which) && limit != RLIM_INFINITY)
		return EINVAL;
	old = process->limits[which];
	if (most > old.rlim_max && !is_root(process))
		return EPERM;
	process->limits[which] = (struct rlimit){limit, most};
	if (which == RLIMIT_AS)
		error = limits_of_task(process, process->task);
	if (error != 0)
		process->limits[which] = old;
	return error;
}
