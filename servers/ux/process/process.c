/* SPDX-License-Identifier: MIT */
/*
 * Processes: their table, and how they end (process.h).  Guarded by the server's lock.
 *
 * A process ends in two steps.  First its task goes, so that no instruction of it is executed any
 * more, and its calls are broken off.  Those may be anywhere in the server, and find all that they
 * work with still there.  When the last of them is over, the process gives up what it has, and is
 * a zombie.
 */
#include "process/process.h"

#include <sys/wait.h>
#include <ux/bsd_server.h>

#include "file/descriptors.h"
#include "fs/vnode.h"
#include "process/executed.h"
#include "process/limits.h"
#include "process/past.h"
#include "process/task.h"
#include "process/thread.h"
#include "trace/trace.h"

#define PID_MAX       30000
#define KEPT_FOR_ROOT 4 /* Processes that others cannot have, so that root can put things right. */

struct list processes = LIST_INITIALIZER(processes);

unsigned n_processes;
static pid_t last_pid;

/* ---------------- The table ---------------- */

struct process *process_by_pid(pid_t pid)
{
	struct list *link;

	assert(ux_lock_held());
	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (process->pid == pid)
			return process;
	}
	return NULL;
}

static bool process_is_group(pid_t pgrp)
{
	struct list *link;

	list_for_each (link, &processes) {
		if (list_object(link, struct process, link)->pgrp == pgrp)
			return true;
	}
	return false;
}

/* A number that is neither a process's nor a group's. */
static pid_t process_free_pid(void)
{
	do {
		last_pid = last_pid >= PID_MAX ? PID_FIRST + 1 : last_pid + 1;
	} while (process_by_pid(last_pid) != NULL || process_is_group(last_pid));
	return last_pid;
}

struct process *process_reference(struct process *process)
{
	process->references++;
	return process;
}

void process_release(struct process *process)
{
	assert(process->references > 0);
	process->references--;
	if (!process->is_reaped || process->references > 0)
		return;
	if (process->ended_task != MACH_PORT_NULL)
		task_forget(process->ended_task);
	ux_free(process);
}

/* ---------------- Beginning ---------------- */

static bool process_may_be_made(const struct process *parent)
{
	bool by_root = parent == NULL || is_root(parent);

	return n_processes < UX_PROCESSES_MAX - (by_root ? 0 : KEPT_FOR_ROOT) &&
	       (by_root || limits_allow_process(parent));
}

/* Whether processes= allows no more; init, which is not counted, is told of who wanted one. */
static bool process_is_too_many(const struct process *parent)
{
	struct process *init = process_by_pid(PID_FIRST);

	if (ux_boot.processes == 0 || parent == NULL || is_root(parent) ||
	    n_processes <= ux_boot.processes)
		return false;
	signal_process_number(init, SIGUSR1);
	signal_check_later(init);
	return true;
}

/* What a child has of its parent, but for descriptors. */
static void process_inherit(struct process *child, struct process *parent)
{
	child->parent = parent;
	child->parent_pid = parent->pid;
	child->pgrp = parent->pgrp;
	child->credentials = parent->credentials;
	child->audit = parent->audit;
	child->was_other = parent->was_other;
	child->umask = parent->umask;
	memcpy(child->limits, parent->limits, sizeof child->limits);
	memcpy(child->command, parent->command, sizeof child->command);
	child->directory = vnode_reference(parent->directory);
	if (parent->executable != NULL) {
		child->executable = vnode_reference(parent->executable);
		child->executable->executions++;
	}
	child->executed = executed_reference(parent->executed);
	signals_fork(&child->signals, &parent->signals);
	trace_fork(child, parent);
	list_add_last(&parent->children, &child->sibling);
}

/* What pid 1 has instead. */
static void process_inherit_nothing(struct process *process)
{
	process->pgrp = process->pid;
	process->audit.ai_auid = AU_DEFAUDITID;
	process->umask = 022;
	limits_init(process->limits);
	process->directory = fs_root();
	signals_init(&process->signals);
}

/* The structure, with all that could not be had. */
static struct process *process_allocate(const struct process *parent)
{
	struct process *process = ux_allocate(sizeof *process);

	if (process == NULL)
		return NULL;
	process->descriptors =
		parent == NULL ? descriptors_new() : descriptors_fork(parent->descriptors);
	if (process->descriptors == NULL) {
		ux_free(process);
		return NULL;
	}
	list_init(&process->threads);
	list_init(&process->children);
	list_init(&process->sibling);
	timers_init(&process->timers);
	return process;
}

int process_new(struct process *parent, struct process **made)
{
	struct process *process;

	if (!process_may_be_made(parent) || process_is_too_many(parent))
		return EAGAIN;
	process = process_allocate(parent);
	if (process == NULL)
		return ENOMEM;
	process->pid = process_free_pid();
	if (parent != NULL)
		process_inherit(process, parent);
	else
		process_inherit_nothing(process);
	list_add_last(&processes, &process->link);
	n_processes++;
	*made = process;
	return 0;
}

/* What is known of the task from its beginning on. */
static void process_take_task(struct process *process, mach_port_t task)
{
	process->parent_task = past_parent(process);
	process->task_id = task_id(task);
	process->task_children = 0;
	process->task_begun = ux_now();
}

void process_change_task(struct process *process, mach_port_t task)
{
	mach_port_t old = process->task;

	assert(ux_lock_held());
	if (old != MACH_PORT_NULL)
		past_note(process, task == MACH_PORT_NULL ? UX_LIFE_ENDED : UX_LIFE_EXECUTED);
	process->task = task;
	if (task != MACH_PORT_NULL)
		process_take_task(process, task);
	if (old == MACH_PORT_NULL)
		return;
	if (process->ended_task != MACH_PORT_NULL)
		task_forget(process->ended_task);
	process->ended_task = old;
	serve_unwatch(old);
	syscall_task_terminate(old);
}

/* ---------------- Ending ---------------- */

/* The task, and with it what the kernel knows of how much it used; nothing can be pending then. */
static void process_leave_task(struct process *process)
{
	signals_end(process);
	if (process->task == MACH_PORT_NULL)
		return;
	task_add_usage(process->task, &process->usage);
	process_change_task(process, MACH_PORT_NULL);
}

static void process_leave_files(struct process *process)
{
	struct descriptors *descriptors = process->descriptors;
	struct vnode *directory = process->directory;
	struct vnode *executable = process->executable;

	trace_exit(process);
	executed_release(process->executed);
	process->executed = NULL;
	process->descriptors = NULL;
	process->directory = NULL;
	process->executable = NULL;
	descriptors_end(descriptors);
	vnode_release(directory);
	if (executable != NULL) {
		executable->executions--;
		vnode_release(executable);
	}
}

/*
 * Its children are pid 1's from now on, who waits for them, and is woken only for one that has
 * ended already: most processes leave none.
 */
static void process_leave_children(struct process *process)
{
	struct process *heir = process_by_pid(PID_FIRST);
	bool has_news = false;

	if (process == heir)
		return;
	while (!list_empty(&process->children)) {
		struct list *link = list_take_first(&process->children);
		struct process *child = list_object(link, struct process, sibling);

		child->parent = heir;
		has_news |= child->is_zombie || child->stop_signal != 0;
		list_add_last(&heir->children, link);
	}
	if (has_news)
		ux_wakeup(children_channel(heir));
}

/* Out of all lists; the structure goes when nobody refers to it any more. */
static void process_leave_lists(struct process *process)
{
	list_remove(&process->link);
	list_remove(&process->sibling);
	n_processes--;
	process->is_reaped = true;
	process_reference(process);
	process_release(process);
}

void process_reap(struct process *process)
{
	assert(process->is_exiting && process->calls == 0);
	process_leave_lists(process);
}

/* For a fork that failed: the process never was one to others. */
void process_abandon(struct process *process)
{
	struct process *parent = process->parent;

	process->is_exiting = true;
	exceptions_forget(process);
	process_leave_task(process);
	threads_end(process);
	process_leave_files(process);
	process_leave_lists(process);
	if (parent != NULL)
		ux_wakeup(children_channel(parent));
}

static void process_signal_parent(const struct process *process, int code, int status)
{
	const struct signal_info info = {
		.signal = SIGCHLD,
		.code = code,
		.pid = process->pid,
		.uid = process->credentials.uid,
		.value = (uint32_t)status,
	};

	signal_process(process->parent, &info);
	signal_check_later(process->parent);
}

void process_stopped(struct process *process, int signal)
{
	struct process *parent = process->parent;

	process->stop_signal = signal;
	if (signal == 0 || parent == NULL)
		return;
	ux_wakeup(children_channel(parent));
	if ((parent->signals.actions[SIGCHLD].flags & SA_NOCLDSTOP) == 0)
		process_signal_parent(process, CLD_STOPPED, signal);
}

static void process_tell_parent(struct process *process)
{
	struct process *parent = process->parent;

	if (parent->signals.actions[SIGCHLD].handler == SIG_IGN_WORD) {
		process_reap(process);
		ux_wakeup(children_channel(parent));
		return;
	}
	ux_wakeup(children_channel(parent));
	if (WIFSIGNALED(process->status))
		process_signal_parent(process, CLD_KILLED, WTERMSIG(process->status));
	else
		process_signal_parent(process, CLD_EXITED, WEXITSTATUS(process->status));
}

#define SIGNALLED 128 /* As shells tell of an end by a signal, whose number is added. */

/* Where nobody is left who could wait for others, the machine has nothing to do any more. */
static _Noreturn void process_end_of_first(const struct process *process)
{
	int status = process->status;

	if (WIFSIGNALED(status))
		ux_log("process 1 was ended by signal %d", WTERMSIG(status));
	ux_halt(UX_HALT, WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status));
}

void process_finish(struct process *process)
{
	assert(process->is_exiting && process->calls == 0);
	process_reference(process);
	process_leave_files(process);
	if (process->pid == PID_FIRST)
		process_end_of_first(process);
	process_leave_children(process);
	process->is_zombie = true;
	process_tell_parent(process);
	process_release(process);
}

void process_exit(struct process *process, int status)
{
	assert(ux_lock_held());
	if (process->is_exiting)
		return;
	process->is_exiting = true;
	process->status = status;
	timers_end(process);
	exceptions_forget(process);
	threads_end(process); /* Before they end with their task, of which the kernel would tell. */
	process_leave_task(process);
	process->usage.ru_nsignals = (int32_t)process->signals.taken;
	ux_wakeup(calls_channel(process));
	if (process->calls == 0)
		process_finish(process);
}

kern_return_t ux_exit(caller_t caller, int status)
{
	process_exit(caller->process, W_EXITCODE(status & 0xff, 0));
	return MIG_NO_REPLY;
}
