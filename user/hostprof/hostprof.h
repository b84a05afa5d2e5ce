/* SPDX-License-Identifier: MIT */
/*
 * hostprof: the kernel's part of a recording of the host.
 *
 * A process in the background, the collector (collector.c), has the whole machine sampled and keeps
 * the kernel's part of it; each call of hostprof (main.c) finds it by name (find.c) and asks what
 * monctl would ask a program (<servers/gprof.h>).
 */
#ifndef HOSTPROF_H
#define HOSTPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/rollup/rollup.h"
#include <mach/mach_types.h>
#include <servers/gprof_types.h>

#define KERNEL_FILE "/mach_kernel"
#define KERNEL_NAME GPROF_NAME_PREFIX "kernel"

#define PID_KERNEL 0x40000000u /* In files: no process's task, and the kernel's. */

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* ---- find.c ---- */

/* The host's control port; MACH_PORT_NULL with a report if the caller is not root. */
mach_port_t host_find(void);

/* The collector's port for requests, and the collector; MACH_PORT_NULL: there is none. */
mach_port_t collector_find(pid_t *pid);

/* ---- collector.c ---- */

/* Starts a collector; when this returns true, it can be found.  False with a report. */
bool collector_start(void);

/* ---- labels.c ---- */

/* Reads on whose behalf the kernel ran, by what a gmon.out says of it. */
void labels_read(const char *gmon, size_t size);

/* The same gmon.out with the processes' numbers and names: memory of its own. */
char *labels_add(const char *gmon, size_t *size);

/* Adds them up, and prints them. */
void labels_print(enum rollup_by by);

#endif
