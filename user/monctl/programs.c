/* SPDX-License-Identifier: MIT */
/* A list of programs by task.  Numbers of tasks are not used again, so nothing in it grows old. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/common.h"
#include "programs.h"

#define BUCKETS 1024u /* A power of two: tasks are numbered in turn. */

static struct program *programs;
static struct program *buckets[BUCKETS];

struct program *programs_first(void)
{
	return programs;
}

static struct program *add(uint32_t task, uint32_t pid, const char *name)
{
	struct program *program = allocate(sizeof(*program));
	struct program **bucket = &buckets[task % BUCKETS];

	*program = (struct program){
		.next = programs, .next_in_bucket = *bucket, .task = task, .pid = pid};
	memcpy(program->name, name, strnlen(name, sizeof(program->name) - 1));
	if (task == TASK_KERNEL || ux_task_life(task, &program->life) != 0)
		program->life.task_id = 0;
	*bucket = program;
	programs = program;
	return program;
}

static struct program *find(uint32_t task)
{
	struct program *program = buckets[task % BUCKETS];

	while (program != NULL && program->task != task)
		program = program->next_in_bucket;
	return program;
}

/* ---------------- Files ---------------- */

/*
 * What was read of a file, once, whoever executes it.  Whether it is still the same is asked once
 * for each message: the samples of one are looked at in a moment, and many programs may end
 * between two.
 */
struct file {
	struct file *next;
	struct executable executable;
	unsigned looked_at; /* The message when it was the same the last time. */
	bool has_functions, functions_are_read;
};

static struct file *files;
static unsigned message;

void programs_new_message(void)
{
	message++;
}

static bool is_same(const struct executable *executable, const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && executable->inode == (uint32_t)status.st_ino &&
	       executable->size == (size_t)status.st_size && executable->changed == status.st_mtime;
}

static struct file *find_file(const char *path)
{
	for (struct file *file = files; file != NULL; file = file->next) {
		if (strcmp(file->executable.path, path) != 0)
			continue;
		if (file->looked_at != message && !is_same(&file->executable, path))
			continue;
		file->looked_at = message;
		return file;
	}
	return NULL;
}

static struct file *add_file(const struct executable *executable)
{
	struct file *file = allocate(sizeof(*file));

	*file = (struct file){.next = files, .executable = *executable, .looked_at = message};
	files = file;
	return file;
}

static void set_file(struct program *program, struct file *file)
{
	program->file = file;
	program->executable = file->executable;
	program->has_functions = file->has_functions;
}

/* One that cannot be read leaves the program without functions: addresses are what is shown. */
static void read_file(struct program *program, const char *path)
{
	struct file *file = find_file(path);
	struct executable executable;

	if (file == NULL && executable_open(&executable, path))
		file = add_file(&executable);
	if (file != NULL)
		set_file(program, file);
}

void program_read_functions(struct program *program)
{
	struct file *file = program->file;

	if (file == NULL)
		return;
	if (!file->functions_are_read)
		file->has_functions = executable_read_functions(&file->executable);
	file->functions_are_read = true;
	set_file(program, file);
}

/* ---------------- Who they are ---------------- */

static struct program *add_process(uint32_t task, const struct ux_task_program *runs)
{
	struct program *program = add(task, (uint32_t)runs->pid, runs->command);

	if (runs->path[0] != '\0')
		program->path = copy_text(runs->path);
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
		program->path = copy_text("/mach_kernel");
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

struct program *program_sampled(uint32_t task)
{
	struct program *program = program_of(task);
	char *path = program->path;

	if (path != NULL) {
		program->path = NULL;
		read_file(program, path);
		free(path);
	}
	return program;
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
	set_file(program, add_file(executable));
	return program;
}

/*
 * The numbers of processes come again after a long time, so a number alone proves nothing: but a
 * program whose parent's is another process's is none of those that its process was before.
 */
bool program_is_of(const struct program *program, int pid, uint32_t task)
{
	while (program->task != task) {
		if (program->life.task_id == 0 || program->life.pid != pid)
			return false;
		/* It has executed this since; or had been this before it was asked for. */
		if (program->task < task)
			return true;
		program = program_of(program->life.parent_task);
	}
	return true;
}

/* Parents are older than their children, so this ends. */
bool program_descends(const struct program *program, int pid, uint32_t task)
{
	while (!program_is_of(program, pid, task)) {
		uint32_t parent = program->life.task_id != 0 ? program->life.parent_task : 0;

		if (parent == 0 || parent >= program->task)
			return false;
		program = program_of(parent);
	}
	return true;
}
