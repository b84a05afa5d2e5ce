/* SPDX-License-Identifier: MIT */
/*
 * What processes do, recorded into files: ktrace() and what it has recorded (docs/trace.md).
 *
 * A process whose trace_flags are not 0 has a trace file, into which the functions here put
 * records of <sys/ktrace.h>.  Each does nothing if the process is not traced, or not for that.  A
 * record that finds no room waits until there is some, so these unlock; they keep the process's
 * structure meanwhile, and whoever calls them looks at is_exiting or is_ending after that.  What
 * they wait for is the device, and so comes to an end.
 *
 * Guarded by the server's lock.
 */
#ifndef UX_TRACE_H
#define UX_TRACE_H

#include <mach.h>
#include <mach/mig_errors.h>
#include <sys/ktrace.h>

#include "process/process.h"

struct signal_info;
struct thread;
struct trace_file;
struct vnode;

/* All that a call asks that is not traced. */
static inline bool trace_is_on(const struct process *process)
{
	return process->trace_flags != 0;
}

/* ---------------- Records (trace_record.c, trace_call.c) ---------------- */

/* A call that its thread has begun, and what was answered: a mig_reply_header_t at least. */
void trace_call(const struct thread *thread, const mach_msg_header_t *request);
void trace_return(const struct thread *thread, const mach_msg_header_t *request,
		  const mach_msg_header_t *answer);

/* A path that is about to be looked up. */
void trace_path(struct process *process, const char *path);

/* What has been read or written: KTR_READ, KTR_WRITE. */
void trace_io(const struct thread *thread, int fd, int direction, const char *data, size_t size);

/*
 * A signal is taken: by default, or by a handler at `action`; `mask` was blocked before.  Null: it
 * is not known by which thread.
 */
void trace_signal(struct process *process, const struct thread *thread,
		  const struct signal_info *info, uint32_t action, sigset_t mask);

/* What the program says itself. */
void trace_words(const struct thread *thread, const char *data, size_t size);

/* ---------------- Who is traced (trace_process.c) ---------------- */

/* A child is traced as its parent, if that is to be inherited. */
void trace_fork(struct process *child, const struct process *parent);

/* A program gets the rights of another user: it is traced on only if root wants that. */
void trace_change_user(struct process *process);

/* A process has ended, and is traced no more. */
void trace_exit(struct process *process);

/* ---------------- Waits (trace_waits.c) ---------------- */

/*
 * The process has a file, and its waits are recorded from now on: those of all of its threads.
 * False: they cannot be, for want of memory or because the kernel tells of too many others.
 */
bool trace_waits_begin(struct process *process);
void trace_waits_end(struct process *process); /* Harmless if they are not. */

/* A child's, whose task is its parent's child, and is watched with it. */
void trace_waits_inherit(struct process *child, const struct process *parent);

/* A thread is its process's now, or no longer; for thread.c. */
void trace_waits_enter(struct thread *thread);
void trace_waits_leave(struct thread *thread);

/* ---------------- Files (trace_file.c) ---------------- */

/* Before a file is read: all that was recorded for it is in it.  Unlocks. */
void trace_write_out(struct vnode *vnode);

/* Before the end: all that was recorded is in its files.  Unlocks. */
void trace_settle(void);

#endif
