/* SPDX-License-Identifier: MIT */
/* Clocks that are not exact, by what a gmon.out says of the one that it was taken with. */
#include <gmon.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "common/common.h"

void clock_warn(void)
{
	report("warning: the emulator interrupts only between blocks of instructions, so that "
	       "samples are late; run it with --icount for exact ones");
}

/* The size of a record in a gmon.out, with its tag; 0 if it does not make sense. */
static size_t record_size(const unsigned char *record, size_t left)
{
	struct gmon_histogram histogram;
	uint32_t blocks;

	switch (record[0]) {
	case GMON_TAG_ARC:
		return 1 + sizeof(struct gmon_arc);
	case GMON_TAG_HISTOGRAM:
		if (left < 1 + sizeof(histogram))
			return 0;
		memcpy(&histogram, record + 1, sizeof(histogram));
		return 1 + sizeof(histogram) + (size_t)histogram.bins * sizeof(uint16_t);
	case GMON_TAG_BLOCKS:
		if (left < 1 + sizeof(blocks))
			return 0;
		memcpy(&blocks, record + 1, sizeof(blocks));
		return 1 + sizeof(blocks) + (size_t)blocks * 2 * sizeof(uint32_t);
	default:
		return 0;
	}
}

void clock_check_file(const void *data, size_t size)
{
	const unsigned char *at = data;
	size_t left = size;
	size_t record = sizeof(struct gmon_header);

	if (size < record || memcmp(data, GMON_MAGIC, sizeof(GMON_MAGIC) - 1) != 0)
		return;
	while (record != 0 && record < left) {
		struct gmon_arc arc;

		at += record;
		left -= record;
		record = record_size(at, left);
		if (at[0] != GMON_TAG_ARC || left < record)
			continue;
		memcpy(&arc, at + 1, sizeof(arc));
		if (arc.from == GMON_EXTRA_VALUE && arc.self == GMON_OPTIONS &&
		    (arc.count & GMON_CLOCK_IS_BLOCK))
			clock_warn();
	}
}
