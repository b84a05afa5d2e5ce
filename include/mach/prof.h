/* SPDX-License-Identifier: MIT */
/*
 * What task_sample(), thread_sample() and host_sample_start() send to their reply ports.
 *
 * Each reply port has one stream.  A message (samples, <mach/prof.defs>) carries words out of line
 * that are whole records, one after the other: a beginning, samples, and counts that prove that
 * none is missing.  The last message of a stream ends with its end.  A reader skips records whose
 * type or version it does not know, by their length.
 *
 *	first message:   PROF_BEGIN  samples...  PROF_CLOCK for each CPU  PROF_STREAM
 *	others:                      samples...  PROF_CLOCK for each CPU  PROF_STREAM
 *	the last one:                samples...  PROF_CLOCK for each CPU  PROF_STREAM  PROF_END
 *
 * Waits are among the samples, and count as such; behind PROF_STREAM a stream that wants them has
 * PROF_WAITS.
 *
 * A buffer is sent when it is full, when its first sample is older than the stream's age, when the
 * stream is flushed, and at the end.  Times are nanoseconds since the kernel started.
 */
#ifndef MACH_PROF_H
#define MACH_PROF_H

#include <stdint.h>

#include <mach/pc_sample.h>

/* ---------------- Options of a stream ---------------- */

#define SAMPLE_RATE_DEFAULT 1000u /* Hz; a rate of 0 means this. */
#define SAMPLE_RATE_MAX     10000u
#define SAMPLE_AGE_DEFAULT  4000u /* Milliseconds; an age of 0 means this. */
#define SAMPLE_DEPTH_MAX    64u

/* Periodic streams that there can be at a time; one more is KERN_RESOURCE_SHORTAGE. */
#define SAMPLE_CLOCKS_MAX 16u

/*
 * As many of them as go to one task, and to whoever works for it: others are to sample too; and to
 * all tasks and threads together: the last are for streams of the host, or of a label.
 */
#define SAMPLE_CLOCKS_SHARE 12u
#define SAMPLE_CLOCKS_TASKS 14u

#define SAMPLE_FIXED 0x1u /* Intervals all of one length: what is in step stays hidden. */
#define SAMPLE_STACK 0x2u /* With call stacks, `depth` frames deep. */
#define SAMPLE_NMI   0x4u /* The clock interrupts by NMI: code with interrupts off is seen. */

/* Of a task: with every task that is made as a child of it from now on, and theirs: its job. */
#define SAMPLE_CHILDREN 0x8u

/*
 * With SAMPLE_STACK: behind the stack of a thread that works on another's behalf comes that of its
 * client, which waits for it meanwhile, then that of the client's client and so on, so many.
 */
#define SAMPLE_CLIENTS     0x10u
#define SAMPLE_CLIENTS_MAX 4u

typedef struct sample_options {
	unsigned flags;
	unsigned age_ms;
	unsigned depth;    /* Of the user's frames, and of the kernel's; 0: SAMPLE_DEPTH_MAX. */
	unsigned reserved; /* 0. */
} sample_options_t;

/* ---------------- Records ---------------- */

#define PROF_VERSION 2 /* 1 had no parked due times, and no cpus_in_turn. */

enum prof_type {
	PROF_BEGIN = 1,
	PROF_SAMPLE = 2,
	PROF_CLOCK = 3,
	PROF_STREAM = 4,
	PROF_END = 5,
	PROF_WAIT = 6,
	PROF_WAITS = 7,
};

struct prof_record {
	uint16_t words; /* Of the whole record, this one included. */
	uint8_t type;
	uint8_t version;
};

enum prof_target {
	PROF_TARGET_TASK = 1,
	PROF_TARGET_THREAD = 2,
	PROF_TARGET_HOST = 3,  /* All that runs, whichever task's; */
	PROF_TARGET_LABEL = 4, /* all that runs on behalf of one; */
	PROF_TARGET_JOB = 5,   /* a task and its descendants: SAMPLE_CHILDREN. */
};

struct prof_begin {
	struct prof_record record;
	uint32_t flavors;     /* SAMPLED_PC_* */
	uint32_t rate;        /* Hz, as asked for or cut by the host's cap; 0 without PERIODIC. */
	uint32_t interval_ns; /* The mean interval. */
	uint32_t options;     /* SAMPLE_FIXED, SAMPLE_STACK, SAMPLE_NMI, SAMPLE_CLIENTS */
	uint32_t depth;
	uint32_t target; /* PROF_TARGET_* */
	uint32_t id;     /* Of the task, of a job the first one, the thread, or the label. */
	uint32_t cpus;
	uint32_t clock_is_block; /* Not 0: the emulator interrupts between blocks only. */
	uint32_t cpus_in_turn;   /* Not 0: it runs one CPU at a time, and the others are parked. */
	uint32_t time[2];        /* The lower word first; so everywhere. */
};

/* Labels from here on are events: it is not known yet for whom that was. */
#define PROF_LABEL_EVENTS 0x80000000u

/* Flags of a sample. */
#define PROF_INTERRUPTS_OFF 0x1u /* In the kernel, with interrupts off. */
#define PROF_STACK_CUT      0x2u /* The stack goes on: deeper than asked for, or not to be read. */
#define PROF_NO_USER_PC     0x4u /* A thread of the kernel's own: it has no user mode. */
#define PROF_CLIENTS_CUT    0x8u /* It has clients that are not there: more, or none to be found. */

/*
 * Frames follow: return addresses, innermost first, of the kernel's stack and then of the user's.
 * The first frame of either is the caller of pc, or of kernel_pc.
 */
struct prof_sample {
	struct prof_record record;
	uint32_t pc;        /* Of user mode: where it was, or whence it had come to the kernel. */
	uint32_t kernel_pc; /* In kernel mode; 0: it was in user mode. */
	uint32_t thread;    /* Who ran, */
	uint32_t task;      /* of which task (0: the kernel), */
	uint32_t label;     /* and on behalf of which (0: the system). */
	union {
		struct {
			uint16_t flavor; /* One SAMPLED_PC_* */
			uint8_t cpu;
			uint8_t flags; /* PROF_* */
			uint8_t kernel_frames;
			uint8_t user_frames;
			uint16_t reserved; /* 0. */
		};
		uint32_t kind[2]; /* These together, for whoever makes or copies samples. */
	};
	uint32_t time[2];
	uint32_t frames[];
};

/*
 * A client (SAMPLE_CLIENTS).  Behind the frames of a sample or a wait, up to the record's end, one
 * stands behind the other: first who waits for the thread itself, then who waits for that one.
 */
struct prof_client {
	uint32_t pc; /* Of user mode, where it had come to the kernel. */
	uint32_t thread;
	uint32_t task;
	uint16_t user_frames;
	uint16_t flags; /* PROF_STACK_CUT */
	uint32_t frames[];
};

/* Why a thread did not run. */
enum prof_wait_reason {
	PROF_WAIT_CPU = 1, /* It could, and others did: it waited for its turn. */
	PROF_WAIT_RECEIVE, /* For a message; */
	PROF_WAIT_SEND,    /* for room for one that it sends; */
	PROF_WAIT_PAGE,    /* for a page, from a pager or of memory; */
	PROF_WAIT_LOCK,    /* for a word of memory: gsync_wait(); */
	PROF_WAIT_TIMER,   /* for nothing but time: thread_switch(); */
	PROF_WAIT_THREAD,  /* for another thread's end, or that it stands still; */
	PROF_WAIT_STOP,    /* or it was suspended, or not started yet. */
};

/*
 * A wait that has ended, or was open when the stream did (SAMPLED_PC_WAIT).  A thread's waits are
 * disjoint, and between them it ran; where the reason changes one ends and the next begins: so what
 * it ran and what it waited add up to the stream's time.  Where it was and for whom is as in a
 * sample, at the beginning of the wait.  Frames follow.
 */
struct prof_wait {
	struct prof_record record;
	uint32_t pc;
	uint32_t kernel_pc; /* 0: on the way to user mode. */
	uint32_t thread;
	uint32_t task;
	uint32_t label;
	uint16_t flavor; /* SAMPLED_PC_WAIT */
	uint8_t cpu;     /* That found it over. */
	uint8_t flags;   /* PROF_STACK_CUT, PROF_CLIENTS_CUT */
	uint8_t kernel_frames;
	uint8_t user_frames;
	uint16_t reason;    /* PROF_WAIT_* */
	uint32_t time[2];   /* When it began; at the earliest when the stream did. */
	uint32_t length[2]; /* In nanoseconds. */
	uint32_t frames[];
};

/* One CPU's sampling clock for this stream, since it began; each term is counted where it happens.
 *
 *	due == fired + missed + parked
 *	fired == idle + elsewhere + taken
 *
 * Where an emulator runs the CPUs in turn (cpus_in_turn), a due time fires on the one that had the
 * turn, or is missed there, and finds the others parked: they executed nothing, and have no sample.
 */
struct prof_clock {
	struct prof_record record;
	uint32_t cpu;
	uint32_t due[2];       /* Due times that have come, */
	uint32_t fired[2];     /* for which the interrupt came in time, */
	uint32_t missed[2];    /* that had passed unserved when it came, */
	uint32_t parked[2];    /* or that were another CPU's. */
	uint32_t idle[2];      /* Found the CPU idle, */
	uint32_t elsewhere[2]; /* running what is not this stream's, */
	uint32_t taken[2];     /* or took a sample. */
};

/*
 * All CPUs and flavors, at the moment that the message was made up.
 *
 *	taken == delivered + lost + buffered
 */
struct prof_stream {
	struct prof_record record;
	uint32_t taken[2];     /* By the clock and by events. */
	uint32_t delivered[2]; /* In messages up to this one, */
	uint32_t lost[2];      /* for want of room in a ring or a buffer, */
	uint32_t buffered[2];  /* and still in one. */
};

/*
 * How long all waits took together that are counted there, in nanoseconds.
 *
 *	taken == delivered + lost + buffered
 */
struct prof_waits {
	struct prof_record record;
	uint32_t taken[2];
	uint32_t delivered[2];
	uint32_t lost[2];
	uint32_t buffered[2];
};

enum prof_end_reason {
	PROF_END_STOPPED = 1, /* By a call; */
	PROF_END_TARGET = 2,  /* the task or thread has ended. */
};

struct prof_end {
	struct prof_record record;
	uint32_t reason; /* PROF_END_* */
	uint32_t time[2];
};

/* The words of a message, as prof_server() hands them over. */
typedef unsigned *sample_array_t;

static inline uint64_t prof_u64(const uint32_t words[2])
{
	return (uint64_t)words[1] << 32 | words[0];
}

#endif
