/* SPDX-License-Identifier: MIT */
/*
 * A program that is about to be executed by a process: found, read and loaded into a task of its
 * own, while the process still is what it was.  Until then everything may fail, and be taken back.
 */
#ifndef UX_PROGRAM_H
#define UX_PROGRAM_H

#include "core/ux.h"
#include "process/arguments.h"
#include "process/elf.h"
#include "process/process.h"

struct executed;
struct thread;
struct vnode;

struct program {
	struct process *process;
	struct vnode *vnode; /* With a reference, and counted as executed. */
	struct executed *executed;
	struct arguments arguments;
	struct elf_program elf;
	uint32_t stack; /* The first thread's stack pointer. */
	mach_port_t task;
	struct thread *first; /* Not the process's yet, and not running. */
	char command[sizeof(((struct process *)0)->command)];
	size_t head_size;
	char head[ELF_PAGE]; /* The file's first bytes. */
};

/*
 * Finds the file, or that of its interpreter, and reads what it says.  0 or an errno; in both cases
 * program_forget() is to be called.  Unlocks.
 */
int program_find(struct program *program, const char *path);

/* Makes a task with the program's memory and a thread.  The same. */
int program_load(struct program *program);

/* Gives back whatever is still here.  Unlocks. */
void program_forget(struct program *program);

/* Whether executing it makes the process somebody else: bits of the file's mode say so. */
bool program_changes_user(const struct program *program);

/* Has process 1 execute its first program; 0 or an errno.  Unlocks. */
int program_start_first(struct process *process, const char *path, const char *strings, size_t size,
			unsigned argc);

#endif
