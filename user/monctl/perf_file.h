/* SPDX-License-Identifier: MIT */
/*
 * A file of samples as Linux's perf writes them to a pipe: `perf report -i FILE` reads it.
 *
 * Records are collected in memory and written by perf_round() together, so that whatever has been
 * written is a whole number of records, and a file that ends early can be read as far as it goes.
 */
#ifndef MONCTL_PERF_FILE_H
#define MONCTL_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/prof.h>

struct perf_file {
	int descriptor;
	char *records; /* Not written yet. */
	size_t used;
	size_t room;
	size_t record; /* Where the one begins that is being made. */
	uint32_t interval_ns;
};

/* A program's text, or the kernel's. */
struct perf_map {
	bool is_kernel;
	uint32_t pid;
	uint32_t start;
	uint32_t length;
	uint32_t offset; /* In the file. */
	uint32_t inode;
	const char *path;
};

/* Begins a file of these flavors. */
void perf_begin(struct perf_file *file, int descriptor, const struct prof_begin *begin);

void perf_command(struct perf_file *file, uint32_t pid, uint32_t thread, const char *name);
void perf_map(struct perf_file *file, const struct perf_map *map);

/* The name of a label, before the first sample that has it. */
void perf_label(struct perf_file *file, uint32_t label, const char *path);

void perf_sample(struct perf_file *file, uint32_t pid, const struct prof_sample *sample);

/* So many more were lost. */
void perf_lost(struct perf_file *file, uint64_t lost);

/* Words that a header tells: monctl's counts, as `due=10`. */
void perf_counts(struct perf_file *file, char *const words[], unsigned count);

/* Ends a round of samples and writes all; false with errno. */
bool perf_round(struct perf_file *file);

#endif
