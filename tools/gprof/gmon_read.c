/* SPDX-License-Identifier: MIT */
/*
 * Reads the gmon.out of GNU, and ours, which is that with more in it (<gmon.h>).
 *
 * Two passes over the records: the first checks that they are whole and finds out whether the file
 * is one of ours, the second adds.  In ours the exact counts are taken and the histogram, which
 * says the same less exactly, is only compared with them.
 */
#include "gmon.h"

#include <string.h>

#include "read.h"

#define HEADER_BYTES 20u
#define COUNT_BYTES  4u
#define NAME_RECORDS 8u /* Of four bytes each. */
#define NO_PID       0xffffffffu

/* A histogram's record behind its addresses: bins, rate, dimension, abbreviation. */
#define HISTOGRAM_BYTES 24u

static const char cut[] = "is damaged: it ends in a record";

struct reader {
	const unsigned char *bytes;
	size_t size;
	size_t at;
	unsigned address_bytes;
	struct profile *profile;

	/* Found in the first pass. */
	bool is_ours;
	uint64_t values[PROFILE_VALUES];
	uint32_t known; /* Which of them it has. */
	uint64_t low;   /* The range of the histogram, */
	uint64_t high;  /* which in ours is one. */
	uint64_t binned;
	uint64_t exact;           /* Of the first flavor, in user mode and in the range. */
	struct profile_code code; /* Whose sum the next record is. */

	/* The task that is named just now. */
	uint32_t named;
	int32_t pid;
	char name[4 * NAME_RECORDS + 1];
};

struct histogram {
	uint64_t low;
	uint64_t high;
	uint32_t n;
	uint32_t rate;
	char dimension[PROFILE_NAME];
	const unsigned char *bins;
};

/* ---------------- Records ---------------- */

static size_t gmon_read_left(const struct reader *reader)
{
	return reader->size - reader->at;
}

static uint64_t gmon_read_take_address(struct reader *reader)
{
	uint64_t address = load_address(reader->bytes + reader->at, reader->address_bytes);

	reader->at += reader->address_bytes;
	return address;
}

static uint32_t gmon_read_take_u32(struct reader *reader)
{
	uint32_t word = load_u32(reader->bytes + reader->at);

	reader->at += sizeof(word);
	return word;
}

/* Up to the first zero; what cannot be printed does not come into a table. */
static void gmon_read_take_name(struct reader *reader, char name[PROFILE_NAME])
{
	const unsigned char *from = reader->bytes + reader->at;

	memset(name, 0, PROFILE_NAME);
	for (unsigned i = 0; i + 1 < PROFILE_NAME && from[i] != 0; i++)
		name[i] = from[i] > ' ' && from[i] <= '~' ? (char)from[i] : '-';
	reader->at += PROFILE_NAME;
}

static const char *gmon_read_take_histogram(struct reader *reader, struct histogram *histogram)
{
	if (gmon_read_left(reader) < 2 * (size_t)reader->address_bytes + HISTOGRAM_BYTES)
		return cut;
	histogram->low = gmon_read_take_address(reader);
	histogram->high = gmon_read_take_address(reader);
	histogram->n = gmon_read_take_u32(reader);
	histogram->rate = gmon_read_take_u32(reader);
	gmon_read_take_name(reader, histogram->dimension);
	if (gmon_read_left(reader) / GMON_BIN_BYTES < histogram->n)
		return cut;
	histogram->bins = reader->bytes + reader->at;
	reader->at += (size_t)histogram->n * GMON_BIN_BYTES;
	if (histogram->low > histogram->high || histogram->n > histogram->high - histogram->low)
		return "is damaged: its histogram has more bins than bytes of code";
	return NULL;
}

static const char *gmon_read_take_arc(struct reader *reader, struct profile_arc *arc)
{
	if (gmon_read_left(reader) < 2 * (size_t)reader->address_bytes + COUNT_BYTES)
		return cut;
	arc->from = gmon_read_take_address(reader);
	arc->self = gmon_read_take_address(reader);
	arc->count = gmon_read_take_u32(reader);
	return NULL;
}

/* Counts of basic blocks say nothing that is shown here. */
static const char *gmon_read_skip_blocks(struct reader *reader)
{
	size_t block = 2 * (size_t)reader->address_bytes;
	uint32_t n;

	if (gmon_read_left(reader) < sizeof(n))
		return cut;
	n = gmon_read_take_u32(reader);
	if (gmon_read_left(reader) / block < n)
		return cut;
	reader->at += n * block;
	return NULL;
}

/* Calls the right one of the two for each record. */
static const char *
gmon_read_for_records(struct reader *reader,
		      const char *(*on_histogram)(struct reader *, struct histogram *),
		      const char *(*on_arc)(struct reader *, struct profile_arc *))
{
	struct histogram histogram;
	struct profile_arc arc;
	const char *error = NULL;

	reader->at = HEADER_BYTES;
	while (error == NULL && gmon_read_left(reader) > 0) {
		switch (reader->bytes[reader->at++]) {
		case GMON_TAG_HISTOGRAM:
			error = gmon_read_take_histogram(reader, &histogram);
			if (error == NULL)
				error = on_histogram(reader, &histogram);
			break;
		case GMON_TAG_ARC:
			error = gmon_read_take_arc(reader, &arc);
			if (error == NULL)
				error = on_arc(reader, &arc);
			break;
		case GMON_TAG_BLOCKS:
			error = gmon_read_skip_blocks(reader);
			break;
		default:
			return "is damaged: it has a record of a kind that does not exist";
		}
	}
	return error;
}

static bool gmon_read_is_extra(const struct profile_arc *arc)
{
	return arc->from >= GMON_EXTRA_VALUE && arc->from < GMON_EXTRA_END;
}

/* What exact counts an extra record is of; false if it is of none. */
static bool gmon_read_is_pc(const struct profile_arc *arc, unsigned *bit, enum profile_mode *mode)
{
	uint64_t number = arc->from - GMON_EXTRA_PC;

	if (arc->from < GMON_EXTRA_PC || number / 2 >= 32)
		return false;
	*bit = 1u << number / 2;
	*mode = number % 2 == 0 ? PROFILE_USER : PROFILE_KERNEL;
	return profile_flavor_name(*bit) != NULL;
}

/* ---------------- The first pass ---------------- */

static const char *gmon_read_check_histogram(struct reader *reader, struct histogram *histogram)
{
	reader->low = histogram->low;
	reader->high = histogram->high;
	for (uint32_t i = 0; i < histogram->n; i++)
		reader->binned += load_u16(histogram->bins + (size_t)i * GMON_BIN_BYTES);
	return NULL;
}

static const char *gmon_read_check_arc(struct reader *reader, struct profile_arc *arc)
{
	if (arc->from == GMON_EXTRA_VALUE && arc->self == GMON_FORMAT)
		reader->is_ours = true;
	if (arc->self >= PROFILE_VALUES)
		return NULL;
	if (arc->from == GMON_EXTRA_VALUE) {
		reader->values[arc->self] |= arc->count;
		reader->known |= 1u << arc->self;
	}
	if (arc->from == GMON_EXTRA_VALUE_HIGH)
		reader->values[arc->self] |= arc->count << 32;
	return NULL;
}

/* ---------------- The second pass ---------------- */

/* The bit of the histogram's flavor, 0 if the file is another gprof's. */
static unsigned gmon_read_first_flavor(const struct reader *reader)
{
	return reader->is_ours ? (unsigned)reader->values[GMON_FLAVOR] : 0;
}

/* Of the sampling clock, whatever the histogram counts. */
static double gmon_read_rate_of_ours(const struct reader *reader)
{
	if (reader->values[GMON_INTERVAL] > 0)
		return 1e9 / (double)reader->values[GMON_INTERVAL];
	return (double)reader->values[GMON_RATE];
}

static const char *gmon_read_add_histogram(struct reader *reader, struct histogram *histogram)
{
	bool is_time = strcmp(histogram->dimension, "seconds") == 0;
	struct profile_flavor *flavor;
	struct profile_bins *bins;

	flavor = profile_flavor(reader->profile, gmon_read_first_flavor(reader),
				is_time ? "periodic" : histogram->dimension);
	if (flavor == NULL)
		return "has more flavors of samples than can be told apart";
	flavor->is_event |= !is_time && flavor->bit == 0;
	if (reader->is_ours) {
		reader->profile->low = histogram->low;
		reader->profile->high = histogram->high;
		return NULL;
	}
	if (!read_rate(flavor, histogram->rate))
		return read_other_rate;
	if (histogram->n == 0)
		return NULL;
	bins = profile_bins(flavor, histogram->low, histogram->high, histogram->n);
	if (bins == NULL)
		return read_overlap;
	for (uint32_t i = 0; i < histogram->n; i++)
		profile_bins_add(bins, i, load_u16(histogram->bins + (size_t)i * GMON_BIN_BYTES));
	return NULL;
}

/* Of a piece of code one record says where it is, and the next its sum. */
static const char *gmon_read_add_code(struct reader *reader, const struct profile_arc *arc)
{
	struct profile_code *code = &reader->code;

	if (arc->from == GMON_EXTRA_CODE) {
		*code = (struct profile_code){.start = arc->self, .bytes = (uint32_t)arc->count};
		return NULL;
	}
	if (code->bytes == 0 || code->bytes % sizeof(uint32_t) != 0 || code->start != arc->self)
		return "is damaged: it has a sum of no code";
	code->sum = (uint32_t)arc->count;
	profile_add_code(reader->profile, code);
	code->bytes = 0;
	return NULL;
}

/* On whose behalf the kernel ran: a task's samples, its process, and four letters of its name. */
static void gmon_read_add_label(struct reader *reader, const struct profile_arc *arc)
{
	uint32_t task = (uint32_t)arc->self;

	if (arc->from == GMON_EXTRA_LABEL) {
		profile_add_label(reader->profile, task, arc->count);
		return;
	}
	if (arc->from == GMON_EXTRA_LABEL_PID || task != reader->named) {
		memset(reader->name, 0, sizeof(reader->name));
		reader->named = task;
		reader->pid = -1;
	}
	if (arc->from == GMON_EXTRA_LABEL_PID && arc->count != NO_PID)
		reader->pid = (int32_t)(uint32_t)(arc->count - 1);
	for (unsigned i = 0; arc->from != GMON_EXTRA_LABEL_PID && i < 4; i++)
		reader->name[4 * (arc->from - GMON_EXTRA_LABEL_NAME) + i] =
			(char)(arc->count >> 8 * i & 0xff);
	profile_name_task(reader->profile, task, reader->pid, reader->name);
}

static void gmon_read_add_cpu(struct reader *reader, const struct profile_arc *arc)
{
	uint64_t cpu = arc->self / GMON_CPU_VALUE(1, 0), value = arc->self % GMON_CPU_VALUE(1, 0);

	if (cpu < PROFILE_CPUS && value < PROFILE_VALUES)
		reader->profile->cpus[cpu][value] +=
			arc->from == GMON_EXTRA_CPU_HIGH ? arc->count << 32 : arc->count;
}

static const char *gmon_read_add_extra(struct reader *reader, const struct profile_arc *arc)
{
	enum profile_mode mode;
	unsigned bit;

	if (arc->from == GMON_EXTRA_CODE || arc->from == GMON_EXTRA_CODE_SUM)
		return gmon_read_add_code(reader, arc);
	if (arc->from == GMON_EXTRA_CPU || arc->from == GMON_EXTRA_CPU_HIGH)
		gmon_read_add_cpu(reader, arc);
	if (arc->from >= GMON_EXTRA_LABEL && arc->from < GMON_EXTRA_LABEL_NAME + NAME_RECORDS)
		gmon_read_add_label(reader, arc);
	if (!gmon_read_is_pc(arc, &bit, &mode))
		return NULL;
	profile_add_count(profile_flavor(reader->profile, bit, NULL), mode, arc->self, arc->count);
	if (bit == gmon_read_first_flavor(reader) && mode == PROFILE_USER &&
	    arc->self >= reader->low && arc->self < reader->high)
		reader->exact += arc->count;
	return NULL;
}

static const char *gmon_read_arc(struct reader *reader, struct profile_arc *arc)
{
	if (reader->is_ours && gmon_read_is_extra(arc))
		return gmon_read_add_extra(reader, arc);
	profile_add_arc(reader->profile, arc->from, arc->self, arc->count);
	return NULL;
}

/* ---------------- A file ---------------- */

/* All flavors that the file was sampled with, also those of which there was no sample. */
static const char *gmon_read_add_values(struct reader *reader)
{
	unsigned flavors = (unsigned)reader->values[GMON_FLAVORS] | gmon_read_first_flavor(reader);

	if (reader->values[GMON_FORMAT] != 1)
		return "was written by a newer program than this gprof";
	if (profile_flavor_name(gmon_read_first_flavor(reader)) == NULL)
		return "is damaged: it does not say what its histogram counts";
	for (unsigned bit = 1; bit != 0; bit <<= 1)
		if ((flavors & bit) != 0 && profile_flavor_name(bit) != NULL &&
		    !read_rate(profile_flavor(reader->profile, bit, NULL),
			       gmon_read_rate_of_ours(reader)))
			return read_other_rate;
	for (unsigned i = 0; i < PROFILE_VALUES; i++)
		if ((reader->known >> i & 1) != 0)
			profile_add_value(reader->profile, i, reader->values[i]);
	return NULL;
}

const char *gmon_read(struct profile *profile, const unsigned char *bytes, size_t size,
		      unsigned address_bytes)
{
	struct reader reader = {
		.bytes = bytes,
		.size = size,
		.address_bytes = address_bytes,
		.profile = profile,
	};
	const char *error;

	if (size < HEADER_BYTES)
		return "is damaged: it ends in its header";
	if (load_u32(bytes + 4) > GMON_VERSION)
		return "was written by a newer program than this gprof";
	error = gmon_read_for_records(&reader, gmon_read_check_histogram, gmon_read_check_arc);
	if (error == NULL && reader.is_ours)
		error = gmon_read_add_values(&reader);
	if (error == NULL)
		error = gmon_read_for_records(&reader, gmon_read_add_histogram, gmon_read_arc);
	if (error == NULL && reader.is_ours && reader.binned != reader.exact)
		error = "is damaged: its histogram and its exact counts differ";
	return error;
}
