/* SPDX-License-Identifier: MIT */
/* A list of programs by task.  Numbers of tasks are not used again, so nothing in it grows old. */
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

static struct program *add_process(uint32_t task, const struct ux_task_program *runs)
{
	struct program *program = add(task, (uint32_t)runs->pid, runs->command);

	if (runs->path[0] != '\0')
		read_file(program, runs->path);
	return program;
}

/* One that is no process's: the kernel's, or a boot program's. */
static struct program *add_task(uint32_t task)
{
	char name[PROGRAM_NAME_ROOM];
	struct program *program;

	snprintf(name, sizeof(name), "task-%lu", (unsigned long)task);
	if (task == TASK_KERNEL) {
		program = add(task, PID_OF_TASK, "kernel");
		read_file(program, "/mach_kernel");
	} else {
		program = add(task, PID_OF_TASK + task, name);
	}
	return program;
}

struct program *program_of(uint32_t task)
{
	struct program *program = find(task);
	struct ux_task_program runs;

	if (program != NULL)
		return program;
	return ux_task_program(task, &runs) == 0 ? add_process(task, &runs) : add_task(task);
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
		if (processes[i].task_id != 0)
			program_of(processes[i].task_id);
}
