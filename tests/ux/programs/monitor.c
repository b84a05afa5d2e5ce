/* SPDX-License-Identifier: MIT */
/*
 * monstartup(), moncontrol() and monitor(): what they refuse and say, and which file they write.
 * That the file is right is the business of test_monitor.py.
 *
 * guest: cpus=1 limit=60
 */
#include <sys/gmon.h>

#include "help.h"

#define FOLDER "/tmp/monitor.files"
#define SAID   "/tmp/monitor.said"

extern const char __executable_start[], etext[];

#define LOW  ((unsigned long)__executable_start)
#define HIGH ((unsigned long)etext)

static uint16_t counters[1024];

static char said[256];

/* Has what is said from now on go to a file. */
static void listen(void)
{
	int fd = open(SAID, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	EXPECT_EQ(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	EXPECT_EQ(close(fd), 0);
}

/* Whether these words have been said since; "": nothing has. */
static bool was_said(const char *words)
{
	int fd = open(SAID, O_RDONLY);
	ssize_t size = read(fd, said, sizeof said - 1);

	close(fd);
	said[size > 0 ? size : 0] = '\0';
	listen();
	return words[0] != '\0' ? strstr(said, words) != NULL : size == 0;
}

/* In a folder of its own, with nothing in it. */
static void begin(void)
{
	mkdir(FOLDER, 0700);
	EXPECT_EQ(chdir(FOLDER), 0);
	unlink("gmon.out");
	listen();
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static bool is_on(void)
{
	return add_profil(NULL, 0, 0, 0) == 0;
}

TEST(wrong_ranges)
{
	begin();
	monstartup(HIGH, LOW);
	EXPECT(was_said("monitor: monstartup: there is no code from 0x"));
	monstartup(LOW, LOW);
	EXPECT(was_said("there is no code"));
	monstartup(LOW, 0xc0000001);
	EXPECT(was_said("to 0xc0000001; give where it begins and where it ends"));
	monitor(etext, LOW, counters, 1024, 0);
	EXPECT(was_said("monitor: monitor: there is no code"));
	EXPECT(!is_on());
	monitor(0);
	EXPECT(was_said(""));
	EXPECT(!is_there("gmon.out"));
}

/* A program may have 3 GiB: half of that, and what all these counters take, is more. */
TEST(too_little_memory)
{
	void *room = malloc(0x60000000);

	begin();
	EXPECT(room != NULL);
	monstartup(0, 0xc0000000);
	EXPECT(was_said("monstartup: no memory for 805306368 counters; profile less code"));
	EXPECT(!is_on());
	free(room);
}

/* The longest piece of code that a counter can have is one of 64 KiB. */
TEST(too_short_a_buffer)
{
	begin();
	monitor(__executable_start, LOW + 0x30001, counters, 3, 0);
	EXPECT(was_said(
		"a buffer of 3 counters is too short for 196609 bytes of code; it takes 4"));
	monitor(__executable_start, HIGH, NULL, 1024, 0);
	EXPECT(was_said("a buffer of 0 counters is too short"));
	monitor(__executable_start, HIGH, counters, 0, 0);
	EXPECT(was_said("a buffer of 0 counters is too short"));
	EXPECT(!is_on());
	monitor(__executable_start, LOW + 0x30001, counters, 4, 0);
	EXPECT(was_said(""));
	EXPECT(is_on());
}

TEST(nothing_begun)
{
	begin();
	moncontrol(0);
	EXPECT(was_said("moncontrol: nothing has been begun; call monstartup() first"));
	moncontrol(1);
	EXPECT(was_said("moncontrol: nothing has been begun"));
}

TEST(off_and_on)
{
	begin();
	monstartup(LOW, HIGH);
	EXPECT(is_on());
	for (int n = 0; n < 3; n++) {
		moncontrol(0);
		EXPECT(!is_on());
		moncontrol(1);
		EXPECT(is_on());
	}
	monitor(0);
	EXPECT(!is_on());
	EXPECT(is_there("gmon.out"));
	EXPECT(was_said(""));
}

/* The counters of the first are not written to any more, and what a new one counts begins at 0. */
TEST(a_new_one_takes_its_place)
{
	begin();
	monitor(__executable_start, HIGH, counters, 1024, 0);
	counters[5] = 7;
	monstartup(LOW, HIGH);
	EXPECT_EQ(counters[5], 7);
	monitor(__executable_start, HIGH, counters, 1024, 0);
	EXPECT_EQ(counters[5], 0);
	EXPECT(is_on());
	monitor(0);
	EXPECT(was_said(""));
}

static void begin_and_exit(void)
{
	monstartup(LOW, HIGH);
	exit(0);
}

/* At the end by itself; and a child of who has begun does not take its file. */
TEST(written_at_exit)
{
	char name[32];
	pid_t pid;

	begin();
	pid = fork();
	if (pid == 0)
		begin_and_exit();
	EXPECT_EQ(status_of(pid), 0);
	EXPECT(is_there("gmon.out"));
	EXPECT_EQ(unlink("gmon.out"), 0);
	monstartup(LOW, HIGH);
	pid = fork();
	if (pid == 0)
		exit(0);
	EXPECT_EQ(status_of(pid), 0);
	snprintf(name, sizeof name, "gmon.out.%d", pid);
	EXPECT(is_there(name));
	EXPECT_EQ(unlink(name), 0);
	EXPECT(!is_there("gmon.out"));
}

TEST(named_by_the_environment)
{
	char name[32];

	begin();
	EXPECT_EQ(setenv("GMON_OUT_PREFIX", "mine", 1), 0);
	monstartup(LOW, HIGH);
	monitor(0);
	snprintf(name, sizeof name, "mine.%d", getpid());
	EXPECT(is_there(name));
	EXPECT_EQ(unlink(name), 0);
	EXPECT(!is_there("gmon.out"));
}

/* Whoever runs it in a folder of everybody's overwrites nobody's file. */
TEST(a_planted_link_is_not_written_through)
{
	struct stat about;
	int fd;

	begin();
	fd = open("victim", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	EXPECT_EQ(write(fd, "mine", 4), 4);
	close(fd);
	EXPECT_EQ(symlink("victim", "gmon.out"), 0);
	EXPECT_EQ(symlink("victim", "gmon.out.new"), 0);
	monstartup(LOW, HIGH);
	monitor(0);
	EXPECT_EQ(stat("victim", &about), 0);
	EXPECT_EQ(about.st_size, 4);
	EXPECT_EQ(lstat("gmon.out", &about), 0);
	EXPECT(S_ISREG(about.st_mode));
	EXPECT(!is_there("gmon.out.new"));
	unlink("gmon.out");
	unlink("victim");
}

TEST(a_file_that_cannot_be_written)
{
	begin();
	EXPECT_EQ(mkdir("gmon.out", 0700), 0);
	monstartup(LOW, HIGH);
	monitor(0);
	EXPECT(was_said("gmon.out cannot be written: "));
	EXPECT(!is_on());
	EXPECT_EQ(rmdir("gmon.out"), 0);
}
