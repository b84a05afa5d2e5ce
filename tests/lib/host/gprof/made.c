/* SPDX-License-Identifier: MIT */
/* Profiles for the readers' tests: see made.h. */
#include "made.h"

#include <gmon.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BINS (MADE_TEXT_BYTES / 2)

void made_put(struct made *made, const void *bytes, size_t size)
{
	if (made->size + size > made->room) {
		made->room = 2 * (made->size + size);
		made->bytes = realloc(made->bytes, made->room);
	}
	memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

void made_put_word(struct made *made, uint32_t word)
{
	made_put(made, &word, sizeof(word));
}

/* ---------------- gmon.out ---------------- */

static void put_bins(struct made *made)
{
	for (uint16_t i = 0; i < BINS; i++)
		made_put(made, &i, sizeof(i));
}

static void put_arc(struct made *made, uint32_t from, uint32_t self, uint32_t count)
{
	static const char tag = GMON_TAG_ARC;
	const struct gmon_arc arc = {from, self, count};

	made_put(made, &tag, 1);
	made_put(made, &arc, sizeof(arc));
	made->records++;
}

struct made made_gmon(bool is_ours)
{
	static const char tag = GMON_TAG_HISTOGRAM;
	static const char blocks = GMON_TAG_BLOCKS;
	struct made made = {0};
	const struct gmon_header header = {GMON_MAGIC, GMON_VERSION, {0}};
	const struct gmon_histogram histogram = {
		.low = MADE_TEXT,
		.high = MADE_TEXT + MADE_TEXT_BYTES,
		.bins = BINS,
		.rate = 100,
		.dimension = "seconds",
		.abbreviation = 's',
	};

	made_put(&made, &header, sizeof(header));
	made_put(&made, &tag, 1);
	made_put(&made, &histogram, sizeof(histogram));
	put_bins(&made);
	for (uint32_t i = 0; i < 10; i++)
		put_arc(&made, MADE_TEXT + i, MADE_TEXT + 3 * i, i);
	if (is_ours) {
		put_arc(&made, GMON_EXTRA_VALUE, GMON_FORMAT, 1);
		put_arc(&made, GMON_EXTRA_VALUE, GMON_FLAVOR, 1);
		put_arc(&made, GMON_EXTRA_VALUE, GMON_FLAVORS, 0x11);
		put_arc(&made, GMON_EXTRA_VALUE_HIGH, GMON_LOST, 2);
		for (uint32_t i = 0; i < BINS; i++)
			put_arc(&made, GMON_EXTRA_PC, MADE_TEXT + 2 * i, i);
		put_arc(&made, GMON_EXTRA_CODE, MADE_TEXT, 8);
		put_arc(&made, GMON_EXTRA_CODE_SUM, MADE_TEXT, 0x12345678);
		put_arc(&made, GMON_EXTRA_LABEL, 7, 9);
		put_arc(&made, GMON_EXTRA_LABEL, 8, 1);
		put_arc(&made, GMON_EXTRA_LABEL_PID, 7, 138);
		put_arc(&made, GMON_EXTRA_LABEL_NAME, 7, 0x746163);
		put_arc(&made, GMON_EXTRA_PC + 1, MADE_TEXT, 5);
		put_arc(&made, GMON_EXTRA_PC + 8, MADE_TEXT, 6);
	}
	made_put(&made, &blocks, 1);
	made_put_word(&made, 1);
	made_put_word(&made, MADE_TEXT);
	made_put_word(&made, 77);
	made.records += 2;
	return made;
}

struct made made_bsd(void)
{
	struct made made = {0};
	const struct gmon_44bsd_header header = {
		.low = MADE_TEXT,
		.high = MADE_TEXT + MADE_TEXT_BYTES,
		.bytes = sizeof(header) + MADE_TEXT_BYTES,
		.version = GMON_44BSD_VERSION,
		.rate = 100,
	};
	const struct gmon_arc arc = {MADE_TEXT, MADE_TEXT + 1, 5};

	made_put(&made, &header, sizeof(header));
	put_bins(&made);
	for (unsigned i = 0; i < 10; i++)
		made_put(&made, &arc, sizeof(arc));
	made.records = 10;
	return made;
}

struct made made_old_bsd(void)
{
	struct made made = {0};
	const uint32_t header[] = {MADE_TEXT, MADE_TEXT + MADE_TEXT_BYTES, 12 + MADE_TEXT_BYTES};
	const struct gmon_arc arc = {MADE_TEXT, MADE_TEXT + 1, 5};

	made_put(&made, header, sizeof(header));
	put_bins(&made);
	made_put(&made, &arc, sizeof(arc));
	made.records = 1;
	return made;
}

/* A histogram, a call and a block of a program of x86-64. */
struct made made_gmon64(void)
{
	static const char kinds[] = {GMON_TAG_HISTOGRAM, GMON_TAG_ARC, GMON_TAG_BLOCKS};
	static const uint32_t arc[] = {MADE_TEXT, 0, MADE_TEXT + 8, 0, 3};
	static const uint32_t blocks[] = {1, MADE_TEXT, 0, 9, 0};
	static const uint32_t range[] = {MADE_TEXT, 0, MADE_TEXT + MADE_TEXT_BYTES, 0, BINS, 50};
	const struct gmon_header header = {GMON_MAGIC, GMON_VERSION, {0}};
	struct made made = {.records = 3};

	made_put(&made, &header, sizeof(header));
	made_put(&made, &kinds[0], 1);
	made_put(&made, range, sizeof(range));
	made_put(&made, "page faults\0\0\0\0f", 16);
	put_bins(&made);
	made_put(&made, &kinds[1], 1);
	made_put(&made, arc, sizeof(arc));
	made_put(&made, &kinds[2], 1);
	made_put(&made, blocks, sizeof(blocks));
	return made;
}
