/* SPDX-License-Identifier: MIT */
/*
 * links: lib/rollup/rollup.c
 * flags: -Ilib
 */
/* Tables of samples, as they were added up by hand. */
#include "rollup/rollup.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define TEXT_MAX 4096
#define GIVEN    (sizeof(given) / sizeof(given[0]))

/*
 * Process 7 is a shell of user 0, which started 20 and 21: shells that executed cat, of user 100,
 * and 22, whose child 23 has ended, and is called cat too.  Task 3 is the server's, which worked
 * for task 31 and the system.
 */
static const struct rollup_task given[] = {
	{.task = 0, .pid = -1, .ppid = -1, .uid = -1, .name = "the system", .served = 5},
	{.task = 3, .pid = 0, .ppid = 0, .uid = 0, .name = "ux", .ran = 25},
	{.task = 10, .pid = 7, .ppid = 1, .uid = 0, .name = "sh", .served = 10, .ran = 10},
	{.task = 30, .pid = 20, .ppid = 7, .uid = 100, .name = "sh", .served = 1, .ran = 1},
	{.task = 31, .pid = 20, .ppid = 7, .uid = 100, .name = "cat", .served = 50, .ran = 30},
	{.task = 32, .pid = 21, .ppid = 7, .uid = 100, .name = "cat", .served = 20, .ran = 20},
	{.task = 33, .pid = 22, .ppid = 7, .uid = 100, .name = "sh", .served = 4, .ran = 4},
	{.task = 34, .pid = 23, .ppid = 22, .uid = 100, .name = "cat", .served = 10, .ran = 10},
	{.task = 40, .pid = -1, .ppid = -1, .uid = -1, .name = ""},
};

static void fill(struct rollup *rollup)
{
	/* In an order that is not theirs. */
	for (size_t i = 0; i < GIVEN; i++) {
		const struct rollup_task *one = &given[i * 5 % GIVEN];

		*rollup_task(rollup, one->task) = *one;
	}
}

static void expect(enum rollup_by by, size_t rows, const char *wanted)
{
	struct rollup rollup = {0};
	static char text[TEXT_MAX];
	FILE *file = fmemopen(text, sizeof(text), "w");

	fill(&rollup);
	rollup_name_user(&rollup, 100, "student");
	rollup_name_user(&rollup, 0, "");
	rollup_print(&rollup, by, rows, file);
	fclose(file);
	EXPECT_STREQ(text, wanted);
	rollup_free(&rollup);
}

#define HEAD " for whom           by whom\n   share  samples    share  samples  "

TEST(by_process)
{
	expect(BY_PROCESS, 0,
	       HEAD "process\n"
		    "   51.0 %       51    31.0 %       31  20 cat\n"
		    "   20.0 %       20    20.0 %       20  21 cat\n"
		    "   10.0 %       10    10.0 %       10  7 sh\n"
		    "   10.0 %       10    10.0 %       10  23 cat\n"
		    "    5.0 %        5     0.0 %        0  the system\n"
		    "    4.0 %        4     4.0 %        4  22 sh\n"
		    "    0.0 %        0    25.0 %       25  0 ux\n");
}

/* Who has no name is called by a number, and two of them are two. */
TEST(without_names)
{
	struct rollup rollup = {0};
	static char text[TEXT_MAX];
	FILE *file = fmemopen(text, sizeof(text), "w");

	rollup_task(&rollup, 0)->served = 10;
	rollup_task(&rollup, 40)->served = 60;
	rollup_task(&rollup, 41)->served = 30;
	rollup_print(&rollup, BY_PROCESS, 0, file);
	fclose(file);
	EXPECT_STREQ(text, "   share  samples  for process\n"
			   "   60.0 %       60  task 40\n"
			   "   30.0 %       30  task 41\n"
			   "   10.0 %       10  the system\n");
	rollup_free(&rollup);
}

TEST(by_command)
{
	expect(BY_COMMAND, 0,
	       HEAD "command\n"
		    "   80.0 %       80    60.0 %       60  cat, 3 processes\n"
		    "   15.0 %       15    15.0 %       15  sh, 3 processes\n"
		    "    5.0 %        5     0.0 %        0  the system\n"
		    "    0.0 %        0    25.0 %       25  ux\n");
}

/* Two children of the same name are one row; the shell between is apart, with its child. */
TEST(by_job)
{
	expect(BY_JOB, 0,
	       HEAD "job: with descendants\n"
		    "   95.0 %       95    75.0 %       75  7 sh\n"
		    "   71.0 %       71    51.0 %       51    cat, 2 processes\n"
		    "   14.0 %       14    14.0 %       14    22 sh\n"
		    "   10.0 %       10    10.0 %       10      23 cat\n"
		    "    5.0 %        5     0.0 %        0  the system\n"
		    "    0.0 %        0    25.0 %       25  0 ux\n");
}

TEST(by_user)
{
	expect(BY_USER, 0,
	       HEAD "user\n"
		    "   85.0 %       85    65.0 %       65  100 student\n"
		    "   10.0 %       10    35.0 %       35  0\n"
		    "    5.0 %        5     0.0 %        0  nobody: the system, and what is no "
		    "process\n");
}

TEST(so_many_rows)
{
	expect(BY_JOB, 2,
	       HEAD "job: with descendants\n"
		    "   95.0 %       95    75.0 %       75  7 sh\n"
		    "   71.0 %       71    51.0 %       51    cat, 2 processes\n");
}

/* Processes that are each other's parents, as numbers that came again may say, end somewhere. */
TEST(circles)
{
	struct rollup rollup = {0};
	FILE *file = fopen("/dev/null", "w");

	*rollup_task(&rollup, 1) =
		(struct rollup_task){.task = 1, .pid = 5, .ppid = 6, .name = "a", .served = 1};
	*rollup_task(&rollup, 2) =
		(struct rollup_task){.task = 2, .pid = 6, .ppid = 5, .name = "b", .served = 1};
	rollup_print(&rollup, BY_JOB, 0, file);
	fclose(file);
	rollup_free(&rollup);
}

TEST(words)
{
	EXPECT_EQ(rollup_way("process"), BY_PROCESS);
	EXPECT_EQ(rollup_way("command"), BY_COMMAND);
	EXPECT_EQ(rollup_way("job"), BY_JOB);
	EXPECT_EQ(rollup_way("user"), BY_USER);
	EXPECT_EQ(rollup_way("jobs"), BY_NOTHING);
	EXPECT_EQ(rollup_way(""), BY_NOTHING);
}
