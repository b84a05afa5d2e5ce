/* SPDX-License-Identifier: MIT */
/*
 * Samples added up: by process, by command, by job or by user, for whom they were taken and by whom
 * it ran.
 *
 * A sample has two tasks: the one that ran, and the one on whose behalf.  A process has a task for
 * each program that it executes, and a shell's loop makes hundreds of them, so tables are of
 * something larger:
 *
 *	process  all tasks of a process
 *	command  all tasks that ran a program of that name, in whichever process
 *	job      a process and all its descendants; a tree, in which children of one parent that
 *	         have the same name are one row
 *	user     all tasks of processes of a user
 *
 * For programs of the host and of the guest.  Without memory the program ends.
 */
#ifndef ROLLUP_H
#define ROLLUP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum rollup_by {
	BY_NOTHING,
	BY_PROCESS,
	BY_COMMAND,
	BY_JOB,
	BY_USER,
};

#define ROLLUP_NAME 24

struct rollup_task {
	uint32_t task;
	int32_t pid;  /* -1: it is no process's, or nobody knows; so below. */
	int32_t ppid; /* Of the process that forked its process. */
	int32_t uid;
	char name[ROLLUP_NAME]; /* The program's. */
	uint64_t served;        /* Samples on its behalf, */
	uint64_t ran;           /* and those of itself, for whomever. */
};

struct rollup_user {
	int32_t uid;
	char name[ROLLUP_NAME]; /* "": he has none. */
};

struct rollup {
	struct rollup_task *tasks; /* By their numbers. */
	size_t n;
	size_t room;
	struct rollup_user *users;
	size_t n_users;
	size_t users_room;
};

/* What a word such as `job` says; BY_NOTHING: nothing. */
enum rollup_by rollup_way(const char *word);

/*
 * The task, new with nothing known of it if it was not there: then its name is "".  Good until the
 * next call.
 */
struct rollup_task *rollup_task(struct rollup *rollup, uint32_t task);

/* What a user is called; of two names the first counts, and a long one is cut off. */
void rollup_name_user(struct rollup *rollup, int32_t uid, const char *name);

/* NULL: nobody has said yet. */
const char *rollup_user_name(const struct rollup *rollup, int32_t uid);

/* A table, the most first, of so many rows at most; 0: of all that have samples. */
void rollup_print(const struct rollup *rollup, enum rollup_by by, size_t rows, FILE *file);

void rollup_free(struct rollup *rollup);

#endif
