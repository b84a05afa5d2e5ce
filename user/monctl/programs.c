/* SPDX-License-Identifier: MIT */
/* A list of programs by task.  Numbers of tasks are not used again, so nothing in it grows old. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/common.h"
#include "programs.h"

static struct program *programs;

struct program *programs_first(void)
{
	return programs;
}

static struct program *add(uint32_t task, uint32_t pid, const char *name)
{
	struct program *program = allocate(sizeof(*program));

	*program = (struct program){.next = programs, .task = task, .pid = pid};
	snprintf(program->name, sizeof(program->name), "%.20s", name);
	programs = program;
	return program;
}

static struct program *find(uint32_t task)
{
	for (struct program *program = programs; program != NULL; program = program->next)
		if (program->task == task)
			return program;
	return NULL;
}

static const struct program *find_file(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return NULL;
	for (const struct program *program = programs; program != NULL; program = program->next)
		if (program->executable.path != NULL &&
		    program->executable.inode == (uint32_t)status.st_ino &&
		    program->executable.size == (size_t)status.st_size &&
		    program->executable.changed == status.st_mtime &&
		    strcmp(program->executable.path, path) == 0)
			return program;
	return NULL;
}

/*
 * A file is read once, whoever executes it.  One that cannot be read leaves the program without
 * functions: addresses are what is shown.
 */
static void read_file(struct program *program, const char *path)
{
	const struct program *same = find_file(path);

	if (same != NULL) {
		program->executable = same->executable;
		program->has_functions = same->has_functions;
		return;
	}
	if (executable_open(&program->executable, path))
		program->has_functions = executable_read_functions(&program->executable);
}

/* The file of others of that name, if all have the same: what has ended cannot be asked for its
 * own. */
static const char *path_of_name(const char *name)
{
	const char *path = NULL;

	for (const struct program *program = programs; program != NULL; program = program->next) {
		if (program->executable.path == NULL || strcmp(program->name, name) != 0)
			continue;
		if (path != NULL && strcmp(path, program->executable.path) != 0)
			return NULL;
		path = program->executable.path;
	}
	return path;
}

/* A process that has executed another program meanwhile has that one's path, and another task. */
static bool path_of_process(const struct ux_process_info *info, char *path, size_t room)
{
	struct ux_process_info now;

	return ux_executable(info->pid, path, room) == 0 && process_of_task(&now, info->task_id);
}

/* It is about to execute another program: the task is that one's already, and the path not yet. */
static bool is_between(const struct ux_process_info *info)
{
	return info->threads == 0 && info->state != UX_ZOMBIE;
}

static struct program *add_process(const struct ux_process_info *info)
{
	struct program *program = add(info->task_id, (uint32_t)info->pid, info->command);
	const char *like = path_of_name(program->name);
	char path[PATH_MAX];

	if (path_of_process(info, path, sizeof(path)))
		read_file(program, path);
	else if (like != NULL)
		read_file(program, like);
	return program;
}

static bool is_server(uint32_t task)
{
	mach_port_t server = task_by_pid(PID_SERVER);

	return server != MACH_PORT_NULL && task_number(server) == task;
}

/* A task that is no process: the kernel's, the Unix server, or another boot program. */
static struct program *add_task(uint32_t task)
{
	char name[PROGRAM_NAME_ROOM];
	struct program *program;

	snprintf(name, sizeof(name), "task-%lu", (unsigned long)task);
	if (task == TASK_KERNEL) {
		program = add(task, PID_OF_TASK, "kernel");
		read_file(program, "/mach_kernel");
	} else if (is_server(task)) {
		program = add(task, PID_OF_TASK + task, "ux");
		read_file(program, "/mach_servers/startup");
	} else {
		program = add(task, PID_OF_TASK + task, name);
	}
	return program;
}

struct program *program_of(uint32_t task)
{
	struct program *program = find(task);
	struct ux_process_info info;

	if (program != NULL)
		return program;
	return process_of_task(&info, task) ? add_process(&info) : add_task(task);
}

struct program *program_add(const struct target *target, const struct executable *executable)
{
	struct program *program;
	struct ux_process_info info;

	if (target->pid == PID_SERVER)
		program = add(target->task_id, PID_OF_TASK + target->task_id, "ux");
	else if (process_find(&info, target->pid))
		program = add(target->task_id, (uint32_t)target->pid, info.command);
	else
		program = add(target->task_id, (uint32_t)target->pid, executable->path);
	program->executable = *executable;
	program->has_functions = executable_read_functions(&program->executable);
	return program;
}

void programs_refresh(void)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);

	for (int i = 0; i < found && i < UX_PROCESSES_MAX; i++)
		if (processes[i].task_id != 0 && find(processes[i].task_id) == NULL &&
		    !is_between(&processes[i]))
			add_process(&processes[i]);
}
