/* SPDX-License-Identifier: MIT */
/*
 * links: user/monctl/perf_file.c user/bin/common/files.c user/bin/common/report.c
 * flags: -Iuser/bin -Iuser/monctl
 */
/* Records of perf's format, byte for byte (user/monctl/perf_file.c). */
#include "../../../user/monctl/perf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/check.h"

#define INTERVAL 250000u
#define ROOM     4096

static unsigned char bytes[ROOM];
static size_t size;

/* What there is to be written. */
static bool finish(struct perf_file *file)
{
	size = file->used;
	memcpy(bytes, file->records, size < ROOM ? size : ROOM);
	free(file->records);
	return size <= ROOM;
}

static uint64_t number(size_t at, size_t length)
{
	uint64_t value = 0;

	memcpy(&value, bytes + at, length);
	return value;
}

/* The place of the nth record of a type, from 1 on; 0: there is none. */
static size_t find(uint32_t type, unsigned nth)
{
	for (size_t at = 16; at < size; at += number(at + 6, 2))
		if (number(at, 4) == type && --nth == 0)
			return at;
	return 0;
}

static void begin(struct perf_file *file)
{
	const struct prof_begin start = {.flavors = SAMPLED_PC_PERIODIC | SAMPLED_PC_VM_COW_FAULTS,
					 .interval_ns = INTERVAL};

	perf_begin(file, &start);
}

TEST(a_file_names_its_events)
{
	struct perf_file file;

	begin(&file);
	REQUIRE(finish(&file));
	EXPECT_EQ(number(0, 8), 0x32454c4946524550);
	EXPECT_EQ(number(8, 8), 16);
	EXPECT_EQ(number(find(64, 1) + 8 + 16, 8), INTERVAL);
	EXPECT_EQ(number(find(64, 1) + 8 + 40, 8), 1 << 18);
	EXPECT_EQ(number(find(64, 1) + 8 + 136, 8), SAMPLED_PC_PERIODIC);
	EXPECT_EQ(number(find(64, 2) + 8 + 16, 8), 1);
	EXPECT_EQ(find(64, 3), 0);
	EXPECT(strcmp((char *)bytes + find(78, 2) + 24, "cow") == 0);
}

/* The kernel's frames with its mark, then the program's with theirs; what has no user has none. */
TEST(a_sample_has_both_parts_of_its_stack)
{
	struct {
		struct prof_sample sample;
		uint32_t frames[3];
	} one = {.sample = {.pc = 0x08048010,
			    .kernel_pc = 0xc0100020,
			    .thread = 3,
			    .label = 7,
			    .flavor = SAMPLED_PC_PERIODIC,
			    .cpu = 1,
			    .kernel_frames = 1,
			    .user_frames = 2,
			    .time = {5, 6}},
		 .frames = {0xc0100030, 0x08048040, 0x08048050}};
	const uint64_t chain[] = {7,          (uint64_t)-128, 0xc0100020,
				  0xc0100030, (uint64_t)-512, 0x08048010,
				  0x08048040, 0x08048050};
	const struct perf_origin origin = {.pid = 12, .thread = 3};
	struct perf_file file;
	size_t at;

	begin(&file);
	perf_sample(&file, &origin, &one.sample);
	one.sample.kernel_pc = 0;
	one.sample.kernel_frames = 0;
	one.sample.user_frames = 0;
	perf_sample(&file, &origin, &one.sample);
	REQUIRE(finish(&file));
	at = find(9, 1);
	EXPECT_EQ(number(at + 4, 2), 1);
	EXPECT_EQ(number(at + 8, 8), 0xc0100020);
	EXPECT_EQ(number(at + 16, 4), 12);
	EXPECT_EQ(number(at + 20, 4), 3);
	EXPECT_EQ(number(at + 24, 8), 0x600000005);
	EXPECT_EQ(number(at + 40, 4), 1);
	EXPECT_EQ(number(at + 48, 8), INTERVAL);
	EXPECT(memcmp(bytes + at + 56, chain, sizeof(chain)) == 0);
	EXPECT_EQ(number(at + 56 + sizeof(chain), 8), 7);
	EXPECT_EQ(number(at + 6, 2), 64 + sizeof(chain));
	at = find(9, 2);
	EXPECT_EQ(number(at + 4, 2), 2);
	EXPECT_EQ(number(at + 8, 8), 0x08048010);
	EXPECT_EQ(number(at + 56, 8), 2);
}

/* Behind a server's stack its clients', in whose addresses it says whose they are. */
TEST(clients_come_behind_their_server)
{
	struct {
		struct prof_sample sample;
		uint32_t frames[1];
		struct prof_client nearest;
		uint32_t its_frames[2];
		struct prof_client other;
	} one = {.sample = {.record = {.words = sizeof(one) / 4},
			    .pc = 0x08048010,
			    .label = 9,
			    .flags = PROF_CLIENTS_CUT,
			    .flavor = SAMPLED_PC_PERIODIC,
			    .user_frames = 1},
		 .frames = {0x08048040},
		 .nearest = {.pc = 0x100, .task = 8, .user_frames = 2},
		 .its_frames = {0x200, 0x300},
		 .other = {.pc = 0x400, .task = 9}};
	const struct perf_origin origin = {
		.pid = 12, .thread = 3, .clients = {8, 0x40000009}, .label = 10};
	const uint64_t chain[] = {8,           (uint64_t)-512,     0x08048010,
				  0x08048040,  0x800000100,        0x800000200,
				  0x800000300, 0x4000000900000400, 0xa00000000};
	struct perf_file file;

	begin(&file);
	perf_sample(&file, &origin, &one.sample);
	/* What does not fit into the record is no client. */
	one.sample.record.words -= 1;
	one.sample.flags = 0;
	perf_sample(&file, &(struct perf_origin){.pid = 12, .clients = {8}}, &one.sample);
	REQUIRE(finish(&file));
	EXPECT(memcmp(bytes + find(9, 1) + 56, chain, sizeof(chain)) == 0);
	EXPECT_EQ(number(find(9, 2) + 56, 8), 6);
}

TEST(a_map_of_the_kernel_is_nobody_s)
{
	const struct perf_map kernel = {.is_kernel = true,
					.pid = 5,
					.start = 0xc0100000,
					.length = 4096,
					.path = "/mach_kernel"};
	const struct perf_map program = {.pid = 5,
					 .start = 0x08048000,
					 .length = 8192,
					 .offset = 16,
					 .inode = 99,
					 .path = "/bin/sh"};
	struct perf_file file;

	begin(&file);
	perf_map(&file, &kernel);
	perf_map(&file, &program);
	REQUIRE(finish(&file));
	EXPECT_EQ(number(find(10, 1) + 8, 4), UINT32_MAX);
	EXPECT_EQ(number(find(10, 1) + 32, 8), 0xc0100000);
	EXPECT(strcmp((char *)bytes + find(10, 1) + 72, "/mach_kernel") == 0);
	EXPECT_EQ(number(find(10, 2) + 8, 4), 5);
	EXPECT_EQ(number(find(10, 2) + 32, 8), 16);
	EXPECT_EQ(number(find(10, 2) + 48, 8), 99);
	EXPECT(strcmp((char *)bytes + find(10, 2) + 72, "/bin/sh") == 0);
}

TEST(counts_are_words_of_the_command_line)
{
	char name[] = "monctl", count[] = "due=10";
	char *words[] = {name, count};
	struct perf_file file;

	begin(&file);
	perf_lost(&file, 3);
	perf_counts(&file, words, 2);
	REQUIRE(finish(&file));
	EXPECT_EQ(number(find(13, 1) + 8, 8), 3);
	EXPECT_EQ(number(find(80, 1) + 8, 8), 11);
	EXPECT_EQ(number(find(80, 1) + 16, 4), 2);
	EXPECT(strcmp((char *)bytes + find(80, 1) + 24, "monctl") == 0);
	EXPECT_EQ(number(find(80, 1) + 6, 2) % 8, 0);
}

/* Who, when, of no event, on no CPU. */
static bool ends_with_id(size_t at, uint32_t pid, uint32_t thread, uint64_t time)
{
	size_t id = at + number(at + 6, 2) - 32;

	return number(id, 4) == pid && number(id + 4, 4) == thread && number(id + 8, 8) == time &&
	       number(id + 16, 8) == 0 && number(id + 24, 8) == 0;
}

/* What holds from a time on says so; a name with a time is that of what is executed then. */
TEST(names_have_their_time)
{
	const struct perf_map map = {.pid = 5, .length = 4096, .time = 77, .path = "/bin/sh"};
	struct perf_file file;

	begin(&file);
	perf_command(&file, 5, 1009, "sh", AT_ONCE);
	perf_command(&file, 5, 5, "sixteen letters.", 77);
	perf_map(&file, &map);
	perf_label(&file, 23, "/5:sh");
	REQUIRE(finish(&file));
	EXPECT_EQ(number(find(3, 1) + 4, 2), 0);
	EXPECT(ends_with_id(find(3, 1), 5, 1009, 0));
	EXPECT_EQ(number(find(3, 2) + 4, 2), 1 << 13);
	EXPECT_EQ(number(find(3, 2) + 6, 2), 16 + 24 + 32);
	EXPECT(ends_with_id(find(3, 2), 5, 5, 77));
	EXPECT(ends_with_id(find(10, 1), 5, 5, 77));
	EXPECT(ends_with_id(find(19, 1), 0, 0, 0));
}
