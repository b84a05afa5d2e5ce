/* SPDX-License-Identifier: MIT */
/*
 * -i: how many records of each kind a profile has, as GNU's gprof says it.
 *
 * The file was read before, so all of its records are whole.  Records of ours, which GNU's counts
 * as calls, are told apart.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gmon.h"
#include "print.h"
#include "read.h"

#define HEADER_BYTES    20u
#define HISTOGRAM_BYTES 24u /* Behind its addresses. */
#define COUNT_BYTES     4u

struct records {
	const char *kind; /* NULL: GNU's version is said. */
	uint32_t version;
	uint64_t histograms;
	uint64_t calls;
	uint64_t blocks;
	uint64_t ours;
	uint64_t samples;
};

static void file_info_count_gmon(struct records *records, const struct file *file,
				 unsigned address_bytes)
{
	size_t two = 2 * (size_t)address_bytes;

	records->version = load_u32(file->bytes + 4);
	for (size_t at = HEADER_BYTES; at < file->size;) {
		const unsigned char *record = file->bytes + at + 1;
		uint64_t from;

		switch (file->bytes[at]) {
		case GMON_TAG_HISTOGRAM:
			records->histograms++;
			at += 1 + two + HISTOGRAM_BYTES +
			      GMON_BIN_BYTES * (size_t)load_u32(record + two);
			break;
		case GMON_TAG_ARC:
			from = load_address(record, address_bytes);
			if (from >= GMON_EXTRA_VALUE && from < GMON_EXTRA_END)
				records->ours++;
			else
				records->calls++;
			at += 1 + two + COUNT_BYTES;
			break;
		default:
			records->blocks++;
			at += 1 + COUNT_BYTES + two * load_u32(record);
		}
	}
}

static void file_info_count_bsd(struct records *records, const struct file *file,
				unsigned address_bytes)
{
	size_t two = 2 * (size_t)address_bytes;

	records->histograms = 1;
	records->calls = (file->size - load_u32(file->bytes + two)) / (two + COUNT_BYTES);
}

static void file_info_count_perf(struct records *records, const struct file *file)
{
	struct profile profile;

	records->kind = "perf.data";
	profile_begin(&profile);
	if (perf_read(&profile, file->bytes, file->size) == NULL)
		records->samples = profile.n_samples;
	profile_end(&profile);
}

static void file_info_print_kind(const char *before, uint64_t n, const char *kind)
{
	printf("%s%" PRIu64 " %s record%s\n", before, n, kind, n == 1 ? "" : "s");
}

void print_file_info(const struct file *file, unsigned address_bytes)
{
	struct records records = {0};

	if (memcmp(file->bytes, "gmon", 4) == 0)
		file_info_count_gmon(&records, file, address_bytes);
	else if (memcmp(file->bytes, "PERFILE2", 8) == 0)
		file_info_count_perf(&records, file);
	else
		file_info_count_bsd(&records, file, address_bytes);
	if (records.kind != NULL) {
		printf("File `%s' (%s) contains:\n", file->name, records.kind);
		file_info_print_kind("\t", records.samples, "sample");
		return;
	}
	printf("File `%s' (version %" PRIu32 ") contains:\n", file->name, records.version);
	file_info_print_kind("\t", records.histograms, "histogram");
	file_info_print_kind("\t", records.calls, "call-graph");
	file_info_print_kind("\t", records.blocks, "basic-block count");
	if (records.ours > 0)
		file_info_print_kind("\t", records.ours, "Assay's own");
}
