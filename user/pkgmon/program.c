/* SPDX-License-Identifier: MIT */
/* Programs' files, and processes. */
#include <errno.h>
#include <limits.h>
#include <mach.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>

#include <mach/task_info.h>

#include "common/common.h"
#include "pkgmon.h"

/* As much of a file as says which program it is: the headers, and the code that is summed up. */
bool program_read(struct program *program, const char *path)
{
	int descriptor = open_input(path);
	struct stat about = {0};
	bool done = false;
	void *image;

	*program = (struct program){.path = copy_text(path)};
	if (descriptor < 0)
		return false;
	fstat(descriptor, &about);
	image = allocate((size_t)about.st_size + 1);
	if (!read_bytes(descriptor, image, (size_t)about.st_size))
		report_errno(path);
	else if (!gmon_program_read(&program->of, image, (size_t)about.st_size))
		report("%s: not a program that this machine executes", path);
	else
		done = true;
	free(image);
	close_input(descriptor);
	return done;
}

uint32_t task_number(mach_port_t task)
{
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	if (task_info(task, TASK_ID_INFO, (task_info_t)&info, &count) != KERN_SUCCESS)
		return 0;
	return info.id;
}

bool subject_has_ended(const struct subject *subject)
{
	return task_number(subject->task) == 0;
}

bool subject_find(struct subject *subject, pid_t pid)
{
	struct ux_task_program program;
	char path[PATH_MAX];

	*subject = (struct subject){.pid = pid, .task = task_by_pid(pid)};
	if (subject->task == MACH_PORT_NULL) {
		report("process %d: %s", pid,
		       errno == ESRCH ? "there is none; ps -a lists them" : strerror(errno));
		return false;
	}
	subject->label = task_number(subject->task);
	if (subject->label == 0 || ux_task_program(subject->label, &program) != 0 ||
	    ux_executable(pid, path, sizeof(path)) != 0) {
		report("process %d has ended meanwhile", pid);
		return false;
	}
	strlcpy(subject->name, program.command, sizeof(subject->name));
	return program_read(&subject->program, path);
}

/* Of one whose file is gone, or is not known any more, the kernel's part is there all the same. */
bool subject_find_child(struct subject *subject, uint32_t label)
{
	struct ux_task_program program;

	if (ux_task_program(label, &program) != 0)
		return false;
	*subject = (struct subject){.pid = program.pid, .label = label};
	strlcpy(subject->name, program.command, sizeof(subject->name));
	if (program.path[0] == '\0' || !program_read(&subject->program, program.path))
		subject->program.path = NULL;
	return true;
}
