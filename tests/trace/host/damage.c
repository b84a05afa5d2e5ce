/* SPDX-License-Identifier: MIT */
/*
 * links: lib/ktrace/file.c lib/ktrace/names.c lib/ktrace/calls.c lib/ktrace/print.c
 * links: lib/ktrace/print_call.c tools/kdump/host/view.c tools/kdump/views/spans.c
 * links: tools/kdump/views/chrome.c tools/kdump/views/perf.c tools/kdump/views/speedscope.c
 * links: tools/kdump/views/samples.c tools/gprof/bsd_read.c tools/gprof/gmon_read.c
 * links: tools/gprof/map.c tools/gprof/model.c tools/gprof/perf_read.c tools/gprof/perf_tasks.c
 * links: tools/gprof/read.c tools/gprof/util.c tools/gprof/views/callers.c
 * links: tools/gprof/views/guess.c tools/gprof/views/programs.c tools/gprof/views/view.c
 * links: lib/elfsym/elfsym.c lib/elfsym/symbols.c tests/lib/host/ktrace/made.c
 * flags: -Ilib -Itools/kdump
 */
/*
 * Traces with every byte flipped, cut at every length, or with numbers in them that nobody expects:
 * all other records are printed, and the sanitizers find nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ktrace/made.h"
#include "sys/ktrace.h"

static const unsigned char flips[] = {0x01, 0x80, 0xff};

/* The last of these is what a length field should not be. */
static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

/* Complaints are thousands. */
static void be_quiet(void)
{
	stderr = fopen("/dev/null", "w");
}

TEST(what_is_whole_is_printed)
{
	size_t size;
	unsigned char *bytes = made_trace(&size);
	int is_damaged;

	EXPECT_EQ(made_read(bytes, size, &is_damaged), MADE_RECORDS);
	EXPECT_EQ(is_damaged, 0);
	free(bytes);
}

TEST(each_byte_flipped)
{
	size_t size;
	unsigned char *bytes = made_trace(&size);
	int is_damaged;

	be_quiet();
	for (size_t i = 0; i < size; i++)
		for (size_t k = 0; k < sizeof flips; k++) {
			unsigned char before = bytes[i];

			bytes[i] ^= flips[k];
			EXPECT_LE(MADE_RECORDS - 1, made_read(bytes, size, &is_damaged));
			bytes[i] = before;
		}
	free(bytes);
}

TEST(each_length_cut)
{
	size_t size, at = 0;
	unsigned char *bytes = made_trace(&size);
	int is_damaged;

	be_quiet();
	for (unsigned n = 0; n < MADE_RECORDS; n++) {
		struct ktr_header header;
		size_t end;

		memcpy(&header, bytes + at, sizeof header);
		end = at + sizeof header + (size_t)header.ktr_len;
		EXPECT_EQ(made_read(bytes, at, &is_damaged), n);
		EXPECT_EQ(is_damaged, 0);
		for (size_t cut = at + 1; cut < end; cut++) {
			EXPECT(made_read(bytes, cut, &is_damaged) >= n);
			EXPECT_EQ(is_damaged, 1);
		}
		at = end;
	}
	EXPECT_EQ(at, size);
	free(bytes);
}

TEST(numbers_that_nobody_expects)
{
	size_t size;
	unsigned char *bytes = made_trace(&size), *changed = malloc(size);
	int is_damaged;

	be_quiet();
	for (size_t i = 0; i + sizeof words[0] <= size; i++)
		for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
			memcpy(changed, bytes, size);
			memcpy(changed + i, &words[k], sizeof words[0]);
			EXPECT_LE(MADE_RECORDS - 2, made_read(changed, size, &is_damaged));
		}
	free(bytes);
	free(changed);
}
