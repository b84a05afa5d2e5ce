/* SPDX-License-Identifier: MIT */
/*
 * links: tools/gprof/gmon_read.c tools/gprof/bsd_read.c tools/gprof/perf_read.c tools/gprof/read.c
 * links: tools/gprof/model.c tools/gprof/finish.c tools/gprof/util.c
 * links: lib/elfsym/elfsym.c lib/elfsym/symbols.c tests/lib/host/gprof/made.c
 * flags: -Ilib -Itools/gprof
 */
/*
 * Files with bytes flipped, cut short, or with numbers in them that nobody expects: the readers
 * give an error or a profile, and the sanitizers find nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "elfsym/elfsym.h"
#include "gmon.h"
#include "gprof/made.h"
#include "mach/pc_sample.h"
#include "read.h"

#define FLIPS 4000u

/* The last of these is what a length field should not be. */
static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

static uint32_t next_random(void)
{
	static uint32_t state = 12345;

	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

/* As gprof does: read, finish, look at everything. */
static const char *read_whole(const unsigned char *bytes, size_t size)
{
	struct profile profile;
	uint64_t total = 0;
	const char *error;

	profile_begin(&profile);
	error = read_profile(&profile, bytes, size, 4);
	if (error == NULL) {
		profile_finish(&profile, NULL, NULL);
		for (size_t i = 0; i < profile.n_flavors; i++)
			total += profile_total(&profile.flavors[i]);
		EXPECT(profile.n_flavors > 0);
	}
	profile_end(&profile);
	return error;
}

static const char *read_symbols(const unsigned char *bytes, size_t size)
{
	struct elfsym elf;
	const char *error = elfsym_open(&elf, bytes, size);

	if (error == NULL)
		error = elfsym_read_functions(&elf);
	if (error == NULL) {
		for (uint64_t at = elf.text_start; at < elf.text_start + 256; at++)
			elfsym_find(&elf, at, NULL);
		for (size_t i = 0; i < elf.n_functions; i++) {
			EXPECT(elf.functions[i].start < elf.functions[i].end);
			EXPECT(strlen(elf.functions[i].name) > 0);
			elfsym_bytes(&elf, elf.functions[i].start, 16);
		}
	}
	elfsym_close(&elf);
	return error;
}

/* In memory of just its size, so that reading beyond it is noticed. */
static void damage(const struct made *made, const char *(*read)(const unsigned char *, size_t))
{
	for (unsigned i = 0; i < FLIPS; i++) {
		size_t size = i % 4 == 0 ? next_random() % (made->size + 1) : made->size;
		unsigned char *copy = malloc(size == 0 ? 1 : size);

		memcpy(copy, made->bytes, size);
		for (unsigned flips = next_random() % 4; size > 0 && flips > 0; flips--)
			copy[next_random() % size] ^= (unsigned char)(1u << next_random() % 8);
		if (size >= 4 && i % 3 == 0)
			memcpy(copy + next_random() % (size - 3),
			       &words[next_random() % (sizeof(words) / sizeof(*words))], 4);
		read(copy, size);
		free(copy);
	}
}

/* A file that is cut anywhere is an error, unless a whole record was cut off. */
static void cut(const struct made *made, const char *(*read)(const unsigned char *, size_t))
{
	unsigned whole = 0;

	for (size_t size = 0; size < made->size; size++) {
		unsigned char *copy = malloc(size == 0 ? 1 : size);

		memcpy(copy, made->bytes, size);
		whole += read(copy, size) == NULL;
		free(copy);
	}
	EXPECT_LE(whole, made->records);
}

TEST(gnu)
{
	struct made made = made_gmon(false);

	EXPECT(read_whole(made.bytes, made.size) == NULL);
	damage(&made, read_whole);
	cut(&made, read_whole);
	free(made.bytes);
}

TEST(ours)
{
	struct made made = made_gmon(true);

	EXPECT(read_whole(made.bytes, made.size) == NULL);
	damage(&made, read_whole);
	cut(&made, read_whole);
	free(made.bytes);
}

TEST(bsd)
{
	struct made made = made_bsd();

	EXPECT(read_whole(made.bytes, made.size) == NULL);
	damage(&made, read_whole);
	cut(&made, read_whole);
	free(made.bytes);
}

TEST(elf)
{
	struct made made = made_elf();

	EXPECT(read_symbols(made.bytes, made.size) == NULL);
	damage(&made, read_symbols);
	cut(&made, read_symbols);
	free(made.bytes);
}

/* ---------------- Symbols ---------------- */

TEST(symbols_are_sorted_and_chosen)
{
	struct made made = made_elf();
	struct elfsym elf;
	uint64_t end;

	REQUIRE(elfsym_open(&elf, made.bytes, made.size) == NULL);
	REQUIRE(elfsym_read_functions(&elf) == NULL);
	EXPECT_EQ(elf.machine, ELFSYM_386);
	EXPECT_EQ(elf.text_start, MADE_TEXT);
	EXPECT_EQ(elf.text_end, MADE_TEXT + MADE_TEXT_BYTES);
	REQUIRE(EXPECT_EQ(elf.n_functions, 4));
	EXPECT_STREQ(elf.functions[0].name, "global"); /* Not `local`, at the same address. */
	EXPECT_STREQ(elf.functions[1].name, "static_one");
	EXPECT_STREQ(elf.functions[1].file, "file.c");
	EXPECT_STREQ(elf.functions[2].name, "inner");
	EXPECT_STREQ(elf.functions[3].name, "unsized");
	EXPECT(elf.functions[3].is_size_guessed);

	EXPECT_STREQ(elfsym_find(&elf, MADE_TEXT + 15, &end)->name, "global");
	EXPECT_EQ(end, MADE_TEXT + 16);
	EXPECT(elfsym_find(&elf, MADE_TEXT + 16, &end) == NULL); /* Beyond its size. */
	EXPECT_EQ(end, MADE_TEXT + 32);
	EXPECT(elfsym_find(&elf, MADE_TEXT - 1, &end) == NULL);
	EXPECT_STREQ(elfsym_find(&elf, MADE_TEXT + 36, &end)->name, "static_one");
	EXPECT_EQ(end, MADE_TEXT + 40);
	EXPECT_STREQ(elfsym_find(&elf, MADE_TEXT + 43, NULL)->name, "inner");
	EXPECT_STREQ(elfsym_find(&elf, MADE_TEXT + 44, &end)->name, "static_one");
	EXPECT_EQ(end, MADE_TEXT + 64);
	EXPECT_STREQ(elfsym_find(&elf, MADE_TEXT + MADE_TEXT_BYTES - 1, NULL)->name, "unsized");
	EXPECT(elfsym_find(&elf, MADE_TEXT + MADE_TEXT_BYTES, NULL) == NULL);
	EXPECT(elfsym_find_name(&elf, "local") == NULL);
	EXPECT(elfsym_bytes(&elf, MADE_TEXT, MADE_TEXT_BYTES) != NULL);
	EXPECT(elfsym_bytes(&elf, MADE_TEXT, MADE_TEXT_BYTES + 1) == NULL);
	elfsym_close(&elf);
	free(made.bytes);
}

/* A histogram's counts go on above 32 bits. */
TEST(bins_do_not_wrap)
{
	struct profile profile;
	struct profile_flavor *flavor;
	struct profile_bins *bins;

	profile_begin(&profile);
	flavor = profile_flavor(&profile, SAMPLED_PC_PERIODIC, NULL);
	bins = profile_bins(flavor, 0x1000, 0x1010, 4);
	for (unsigned i = 0; i < 5; i++)
		profile_bins_add(bins, 2, UINT32_MAX);
	EXPECT_EQ(profile_bins_get(bins, 2), 5ull * UINT32_MAX);
	EXPECT_EQ(profile_bins_get(bins, 1), 0);
	EXPECT_EQ(profile_total(flavor), 5ull * UINT32_MAX);
	EXPECT(profile_bins(flavor, 0x1000, 0x1010, 4) == bins);
	EXPECT(profile_bins(flavor, 0x100f, 0x1020, 4) == NULL);
	EXPECT_EQ(profile_bins_start(bins, 1), 0x1004);
	EXPECT_EQ(profile_bins_start(bins, 4), 0x1010);
	profile_end(&profile);
}
