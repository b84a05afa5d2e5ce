/* SPDX-License-Identifier: MIT */
/*
 * A file of samples as Linux's perf writes them to a pipe: `perf report -i FILE` reads it.
 *
 * Records are collected in memory to be written together, so that whatever has been written is a
 * whole number of them, and a file that ends early can be read as far as it goes.
 *
 * perf sorts all by time: there are no records that end a round, as what the sampling clock took
 * comes up to a second later than events.  Names and maps whose time is AT_ONCE hold from the
 * beginning on.
 */
#ifndef MONCTL_PERF_FILE_H
#define MONCTL_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/prof.h>

struct perf_file {
	char *records; /* Not written yet. */
	size_t used;
	size_t room;
	size_t record; /* Where the one begins that is being made. */
	uint32_t interval_ns;
};

#define AT_ONCE 0

/* The path of a map of what is no program. */
#define NO_PROGRAM "[heap]"

/* A program's text, or the kernel's. */
struct perf_map {
	bool is_kernel;
	uint32_t pid;
	uint64_t start;
	uint32_t length;
	uint32_t offset; /* In the file. */
	uint32_t inode;
	uint32_t code; /* The sum of the program's code (<gmon_program.h>), 0: not known. */
	uint64_t time;
	const char *path;
};

/* Begins a file of these flavors. */
void perf_begin(struct perf_file *file, const struct prof_begin *begin);

/* A number's digits, and the place behind; printf() would be half of what a short program costs. */
char *perf_decimal(char *at, uint32_t number);

/* What a thread is called; its process executes a program of that name if the time is one. */
void perf_command(struct perf_file *file, uint32_t pid, uint32_t thread, const char *name,
		  uint64_t time);
/* Who forked a process, before anything else is said of it; and when it ended. */
void perf_fork(struct perf_file *file, uint32_t pid, uint32_t parent);
void perf_exit(struct perf_file *file, uint32_t pid, uint32_t parent, uint64_t time);

/*
 * The user who has a process run, and what he is called unless that is NULL: words of the header,
 * for perf has no record of that.
 */
void perf_user(struct perf_file *file, uint32_t pid, uint32_t uid, const char *name);

void perf_map(struct perf_file *file, const struct perf_map *map);

/* The name of a label, before the first sample that has it. */
void perf_label(struct perf_file *file, uint32_t label, const char *path);

/*
 * Whose a sample is, and its clients, the nearest first.  perf knows of one address space for a
 * sample, but its addresses have 64 bits: a client's have in their upper half what the client is
 * called by here, so that no two are alike.
 */
struct perf_origin {
	uint32_t pid;
	uint32_t thread;
	uint32_t clients[SAMPLE_CLIENTS_MAX];
	uint32_t label; /* Of whom no client is known though there is one; 0: none. */
};

static inline uint64_t perf_client_address(uint32_t client, uint32_t address)
{
	return (uint64_t)client << 32 | address;
}

void perf_sample(struct perf_file *file, const struct perf_origin *origin,
		 const struct prof_sample *sample);

/* So many more were lost. */
void perf_lost(struct perf_file *file, uint64_t lost);

/* Words that a header tells: monctl's counts, as `due=10`.  The last ones hold. */
void perf_counts(struct perf_file *file, char *const words[], unsigned count);

#endif
