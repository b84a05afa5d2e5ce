/* SPDX-License-Identifier: MIT */
/* What is to be traced, and how it is shown. */
#ifndef KTRACE_KTRACE_H
#define KTRACE_KTRACE_H

#include <stdbool.h>
#include <sys/types.h>

struct tracing {
	const char *path; /* The trace's file, */
	bool has_path;    /* if one was named; */
	bool appends;     /* records come behind those that it has. */
	const char
		*lines; /* Where lines are printed while the command runs: a file, `-`, or NULL. */
	char **command;
	pid_t pid; /* Without a command: this process, or minus a group; 0: none is named. */
	bool has_facilities;
	int facilities; /* With KTRFAC_INHERIT. */
	int flags;      /* KTRFLAG_DESCEND. */
};

/* Makes the file of the trace, which nobody else may read; or says why not, and exits. */
void tracing_make_file(const struct tracing *tracing);

/* Begins, or ends, what is asked for; false with a message. */
bool tracing_call(const struct tracing *tracing, int operation, pid_t pid);

/* Takes the place of this program, and is traced: what it could not do is the exit status. */
_Noreturn void tracing_become(const struct tracing *tracing);

/* Runs the command, and prints its records meanwhile.  The exit status, which is the command's. */
int tracing_show(const struct tracing *tracing);

#endif
