/* SPDX-License-Identifier: MIT */
/*
 * Writes gmon.sum (-s): the sum of all profiles, in the form that its first flavor came in.
 *
 * A bin has 16 bits, an arc 32.  What is more goes on in another record of the same range or pair,
 * which readers add up; so nothing wraps.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gmon.h"
#include "mach/pc_sample.h"
#include "read.h"
#include "sum.h"
#include "util.h"

#define BIN_MAX 0xffffu

#define NAME_RECORDS 8u /* Of a task's name. */

/* Code that a bin of ours covers. */
#define BIN_STEP 4u

struct writer {
	FILE *out;
	unsigned address_bytes;
	const struct profile *profile;
	const struct profile_flavor *first; /* Of ours, the one that has the histogram. */
	bool is_ours;
};

static void gmon_put(const struct writer *writer, uint64_t word, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		fputc((int)(word >> 8 * i & 0xff), writer->out);
}

static void gmon_write_put_arc(const struct writer *writer, uint64_t from, uint64_t self,
			       uint64_t count)
{
	do {
		uint64_t part = count > UINT32_MAX ? UINT32_MAX : count;

		gmon_put(writer, GMON_TAG_ARC, 1);
		gmon_put(writer, from, writer->address_bytes);
		gmon_put(writer, self, writer->address_bytes);
		gmon_put(writer, part, 4);
		count -= part;
	} while (count > 0);
}

/* ---------------- Histograms ---------------- */

static void gmon_write_put_histogram_head(const struct writer *writer,
					  const struct profile_flavor *flavor,
					  const struct profile_bins *bins)
{
	char dimension[PROFILE_NAME - 1] = "seconds";
	double rate = flavor->is_event || flavor->rate <= 0 ? 1 : flavor->rate + 0.5;

	if (flavor->is_event)
		memcpy(dimension, flavor->name, sizeof(dimension));
	gmon_put(writer, GMON_TAG_HISTOGRAM, 1);
	gmon_put(writer, bins->low, writer->address_bytes);
	gmon_put(writer, bins->high, writer->address_bytes);
	gmon_put(writer, bins->n, 4);
	gmon_put(writer, (uint64_t)rate, 4);
	fwrite(dimension, 1, sizeof(dimension), writer->out);
	gmon_put(writer, (unsigned char)dimension[0], 1);
}

/* As many records as the largest bin needs. */
static void gmon_write_put_bins(const struct writer *writer, const struct profile_flavor *flavor,
				const struct profile_bins *bins)
{
	uint64_t given = 0;
	bool is_more = true;

	while (is_more) {
		is_more = false;
		gmon_write_put_histogram_head(writer, flavor, bins);
		for (uint32_t i = 0; i < bins->n; i++) {
			uint64_t count = profile_bins_get(bins, i);
			uint64_t left = count > given ? count - given : 0;

			gmon_put(writer, left > BIN_MAX ? BIN_MAX : left, 2);
			is_more |= left > BIN_MAX;
		}
		given += BIN_MAX;
	}
}

/* Of exact counts, over the program's code. */
static void gmon_write_put_exact(const struct writer *writer, const struct profile_flavor *flavor,
				 const struct elfsym *elf)
{
	const struct profile_counts *counts = &flavor->counts[PROFILE_USER];
	uint64_t low = elf->text_start / BIN_STEP * BIN_STEP;
	uint64_t n = (elf->text_end - low + BIN_STEP - 1) / BIN_STEP;
	struct profile_bins bins = {.low = low, .high = low + n * BIN_STEP, .n = (uint32_t)n};

	bins.counts = allocate(n, sizeof(*bins.counts));
	for (size_t i = 0; i < counts->n; i++)
		if (counts->items[i].pc >= bins.low && counts->items[i].pc < bins.high)
			profile_bins_add(&bins, (uint32_t)((counts->items[i].pc - low) / BIN_STEP),
					 counts->items[i].count);
	gmon_write_put_bins(writer, flavor, &bins);
	profile_bins_free(&bins);
}

/* ---------------- What only our files have ---------------- */

static unsigned gmon_number_of(unsigned bit)
{
	unsigned number = 0;

	while (bit >> number > 1)
		number++;
	return number;
}

static void gmon_put_counts(const struct writer *writer, const struct profile_flavor *flavor)
{
	for (unsigned mode = 0; mode < PROFILE_MODES; mode++) {
		const struct profile_counts *counts = &flavor->counts[mode];

		for (size_t i = 0; i < counts->n; i++)
			gmon_write_put_arc(writer,
					   GMON_EXTRA_PC + 2 * gmon_number_of(flavor->bit) + mode,
					   counts->items[i].pc, counts->items[i].count);
	}
}

/* Files may differ in what was sampled, and only one that the clock sampled says at what rate. */
static uint64_t gmon_write_value_of(const struct writer *writer, unsigned which)
{
	const struct profile *profile = writer->profile;
	uint64_t flavors = 0;

	if (which == GMON_FLAVOR)
		return writer->first->bit;
	if (which != GMON_FLAVORS)
		return profile->values[which];
	for (size_t i = 0; i < profile->n_flavors; i++)
		flavors |= profile->flavors[i].bit;
	return flavors;
}

static void gmon_put_values(const struct writer *writer)
{
	for (unsigned i = 0; i < PROFILE_VALUES; i++) {
		uint64_t value = gmon_write_value_of(writer, i);

		if (!profile_knows(writer->profile, i))
			continue;
		gmon_write_put_arc(writer, GMON_EXTRA_VALUE, i, (uint32_t)value);
		if (value >> 32 != 0)
			gmon_write_put_arc(writer, GMON_EXTRA_VALUE_HIGH, i, value >> 32);
	}
}

static void gmon_put_cpus(const struct writer *writer)
{
	for (unsigned cpu = 0; cpu < PROFILE_CPUS; cpu++)
		for (unsigned i = 0; i < PROFILE_VALUES; i++) {
			uint64_t value = writer->profile->cpus[cpu][i];

			if (value == 0)
				continue;
			gmon_write_put_arc(writer, GMON_EXTRA_CPU, GMON_CPU_VALUE(cpu, i),
					   (uint32_t)value);
			if (value >> 32 != 0)
				gmon_write_put_arc(writer, GMON_EXTRA_CPU_HIGH,
						   GMON_CPU_VALUE(cpu, i), value >> 32);
		}
}

/* What program it is of: what the last file said of the code, which all agree about. */
static void gmon_write_put_codes(const struct writer *writer)
{
	for (size_t i = 0; i < writer->profile->n_codes; i++) {
		const struct profile_code *code = &writer->profile->codes[i];

		gmon_write_put_arc(writer, GMON_EXTRA_CODE, code->start, code->bytes);
		gmon_write_put_arc(writer, GMON_EXTRA_CODE_SUM, code->start, code->sum);
	}
}

/* Four letters a record, as many as there are of eight. */
static void gmon_put_name(const struct writer *writer, const struct profile_task *task)
{
	size_t length = strlen(task->name);

	gmon_write_put_arc(writer, GMON_EXTRA_LABEL_PID, task->id,
			   (uint32_t)(task->pid + 1) - (task->pid < 0));
	for (unsigned i = 0; i < NAME_RECORDS && i * 4 < length; i++) {
		char letters[5] = "";

		strncpy(letters, task->name + i * 4, 4);
		gmon_write_put_arc(writer, GMON_EXTRA_LABEL_NAME + i, task->id,
				   load_u32((const unsigned char *)letters));
	}
}

static void gmon_put_labels(const struct writer *writer)
{
	const struct profile *profile = writer->profile;

	for (size_t i = 0; i < profile->n_labels; i++)
		gmon_write_put_arc(writer, GMON_EXTRA_LABEL, profile->labels[i].task,
				   profile->labels[i].samples);
	for (size_t i = 0; i < profile->n_tasks; i++)
		gmon_put_name(writer, &profile->tasks[i]);
}

/* ---------------- The file ---------------- */

/* Ours say exactly what is in which flavor; a histogram beside them would be passed over. */
static bool gmon_write_is_ours(const struct profile *profile)
{
	bool has_bins = false;

	for (size_t i = 0; i < profile->n_flavors; i++)
		has_bins |= profile->flavors[i].n_bins > 0;
	if (profile_knows(profile, GMON_FORMAT) && has_bins)
		fail("-s: profiles with exact counts and with histograms only cannot be summed");
	return profile_knows(profile, GMON_FORMAT);
}

/* The clock's, if there is one. */
static const struct profile_flavor *gmon_first_of(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_flavors; i++)
		if (profile->flavors[i].bit == SAMPLED_PC_PERIODIC)
			return &profile->flavors[i];
	return &profile->flavors[0];
}

static void gmon_write_put_all(const struct writer *writer, const struct elfsym *elf)
{
	const struct profile *profile = writer->profile;

	fwrite(GMON_MAGIC, 1, 4, writer->out);
	gmon_put(writer, GMON_VERSION, 4);
	gmon_put(writer, 0, 8);
	gmon_put(writer, 0, 4);
	for (size_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];

		if (writer->is_ours && flavor == writer->first)
			gmon_write_put_exact(writer, flavor, elf);
		for (size_t j = 0; j < flavor->n_bins; j++)
			gmon_write_put_bins(writer, flavor, &flavor->bins[j]);
		if (writer->is_ours)
			gmon_put_counts(writer, flavor);
	}
	if (writer->is_ours) {
		gmon_put_values(writer);
		gmon_put_cpus(writer);
		gmon_write_put_codes(writer);
		gmon_put_labels(writer);
	}
	for (size_t i = 0; i < profile->n_arcs; i++)
		gmon_write_put_arc(writer, profile->arcs[i].from, profile->arcs[i].self,
				   profile->arcs[i].count);
}

void gmon_write(const struct profile *profile, const struct elfsym *elf, const char *name)
{
	struct writer writer = {
		.address_bytes = elf->is_64 ? 8 : 4,
		.profile = profile,
		.first = gmon_first_of(profile),
		.is_ours = gmon_write_is_ours(profile),
	};
	bool has_failed;

	if (profile->n_samples > 0)
		fail("-s: samples of perf.data cannot be summed into a gmon.sum");
	writer.out = fopen(name, "w");
	if (writer.out == NULL)
		fail("%s: cannot be written: %s", name, strerror(errno));
	gmon_write_put_all(&writer, elf);
	has_failed = ferror(writer.out) != 0;
	if (fclose(writer.out) != 0 || has_failed)
		fail("%s: cannot be written: %s", name, strerror(errno));
}
