/* SPDX-License-Identifier: MIT */
/*
 * execve: a process goes on with another program.  Guarded by the server's lock.
 *
 * The program gets a task of its own.  Only when that is ready, and nothing can fail any more, the
 * process's other threads are ended, and its task is.  So the answer is an error and nothing has
 * happened, or there is no answer, because nobody is left who could receive it.
 */
#include <sys/wait.h>
#include <ux/bsd_server.h>

#include "file/descriptors.h"
#include "fs/vnode.h"
#include "process/executed.h"
#include "process/program.h"
#include "process/task.h"
#include "process/thread.h"
#include "trace/trace.h"

/* The process's calls but this one may still be at work with what is about to change.  Unlocks. */
static void exec_await_other_calls(struct process *process, unsigned own)
{
	while (process->calls > own)
		ux_sleep(calls_channel(process), NULL);
}

/* What bits of the file's mode give. */
static void exec_change_user(struct process *process, const struct vnode *vnode)
{
	struct credentials *who = &process->credentials;

	if (vnode_changes_user(vnode, who))
		trace_change_user(process);
	if ((vnode->mode & S_ISUID) != 0)
		who->euid = vnode->uid;
	if ((vnode->mode & S_ISGID) != 0)
		who->egid = vnode->gid;
	who->suid = who->euid;
	who->sgid = who->egid;
	process->was_other = false; /* What the program before had is gone with its task. */
}

static void exec_change_executable(struct process *process, struct program *program)
{
	struct vnode *old = process->executable;

	executed_release(process->executed);
	process->executed = program->executed;
	program->executed = NULL;
	process->executable = program->vnode;
	program->vnode = NULL;
	if (old == NULL)
		return;
	old->executions--;
	vnode_release(old);
}

/* The old task has been left; its timers and its usage are the process's. */
static void exec_change_task(struct process *process, struct program *program)
{
	if (process->task != MACH_PORT_NULL) {
		timers_leave_task(process);
		task_add_usage(process->task, &process->usage);
	}
	process_change_task(process, program->task);
	program->task = MACH_PORT_NULL;
	timers_new_task(process);
	memcpy(process->command, program->command, sizeof process->command);
	process->has_executed = true;
}

/*
 * Lets the first thread of the new program run, or stops the process before that.  False: there is
 * no memory for it.
 */
static bool exec_begin(struct process *process, struct thread *first)
{
	bool is_stopped = process->stops_at_exec;

	process->stops_at_exec = false;
	process->signals.is_stopped |= is_stopped;
	process->signals.is_held |= is_stopped; /* exceptions_catch() suspends the task then. */
	/* Before it runs, since it would otherwise be seen without. */
	if (!exceptions_catch(process) || thread_resume(first->kernel) != KERN_SUCCESS)
		return false;
	if (is_stopped)
		process_stopped(process, SIGSTOP);
	return true;
}

/*
 * The process becomes the program, of whose calls `own` are the caller's.  It may be ended
 * meanwhile; what it has become by then ends with it.  Unlocks.
 */
static void exec_become(struct process *process, struct program *program, unsigned own)
{
	struct thread *first = program->first;

	threads_end(process); /* The caller too, whose structure stays until its call is over. */
	exec_change_task(process,
			 program); /* While the file is still that of the task that ends. */
	exec_change_executable(process, program);
	exec_await_other_calls(process, own);
	if (process->is_exiting)
		return;
	process->last_thread_id = 0;
	signals_exec(&process->signals);
	exec_change_user(process, process->executable);
	descriptors_exec(process->descriptors);
	if (process->is_exiting)
		return;
	program->first = NULL;
	thread_enter(first);
	if (!exec_begin(process, first))
		fault_kill(process, "there was no memory for it to begin");
	else
		signal_check(process);
}

static struct program *exec_program_for(struct process *process)
{
	struct program *program = ux_allocate(sizeof *program);

	if (program != NULL)
		program->process = process;
	return program;
}

/* A thread that was ended meanwhile, by another one's exec perhaps, executes nothing any more. */
kern_return_t ux_execve(caller_t caller, const_path_t path, unsigned argument_count,
			long_bytes_t strings, mach_msg_type_number_t size)
{
	struct program *program = exec_program_for(caller->process);
	int error;

	if (program == NULL)
		return ENOMEM;
	error = arguments_take(&program->arguments, strings, size, argument_count);
	if (error == 0)
		error = program_find(program, path);
	if (error == 0)
		error = program_load(program);
	if (error == 0 && caller->is_ending)
		error = EINTR;
	if (error == 0) {
		program->first->signals.mask = caller->signals.mask;
		exec_become(caller->process, program, 1);
		error = MIG_NO_REPLY;
	}
	program_forget(program);
	return error;
}

kern_return_t ux_stop_at_exec(caller_t caller)
{
	caller->process->stops_at_exec = true;
	return 0;
}

int program_start_first(struct process *process, const char *path, const char *strings, size_t size,
			unsigned argc)
{
	struct program *program = exec_program_for(process);
	int error;

	if (program == NULL)
		return ENOMEM;
	error = arguments_take(&program->arguments, strings, size, argc);
	if (error == 0)
		error = program_find(program, path);
	if (error == 0)
		error = program_load(program);
	if (error == 0)
		exec_become(process, program, 0);
	program_forget(program);
	return error;
}
