/* SPDX-License-Identifier: MIT */
/*
 * The boot programs: every module that the boot loader brought becomes a task.
 *
 * A module's string is its command line as GNU Mach takes it, `name arguments $(task-create)
 * $(task-resume)`: words of the form $(...) say what is done anyway and are no arguments.  When the
 * last of the tasks has ended, the run ends with the first status that is not zero.  Servers, which
 * task_set_essential() makes of programs, do not keep it going: they are ended when no other is
 * left.
 */
#ifndef BOOT_BOOTSTRAP_H
#define BOOT_BOOTSTRAP_H

#include <stdbool.h>

struct task;

/*
 * Starts the thread of the kernel that creates the tasks and lets them go; it refuses to run if a
 * module is no program.  Under the kernel lock.
 */
void start_programs(void);

/* A boot program, which has not ended, is a server from now on, or is none any more. */
void bootstrap_task_serves(struct task *task, bool serves);

/* A task is gone, with `status`: that of module `module`, or no boot program (-1). */
void bootstrap_task_ended(int module, int status);

#endif
