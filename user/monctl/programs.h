/* SPDX-License-Identifier: MIT */
/* The programs that samples were taken in, by their tasks. */
#ifndef MONCTL_PROGRAMS_H
#define MONCTL_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "monctl.h"
#include "target.h"

#define TASK_KERNEL 0 /* Whose threads are the kernel's own. */

/* Files call tasks that are no processes by this and their number. */
#define PID_OF_TASK 0x40000000u

#define PROGRAM_NAME_ROOM 24

struct file;

struct program {
	struct program *next;
	struct program *next_in_bucket;
	uint32_t task;
	uint32_t pid; /* Of the process, or PID_OF_TASK + task. */
	char name[PROGRAM_NAME_ROOM];
	struct ux_task_life life; /* Its task number is 0: it is no process's, or nobody knows. */
	char *path;               /* Of its file, as long as that has not been read. */
	struct executable executable; /* No path: it is not known, or cannot be read. */
	struct file *file;            /* What that was read from. */
	bool has_functions;           /* Which programs_read_functions() has read. */

	/* For whoever counts by functions (live.c): as many rows as functions, and two. */
	uint32_t (*counts)[FLAVORS];

	/*
	 * For a file that calls it by its process's number, which other programs have too
	 * (names.c): what has that number is this one's, from a time on, up to now.
	 */
	bool has_pid;
	struct program *next_holder; /* Of those that have a number now. */
	uint64_t since;
	uint64_t until;
	uint64_t last;
	bool is_mapped; /* The file says what of it lies where. */
	uint32_t low;   /* What has been mapped there up to now. */
	uint32_t high;
	bool is_apart; /* It has a number of its own, too. */
	uint32_t
		*servers; /* In whose memory the file says that it lies, for their samples' sake. */
	unsigned n_servers;
};

/*
 * Never NULL: a task of which nothing is known has a name made of its number.  Its file is not read
 * for that: of most that others descend from there are no samples.
 */
struct program *program_of(uint32_t task);

/* program_of(), with its file, which is read when this is asked the first time. */
struct program *program_sampled(uint32_t task);

/* The target's, whose executable has been read already; it stays the caller's. */
struct program *program_add(const struct target *target, const struct executable *executable);

/* For whoever shows functions; a recording does not need them. */
void program_read_functions(struct program *program);

/* Before the samples of a message are looked at: files may have changed since the last one. */
void programs_new_message(void);
/* Whether the program is, or was, one of that process's, which had this task then; */
bool program_is_of(const struct program *program, int pid, uint32_t task);

/* or of a process that descends from it. */
bool program_descends(const struct program *program, int pid, uint32_t task);

struct program *programs_first(void);

#endif
