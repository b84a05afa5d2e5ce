/* SPDX-License-Identifier: MIT */
/*
 * pkgmon: profiles of processes, each with what the kernel and the servers do for it.
 *
 * main.c reads the command line, command.c has the command run that is measured, subjects.c knows
 * its children, collect.c has the machine sampled and the kernel's calls counted, by label, and
 * files.c writes what there is of each part.  A part is one program's work for one process: the
 * process's own, the kernel's, a server's.
 */
#ifndef PKGMON_H
#define PKGMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <gmon_program.h>
#include <mach/calls.h>
#include <mach/mach_types.h>
#include <prof/collector.h>

#define KERNEL_FILE  "/mach_kernel"
#define SUBJECTS_MAX (HOST_CALLS_LABELS - 1)
#define NAME_ROOM    20 /* Of a program, as the Unix server tells it. */
#define SUFFIX_ROOM  (2 * NAME_ROOM)

enum exit_status {
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

struct wanted {
	bool calls;
	bool samples;
	bool requests;
	bool children;
	unsigned rate;
	unsigned seconds; /* 0: until all have ended. */
	char **command;   /* NULL: there is none. */
	pid_t pids[SUBJECTS_MAX];
	unsigned n_pids;
};

/* Bytes of a file, that grows. */
struct bytes {
	char *data;
	size_t size;
	size_t room;
};

/* A program's file. */
struct program {
	char *path;             /* NULL: nobody knows which it was. */
	struct gmon_program of; /* Which it is, and where its text lies. */
};

/* One program's work for one process, or the kernel's for nobody or for all others. */
struct part {
	struct part *next;
	char suffix[SUFFIX_ROOM]; /* Of files' names: 137k, 137u, 137x; -k. */
	char name[NAME_ROOM];     /* And behind it: whose process it is. */
	const struct program *program;
	uint32_t task; /* In which it was done, if not in the kernel. */
	struct prof_collector *collector;
	uint64_t samples;
	struct bytes calls; /* Of a server that counts them: records of a gmon.out. */
};

/* A process that is measured, as long as it executes one program. */
struct subject {
	pid_t pid;
	unsigned again;   /* Which one of that number it is, from 0 on. */
	mach_port_t task; /* Null for a child. */
	uint32_t label;   /* Its task's number. */
	char name[NAME_ROOM];
	struct program program;
	struct part *parts; /* The kernel's first. */
};

/* ---- program.c ---- */

/* Reads which program a file is; false with a report. */
bool program_read(struct program *program, const char *path);

/* What the kernel calls a task; 0 if it has ended. */
uint32_t task_number(mach_port_t task);

/* Finds the process, and its program; false with a report. */
bool subject_find(struct subject *subject, pid_t pid);

/* The same by its task's number, which may have ended already; false: nobody knows it any more. */
bool subject_find_child(struct subject *subject, uint32_t label);
bool subject_has_ended(const struct subject *subject);

/* ---- command.c ---- */

/* Starts the command, up to before its first instruction; its pid, or exits as a shell would. */
pid_t command_start(char **command);

/* Lets it go on; the status that it ended with, as a shell has it. */
void command_continue(pid_t pid);
bool command_has_ended(pid_t pid);
int command_status(void);

/* ---- collect.c ---- */

struct collection {
	const struct wanted *wanted;
	mach_port_t host;
	struct subject subjects[SUBJECTS_MAX];
	unsigned n_subjects;
	unsigned n_named;     /* The first ones; the rest are their children. */
	unsigned missed;      /* Children for which there was no room. */
	uint32_t known_up_to; /* Children are known up to this label. */
	struct subject rest;  /* Of servers' calls, those that were for anybody else, */
	struct subject own;   /* and for nobody. */
	struct program kernel;
	struct part *system;           /* The kernel's work for nobody, and */
	struct part *others;           /* for those who are not measured. */
	struct prof_collector *stream; /* NULL: no samples are wanted. */
	struct prof_begin began;       /* What the stream said of itself. */
	uint64_t delivered;            /* Samples. */
	struct bytes requests;         /* A line for each. */
	bool failed;
};

/* Makes what is filled, and begins.  False with a report. */
bool collect_begin(struct collection *collection);

/* Handles a message that comes within this time; false with a report if that is over. */
bool collect_serve(struct collection *collection, unsigned milliseconds);

/* Afterwards all that was taken is in the parts. */
void collect_end(struct collection *collection);

/* ---- parts.c ---- */

/*
 * The part of the kernel's work, for a process or for nobody in particular; and of a server's, or
 * the process's own.  NULL: no memory.
 */
struct part *part_of_kernel(struct collection *collection, struct subject *subject);
struct part *part_of_nobody(const struct collection *collection, const char *name);
struct part *part_of_task(struct collection *collection, struct subject *subject, uint32_t task);

/* The process's number, with `+1` after its first exec(); `-` for all who are not measured. */
void name_process(char text[NAME_ROOM], const struct subject *subject);

/* What stands behind the process's number in a part's name; of all others, of a server's part. */
void name_part(char letters[NAME_ROOM], const struct subject *subject, uint32_t task);

/* ---- subjects.c ---- */

/* Whose label it is; NULL: of nobody who is measured. */
struct subject *find_subject(struct collection *collection, uint32_t label);

/* Has the kernel tell apart whose calls they are. */
kern_return_t subjects_begin(struct collection *collection);

/* Looks for the last children. */
void subjects_end(struct collection *collection);

/* ---- requests.c ---- */

/* Has the Unix server count its calls by label, if it was compiled to count any; or ends that. */
void requests_switch(bool is_on);

/* Who asked which server for what: a file's text, and parts for all.  False with a report. */
bool requests_read(struct collection *collection);

/* ---- files.c ---- */

void put(struct bytes *bytes, const void *data, size_t size);
void put_arc(struct bytes *bytes, uint32_t from, uint32_t self, uint64_t count);

/* Writes all files to the folder where pkgmon was started; false with a report. */
bool files_write(const struct collection *collection);

#endif
