/* SPDX-License-Identifier: MIT */
/* Whom monctl samples: a process, its task, one of its threads, and the file that it executes. */
#ifndef MONCTL_TARGET_H
#define MONCTL_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gmon_program.h>

#include "lib/elfsym/elfsym.h"
#include <mach/mach_types.h>
#include <sys/ux.h>

#define PID_SERVER 0    /* The Unix server itself. */
#define PID_HOST   (-1) /* What task_by_pid() answers with the host's control port. */

struct target {
	int pid;
	mach_port_t task;
	uint32_t task_id;
	bool is_followed;   /* Into other programs, too, */
	bool with_children; /* and all that it makes. */
};

/* Finds the process's task; false with a report if there is none, or it is not the caller's. */
bool target_find(struct target *target, int pid);

/* The port of the thread that samples call `id`; MACH_PORT_NULL with a report. */
mach_port_t target_thread(const struct target *target, uint32_t id);

/* The host's control port; MACH_PORT_NULL with a report that says it was for `what`. */
mach_port_t target_host(const char *what);

#define PIDS_ROOM 64

/*
 * The only process of that name, NO_PID if there is none such; `pids` has the numbers of all, as
 * many as fit.
 */
int process_named(const char *name, char pids[PIDS_ROOM]);

/* What ps would show of the process; false if there is none, or it has ended. */
bool process_find(struct ux_process_info *info, int pid);

/* Reports that there is none of this number. */
void report_no_process(int pid);

/* Whether the target's task has ended, with a report of that; whoever failed for another reason
 * says so himself. */
bool target_report_ended(const struct target *target);

/* At the end of sampling it: reports if only the program has ended, and the process has another. */
void target_note_exec(const struct target *target);

/* What the kernel calls the task; 0 if it has ended. */
uint32_t task_number(mach_port_t task);

/* ---- executable.c ---- */

/* A program's file in memory. */
struct executable {
	char *path;
	unsigned char *image;
	size_t size;
	uint32_t inode;
	time_t changed;
	struct gmon_program program; /* With the sum of its code; all 0: there is none. */
	struct elfsym elf;
};

/* The path of the file that the process executes, in memory of its own; NULL with a report. */
char *executable_path(int pid);

/* Reads the file; false with a report if it is none that can be executed. */
bool executable_open(struct executable *executable, const char *path);

/* Its functions are read too; false, without a report, if it says none. */
bool executable_read_functions(struct executable *executable);

void executable_close(struct executable *executable);

/* The last part of its path, which is the path's. */
const char *executable_name(const struct executable *executable);

/* Whether the process executes this very file, with a report: its profile is not to be there. */
bool executable_is_running(const char *path, int pid);

/*
 * Whether the task executes this file; false with a report.  If it is the very file that the Unix
 * server names, the text's first page is compared, else all of the text.
 */
bool executable_is_of(const struct executable *executable, const struct target *target);

#endif
