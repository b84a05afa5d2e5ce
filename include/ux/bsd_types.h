/* SPDX-License-Identifier: MIT */
/* The C types of defs/ux/bsd.defs: what a message carries, on both sides. */
#ifndef UX_BSD_TYPES_H
#define UX_BSD_TYPES_H

#include <bsm/audit.h>
#include <mach/mach_types.h>
#include <servers/gprof_types.h>
#include <sys/dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/ux.h>

typedef char path_t[PATH_MAX];
typedef char command_t[20]; /* ux_process_info's. */
typedef const char *const_path_t;
typedef char *bytes_t;
typedef const char *const_bytes_t;
typedef char *long_bytes_t;
typedef int *mib_t;
typedef unsigned *audit_words_t;
typedef const unsigned *const_audit_words_t;
typedef unsigned *groups_t;
typedef const unsigned *const_groups_t;

typedef struct stat stat_words_t;
typedef struct rusage rusage_words_t;
typedef struct itimerval timer_t;
typedef struct ux_task_life task_life_t;
typedef struct ux_named named_t;
typedef auditinfo_t audit_info_t;
typedef struct gprof_options gprof_options_words_t;
typedef struct gprof_status gprof_status_words_t;

_Static_assert(sizeof(stat_words_t) == 24 * sizeof(int), "as defs/ux/bsd.defs says");
_Static_assert(sizeof(rusage_words_t) == 21 * sizeof(int), "as defs/ux/bsd.defs says");
_Static_assert(sizeof(audit_info_t) == 6 * sizeof(int), "as defs/ux/bsd.defs says");

typedef struct {
	pid_t pid;
	pid_t parent;
	pid_t pgrp;
	uid_t uid;
	uid_t euid;
	gid_t gid;
	gid_t egid;
	int thread;
} identity_t;

#ifdef UX_SERVER
/* The server knows callers by their threads. */
struct thread;
typedef struct thread *caller_t;
#else
typedef mach_port_t caller_t;
#endif

#endif
