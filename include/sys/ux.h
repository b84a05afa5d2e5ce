/* SPDX-License-Identifier: MIT */
/*
 * What the Unix server and programs must agree on beyond the usual headers: limits, what ps shows,
 * where things are in a new program's memory.
 */
#ifndef SYS_UX_H
#define SYS_UX_H

#include <sys/types.h>

#define UX_PROCESSES_MAX 128 /* At a time, */
#define UX_THREADS_MAX   384 /* threads of all of them, */
#define UX_OPEN_MAX      64  /* descriptors of one. */
#define UX_GROUPS_MAX    16
#define UX_SIGNALS_MAX   256   /* Signals that are pending for one process, with what they tell. */
#define UX_ARGUMENTS_MAX 65536 /* Bytes of arguments and environment of a program, */
#define UX_INLINE_MAX    8192  /* of data that travels within a message, */
#define UX_TRANSFER_MAX  0x100000 /* and of data of one read or write. */

/* A new program's stack grows down from here. */
#define UX_STACK_TOP  0xbff00000u
#define UX_STACK_SIZE 0x00800000u

/* States of a process, as ps shows them. */
#define UX_RUNNING 'R' /* Not in a call that waits. */
#define UX_WAITING 'S'
#define UX_STOPPED 'T'
#define UX_ZOMBIE  'Z'

struct ux_process_info {
	pid_t pid;
	pid_t ppid;
	pid_t pgrp;
	uid_t uid;
	uint32_t task_id; /* Labels and samples call it so. */
	uint32_t threads;
	uint32_t state; /* UX_RUNNING ... */
	uint32_t user_ms;
	uint32_t system_ms;
	uint32_t resident; /* Bytes of its memory that are in memory. */
	uint32_t size;
	char command[20]; /* The beginning of the program's name. */
};

_Static_assert(sizeof(struct ux_process_info) == 64, "a contract between UX and programs");

/* What becomes of a task that is a process's. */
#define UX_LIFE_LIVES    0
#define UX_LIFE_EXECUTED 1 /* Its process has executed another program, in a task of its own. */
#define UX_LIFE_ENDED    2 /* With its process. */

/*
 * A task's place among others.  Its parent is the task that forked it, or that executed its
 * program, even if that has ended since: so all tasks hang together, those of a job above all.
 */
struct ux_task_life {
	uint32_t task_id;
	uint32_t parent_task; /* 0: it has none, or it is the server. */
	pid_t pid;
	pid_t ppid; /* Of the process that forked its process. */
	pid_t pgrp;
	uid_t uid;         /* The real one: who has it run. */
	uint32_t state;    /* UX_LIFE_*; */
	uint32_t children; /* processes that it has forked, */
	uint32_t begun[2]; /* Nanoseconds of the samples' time, the lower word first. */
	uint32_t ended[2];
	char command[20];
};

_Static_assert(sizeof(struct ux_task_life) == 17 * sizeof(uint32_t), "as defs/ux/bsd.defs says");

/* Shared memory of shm_open(), or a semaphore of sem_open(). */
enum {
	UX_NAMED_MEMORY,
	UX_NAMED_SEMAPHORE,
};

#define UX_NAMED_ROOM 260 /* A `/`, up to 255 characters and a zero, in whole words. */

struct ux_named {
	uint32_t number; /* No other one has had it. */
	uint32_t kind;   /* UX_NAMED_* */
	uint32_t uid;
	uint32_t gid;
	uint32_t mode;
	uint32_t files;           /* So many open files are of it, children's not counted. */
	uint32_t size;            /* Of memory, in bytes; */
	uint32_t value;           /* of a semaphore. */
	char name[UX_NAMED_ROOM]; /* "": it has been removed, and is still open somewhere. */
};

_Static_assert(sizeof(struct ux_named) == 73 * sizeof(uint32_t), "as defs/ux/bsd.defs says");

/* ux_reboot(): root only.  Files are written back first. */
#define UX_HALT   0 /* The machine's run ends with `status`. */
#define UX_REBOOT 1

/* ux_gprof_token(): with its zero. */
#define UX_TOKEN_ROOM 32

#ifndef UX_SERVER
#include <mach/port.h>
#include <stddef.h>

int ux_processes(struct ux_process_info *info, int room); /* How many there are, or -1. */
int ux_reboot(int how, int status);

/* The port of a process's task, or MACH_PORT_NULL and errno; -1 is the host's control port. */
mach_port_t task_by_pid(int pid);

/* The device master port, for root. */
mach_port_t ux_device_port(void);

/* By which the calling thread calls the server: what the stubs of <ux/bsd.h> want first. */
mach_port_t ux_server_port(void);

/* The file that a process executes, of a script its interpreter; 0 or -1. */
int ux_executable(pid_t pid, char *path, size_t room);

/*
 * What a task runs that is a process's, or ran if it has ended lately.  The path is "" if the
 * caller may not know it.  0 or -1.
 */
struct ux_task_program {
	pid_t pid;
	char command[20];
	char path[1024];
};

int ux_task_program(uint32_t task_id, struct ux_task_program *program);

/* Of a task that is a process's, or was one's that has ended lately; 0 or -1. */
int ux_task_life(uint32_t task_id, struct ux_task_life *life);

/* The next one behind that number, of those that are the caller's; root's are all.  ENOENT. */
int ux_named_next(uint32_t after, struct ux_named *named);

/* The next program that the caller executes stops before its first instruction; 0 or -1. */
int ux_stop_at_exec(void);

/*
 * What only a process itself (pid 0), its owner and root know, until it executes something: letters
 * and digits.  0 or -1.
 */
int ux_gprof_token(pid_t pid, char token[UX_TOKEN_ROOM]);

/* The name server's port, or MACH_PORT_NULL: ENOENT if none runs.  Only root may be it: 0 or -1. */
mach_port_t ux_name_server(void);
int ux_set_name_server(mach_port_t port);

/*
 * Whose this is, if it is some thread's ux_server_port(): a server that is shown it knows by whom.
 * Whoever has it can make calls as that thread: it is for servers of root's alone.  0 or -1.
 */
int ux_port_owner(mach_port_t port, pid_t *pid, uid_t *uid);
#endif

#endif
