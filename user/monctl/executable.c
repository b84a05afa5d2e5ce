/* SPDX-License-Identifier: MIT */
/* Executable files: reading them, and telling whether a task executes one. */
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"
#include "target.h"

#define FILE_MAX (64 << 20) /* Bytes; what is executed here is smaller. */

/* ---------------- Reading ---------------- */

char *executable_path(int pid)
{
	char path[PATH_MAX];

	if (ux_executable(pid, path, sizeof(path)) == 0)
		return copy_text(path);
	if (errno == ESRCH)
		report_no_process(pid);
	else
		report("which file process %d executes: %s; say it: -execfile FILE", pid,
		       strerror(errno));
	return NULL;
}

static bool open_file(struct executable *executable, const char *path)
{
	struct stat status;
	int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool done;

	if (descriptor < 0)
		return false;
	done = fstat(descriptor, &status) == 0;
	if (done && (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX)) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : ENOEXEC;
		done = false;
	}
	if (done) {
		executable->size = (size_t)status.st_size;
		executable->inode = (uint32_t)status.st_ino;
		executable->changed = status.st_mtime;
		executable->image = reallocate(NULL, executable->size + 1);
		executable->image[executable->size] = 0;
		done = read_bytes(descriptor, executable->image, executable->size);
	}
	close(descriptor);
	return done;
}

bool executable_open(struct executable *executable, const char *path)
{
	const char *wrong;

	*executable = (struct executable){.path = copy_text(path)};
	if (!open_file(executable, path)) {
		report_errno(path);
		executable_close(executable);
		return false;
	}
	wrong = elfsym_open(&executable->elf, executable->image, executable->size);
	if (!gmon_program_read(&executable->program, executable->image, executable->size))
		executable->program = (struct gmon_program){0};
	if (wrong == NULL && executable->elf.text_end > executable->elf.text_start &&
	    !executable->elf.is_64)
		return true;
	report("%s: %s: not a program that this machine executes", path,
	       wrong != NULL ? wrong : "no text for i386");
	executable_close(executable);
	return false;
}

bool executable_read_functions(struct executable *executable)
{
	return elfsym_read_functions(&executable->elf) == NULL;
}

void executable_close(struct executable *executable)
{
	elfsym_close(&executable->elf);
	free(executable->image);
	free(executable->path);
	*executable = (struct executable){0};
}

/* ---------------- Is it what the task executes? ---------------- */

/* Where in [from, to) memory and file differ first, `to` if nowhere; false: it cannot be read. */
static bool compare_text(const struct executable *executable, mach_port_t task, uint32_t from,
			 uint32_t to, uint32_t *differs)
{
	vm_address_t first = from & -getpagesize();
	vm_size_t size = to - first;
	const unsigned char *file = elfsym_bytes(&executable->elf, from, to - from);
	mach_msg_type_number_t got = 0;
	pointer_t memory = 0;
	uint32_t at = from;

	size = (size + getpagesize() - 1) & -getpagesize();
	if (vm_read(task, first, size, &memory, &got) != KERN_SUCCESS)
		return false;
	while (file != NULL && at < to && ((unsigned char *)memory)[at - first] == file[at - from])
		at++;
	vm_deallocate(mach_task_self_cached(), memory, got);
	*differs = at;
	return true;
}

/* The file that the Unix server executed. */
static bool find_running(int pid, struct stat *status)
{
	char path[PATH_MAX];

	return ux_executable(pid, path, sizeof(path)) == 0 && stat(path, status) == 0;
}

bool executable_is_running(const char *path, int pid)
{
	struct stat running, status;

	if (!find_running(pid, &running) || stat(path, &status) != 0 ||
	    status.st_ino != running.st_ino || status.st_dev != running.st_dev)
		return false;
	report("%s is the program that process %d executes; name another file", path, pid);
	return true;
}

/*
 * The first page tells: it begins with the file's header, which says where everything is and how
 * long.  To read more would bring pages to memory whose page-ins are perhaps to be sampled.
 */
bool executable_is_of(const struct executable *executable, const struct target *target)
{
	uint32_t from = (uint32_t)executable->elf.text_start;
	uint32_t to = (uint32_t)executable->elf.text_end;
	uint32_t differs = from;
	struct stat running;

	if (find_running(target->pid, &running) && (uint32_t)running.st_ino == executable->inode &&
	    to - from > (uint32_t)getpagesize())
		to = from + (uint32_t)getpagesize();
	if (compare_text(executable, target->task, from, to, &differs) && differs == to)
		return true;
	if (!target_report_ended(target))
		report("%s is not what process %d executes: the text differs at 0x%lx",
		       executable->path, target->pid, (unsigned long)differs);
	return false;
}

const char *executable_name(const struct executable *executable)
{
	const char *slash = strrchr(executable->path, '/');

	return slash != NULL ? slash + 1 : executable->path;
}
