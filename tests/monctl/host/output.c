/* SPDX-License-Identifier: MIT */
/*
 * links: user/monctl/output.c user/bin/common/files.c user/bin/common/report.c
 * flags: -I. -Iuser/bin -Iuser/monctl
 */
/* Files that are written in place of others, or not at all (user/monctl/output.c). */
#include "../../../user/monctl/output.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/check.h"

#define ROOM 8192u /* The disk is full behind that. */

static char path[] = "/tmp/output.XXXXXX";
static char data[2 * ROOM];

/* A file of `old` bytes, and no room for one of more than ROOM. */
static void begin(size_t old)
{
	const struct rlimit limit = {ROOM, RLIM_INFINITY};

	strcpy(path, "/tmp/output.XXXXXX");
	close(mkstemp(path));
	memset(data, 'o', sizeof(data));
	REQUIRE(output_write(path, data, old));
	memset(data, 'n', sizeof(data));
	signal(SIGXFSZ, SIG_IGN);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static bool has(char letter, size_t size)
{
	static char found[2 * ROOM];
	FILE *file = fopen(path, "r");
	size_t got = file != NULL ? fread(found, 1, sizeof(found), file) : 0;

	if (file != NULL)
		fclose(file);
	for (size_t i = 0; i < got; i++)
		if (found[i] != letter)
			return false;
	return file != NULL && got == size;
}

static void end(void)
{
	const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &limit);
	unlink(path);
}

TEST(an_older_file_stays_without_room_for_the_new_one)
{
	begin(100);
	EXPECT(!output_write(path, data, ROOM + 1));
	EXPECT(has('o', 100));
	EXPECT(output_write(path, data, ROOM));
	EXPECT(has('n', ROOM));
	end();
}

/* By the signal that tells of the full disk, halfway through the new one. */
TEST(an_older_file_is_whole_if_its_writer_is_killed)
{
	int status = 0;
	pid_t child;

	begin(100);
	child = fork();
	if (child == 0) {
		signal(SIGXFSZ, SIG_DFL);
		output_write(path, data, ROOM + 1);
		_exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	EXPECT(has('o', 100));
	end();
}

/* What stays for all of them is the file, and so what it is called besides. */
TEST(links_and_modes_stay)
{
	char other[sizeof(path) + 1];
	struct stat status, before;

	begin(100);
	EXPECT(chmod(path, 0640) == 0 && output_write(path, data, 50));
	EXPECT(stat(path, &status) == 0 && (status.st_mode & 07777) == 0640);
	snprintf(other, sizeof(other), "%s+", path);
	REQUIRE(symlink(path, other) == 0);
	EXPECT(output_write(other, data, 60) && has('n', 60));
	EXPECT(lstat(other, &status) == 0 && S_ISLNK(status.st_mode));
	unlink(other);
	REQUIRE(link(path, other) == 0 && stat(path, &before) == 0);
	EXPECT(output_write(other, data, 70) && has('n', 70));
	EXPECT(stat(path, &status) == 0 && status.st_ino == before.st_ino);
	unlink(other);
	end();
}

TEST(pieces_are_whole_or_not_there)
{
	struct output output;

	begin(100);
	REQUIRE(output_make(&output, path));
	EXPECT(has('o', 100));
	EXPECT(output_put(&output, data, 10) && output_put(&output, data, 20));
	EXPECT(has('n', 30));
	EXPECT(!output_put(&output, data, ROOM));
	EXPECT(has('n', 30));
	EXPECT(output_put(&output, data, 5) && output_close(&output));
	EXPECT(has('n', 35));
	end();
}

TEST(a_shorter_one_leaves_nothing_of_it)
{
	begin(ROOM);
	EXPECT(output_write(path, data, 10));
	EXPECT(has('n', 10));
	end();
}

TEST(a_new_file_is_whole_or_not_there)
{
	struct stat status;

	begin(1);
	unlink(path);
	EXPECT(!output_write(path, data, ROOM + 1));
	EXPECT(stat(path, &status) != 0);
	EXPECT(output_write(path, data, ROOM));
	EXPECT(has('n', ROOM));
	end();
}
