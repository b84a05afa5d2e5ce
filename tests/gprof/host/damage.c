/* SPDX-License-Identifier: MIT */
/*
 * links: tools/gprof/gmon_read.c tools/gprof/bsd_read.c tools/gprof/perf_read.c
 * links: tools/gprof/perf_tasks.c tools/gprof/read.c
 * links: tools/gprof/model.c tools/gprof/finish.c tools/gprof/map.c tools/gprof/util.c
 * links: lib/elfsym/elfsym.c lib/elfsym/symbols.c
 * links: tests/lib/host/gprof/made.c tests/lib/host/gprof/made_perf.c
 * links: tests/lib/host/gprof/made_elf.c
 * flags: -Ilib -Itools/gprof
 */
/*
 * Files with every byte flipped, cut at every length, or with numbers in them that nobody expects:
 * the readers give an error or a profile, and the sanitizers find nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "elfsym/elfsym.h"
#include "gmon.h"
#include "gprof/made.h"
#include "mach/pc_sample.h"
#include "read.h"

#define MIXED 3000u

typedef const char *reader(const unsigned char *bytes, size_t size);

/* The last of these is what a length field should not be. */
static const uint32_t words[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

static uint32_t next_random(void)
{
	static uint32_t state = 12345;

	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

/* As gprof does: read, finish, look at everything. */
static const char *read_profile_of(const unsigned char *bytes, size_t size, unsigned address_bytes)
{
	struct profile profile;
	uint64_t total = 0;
	const char *error;

	profile_begin(&profile);
	error = read_profile(&profile, bytes, size, address_bytes);
	if (error == NULL) {
		profile_finish(&profile, "program", NULL);
		for (size_t i = 0; i < profile.n_flavors; i++)
			total += profile_total(&profile.flavors[i]);
		EXPECT(profile.n_flavors > 0);
	}
	profile_end(&profile);
	return error;
}

static const char *read_32(const unsigned char *bytes, size_t size)
{
	return read_profile_of(bytes, size, 4);
}

static const char *read_64(const unsigned char *bytes, size_t size)
{
	return read_profile_of(bytes, size, 8);
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
static unsigned char *copy_of(const struct made *made, size_t size)
{
	unsigned char *copy = malloc(size == 0 ? 1 : size);

	return memcpy(copy, made->bytes, size);
}

/* Each bit of each byte, one after the other, and each byte as a whole. */
static void flip_each(const struct made *made, reader *read)
{
	for (size_t i = 0; i < made->size; i++) {
		unsigned char *copy = copy_of(made, made->size);

		for (unsigned bit = 0; bit < 8; bit++) {
			copy[i] = (unsigned char)(made->bytes[i] ^ 1u << bit);
			read(copy, made->size);
		}
		copy[i] = (unsigned char)~made->bytes[i];
		read(copy, made->size);
		free(copy);
	}
}

/* Several at once, and words where there were others. */
static void mix(const struct made *made, reader *read)
{
	for (unsigned i = 0; i < MIXED; i++) {
		size_t size = i % 4 == 0 ? next_random() % (made->size + 1) : made->size;
		unsigned char *copy = copy_of(made, size);

		for (unsigned flips = next_random() % 4; size > 0 && flips > 0; flips--)
			copy[next_random() % size] ^= (unsigned char)(1u << next_random() % 8);
		if (size >= 4 && i % 3 == 0)
			memcpy(copy + next_random() % (size - 3),
			       &words[next_random() % (sizeof(words) / sizeof(*words))], 4);
		read(copy, size);
		free(copy);
	}
}

/* A file that is cut anywhere is an error, unless whole records were cut off. */
static void cut_everywhere(const struct made *made, reader *read)
{
	unsigned whole = 0;

	for (size_t size = 0; size < made->size; size++) {
		unsigned char *copy = copy_of(made, size);

		whole += read(copy, size) == NULL;
		free(copy);
	}
	EXPECT_LE(whole, made->records);
}

static void damage(struct made made, reader *read)
{
	EXPECT(read(made.bytes, made.size) == NULL);
	flip_each(&made, read);
	mix(&made, read);
	cut_everywhere(&made, read);
	free(made.bytes);
}

TEST(gnu)
{
	damage(made_gmon(false), read_32);
}

TEST(gnu_of_64_bits)
{
	damage(made_gmon64(), read_64);
}

TEST(ours)
{
	damage(made_gmon(true), read_32);
}

TEST(bsd)
{
	damage(made_bsd(), read_32);
}

TEST(old_bsd)
{
	damage(made_old_bsd(), read_32);
}

TEST(perf)
{
	damage(made_perf(), read_32);
}

TEST(elf)
{
	damage(made_elf(false), read_symbols);
}

TEST(elf_of_64_bits)
{
	damage(made_elf(true), read_symbols);
}

/* What was written is what is read. */
TEST(perf_is_read_whole)
{
	struct made made = made_perf();
	struct profile profile;

	profile_begin(&profile);
	REQUIRE(perf_read(&profile, made.bytes, made.size) == NULL);
	REQUIRE(EXPECT_EQ(profile.n_samples, 4));
	EXPECT_EQ(profile.samples[0].user_frames, 1);
	EXPECT_EQ(profile.samples[3].kernel_frames, 1);
	EXPECT_EQ(profile.samples[3].pc, MADE_TEXT + 40);
	EXPECT_EQ(profile.n_images, 2);
	EXPECT_EQ(profile.values[GMON_LOST], 3);
	EXPECT_STREQ(profile.tasks[0].name, "cat");
	profile_end(&profile);
	free(made.bytes);
}

/* ---------------- Symbols ---------------- */

TEST(symbols_are_sorted_and_chosen)
{
	struct made made = made_elf(false);
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
