/* SPDX-License-Identifier: MIT */
/*
 * gmon.out as programs of Assay write it: the GNU format, and in it what that has no place for.
 *
 * A header, then records.  Histograms (2-byte bins) and arcs are what any gprof knows.  A bin that
 * passes 65,535 goes on in another histogram record of the same range, since readers add those up.
 * Arcs whose `from` lies below GMON_EXTRA_END are not arcs: no program has code there, and GNU
 * gprof passes over them without a trace.  They are our own records, and hold what is exact:
 *
 *	from                             self          count
 *	GMON_EXTRA_PC + flavor + mode    the pc        samples of that flavor there
 *	GMON_EXTRA_VALUE                 GMON_*        the low 32 bits of a value,
 *	GMON_EXTRA_VALUE_HIGH            GMON_*        and the high ones, if they are not 0
 *	GMON_EXTRA_CPU                   GMON_CPU_VALUE the same for one of several CPUs: the values
 *	GMON_EXTRA_CPU_HIGH              GMON_CPU_VALUE GMON_DUE to GMON_TAKEN, and GMON_PARKED
 *	GMON_EXTRA_LABEL                 a task        samples of the kernel on its behalf
 *	GMON_EXTRA_LABEL_PID             a task        its process's number + 1, if it has one
 *	GMON_EXTRA_LABEL_NAME + n        a task        bytes 4n to 4n + 3 of its program's name:
 *	                                               first of all for the profile's own task
 *	GMON_EXTRA_CODE                  an address    bytes of the program from there on
 *	GMON_EXTRA_CODE_SUM              the same      that have this sum: <gmon_program.h>
 *
 * `flavor` is the number of one of the SAMPLED_PC_* bits, times 2.  With mode 1 the sample was
 * taken in the kernel and the pc is where the program had called or trapped from.  The histogram is
 * of the file's first flavor (GMON_FLAVOR), user mode only: a kernel's time is not its caller's.
 * In a profile of the kernel itself (hostprof, kgmon) each pc is the kernel's own, with mode 0.
 * All files have little-endian words of 32 bits.
 */
#ifndef GMON_H
#define GMON_H

#include <stdint.h>

#define GMON_MAGIC   "gmon"
#define GMON_VERSION 1

struct gmon_header {
	char magic[4];
	uint32_t version;
	uint32_t spare[3]; /* 0. */
};

#define GMON_TAG_HISTOGRAM 0
#define GMON_TAG_ARC       1
#define GMON_TAG_BLOCKS    2

/* After a byte with the tag.  The range is [low, high), and each bin an equal part of it. */
struct gmon_histogram {
	uint32_t low;
	uint32_t high;
	uint32_t bins;
	uint32_t rate;      /* Samples a second; 1 for events. */
	char dimension[15]; /* "seconds", or the flavor's name; */
	char abbreviation;  /* 's', or its first letter. */
};

struct gmon_arc {
	uint32_t from;
	uint32_t self;
	uint32_t count;
};

/* The header of the older formats; bins follow, and then arcs to the end of the file. */
struct gmon_bsd_header {
	uint32_t low;
	uint32_t high;
	int32_t bytes; /* Of this header and the bins. */
};

#define GMON_44BSD_VERSION 0x00051879

struct gmon_44bsd_header {
	uint32_t low;
	uint32_t high;
	int32_t bytes;
	int32_t version;
	int32_t rate;
	int32_t spare[3];
};

#define GMON_EXTRA_VALUE      0x010u
#define GMON_EXTRA_VALUE_HIGH 0x011u
#define GMON_EXTRA_CPU        0x012u
#define GMON_EXTRA_CPU_HIGH   0x013u
#define GMON_EXTRA_LABEL      0x020u
#define GMON_EXTRA_LABEL_PID  0x021u
#define GMON_EXTRA_LABEL_NAME 0x022u /* To 0x029. */
#define GMON_NAME_ROOM        32u    /* Bytes of such a name, the last of them 0. */
#define GMON_EXTRA_CODE       0x030u
#define GMON_EXTRA_CODE_SUM   0x031u
#define GMON_EXTRA_PC         0x100u /* + 2 * flavor's bit number + mode */
#define GMON_EXTRA_END        0x1000u

/* What values there are. */
enum gmon_value {
	GMON_FORMAT = 1,   /* Version of these records: 1. */
	GMON_FLAVOR = 2,   /* SAMPLED_PC_* of the histogram, */
	GMON_FLAVORS = 3,  /* and of all that was sampled. */
	GMON_RATE = 4,     /* Hz that the sampling clock ran at. */
	GMON_INTERVAL = 5, /* Its mean interval in nanoseconds. */
	GMON_OPTIONS = 6,  /* SAMPLE_*, and GMON_CLOCK_IS_BLOCK and GMON_CPUS_IN_TURN. */
	GMON_PID = 7,      /* Unix's number of the process, */
	GMON_TASK = 8,     /* and the kernel's of its task. */
	GMON_DUE = 9,      /* Sums over the CPUs: <mach/prof.h>, struct prof_clock, */
	GMON_FIRED = 10,
	GMON_MISSED = 11,
	GMON_IDLE = 12,
	GMON_ELSEWHERE = 13,
	GMON_TAKEN = 14,     /* by the clock. */
	GMON_ALL_TAKEN = 15, /* struct prof_stream: by the clock and by events, */
	GMON_DELIVERED = 16,
	GMON_LOST = 17,
	GMON_BUFFERED = 18,
	GMON_PROFILER = 19,  /* Samples of the collecting thread itself, in no other record; */
	GMON_OUTSIDE = 20,   /* those outside of the histogram's range; */
	GMON_ARCS_LOST = 21, /* calls that were not counted, for want of memory. */
	GMON_KERNEL = 22,    /* Samples in kernel mode. */
	GMON_OTHERS =
		23, /* In a host's stream, and in no other record: those of other tasks, or, if
			      * the profile is of the kernel, in user mode. */
	GMON_TEXT_LOW = 24,  /* The program's executable segments: from the first's start */
	GMON_TEXT_HIGH = 25, /* to the last's end. */
	GMON_PARKED = 26,    /* Due times that were another CPU's: struct prof_clock. */
	GMON_WALL = 27, /* Nanoseconds from 1970 to the start of the clock that samples tell. */
};

#define GMON_CLIENTS        0x00000010u /* SAMPLE_CLIENTS, for whoever has no <mach/prof.h>. */
#define GMON_CLOCK_IS_BLOCK 0x80000000u /* The emulator interrupts between blocks only. */
#define GMON_CPUS_IN_TURN   0x40000000u /* It runs one CPU at a time, the others are parked. */

/* Which CPU's, and what, a record of GMON_EXTRA_CPU says. */
#define GMON_CPU_VALUE(cpu, value) ((cpu) << 8 | (value))

#endif
