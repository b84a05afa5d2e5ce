/* SPDX-License-Identifier: MIT */
/* links: libprof/whose.c */
/* flags: -Drename=rename_meanwhile */
/*
 * Where a profile goes (<prof/whose.h>), above all when somebody else changes what is there
 * between two of the calls that place it.
 */
#include <prof/whose.h>

#include <errno.h>
#include <fcntl.h>
#include <gmon.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* What <sys/ux.h> has, which cannot be had beside the host's own headers. */
struct ux_task_life;
int ux_task_life(uint32_t task_id, struct ux_task_life *life);

/* Nobody is known any more: whatever is there was written before this one began. */
int ux_task_life(uint32_t task_id, struct ux_task_life *life)
{
	(void)task_id;
	(void)life;
	return -1;
}

static char folder[] = "/tmp/whose.XXXXXX";
static char usual[PATH_MAX], file[PATH_MAX];

/* What somebody does just before the file at the usual place is moved aside. */
static void (*meanwhile)(void);
static unsigned times;

int rename_meanwhile(const char *from, const char *to)
{
	times++;
	if (meanwhile != NULL && strcmp(from, usual) == 0)
		meanwhile();
	return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static const struct whose own = {.task = 7, .pid = 70, .name = "own"};
static const struct whose same = {.task = 6, .pid = 60, .name = "own"};
static const struct whose other = {.task = 8, .pid = 80, .name = "other"};

static void put_arc(int fd, uint32_t from, uint32_t self, uint32_t count)
{
	const struct gmon_arc arc = {.from = from, .self = self, .count = count};
	const unsigned char tag = GMON_TAG_ARC;

	REQUIRE(write(fd, &tag, 1) == 1 && write(fd, &arc, sizeof arc) == sizeof arc);
}

/* A profile that has nothing but its owner. */
static void make(const char *path, const struct whose *whose)
{
	const struct gmon_header header = {.magic = GMON_MAGIC, .version = GMON_VERSION};
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	REQUIRE(fd >= 0 && write(fd, &header, sizeof header) == sizeof header);
	put_arc(fd, GMON_EXTRA_LABEL_PID, whose->task, whose->pid + 1);
	for (uint32_t n = 0; n < GMON_NAME_ROOM / 4; n++) {
		uint32_t word;

		memcpy(&word, whose->name + 4 * n, sizeof word);
		put_arc(fd, GMON_EXTRA_LABEL_NAME + n, whose->task, word);
	}
	close(fd);
}

/* Whether there is a profile that says nothing else than one of this owner. */
static bool is_of(const char *path, const struct whose *whose)
{
	static char expected[1024], found[1024];
	char model[PATH_MAX + 8];
	ssize_t sizes[2];
	int fds[2];

	snprintf(model, sizeof model, "%s/model", folder);
	make(model, whose);
	fds[0] = open(model, O_RDONLY);
	fds[1] = open(path, O_RDONLY);
	sizes[0] = read(fds[0], expected, sizeof expected);
	sizes[1] = read(fds[1], found, sizeof found);
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	unlink(model);
	return sizes[0] == sizes[1] && memcmp(expected, found, (size_t)sizes[0]) == 0;
}

static int next_fd; /* What would be opened next, before anything was placed. */

static int lowest_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	EXPECT(fd >= 0 && close(fd) == 0);
	return fd;
}

static void begin(void (*hook)(void))
{
	char command[PATH_MAX + 16];

	if (usual[0] == '\0') {
		REQUIRE(mkdtemp(folder) != NULL);
		snprintf(usual, sizeof usual, "%s/gmon.out", folder);
		snprintf(file, sizeof file, "%s/file", folder);
	}
	snprintf(command, sizeof command, "rm -rf %s/*", folder);
	REQUIRE(system(command) == 0);
	make(file, &own);
	meanwhile = hook;
	times = 0;
	next_fd = lowest_fd();
}

static void end(void)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof command, "rm -rf %s", folder);
	EXPECT(system(command) == 0);
	strcpy(folder, "/tmp/whose.XXXXXX");
	usual[0] = '\0';
}

/* Where it has gone to: "" if that failed, with the error. */
static const char *place(int *error, bool *is_beside)
{
	static char path[PATH_MAX];
	struct whose found;

	*error = prof_whose_place(file, usual, &own, path, &found, is_beside);
	return *error == 0 ? path + strlen(folder) + 1 : "";
}

static void expect_place(const char *name, bool beside)
{
	bool is_beside = false;
	int error = 0;
	const char *found = place(&error, &is_beside);
	char path[PATH_MAX + 32];

	EXPECT_EQ(error, 0);
	EXPECT(strcmp(found, name) == 0);
	EXPECT_EQ(is_beside, beside);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	EXPECT(is_of(path, &own));
	EXPECT(access(file, F_OK) != 0); /* It has one name, and nothing lies about. */
	snprintf(path, sizeof path, "%s.70.old~", usual);
	EXPECT(access(path, F_OK) != 0);
	EXPECT_EQ(lowest_fd(), next_fd); /* What was read of is closed. */
}

TEST(usual_place)
{
	begin(NULL);
	expect_place("gmon.out", false);
	begin(NULL);
	make(usual, &same);
	expect_place("gmon.out", false);
	end();
}

TEST(beside_another_programs)
{
	begin(NULL);
	make(usual, &other);
	expect_place("gmon.out.own", true);
	EXPECT(is_of(usual, &other));
	end();
}

/* What is at all these places is others' too: the process's own number gets a number. */
TEST(beside_several)
{
	char path[PATH_MAX + 8];

	begin(NULL);
	make(usual, &other);
	snprintf(path, sizeof path, "%s.own", usual);
	make(path, &other);
	expect_place("gmon.out.70", true);
	make(file, &own);
	snprintf(path, sizeof path, "%s.70", usual);
	make(path, &other);
	expect_place("gmon.out.70.2", true);
	EXPECT(is_of(path, &other));
	end();
}

TEST(a_folder_at_the_usual_place)
{
	bool is_beside;
	int error;

	begin(NULL);
	REQUIRE(mkdir(usual, 0700) == 0);
	place(&error, &is_beside);
	EXPECT_EQ(error, EISDIR);
	end();
}

static void take_away(void)
{
	unlink(usual);
}

/* What was to be replaced is gone: then the place is free, and that is where it goes. */
TEST(somebody_takes_it_away_meanwhile)
{
	begin(take_away);
	make(usual, &same);
	expect_place("gmon.out", false);
	EXPECT_EQ(times, 1);
	end();
}

static void put_another_there(void)
{
	make(usual, &other);
}

/* Another program's profile is put back where it was. */
TEST(somebody_puts_another_there_meanwhile)
{
	begin(put_another_there);
	make(usual, &same);
	expect_place("gmon.out.own", true);
	EXPECT(is_of(usual, &other));
	end();
}
