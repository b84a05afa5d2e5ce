/* SPDX-License-Identifier: MIT */
/*
 * What processes may know of each other, and rights that only some may have.  Guarded by the
 * server's lock.
 *
 * Whoever has a task's port can do to the task what it could do itself.  So it is given only to
 * those who are the process's user anyway, and the server's own, as pid 0, to those who may have
 * that.
 */
#include <mach/task_info.h>
#include <ux/bsd_server.h>

#include "process/executed.h"
#include "process/past.h"
#include "process/process.h"
#include "process/task.h"
#include "process/thread.h"

#define SERVER_PATH   "/mach_servers/startup" /* What boot/manifest calls it. */
#define MS_PER_SECOND 1000

/* ---------------- Rights ---------------- */

/*
 * The answer has a right of its own: it goes out without the lock, when the name that the server
 * has may already mean somebody else's port.
 */
static kern_return_t info_give(bool may_have, mach_port_t name, mach_port_t *port)
{
	if (!may_have)
		return EPERM;
	if (mach_port_mod_refs(mach_task_self_cached(), name, MACH_PORT_RIGHT_SEND, 1) !=
	    KERN_SUCCESS)
		return ESRCH; /* It is dead. */
	*port = name;
	return 0;
}

kern_return_t ux_task_by_pid(caller_t caller, int pid, mach_port_t *task)
{
	const struct process *one = caller->process, *other;

	switch (pid) {
	case PID_HOST:
		return info_give(is_root(one), ux_boot.host_control, task);
	case PID_SERVER:
		return info_give(may_have_server(one), mach_task_self_cached(), task);
	}
	other = process_by_pid(pid);
	if (other == NULL || other->task == MACH_PORT_NULL)
		return ESRCH;
	return info_give(may_own(one, other), other->task, task);
}

static kern_return_t info_tell_path(bool may_know, const char *path, path_t result)
{
	if (!may_know)
		return EPERM;
	if (path[0] == '\0')
		return ENAMETOOLONG;
	format(result, PATH_MAX, "%s", path);
	return 0;
}

/* Who may have the server's task could find the path in its memory, and so is told. */
kern_return_t ux_executable(caller_t caller, int pid, path_t path)
{
	const struct process *one = caller->process, *other;

	if (pid == PID_SERVER)
		return info_tell_path(may_have_server(one), SERVER_PATH, path);
	other = process_by_pid(pid);
	if (other == NULL || other->task == MACH_PORT_NULL || other->executed == NULL)
		return ESRCH;
	return info_tell_path(may_own(one, other) || may_have_server(one),
			      executed_path(other->executed), path);
}

static const struct process *process_of_task(uint32_t task_id)
{
	struct list *link;

	list_for_each (link, &processes) {
		const struct process *process = list_object(link, struct process, link);

		if (process->task_id == task_id && process->task != MACH_PORT_NULL)
			return process;
	}
	return NULL;
}

static const char *info_path_of(const struct process *process)
{
	return process->executed != NULL ? executed_path(process->executed) : "";
}

static kern_return_t info_tell_program(const char *name, bool may_know, const char *file,
				       command_t command, path_t path)
{
	format(command, sizeof(command_t), "%s", name);
	format(path, PATH_MAX, "%s", may_know ? file : "");
	return 0;
}

kern_return_t ux_task_program(caller_t caller, unsigned task, int *pid, command_t command,
			      path_t path)
{
	const struct process *one = caller->process, *other = process_of_task(task);
	const struct past *past = past_find(task);

	if (other != NULL) {
		*pid = other->pid;
		return info_tell_program(other->command,
					 may_own(one, other) || may_have_server(one),
					 info_path_of(other), command, path);
	}
	if (past != NULL) {
		*pid = past->life.pid;
		return info_tell_program(past->life.command,
					 past->owner == one->credentials.euid ||
						 may_have_server(one),
					 past_path(task), command, path);
	}
	*pid = PID_SERVER;
	if (task != task_id(mach_task_self_cached()))
		return ESRCH;
	return info_tell_program("ux", may_have_server(one), SERVER_PATH, command, path);
}

/* No more than ps shows everybody, and for longer. */
kern_return_t ux_task_life(caller_t caller, unsigned task, struct ux_task_life *life)
{
	const struct process *process = process_of_task(task);
	const struct past *past = past_find(task);

	(void)caller;
	if (process != NULL)
		*life = past_life(process);
	else if (past != NULL)
		*life = past->life;
	else if (task == task_id(mach_task_self_cached()))
		*life = (struct ux_task_life){.task_id = task, .command = "ux"};
	else
		return ESRCH;
	return 0;
}

kern_return_t ux_device_port(caller_t caller, mach_port_t *port)
{
	return info_give(is_root(caller->process), ux_boot.device_master, port);
}

/* ---------------- What was used ---------------- */

kern_return_t ux_getrusage(caller_t caller, int who, struct rusage *usage)
{
	const struct process *process = caller->process;

	switch (who) {
	case RUSAGE_SELF:
		*usage = process->usage;
		usage->ru_nsignals = (int32_t)process->signals.taken;
		task_add_usage(process->task, usage);
		return 0;
	case RUSAGE_CHILDREN:
		*usage = process->children_usage;
		return 0;
	default:
		return EINVAL;
	}
}

/* ---------------- All processes ---------------- */

static uint32_t info_ms_of(const struct timeval *time)
{
	return (uint32_t)time->tv_sec * MS_PER_SECOND +
	       (uint32_t)time->tv_usec / (1000000 / MS_PER_SECOND);
}

/* What is told of any task: of a process, or of the server. */
static void info_describe_task(mach_port_t task, struct rusage *usage, struct ux_process_info *info)
{
	struct task_basic_info basic = {0};
	mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT;

	if (task != MACH_PORT_NULL) {
		task_info(task, TASK_BASIC_INFO, (task_info_t)&basic, &count);
		task_add_usage(task, usage);
	}
	info->size = basic.virtual_size;
	info->resident = basic.resident_size;
	info->user_ms = info_ms_of(&usage->ru_utime);
	info->system_ms = info_ms_of(&usage->ru_stime);
}

static bool info_is_running(mach_port_t thread)
{
	struct thread_basic_info info = {.run_state = TH_STATE_WAITING};
	mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;

	thread_info(thread, THREAD_BASIC_INFO, (thread_info_t)&info, &count);
	return info.run_state == TH_STATE_RUNNING;
}

/*
 * A process runs if one of its threads does; one that waits for an answer of the server's does not.
 */
static char info_state_of(const struct process *process)
{
	struct list *link;

	if (process->is_exiting)
		return UX_ZOMBIE;
	if (process->signals.is_stopped)
		return UX_STOPPED;
	list_for_each (link, &process->threads) {
		if (info_is_running(list_object(link, struct thread, link)->kernel))
			return UX_RUNNING;
	}
	return UX_WAITING;
}

void process_describe(const struct process *process, struct ux_process_info *info)
{
	struct rusage usage = process->usage;
	struct list *link;

	*info = (struct ux_process_info){
		.pid = process->pid,
		.ppid = process->parent == NULL ? PID_SERVER : process->parent->pid,
		.pgrp = process->pgrp,
		.uid = process->credentials.uid,
		.task_id = process->task_id,
		.state = (uint32_t)info_state_of(process),
	};
	list_for_each (link, &process->threads)
		info->threads++;
	memcpy(info->command, process->command, sizeof info->command);
	info_describe_task(process->task, &usage, info);
}

/* The server itself. */
static void info_describe_server(struct ux_process_info *info)
{
	struct rusage usage = {.ru_maxrss = 0};

	*info = (struct ux_process_info){
		.pid = PID_SERVER,
		.task_id = task_id(mach_task_self_cached()),
		.threads = serve_threads(),
		.state = UX_RUNNING,
		.command = "ux",
	};
	info_describe_task(mach_task_self_cached(), &usage, info);
}

static unsigned info_count_processes(void)
{
	unsigned n = 0;
	struct list *link;

	list_for_each (link, &processes)
		n++;
	return n;
}

/* The memory goes with the answer. */
kern_return_t ux_processes(caller_t caller, long_bytes_t *data, mach_msg_type_number_t *size)
{
	size_t bytes = (info_count_processes() + 1) * sizeof(struct ux_process_info);
	struct ux_process_info *info = ux_allocate_pages(bytes);
	struct list *link;

	(void)caller;
	if (info == NULL)
		return ENOMEM;
	*data = (long_bytes_t)info;
	*size = bytes;
	info_describe_server(info++);
	list_for_each (link, &processes)
		process_describe(list_object(link, struct process, link), info++);
	return 0;
}
