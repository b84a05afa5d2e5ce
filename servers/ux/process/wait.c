/* SPDX-License-Identifier: MIT */
/* wait4: a parent learns how its children ended.  Guarded by the server's lock. */
#include <sys/wait.h>
#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/task.h"
#include "process/thread.h"

/* Whether `pid`, as wait4() takes it, means this child. */
static bool wait_is_meant(const struct process *child, pid_t pid, const struct process *parent)
{
	if (pid > 0)
		return child->pid == pid;
	if (pid == 0)
		return child->pgrp == parent->pgrp;
	return pid == -1 || child->pgrp == -pid;
}

static bool wait_has_news(const struct process *child, int options)
{
	return child->is_zombie || ((options & WUNTRACED) != 0 && child->stop_signal != 0);
}

/* A child that is meant: one with news if there is one, else any; null if there is none at all. */
static struct process *wait_find_child(const struct process *parent, pid_t pid, int options)
{
	struct process *found = NULL;
	struct list *link;

	list_for_each (link, &parent->children) {
		struct process *child = list_object(link, struct process, sibling);

		if (!wait_is_meant(child, pid, parent))
			continue;
		found = child;
		if (wait_has_news(child, options))
			break;
	}
	return found;
}

/* Tells of a child; a zombie is no more after that. */
static void wait_tell(struct process *parent, struct process *child, int *ended, int *status,
		      struct rusage *usage)
{
	*ended = child->pid;
	*usage = child->usage;
	if (!child->is_zombie) {
		*status = W_EXITCODE(child->stop_signal, WSTOPPED_MARK);
		child->stop_signal = 0;
		return;
	}
	*status = child->status;
	usage_add(usage, &child->children_usage);
	usage_add(&parent->children_usage, usage);
	process_reap(child);
}

kern_return_t ux_wait4(caller_t caller, int pid, int options, int *ended, int *status,
		       struct rusage *usage)
{
	struct process *parent = caller->process;
	int error = 0;

	if ((options & ~(WNOHANG | WUNTRACED)) != 0)
		return EINVAL;
	while (error == 0) {
		struct process *child = wait_find_child(parent, pid, options);

		if (child == NULL)
			return ECHILD;
		if (wait_has_news(child, options)) {
			wait_tell(parent, child, ended, status, usage);
			return 0;
		}
		if ((options & WNOHANG) != 0) {
			*ended = 0;
			*status = 0;
			*usage = (struct rusage){0};
			return 0;
		}
		error = ux_sleep(children_channel(parent), caller);
	}
	return error;
}
