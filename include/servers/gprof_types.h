/* SPDX-License-Identifier: MIT */
/* What a profiled program and those who control it agree on: <servers/gprof.h>. */
#ifndef SERVERS_GPROF_TYPES_H
#define SERVERS_GPROF_TYPES_H

#include <mach/pc_sample.h>

#define GPROF_BAD_FLAVOR   4750 /* Bits that are no SAMPLED_PC_*. */
#define GPROF_BAD_OPTIONS  4751
#define GPROF_NO_MEMORY    4752
#define GPROF_NOT_ALLOWED  4753 /* gprof_owner_only: call gprof_mon_open() first. */
#define GPROF_NOT_PROFILED 4754 /* The program was not initialised for profiling. */
#define GPROF_NO_SAMPLING  4755 /* The kernel refused: too many streams, not allowed. */
#define GPROF_ENDED        4756 /* What was to be sampled has ended. */

#define GPROF_NAME_PREFIX "gprof." /* + the process's number, in decimal */

/* Forms of gmon.out; the last is what a pristine 4.2BSD gprof reads. */
enum gprof_format {
	GPROF_GNU = 0,
	GPROF_44BSD = 1,
	GPROF_BSD = 2
};

typedef struct gprof_options {
	unsigned rate;  /* Hz; 0: the usual. */
	unsigned flags; /* SAMPLE_* of <mach/prof.h> */
	unsigned depth;
	unsigned age_ms;
	unsigned format;   /* Of a dump: enum gprof_format */
	unsigned resume;   /* Not 0: the same flavors at the same rate go on with what there is. */
	unsigned by_label; /* Not 0: at once, the kernel counts calls for whom they are made. */
	unsigned reserved;
} gprof_options_t;

#define GPROF_CPUS 8 /* As many CPUs as a kernel runs. */

/* One CPU's sampling clock: struct prof_clock. */
typedef struct gprof_clock {
	unsigned due[2];
	unsigned fired[2];
	unsigned missed[2];
	unsigned parked[2];
	unsigned idle[2];
	unsigned elsewhere[2];
	unsigned taken[2];
} gprof_clock_t;

/* Counts as in <gmon.h>; two words each, the lower first. */
typedef struct gprof_status {
	unsigned pid;
	unsigned flavors; /* What is sampled now; 0: nothing. */
	unsigned rate;
	unsigned proxy; /* Not 0: a proxy answers for the program. */
	unsigned arcs;  /* Not 0: calls are counted. */
	unsigned low;   /* The histogram's range. */
	unsigned high;
	unsigned task;
	unsigned taken[2];
	unsigned delivered[2];
	unsigned lost[2];
	unsigned buffered[2];
	unsigned due[2];
	unsigned fired[2];
	unsigned missed[2];
	gprof_options_t options; /* For the next beginning, and of a dump. */
	unsigned cpus;           /* Of the machine, as the last stream said; 0: there was none. */
	unsigned in_turn;        /* Not 0: an emulator runs them one at a time. */
	gprof_clock_t clocks[GPROF_CPUS];
} gprof_status_t;

typedef char gprof_token_t[32];
typedef const char *const_gprof_token_t;
typedef char *mon_data_t;

_Static_assert(sizeof(gprof_options_t) == 32, "gprof.defs");
_Static_assert(sizeof(gprof_status_t) == 144 * sizeof(unsigned), "gprof.defs");

#endif
