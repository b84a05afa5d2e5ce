/* SPDX-License-Identifier: MIT */
/*
 * The boot programs: every module that the boot loader brought becomes a task.
 *
 * A module's string is its command line as GNU Mach takes it, `name arguments $(task-create)
 * $(task-resume)`: words of the form $(...) say what is done anyway and are no arguments.  When the
 * last of the tasks has ended, the run ends with the first status that is not zero.
 */
#ifndef KERN_BOOTSTRAP_H
#define KERN_BOOTSTRAP_H

/*
 * Starts the thread of the kernel that creates the tasks and lets them go; it refuses to run if a
 * module is no program.  Under the kernel lock.
 */
void start_programs(void);

/* The task of module `module` is gone, with `status`. */
void bootstrap_task_ended(int module, int status);

#endif
