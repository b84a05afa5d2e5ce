/* SPDX-License-Identifier: MIT */
/*
 * A trace as a timeline: what each thread did from when to when.
 *
 * A call lasts from its record to its return's, a wait from when the thread stopped to when it went
 * on; all else is an instant.  Spans of a thread lie within each other or beside each other, never
 * across: a wait that outlasts its call is cut at the call's end, also where it began before, as
 * the wait for the answer does; and what has no end in the trace, such as exit(), ends where the
 * thread is heard of next, or with its process's last record.
 */
#ifndef KDUMP_SPANS_H
#define KDUMP_SPANS_H

#include <stdint.h>

#include "ktrace/print.h"

enum span_kind {
	SPAN_CALL,
	SPAN_WAIT,
	SPAN_INSTANT,
};

#define SPAN_NONE UINT32_MAX

struct span {
	uint32_t order; /* As the records came. */
	enum span_kind kind;
	unsigned type;      /* Of the record. */
	uint32_t thread;    /* Index. */
	int64_t start, end; /* Microseconds since the trace's first record. */
	uint32_t outer;     /* The call in which it was, or SPAN_NONE. */
	uint32_t name;      /* Index of a name: `write`, `wait:port`, `PSIG`. */
	char *label;        /* Of an instant what says more: `SIGALRM`; else NULL. */
	char *detail;       /* What stands in kdump's line: `write(0x1,0x7)`. */
	char *result;       /* Of a call what it came to; NULL if it did not return. */
};

struct span_thread {
	int32_t pid;
	unsigned thread;
	char command[KTR_COMM_MAX + 1]; /* Of the last record. */
	uint32_t call;                  /* The one that it is in, or SPAN_NONE; */
	uint32_t last_call;             /* and the one before, or that one. */
	int64_t last;                   /* The time of the last record. */
};

struct spans {
	struct span *items;
	uint32_t n;
	struct span_thread *threads;
	uint32_t n_threads;
	char **names;
	uint32_t n_names;
	int64_t begin; /* Microseconds since 1970, */
	int64_t end;   /* and since then. */
};

/*
 * Of the records that `print` chooses.  The spans come out thread by thread, each one's in the
 * order of their starts, and those that enclose others before them.
 */
void spans_read(struct spans *spans, struct ktrace_print *print);
void spans_free(struct spans *spans);

/* Text as JSON has it, in quotes. */
void spans_quote(FILE *out, const char *text);

#endif
