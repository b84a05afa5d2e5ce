/* SPDX-License-Identifier: MIT */
/*
 * What perf.data looks like as a pipe would carry it: a header and then records, each of which
 * begins with struct perf_header, has a length that 8 divides, and is in the order of the bytes of
 * the machine that wrote it; here little-endian.
 */
#ifndef GPROF_PERF_FORMAT_H
#define GPROF_PERF_FORMAT_H

#include <stdint.h>

#define PERF_MAGIC       0x32454c4946524550ull /* "PERFILE2" */
#define PERF_PIPE_HEADER 16u
#define PERF_FILE_HEADER 104u /* Of a file that is no pipe, which has the magic too. */
#define PERF_RECORD_MAX  0xfff8u

/* To perf a thread's number is no process's but its own: so ours are that much larger. */
#define PERF_THREADS 1000000000u

struct perf_header {
	uint32_t type;
	uint16_t misc;
	uint16_t size; /* Of the whole record. */
};

enum perf_type {
	PERF_MMAP = 1,
	PERF_LOST = 2,
	PERF_COMM = 3,
	PERF_FORK = 7,
	PERF_SAMPLE = 9,
	PERF_MMAP2 = 10,
	PERF_LOST_SAMPLES = 13,
	PERF_CGROUP = 19,
	PERF_ATTR = 64,
	PERF_FINISHED_ROUND = 68,
	PERF_EVENT_UPDATE = 78,
	PERF_FEATURE = 80,
};

/* struct perf_header, misc: where a sample was, or what a mapping is for. */
#define PERF_MISC_MODE   7u
#define PERF_MISC_KERNEL 1u
#define PERF_MISC_USER   2u

/* What a sample consists of, in this order but for IDENTIFIER, which is the first. */
#define PERF_HAS_IP         0x1u
#define PERF_HAS_TID        0x2u
#define PERF_HAS_TIME       0x4u
#define PERF_HAS_ADDR       0x8u
#define PERF_HAS_READ       0x10u
#define PERF_HAS_CALLCHAIN  0x20u
#define PERF_HAS_ID         0x40u
#define PERF_HAS_CPU        0x80u
#define PERF_HAS_PERIOD     0x100u
#define PERF_HAS_STREAM_ID  0x200u
#define PERF_HAS_IDENTIFIER 0x10000u
#define PERF_HAS_CGROUP     0x200000u
#define PERF_HAS_KNOWN                                                                             \
	(PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ADDR | PERF_HAS_CALLCHAIN |         \
	 PERF_HAS_ID | PERF_HAS_CPU | PERF_HAS_PERIOD | PERF_HAS_STREAM_ID | PERF_HAS_IDENTIFIER | \
	 PERF_HAS_CGROUP)

/* What an attribute begins with; the rest of its `size` bytes is of no interest here. */
struct perf_attr {
	uint32_t type;
	uint32_t size;
	uint64_t config;
	uint64_t period;
	uint64_t sample_type; /* PERF_HAS_* */
	uint64_t read_format;
	uint64_t flags;
};

#define PERF_ATTR_USED          48u /* sizeof(struct perf_attr) */
#define PERF_TYPE_SOFTWARE      1u
#define PERF_CONFIG_LENGTH      10u /* Of times off the CPU: a sample's period is its length. */
#define PERF_ATTR_SIZE          136u
#define PERF_FLAG_FREQUENCY     (1ull << 10) /* `period` is samples a second. */
#define PERF_FLAG_SAMPLE_ID_ALL (1ull << 18) /* All records have a time and the like. */

/* Between a mapping's offset and its path: device, inode, generation, protection, flags. */
#define PERF_MMAP2_MORE       32u
#define PERF_MMAP2_GENERATION 16u /* Of ours the program's sum: <gmon_program.h>. */

#define PERF_UPDATE_NAME     2u
#define PERF_FEATURE_CMDLINE 11u

/* Marks in a call chain: the addresses behind it are of that mode. */
#define PERF_CONTEXT_MAX    0xfffffffffffff001ull /* Marks are this or more. */
#define PERF_CONTEXT_KERNEL 0xffffffffffffff80ull
#define PERF_CONTEXT_USER   0xfffffffffffffe00ull

#endif
