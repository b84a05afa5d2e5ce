/* SPDX-License-Identifier: MIT */
/* The profiling that a program exports: where it is, and calls to it. */
#ifndef MONCTL_CONTROL_H
#define MONCTL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include <mach/mach_types.h>
#include <servers/gprof_types.h>

/* Whose profiling: a process's by a port, or the Unix server's by calls of Unix. */
struct control {
	int pid;
	bool is_server;
	mach_port_t port;
};

/*
 * Each answers a kern_return_t of the kernel's or the message's, GPROF_*, or an error's number of
 * Unix: control_explain() knows them all.
 */
kern_return_t control_switch(const struct control *control, sampled_pc_flavor_t *flavors);
kern_return_t control_options(const struct control *control, gprof_options_t options);
kern_return_t control_status(const struct control *control, gprof_status_t *status);

/* control_status() as the first question: without an answer in time monctl says so and ends. */
kern_return_t control_ask(const struct control *control, gprof_status_t *status);

/* Around another call: for the process of which there is to be an answer. */
void control_expect_answer(int pid);
void control_has_answer(void);

/* In memory that is to be deallocated. */
kern_return_t control_dump(const struct control *control, char **data, size_t *size);

/* Reports why `what` failed. */
void control_explain(const struct control *control, const char *what, kern_return_t why);

/* ---- exports.c: names ---- */

/* The port that is checked in for a process: `gprof.PID`; MACH_PORT_NULL if none is. */
mach_port_t export_find(mach_port_t name_server, int pid);

/* export_find() that waits for a proxy which is being started; MACH_PORT_NULL with a report. */
mach_port_t export_await(int pid);

/* Says that this monctl will check in no name any more: so nobody waits for it. */
void export_nothing_more(void);

#endif
