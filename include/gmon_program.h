/* SPDX-License-Identifier: MIT */
/*
 * Which program a gmon.out is of: GMON_TEXT_LOW, GMON_TEXT_HIGH and GMON_EXTRA_CODE (<gmon.h>),
 * found in an ELF file of 32 bits, or in a program in memory from its ELF header on.
 *
 * A program that is sampled must not read all its code for that: each page would be a page-in that
 * it would not have had.  So it sums up what its first page has of it, which is there already.  Who
 * has the file sums up all.  The headers are not summed up: strip and -g change them.
 */
#ifndef GMON_PROGRAM_H
#define GMON_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gmon_program {
	uint32_t low;  /* Of the executable segments: from the first's start */
	uint32_t high; /* to the last's end. */
	uint32_t code; /* So much of the first one's code, from this address on, */
	uint32_t bytes;
	uint32_t sum; /* has this sum. */
};

static inline uint32_t gmon_load(const unsigned char *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/*
 * Of whole words: the rest of `bytes` is left out.  Some at a time, as going from one to the next
 * is as much as summing it up, and monctl does that with each program that it finds at work.
 */
static inline uint32_t gmon_code_sum(const void *code, uint32_t bytes)
{
	const unsigned char *at = code;
	uint32_t sum = 0;

#pragma GCC unroll 8
	for (uint32_t n = 0; n < bytes / 4; n++) {
		sum ^= gmon_load(at + (size_t)4 * n);
		sum = (sum << 13 | sum >> 19) * 0x9e3779b1u;
	}
	return sum ^ bytes;
}

/* ---------------- What is used of ELF ---------------- */

#define GMON_ELF_MAGIC  0x464c457fu
#define GMON_ELF_HEADER 52u
#define GMON_ELF_LOADED 1u
#define GMON_ELF_CODE   1u

struct gmon_segment {
	uint32_t type;
	uint32_t offset;
	uint32_t address;
	uint32_t physical;
	uint32_t in_file;
	uint32_t in_memory;
	uint32_t flags;
	uint32_t alignment;
};

/* Finds the table of the segments; false: there is none, or not all of it is at hand. */
static inline bool gmon_find_segments(const unsigned char *image, size_t size, size_t *table,
				      size_t *count)
{
	if (size < GMON_ELF_HEADER || gmon_load(image) != GMON_ELF_MAGIC || image[4] != 1 ||
	    image[5] != 1)
		return false;
	*table = gmon_load(image + 28);
	*count = gmon_load(image + 44) & 0xffff;
	return *table >= GMON_ELF_HEADER && *table <= size &&
	       *count <= (size - *table) / sizeof(struct gmon_segment);
}

static inline struct gmon_segment gmon_segment(const unsigned char *at)
{
	return (struct gmon_segment){
		.type = gmon_load(at),
		.offset = gmon_load(at + 4),
		.address = gmon_load(at + 8),
		.in_file = gmon_load(at + 16),
		.in_memory = gmon_load(at + 20),
		.flags = gmon_load(at + 24),
	};
}

/* ---------------- A program ---------------- */

/* Code begins behind the headers, if the segment begins with them: at `headers` in the file. */
static inline void gmon_sum_segment(struct gmon_program *program, const unsigned char *image,
				    size_t size, const struct gmon_segment *segment, size_t headers)
{
	size_t begin = segment->offset, end;

	if (begin >= size)
		return;
	end = begin + (segment->in_file < size - begin ? segment->in_file : size - begin);
	if (begin < headers)
		begin = (headers + 3) & ~(size_t)3;
	if (end < begin + 4)
		return;
	program->code = segment->address + (uint32_t)(begin - segment->offset);
	program->bytes = (uint32_t)(end - begin) & ~3u;
	program->sum = gmon_code_sum(image + begin, program->bytes);
}

/* What the first `size` bytes tell; false: it is no such program, or they tell nothing. */
static inline bool gmon_program_read(struct gmon_program *program, const void *bytes, size_t size)
{
	const unsigned char *image = bytes;
	size_t table = 0, count = 0;

	*program = (struct gmon_program){.low = 0};
	if (!gmon_find_segments(image, size, &table, &count))
		return false;
	for (size_t n = 0; n < count; n++) {
		size_t at = table + n * sizeof(struct gmon_segment);
		struct gmon_segment segment = gmon_segment(image + at);
		uint32_t end = segment.address + segment.in_memory;

		if (segment.type != GMON_ELF_LOADED || (segment.flags & GMON_ELF_CODE) == 0 ||
		    segment.in_memory == 0)
			continue;
		if (program->high == 0)
			gmon_sum_segment(program, image, size, &segment,
					 table + count * sizeof(struct gmon_segment));
		if (program->high == 0 || segment.address < program->low)
			program->low = segment.address;
		if (end > program->high)
			program->high = end;
	}
	return program->bytes != 0;
}

#endif
