/* SPDX-License-Identifier: MIT */
/*
 * links: user/monctl/names.c user/monctl/perf_file.c user/bin/common/files.c
 * links: user/bin/common/report.c
 * flags: -I. -Iuser/bin -Iuser/monctl
 */
/* Whose a process's number is, from when to when (user/monctl/names.c). */
#include "../../../user/monctl/names.h"

#include <stdlib.h>
#include <string.h>

#include "../../../user/monctl/programs.h"
#include "../../lib/check.h"

#define TEXT 0x08048000u

/* ---------------- Programs ---------------- */

static char path[] = "/bin/one";
static unsigned files_read;

/* Task 20 and then 25 are process 12's; 21 is another process's, 3 is none. */
static struct program programs[] = {
	{.task = 0, .pid = PID_OF_TASK, .name = "kernel", .next = &programs[1]},
	{.task = 20, .pid = 12, .name = "old", .next = &programs[2]},
	{.task = 21, .pid = 13, .name = "other", .next = &programs[3]},
	{.task = 25, .pid = 12, .name = "new", .next = &programs[4]},
	{.task = 26, .pid = 12, .name = "newest", .next = &programs[5]},
	{.task = 3, .pid = PID_OF_TASK + 3, .name = "task-3"},
};

struct program *programs_first(void)
{
	return &programs[0];
}

struct program *program_of(uint32_t task)
{
	struct program *program = &programs[0];

	while (program->task != task)
		program = program->next;
	return program;
}

/* What is not read yet has a path beside the executable's. */
struct program *program_sampled(uint32_t task)
{
	struct program *program = program_of(task);

	if (program->path != NULL) {
		files_read++;
		program->executable.path = program->path;
		program->executable.elf.text_start = TEXT;
		program->executable.elf.text_end = TEXT + 0x1000 * task;
	}
	program->path = NULL;
	return program;
}

/* Nobody knows whose children they are. */
int ux_task_life(uint32_t task, struct ux_task_life *life)
{
	(void)task, (void)life;
	return -1;
}

const unsigned char *elfsym_bytes(const struct elfsym *elf, uint64_t address, uint64_t size)
{
	(void)elf, (void)address, (void)size;
	return NULL;
}

static void begin(struct perf_file *file)
{
	const struct prof_begin start = {.flavors = SAMPLED_PC_PERIODIC};

	for (struct program *program = programs; program != NULL; program = program->next) {
		program->has_pid = program->is_apart = program->is_mapped = false;
		program->path = NULL;
		program->life.task_id = 0;
		program->since = program->until = program->last = 0;
		program->executable.path = path;
		program->executable.elf.text_start = TEXT;
		program->executable.elf.text_end = TEXT + 0x1000 * program->task;
	}
	files_read = 0;
	perf_begin(file, &start);
}

/* ---------------- What is in the file ---------------- */

static uint64_t number(const struct perf_file *file, size_t at, size_t length)
{
	uint64_t value = 0;

	memcpy(&value, file->records + at, length);
	return value;
}

/* The last record of a type that is about this process; 0: there is none. */
static size_t last(const struct perf_file *file, uint32_t type, uint32_t pid)
{
	size_t found = 0;

	for (size_t at = 16; at < file->used; at += number(file, at + 6, 2))
		if (number(file, at, 4) == type && number(file, at + 8, 4) == pid)
			found = at;
	return found;
}

#define NAME 3u
#define MAP  10u

static uint64_t time_of(const struct perf_file *file, size_t at)
{
	return number(file, at + number(file, at + 6, 2) - 24, 8);
}

static struct perf_origin put(struct perf_file *file, uint32_t task, uint32_t thread, uint32_t time)
{
	const struct prof_sample sample = {
		.task = task, .thread = thread, .label = task, .time = {time}};
	struct perf_origin origin;

	names_put(file, &sample, &origin);
	return origin;
}

static bool is(struct perf_origin origin, uint32_t pid, uint32_t thread)
{
	return origin.pid == pid && origin.thread == thread;
}

/* ---------------- Tests ---------------- */

TEST(threads_have_no_number_of_a_process)
{
	struct perf_file file;

	begin(&file);
	EXPECT(is(put(&file, 21, 12, 5), 13, THREAD_OF_KERNEL + 12));
	EXPECT(is(put(&file, 20, 13, 6), 12, THREAD_OF_KERNEL + 13));
	EXPECT(is(put(&file, 3, 14, 7), PID_OF_TASK + 3, THREAD_OF_KERNEL + 14));
	EXPECT_EQ(time_of(&file, last(&file, NAME, 12)), 0);
	EXPECT_EQ(time_of(&file, last(&file, MAP, 13)), 0);
	free(file.records);
}

/* The file says when, and that what lies behind its text is nobody else's any more. */
TEST(a_process_executes_another_program)
{
	struct perf_file file;
	size_t map, before;

	begin(&file);
	programs[3].executable.elf.text_end = TEXT + 0x1000;
	put(&file, 20, 30, 100);
	before = file.used;
	EXPECT(is(put(&file, 25, 31, 200), 12, THREAD_OF_KERNEL + 31));
	map = last(&file, MAP, 12);
	EXPECT_EQ(time_of(&file, map), 200);
	EXPECT_EQ(number(&file, map + 24, 8), 0x1000);
	while (before < file.used && number(&file, before, 4) != MAP)
		before += number(&file, before + 6, 2);
	EXPECT_EQ(time_of(&file, before), 200);
	EXPECT_EQ(number(&file, before + 24, 8), 20 * 0x1000);
	EXPECT(strcmp(file.records + before + 72, NO_PROGRAM) == 0);
	EXPECT(is(put(&file, 25, 31, 300), 12, THREAD_OF_KERNEL + 31));
	EXPECT(is(put(&file, 26, 32, 400), 12, THREAD_OF_KERNEL + 32));
	EXPECT_EQ(time_of(&file, last(&file, MAP, 12)), 400);
	free(file.records);
}

/* Whose file cannot be read has no functions, and so not those of the program before. */
TEST(a_program_that_is_not_known_has_no_other_s_map)
{
	struct perf_file file;
	size_t map;

	begin(&file);
	programs[3].executable.path = NULL;
	programs[3].executable.elf.text_start = programs[3].executable.elf.text_end = 0;
	put(&file, 20, 30, 100);
	put(&file, 25, 31, 200);
	map = last(&file, MAP, 12);
	EXPECT_EQ(time_of(&file, map), 200);
	EXPECT_EQ(number(&file, map + 16, 8), TEXT);
	EXPECT_EQ(number(&file, map + 24, 8), 20 * 0x1000);
	EXPECT(strcmp(file.records + map + 72, NO_PROGRAM) == 0);
	free(file.records);
}

/* A sample that comes late is its own program's: by its time, or with another number. */
TEST(what_comes_late_is_the_old_program_s)
{
	struct perf_file file;

	begin(&file);
	put(&file, 20, 30, 100);
	put(&file, 25, 31, 200);
	EXPECT(is(put(&file, 20, 30, 199), 12, THREAD_OF_KERNEL + 30));
	EXPECT_EQ(last(&file, MAP, PID_OF_TASK + 20), 0);
	EXPECT(is(put(&file, 20, 30, 200), PID_OF_TASK + 20, PID_OF_TASK + 20));
	EXPECT_EQ(time_of(&file, last(&file, MAP, PID_OF_TASK + 20)), 0);
	EXPECT(is(put(&file, 25, 31, 150), PID_OF_TASK + 25, PID_OF_TASK + 25));
	EXPECT(is(put(&file, 25, 31, 201), 12, THREAD_OF_KERNEL + 31));
	free(file.records);
}

/* Whoever never had the number does not get it behind a newer one, nor before an older's end. */
TEST(an_order_that_cannot_be_is_not_made)
{
	struct perf_file file;

	begin(&file);
	put(&file, 25, 31, 200);
	EXPECT(is(put(&file, 20, 30, 300), PID_OF_TASK + 20, PID_OF_TASK + 20));
	EXPECT(is(put(&file, 26, 32, 200), PID_OF_TASK + 26, PID_OF_TASK + 26));
	EXPECT(is(put(&file, 26, 32, 201), 12, THREAD_OF_KERNEL + 32));
	free(file.records);
}

/* Process 13 is a child of task 20, of whose file nothing is known yet. */
static void begin_child(struct perf_file *file)
{
	struct program *parent = program_of(20), *child = program_of(21);

	begin(file);
	parent->executable = (struct executable){.path = NULL};
	parent->path = path;
	child->life = (struct ux_task_life){
		.task_id = 21, .pid = 13, .ppid = 12, .parent_task = 20, .uid = 100};
}

/* It is named, and its file is read when it has a sample itself. */
TEST(a_parent_s_file_is_read_if_it_is_sampled)
{
	struct perf_file file;
	size_t map;

	begin_child(&file);
	put(&file, 21, 30, 100);
	EXPECT(last(&file, NAME, 12) != 0);
	EXPECT_EQ(last(&file, MAP, 12), 0);
	EXPECT_EQ(files_read, 0);
	EXPECT(is(put(&file, 20, 31, 200), 12, THREAD_OF_KERNEL + 31));
	map = last(&file, MAP, 12);
	EXPECT_EQ(time_of(&file, map), 0);
	EXPECT_EQ(number(&file, map + 24, 8), 20 * 0x1000);
	EXPECT_EQ(files_read, 1);
	EXPECT(is(put(&file, 25, 32, 300), 12, THREAD_OF_KERNEL + 32));
	EXPECT_EQ(time_of(&file, last(&file, MAP, 12)), 300);
	free(file.records);
}

/* What lies at its number is another program's by then. */
TEST(a_parent_that_is_sampled_too_late_is_apart)
{
	struct perf_file file;

	begin_child(&file);
	put(&file, 21, 30, 100);
	EXPECT(is(put(&file, 25, 32, 300), 12, THREAD_OF_KERNEL + 32));
	EXPECT(is(put(&file, 20, 31, 200), PID_OF_TASK + 20, PID_OF_TASK + 20));
	EXPECT_EQ(time_of(&file, last(&file, MAP, 12)), 300);
	EXPECT_EQ(number(&file, last(&file, MAP, PID_OF_TASK + 20) + 24, 8), 20 * 0x1000);
	EXPECT(is(put(&file, 25, 32, 400), 12, THREAD_OF_KERNEL + 32));
	free(file.records);
}
