/* SPDX-License-Identifier: MIT */
/*
 * Processes.
 *
 * A process is here from fork until a parent has waited for it.  It has a task while it lives, and
 * a new one with each program that it executes; a zombie has none, nor threads, files or timers.
 */
#ifndef UX_PROCESS_H
#define UX_PROCESS_H

#include <bsm/audit.h>
#include <sys/resource.h>
#include <sys/ux.h>

#include <assay/list.h>
#include "core/ux.h"
#include "signal/signal.h"
#include "signal/timer.h"

/* The process that is there from the beginning, and whose end is the end of all. */
#define PID_FIRST 1

/* Who asks for the tasks of these pids is given the server's own, and the host's control port. */
#define PID_SERVER 0
#define PID_HOST   (-1)

struct executed;
struct trace_file;
struct trace_stream;

struct credentials {
	uid_t uid, euid, suid;
	gid_t gid, egid, sgid;
	unsigned n_groups;
	gid_t groups[UX_GROUPS_MAX];
};

struct process {
	struct list link; /* In the list of all processes. */
	pid_t pid;
	pid_t pgrp;
	struct process *parent; /* Null only for pid 1. */
	struct list children;
	struct list sibling;
	struct credentials credentials;
	auditinfo_t audit; /* Who has logged in, and what of his is audited. */
	bool was_other; /* Its program has run as somebody else, and may have what he may have. */
	mode_t umask;
	struct rlimit limits[RLIM_NLIMITS]; /* What it may have: limits.h. */
	char command[20];                   /* The program's name, for ps; ends with a zero. */
	bool has_executed;                  /* A program since it was forked. */

	mach_port_t task; /* Null: it has ended. */
	mach_port_t
		ended_task; /* Its last name, so that it means nothing else to who still uses it. */
	uint32_t task_id;   /* What labels and samples call it; of a zombie, its last. */
	uint32_t parent_task;   /* Whose child it is: past_parent(). */
	uint32_t task_children; /* Processes that it has made, */
	uint64_t task_begun;    /* and since when it is there. */
	pid_t parent_pid;       /* By whom the process was made, whoever may be its parent now. */
	struct list threads;
	int last_thread_id;
	unsigned calls;      /* Under way, of all threads. */
	unsigned references; /* Of those who let go of the lock meanwhile: process_reference(). */
	bool is_reaped;      /* In no list any more; there only as long as it is referred to. */

	bool is_exiting;     /* Its task has been ended; nobody begins anything for it. */
	bool is_zombie;      /* It has nothing any more, and its parent can wait for it. */
	int status;          /* As wait4() tells; valid for one that is exiting. */
	int stop_signal;     /* What stopped it, if wait4() has not told of it yet; or 0. */
	struct rusage usage; /* Of its tasks that have ended, */
	struct rusage children_usage; /* and of children that were waited for. */

	struct vnode *directory;         /* Where relative paths begin. */
	struct vnode *executable;        /* What it runs; cannot be written meanwhile. */
	struct executed *executed;       /* What that was called then: executed.h. */
	bool stops_at_exec;              /* Its next program does not begin by itself. */
	struct descriptors *descriptors; /* See descriptors.h. */
	struct process_signals signals;
	struct process_timers timers;

	uint32_t trace_flags;              /* KTRFAC_*: what is recorded of it; 0: nothing. */
	struct trace_file *trace_file;     /* Where to; null exactly then. */
	struct trace_stream *trace_stream; /* What tells its waits; null: not KTRFAC_CSW. */
};

extern struct list processes; /* All, by pid in rising order of creation; */
extern unsigned n_processes;  /* so many. */

struct process *process_by_pid(pid_t pid); /* Null if there is none; zombies are found. */

/* What everybody may know of it (info.c). */
struct ux_process_info;
void process_describe(const struct process *process, struct ux_process_info *info);

/*
 * Keeps the structure while the lock is given up: to be looked at after that, as the process may
 * have ended meanwhile.
 */
struct process *process_reference(struct process *process);
void process_release(struct process *process);

/*
 * A process without task and threads, the child of another one, or with null pid 1; 0, EAGAIN or
 * ENOMEM.  One that does not come to life is taken back by process_abandon().
 */
int process_new(struct process *parent, struct process **made);
void process_abandon(struct process *process); /* Unlocks. */

/* Gives it a task, in the place of the one that it has, which ends. */
void process_change_task(struct process *process, mach_port_t task);

/*
 * Ends a process of its own will or by a signal: `status` as W_EXITCODE() makes it.  Its task ends
 * at once, and its calls are broken off; with the last of them all else that it has goes, and its
 * parent is told.  Harmless if it is ending already.  Unlocks.  May be called by any server thread,
 * also one that serves a call of that very process, which then must return MIG_NO_REPLY.
 */
void process_exit(struct process *process, int status);

/* The second half, when no call is under way any more, for whoever ends the last.  Unlocks. */
void process_finish(struct process *process);

/* Takes a zombie away, for wait4(). */
void process_reap(struct process *process);

/* A signal has stopped the process, which its parent is told; 0: one has it go on. */
void process_stopped(struct process *process, int signal);

bool is_root(const struct process *process);
bool is_in_group(const struct credentials *credentials, gid_t group);

/* Whether one may send signals to the other: root, or the same user. */
bool may_control(const struct process *one, const struct process *other);

/*
 * Whether one may have the other's task, and thus be it and have all that it has: root, the process
 * itself, or one of its user, if it never was another's.
 */
bool may_own(const struct process *one, const struct process *other);

/* The user who may; 0: nobody but root and the process itself. */
uid_t owner_of(const struct process *process);

/*
 * Whether one may have the server's own task, and profile it: root, and those who may read the
 * kernel's memory on other systems too.
 */
bool may_have_server(const struct process *process);

/* Channel of those who wait for children of a process. */
static inline const void *children_channel(const struct process *process)
{
	return &process->children;
}

/* Channel of those who wait for calls of a process to end. */
static inline const void *calls_channel(const struct process *process)
{
	return &process->calls;
}

#endif
