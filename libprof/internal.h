/* SPDX-License-Identifier: MIT */
/* What the parts of libprof1 that know Unix ask of each other. */
#ifndef LIBPROF_INTERNAL_H
#define LIBPROF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <mach/kern_return.h>
#include <mach/message.h>
#include <mach/pc_sample.h>
#include <prof/collector.h>

#include <prof/whose.h>

/* The program's own collector; NULL: there is none. */
struct prof_collector *__gprof_own(void);

/* prof_collector_forget() for that; false if there was none. */
bool __gprof_forget(sampled_pc_flavor_t *flavors, gprof_options_t *options);

/* Makes the collector and its thread; nothing if they are there. */
kern_return_t __gprof_prepare(void);

/* Prepares as above; standard error is told if that fails. */
bool __gprof_is_prepared(void);

/* Begins sampling; standard error is told if that fails. */
void __gprof_begin(sample_pc_flavor_t flavors);

/* Says on standard error who says it, what, and what can be done. */
void __gprof_say(const char *what, const char *advice);

/*
 * From now on the file is written when the program ends, is replaced by another, or gets a SIGINT
 * or SIGTERM of which nobody has said what it does.
 */
void __gprof_write_at_end(void);

/* Takes what has come to a port of the collector's set that is server.c's. */
void __gprof_hear(void *context, mach_msg_header_t *message);

/*
 * In the child of a fork, whose ports are others; and then, when it has a collector, it is to be
 * found as its parent was to be, by a name of its own.
 */
void __gprof_forget_registration(void);
void __gprof_register_again(void);

/* Whether this is a device or a pipe, which stays what it is: it is written to. */
bool __gprof_is_special(const char *path);

/* Writes `size` bytes: the file is complete, or not there.  False, and said why, if it is not. */
bool __gprof_write_file(const char *path, const char *data, size_t size);

/* Writes it at the usual place, or beside it where another program's profile is: told if so. */
bool __gprof_write_beside(const char *usual, const struct whose *own, const char *data,
			  size_t size);

/*
 * Called by libc, if they are there: see its exit(), fork(), execve(), moncontrol(), monitor() and
 * sigaction().
 */
void __profile_exit(void);
void __profile_fork_child(void);
void __profile_exec(void);
void __profile_control(bool is_on);
void __profile_write(void);
void (*__profile_handler(int signal))(int);

#endif
