/* SPDX-License-Identifier: MIT */
/*
 * How a recording's file calls tasks and threads, for which perf knows numbers of Unix only.
 *
 * A process that executes another program has a task of its own for each.  They have the process's
 * number one after the other: the file says when the next one gets it, and behind that, as before
 * that time, nothing else has it.  Samples that come too late for it have PID_OF_TASK and the
 * task's number.  So each address is looked up in the program that was there.
 */
#ifndef MONCTL_NAMES_H
#define MONCTL_NAMES_H

#include <mach/prof.h>

#include "perf_file.h"

/* No number of a process or a task is as large as this and that of a thread. */
#define THREAD_OF_KERNEL 1000000000u

/* Names all that the sample refers to, as far as the file does not yet, and says whose it is. */
void names_put(struct perf_file *file, const struct prof_sample *sample,
	       struct perf_origin *origin);

/* Says of all processes that it named which of them have ended, and when. */
void names_put_ends(struct perf_file *file);

/* Names a task for whatever has it as its label; that of the kernel with its map. */
void names_put_kernel(struct perf_file *file);

#endif
