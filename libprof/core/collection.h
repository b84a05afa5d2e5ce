/* SPDX-License-Identifier: MIT */
/*
 * What has been collected of a program: samples by program counter, and the counts that prove that
 * none is missing.  It is filled with the records of one stream after the other (<mach/prof.h>).
 *
 * Not guarded: one thread, the collector's, uses it.
 */
#ifndef LIBPROF_COLLECTION_H
#define LIBPROF_COLLECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gmon_program.h>
#include <mach/prof.h>

#include "pc_table.h"

#define COLLECTION_CPUS 32u

/* struct prof_clock and struct prof_stream in numbers. */
struct clock_counts {
	uint64_t due, fired, missed, parked, idle, elsewhere, taken;
};

struct stream_counts {
	uint64_t taken, delivered, lost, buffered;
};

/* Of the samples in the table: those in kernel mode, and those outside of the text. */
struct place_counts {
	uint64_t kernel, outside;
};

struct collection {
	/* What it is of: set once. */
	uint32_t low; /* The program's text: what the histogram covers. */
	uint32_t high;
	uint32_t pid;
	uint32_t task;       /* The kernel's number of it. */
	uint32_t own_thread; /* The collecting thread, if it is the program's; 0: none is. */
	bool of_kernel;      /* The kernel is the program: its own program counters are counted. */
	bool only_task;      /* The stream is of other tasks too, which are not counted. */
	bool runs_here;      /* Its code is in this memory, at its own addresses. */
	bool has_program;    /* Which executable it is, is known: */
	struct gmon_program program;
	const char *name; /* The program's.  May be null. */

	/* How it was sampled: of the last stream. */
	uint32_t flavors;
	uint32_t rate;
	uint32_t interval_ns;
	uint32_t options; /* SAMPLE_* */
	bool clock_is_block;
	bool cpus_in_turn;
	uint32_t cpus; /* At most COLLECTION_CPUS. */

	struct pc_table pcs;
	struct pc_table labels; /* Of the kernel: for which tasks it ran, in the place of pcs. */
	uint64_t profiler;      /* Samples of the own thread, which are nowhere else; */
	uint64_t others;        /* of what the profile is not of, which are nowhere else; */
	uint64_t not_kept;      /* delivered, but there was no memory to note them. */

	/* Of the streams that are over, and of the one under way, as its last message said. */
	struct clock_counts clocks_before[COLLECTION_CPUS];
	struct stream_counts stream_before;
	struct clock_counts clocks[COLLECTION_CPUS];
	struct stream_counts stream;
	bool is_over; /* The stream under way has sent its end, */
	uint32_t end; /* and why: PROF_END_* */
};

/* Forgets what was collected, for samples of these flavors. */
void __collection_clear(struct collection *collection, uint32_t flavors);

/* Another stream begins, whose counts go on where those of the last ended. */
void __collection_next_stream(struct collection *collection);

/* A message's records.  What no reader could know is passed over, what is cut off is ignored. */
void __collection_add(struct collection *collection, const uint32_t *words, size_t count);

/* Sums over the streams: of one CPU, and over the CPUs. */
struct clock_counts __collection_clock(const struct collection *collection, uint32_t cpu);
struct clock_counts __collection_clocks(const struct collection *collection);
struct stream_counts __collection_counts(const struct collection *collection);

struct place_counts __collection_places(const struct collection *collection);

#endif
