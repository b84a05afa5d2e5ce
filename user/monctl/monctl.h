/* SPDX-License-Identifier: MIT */
/*
 * monctl: control of profiling from the shell.
 *
 * main.c decides by the command line (arguments.c) which of these is done:
 *
 *	control.c  asks a program that exports profiling: -on, -off, -status, -monfile
 *	proxy.c    exports it in the name of a program that does not: -proxy
 *	run.c      the same for a command that it starts: -run
 *	children.c a profile for each program that its children are: -children
 *	record.c   writes every sample into a file: -record
 *	live.c     shows the hottest functions: -live
 *
 * The last four sample by themselves (stream.c).  Files are written by output.c, and what cannot be
 * written is left to a process of its own (keeper.c).  All is one thread.
 */
#ifndef MONCTL_H
#define MONCTL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/rollup/rollup.h"
#include <mach/pc_sample.h>
#include <mach/prof.h>
#include <servers/gprof_types.h>

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

/* ---- arguments.c: the command line ---- */

/* On whose behalf something must be done to be sampled. */
enum beneficiary {
	FOR_ANYBODY, /* Whatever the target does, whoever wanted it. */
	FOR_PROCESS, /* What anybody does for one process, */
	FOR_JOB,     /* for it and its descendants, */
	FOR_ALL,     /* or for all, which is whatever runs. */
};

struct arguments {
	int pid;                     /* NO_PID: none was given. */
	sampled_pc_flavor_t flavors; /* 0: no -on. */
	bool off;
	bool status;
	bool proxy;
	bool open; /* What a proxy exports is for everybody. */
	bool background;
	bool live;
	bool nmi;
	bool fixed;
	bool stack;
	bool clients;  /* And of servers those of whom they serve. */
	bool children; /* And those of its children, and theirs. */
	bool help;
	unsigned tables; /* Of -live; 0: no end. */
	enum rollup_by by;
	unsigned rate;   /* 0: the usual. */
	unsigned thread; /* 0: all. */
	enum gprof_format format;
	bool has_format;
	enum beneficiary beneficiary;
	int for_pid;
	const char *host; /* NULL, as all names below, if they were not given. */
	const char *monfile;
	const char *execfile;
	const char *record;
	char **command; /* Of -run. */
};

#define NO_PID (-1)

/* Reads the words; exits with EXIT_USAGE if they make no sense. */
void arguments_read(struct arguments *arguments, char **words);

/* Prints what -help says. */
void arguments_help(void);

/* What is sampled may be of more than one program. */
bool arguments_of_many(const struct arguments *arguments);

/* The options of <servers/gprof.h> that were asked for. */
struct gprof_options arguments_options(const struct arguments *arguments);

/* ---- flavors.c ---- */

/* The flavors that a list such as `periodic,zfill` names; 0 if a name is none. */
sampled_pc_flavor_t flavors_parse(const char *list);

#define FLAVORS_ROOM 80

/* Their names with commas, or `none`. */
void flavors_format(sampled_pc_flavor_t flavors, char text[FLAVORS_ROOM]);

/* All names that there are, for -help. */
void flavors_list(FILE *file);

#define FLAVORS 6

/* Flavors by a small number, which is that of a column or of an event in a file. */
sampled_pc_flavor_t flavor_bit(unsigned number);
const char *flavor_name(unsigned number);

/* The number of one SAMPLED_PC_* bit; FLAVORS if it is none. */
unsigned flavor_number(sampled_pc_flavor_t bit);

/* ---- what can be done ---- */

int control_run(const struct arguments *arguments);
int proxy_run(const struct arguments *arguments);
int run_run(const struct arguments *arguments);
int record_run(const struct arguments *arguments);
int live_run(const struct arguments *arguments);

#endif
