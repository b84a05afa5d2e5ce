/* SPDX-License-Identifier: MIT */
/*
 * links: servers/ux/process/elf.c servers/ux/process/arguments.c servers/ux/process/script.c
 * links: servers/ux/core/heap.c
 */
/* flags: -DUX_SERVER -D_POSIX_C_SOURCE=200809L -isystem include -Iservers/ux */
/* What is read out of programs' files and arguments before a process executes them. */
#include <stdlib.h>
#include <string.h>

#include <sys/errno.h>

#include "check.h"
#include "core/heap.h"
#include "host/kernel.h"
#include "process/arguments.h"
#include "process/elf.h"
#include "process/script.h"

#define LIMIT 0xbf700000u
#define STEPS 200000

void *heap_get_pages(size_t size)
{
	return memset(aligned_alloc(HEAP_PAGE, size), 0, size);
}

void heap_put_pages(void *pages, size_t size)
{
	(void)size;
	free(pages);
}

/* ---------------- ELF files ---------------- */

struct file {
	struct {
		uint32_t magic;
		uint16_t class_and_order;
		uint8_t rest[10];
		uint16_t type, machine;
		uint32_t version, entry, segments, sections, flags;
		uint16_t size, segment_size, n_segments, section_size, n_sections, names;
	} header;
	struct {
		uint32_t type, offset, address, physical, file_size, memory_size, flags, alignment;
	} segments[4];
};

static const struct file sound = {
	.header = {.magic = 0x464c457f,
		   .class_and_order = 0x0101,
		   .type = 2,
		   .machine = 3,
		   .entry = 0x08048100,
		   .segments = 52,
		   .segment_size = 32,
		   .n_segments = 2},
	.segments = {{.type = 1,
		      .offset = 0,
		      .address = 0x08048000,
		      .file_size = 0x1234,
		      .memory_size = 0x1234,
		      .flags = 5},
		     {.type = 1,
		      .offset = 0x2f80,
		      .address = 0x0804bf80,
		      .file_size = 0x1100,
		      .memory_size = 0x5000,
		      .flags = 6}},
};

static int read_file(const struct file *file, struct elf_program *program)
{
	return elf_read(file, sizeof *file, 0x5000, LIMIT, program);
}

TEST(segments_become_pages)
{
	struct elf_program program;

	EXPECT_EQ(read_file(&sound, &program), 0);
	EXPECT_EQ(program.n_segments, 2);
	EXPECT_EQ(program.segments[0].mapped, 0x2000);
	EXPECT_EQ(program.segments[0].size, 0x2000);
	EXPECT(program.segments[0].is_executable && !program.segments[0].is_writable);
	EXPECT_EQ(program.segments[1].start, 0x0804b000);
	EXPECT_EQ(program.segments[1].offset, 0x2000);
	EXPECT_EQ(program.segments[1].mapped, 0x2000);
	EXPECT_EQ(program.segments[1].tail, 0x80);
	EXPECT_EQ(program.segments[1].size, 0x6000);
}

/* The sound file with one word of it, at `offset`, changed to `value`. */
static int with(size_t offset, uint32_t value, size_t size)
{
	struct file file = sound;
	struct elf_program program;

	memcpy((char *)&file + offset, &value, size);
	return read_file(&file, &program);
}

#define WITH(field, value) \
	with(offsetof(struct file, field), (value), sizeof(((struct file *)0)->field))

TEST(what_makes_no_sense_is_refused)
{
	EXPECT_EQ(WITH(header.magic, 0x464c4500), ENOEXEC);
	EXPECT_EQ(WITH(header.class_and_order, 0x0102), ENOEXEC);
	EXPECT_EQ(WITH(header.type, 3), ENOEXEC);
	EXPECT_EQ(WITH(header.machine, 62), ENOEXEC);
	EXPECT_EQ(WITH(header.segments, 0xfffffff0), ENOEXEC);
	EXPECT_EQ(WITH(header.segments, sizeof(struct file) - 32), ENOEXEC);
	EXPECT_EQ(WITH(header.n_segments, 0xffff), ENOEXEC);
	EXPECT_EQ(WITH(header.n_segments, 0), ENOEXEC);
	EXPECT_EQ(WITH(header.entry, 0x0804c000), ENOEXEC);
	EXPECT_EQ(WITH(header.entry, 0), ENOEXEC);
	EXPECT_EQ(WITH(segments[0].type, 3), ENOEXEC);
	EXPECT_EQ(WITH(segments[0].address, 0), ENOEXEC);
	EXPECT_EQ(WITH(segments[0].offset, 8), ENOEXEC);
	EXPECT_EQ(WITH(segments[0].file_size, 0x2000), ENOEXEC);
	EXPECT_EQ(WITH(segments[0].memory_size, 0xffffffff), ENOEXEC);
	EXPECT_EQ(WITH(segments[1].address, 0x08048f80), ENOEXEC);
	EXPECT_EQ(WITH(segments[1].address, 0xbf6fff80), ENOEXEC);
	EXPECT_EQ(WITH(segments[1].offset, 0x4f80), ENOEXEC);
}

/* Whatever is in the file, what comes out of it lies where it may, and in the file. */
TEST(any_bytes_at_all)
{
	uint32_t state = 1;

	for (unsigned step = 0; step < STEPS; step++) {
		struct file file = sound;
		struct elf_program program;
		uint32_t end = ELF_PAGE;

		for (unsigned n = host_random_below(&state, 4); n < 4; n++)
			((uint32_t *)&file)[6 + host_random_below(&state, 36)] =
				host_random_below(&state, 3) == 0
					? ~host_random_below(&state, 9000)
					: host_random_below(&state, 9000) * 16;
		if (read_file(&file, &program) != 0)
			continue;
		for (unsigned n = 0; n < program.n_segments; n++) {
			const struct elf_segment *segment = &program.segments[n];

			EXPECT(segment->start >= end && segment->size <= LIMIT - segment->start);
			EXPECT(segment->mapped + (segment->tail > 0) <= segment->size);
			EXPECT(segment->offset + segment->mapped + segment->tail <= 0x5000 + 0xfff);
			end = segment->start + segment->size;
		}
	}
}

/* ---------------- Scripts ---------------- */

static bool read_script(const char *text, const char **interpreter, const char **option)
{
	static char head[64];

	memset(head, 'x', sizeof head);
	memcpy(head, text, strlen(text));
	return script_read(head, sizeof head, interpreter, option);
}

TEST(first_lines_of_scripts)
{
	const char *interpreter, *option;

	EXPECT(read_script("#!/bin/sh\n", &interpreter, &option));
	EXPECT(strcmp(interpreter, "/bin/sh") == 0 && option == NULL);
	EXPECT(read_script("#! \t/bin/sh  -e x \t\n", &interpreter, &option));
	EXPECT(strcmp(interpreter, "/bin/sh") == 0 && strcmp(option, "-e x") == 0);
	EXPECT(!read_script("#!\n", &interpreter, &option));
	EXPECT(!read_script("#!   \n", &interpreter, &option));
	EXPECT(!read_script("#/bin/sh\n", &interpreter, &option));
	EXPECT(!read_script("#!/a/line/without/end", &interpreter, &option));
}

/* ---------------- Arguments ---------------- */

static const char strings[] = "a\0bc\0\0X=1";

TEST(arguments_on_the_stack)
{
	struct arguments arguments;
	uint32_t *words;
	uint32_t top = 0xbff00000, stack;
	char *room;

	EXPECT_EQ(arguments_take(&arguments, strings, sizeof strings, 3), 0);
	EXPECT_EQ(arguments_room(&arguments), 4096);
	room = calloc(1, 4096);
	stack = arguments_lay_out(&arguments, room, top);
	EXPECT_EQ(stack % 16, 0);
	words = (uint32_t *)(room + 4096 - (top - stack));
	EXPECT_EQ(words[0], 3);
	EXPECT_EQ(words[4], 0);
	EXPECT_EQ(words[6], 0);
	EXPECT(strcmp(room + 4096 - (top - words[2]), "bc") == 0);
	EXPECT(strcmp(room + 4096 - (top - words[3]), "") == 0);
	EXPECT(strcmp(room + 4096 - (top - words[5]), "X=1") == 0);
	free(room);
}

TEST(arguments_that_are_none)
{
	static char much[70000];
	struct arguments arguments;

	EXPECT_EQ(arguments_take(&arguments, strings, sizeof strings - 1, 3), EINVAL);
	EXPECT_EQ(arguments_take(&arguments, strings, sizeof strings, 5), EINVAL);
	EXPECT_EQ(arguments_take(&arguments, "", 0, 1), EINVAL);
	EXPECT_EQ(arguments_take(&arguments, "", 0, 0), 0);
	EXPECT_EQ(arguments_take(&arguments, much, sizeof much, 0), E2BIG);
	EXPECT_EQ(arguments_take(&arguments, much, 65536 / 5 + 1, 0), E2BIG); /* Addresses. */
	EXPECT_EQ(arguments_take(&arguments, much, 65536 / 5, 0), 0);
}

TEST(an_interpreter_takes_the_first_place)
{
	struct arguments arguments;

	EXPECT_EQ(arguments_take(&arguments, strings, sizeof strings, 3), 0);
	EXPECT_EQ(arguments_put_interpreter(&arguments, "/bin/sh", "-e", "/x"), 0);
	EXPECT_EQ(arguments.argc, 5);
	EXPECT_EQ(arguments.n_strings, 6);
	EXPECT(memcmp(arguments.strings, "/bin/sh\0-e\0/x\0bc\0\0X=1", arguments.size) == 0);
	arguments_free(&arguments);
	EXPECT_EQ(arguments_take(&arguments, "E=", 3, 0), 0);
	EXPECT_EQ(arguments_put_interpreter(&arguments, "/i", NULL, "/x"), 0);
	EXPECT_EQ(arguments.argc, 2);
	EXPECT(memcmp(arguments.strings, "/i\0/x\0E=", arguments.size) == 0);
	arguments_free(&arguments);
	EXPECT_EQ(heap_pieces(), 0);
}
