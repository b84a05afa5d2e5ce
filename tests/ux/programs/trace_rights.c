/* SPDX-License-Identifier: MIT */
/*
 * Who may trace whom into which file, and how tracing ends: by ktrace(), by exec, by a device that
 * is full.
 *
 * guest: user=root limit=60
 */
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ux.h>

#include "traces.h"

#define SELF  "/tmp/trace_rights"
#define OTHER "/tmp/trace.other"
#define BIG   "/tmp/trace.big"
#define SUID  "/tmp/trace.suid" /* With another user's rights. */

enum {
	STUDENT = 100,
	TA = 101
};

/* ---------------- What a test has executed ---------------- */

static int pid_in(const char *name)
{
	return atoi(getenv(name));
}

static void play_user(void)
{
	const int own = pid_in("OWN"), other = pid_in("OTHER"), root = pid_in("ROOT");

	EXPECT_FAILS(ktrace(OTHER, KTROP_SET, ALL, getpid()), EACCES);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_PSIG, own), 0);
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, ALL, own), 0);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, other), EPERM);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, root), EPERM);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, 1), EPERM);
	EXPECT_FAILS(ktrace(NULL, KTROP_CLEAR, ALL, other), EPERM);
}

/* Traced by root: it cannot end that, nor lead it elsewhere. */
static void play_prisoner(void)
{
	EXPECT_FAILS(ktrace(NULL, KTROP_CLEAR, ALL, getpid()), EPERM);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, getpid()), EPERM);
	EXPECT_FAILS(ktrace(OTHER, KTROP_CLEARFILE, 0, 0), EACCES);
	EXPECT_EQ(utrace("in", 2), 0);
}

/* Traced by its user, until it executes what has another's rights. */
static void play_suid(void)
{
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_USER, getpid()), 0);
	EXPECT_EQ(utrace("before", 6), 0);
	setenv(ROLE, "words", 1);
	execl(SUID, SUID, NULL);
}

__attribute__((constructor)) static void play_role(void)
{
	const char *role = getenv(ROLE);

	if (role == NULL)
		return;
	if (strcmp(role, "sleep") == 0) {
		write(1, "x", 1);
		for (;;)
			pause();
	}
	if (strcmp(role, "user") == 0)
		play_user();
	if (strcmp(role, "prisoner") == 0)
		play_prisoner();
	if (strcmp(role, "suid") == 0)
		play_suid();
	utrace("words", 5);
	fflush(stdout);
	_exit(check_failures);
}

/* A process that never was root's, as its program has begun as somebody else's. */
static pid_t fork_role(uid_t uid, const char *role)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setenv(ROLE, role, 1);
		setgid(STUDENT);
		setuid(uid);
		execl(SELF, SELF, NULL);
		_exit(99);
	}
	return pid;
}

static pid_t fork_sleeper_of(uid_t uid)
{
	int ends[2], out = dup(1);
	char byte;
	pid_t pid;

	pipe(ends);
	dup2(ends[1], 1);
	pid = fork_role(uid, "sleep");
	dup2(out, 1);
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
	close(out);
	return pid;
}

static void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	EXPECT_EQ(status_of(pid), SIGKILL);
}

static void set_number(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof text, "%d", value);
	setenv(name, text, 1);
}

/* ---------------- The tests ---------------- */

static bool files_are_made(void)
{
	return make_file(TRACE, "", 0, 0600) && chown(TRACE, STUDENT, STUDENT) == 0 &&
	       make_file(OTHER, "", 0, 0600);
}

/* ---------------- Arguments ---------------- */

TEST(wrong_arguments)
{
	const pid_t pid = getpid();

	REQUIRE(files_are_made());
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, 0, pid), EINVAL);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, (int)KTRFAC_INHERIT, pid), EINVAL);
	EXPECT_FAILS(ktrace(TRACE, KTROP_CLEAR, 0, pid), EINVAL);
	EXPECT_FAILS(ktrace(TRACE, 3, ALL, pid), EINVAL);
	EXPECT_FAILS(ktrace(TRACE, 8, ALL, pid), EINVAL);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, 29999), ESRCH);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, -29999), ESRCH);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, 0), ESRCH);
	EXPECT_FAILS(ktrace(TRACE, KTROP_CLEAR, ALL, 29999), ESRCH);
	EXPECT_FAILS(ktrace("/tmp/none", KTROP_SET, ALL, pid), ENOENT);
	EXPECT_FAILS(ktrace("/tmp", KTROP_SET, ALL, pid), EACCES);
	EXPECT_FAILS(ktrace("/dev/null", KTROP_SET, ALL, pid), EACCES);
	EXPECT_FAILS(ktrace(SELF, KTROP_SET, ALL, pid), ETXTBSY);
	EXPECT_EQ(symlink(TRACE, "/tmp/trace.link"), 0);
	EXPECT_FAILS(ktrace("/tmp/trace.link", KTROP_SET, ALL, pid), EACCES);
	EXPECT_EQ(trace_count(KTR_SYSCALL), 0);
}

TEST(a_zombie_is_no_process)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	while (kill(pid, 0) == 0 && waitpid(-1, NULL, WNOHANG) == 0)
		continue;
	REQUIRE(files_are_made());
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, pid), ESRCH);
}

/* ---------------- Whom ---------------- */

TEST(others_are_for_root)
{
	pid_t own = fork_sleeper_of(STUDENT), other = fork_sleeper_of(TA), root = fork_sleeper();

	REQUIRE(files_are_made());
	set_number("OWN", own);
	set_number("OTHER", other);
	set_number("ROOT", root);
	EXPECT_EQ(status_of(fork_role(STUDENT, "user")), 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, ALL, other), 0);
	end_sleeper(own);
	end_sleeper(other);
	end_sleeper(root);
	EXPECT_EQ(trace_count(KTR_PSIG), 1); /* SIGKILL of the one that root has traced. */
}

/* Who has been root and has not executed anything since is nobody's. */
static void give_up_rights(void)
{
	EXPECT_EQ(setgid(STUDENT), 0);
	EXPECT_EQ(setuid(STUDENT), 0);
	EXPECT_FAILS(ktrace(TRACE, KTROP_SET, ALL, getpid()), EPERM);
}

TEST(a_program_that_had_rights_is_for_root)
{
	REQUIRE(files_are_made());
	EXPECT(all_is_well_in_a_child(give_up_rights));
}

TEST(what_root_has_set_stays)
{
	pid_t pid;

	REQUIRE(files_are_made());
	EXPECT_EQ(ktrace(OTHER, KTROP_SET, KTRFAC_USER | KTRFAC_INHERIT, getpid()), 0);
	pid = fork_role(STUDENT, "prisoner");
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, ALL, getpid()), 0);
	EXPECT_EQ(rename(OTHER, TRACE), 0);

	static const char *const lines[] = {"words in", "words words"};
	EXPECT_TRACE(lines, pid);
}

/* ---------------- Programs with another user's rights ---------------- */

static pid_t run_traced_by_root(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setenv(ROLE, "words", 1);
		ktrace(TRACE, KTROP_SET, KTRFAC_USER, getpid());
		setgid(STUDENT);
		setuid(STUDENT);
		execl(SUID, SUID, NULL);
		_exit(99);
	}
	return pid;
}

TEST(exec_of_a_program_with_rights)
{
	REQUIRE(files_are_made());
	REQUIRE(copy_file(SELF, SUID, 0755) && chown(SUID, TA, STUDENT) == 0 &&
		chmod(SUID, 04755) == 0);
	EXPECT_EQ(status_of(run_traced_by_root()), 0);
	EXPECT_EQ(trace_count(KTR_USER), 1);
	REQUIRE(files_are_made());
	EXPECT_EQ(status_of(fork_role(STUDENT, "suid")), 0);
	EXPECT_EQ(trace_count(KTR_USER), 1); /* Its own, of before. */
	unlink(SUID);
}

/* ---------------- Several ---------------- */

static pid_t fork_with_child(pid_t *child, pid_t pgrp)
{
	int ends[2];
	pid_t pid;

	pipe(ends);
	pid = fork();
	if (pid == 0) {
		setpgid(0, pgrp);
		pid = fork_sleeper();
		write(ends[1], &pid, sizeof pid);
		for (;;)
			pause();
	}
	EXPECT_EQ(read(ends[0], child, sizeof *child), sizeof *child);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static unsigned signals_recorded(pid_t parent, pid_t child)
{
	kill(child, SIGTERM);
	kill(parent, SIGTERM);
	EXPECT_EQ(status_of(parent), SIGTERM);
	while (kill(child, 0) == 0) /* Init waits for it. */
		sched_yield();
	return trace_count(KTR_PSIG);
}

TEST(one_a_tree_and_a_group)
{
	pid_t parent, child;

	REQUIRE(files_are_made());
	parent = fork_with_child(&child, 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_PSIG, parent), 0);
	EXPECT_EQ(signals_recorded(parent, child), 1);

	REQUIRE(files_are_made());
	parent = fork_with_child(&child, 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET | KTRFLAG_DESCEND, KTRFAC_PSIG, parent), 0);
	EXPECT_EQ(signals_recorded(parent, child), 2);

	REQUIRE(files_are_made());
	parent = fork_with_child(&child, 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_PSIG, -parent), 0);
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, KTRFAC_PSIG, child), 0);
	EXPECT_EQ(signals_recorded(parent, child), 1);

	REQUIRE(files_are_made());
	parent = fork_with_child(&child, 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_PSIG, -parent), 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_CLEARFILE, 0, 0), 0);
	EXPECT_EQ(signals_recorded(parent, child), 0);
}

/* ---------------- The file ---------------- */

/* Two processes, two files: each in its own. */
TEST(a_process_is_traced_into_one_file)
{
	REQUIRE(files_are_made());
	EXPECT_EQ(ktrace(OTHER, KTROP_SET, KTRFAC_USER, getpid()), 0);
	EXPECT_EQ(utrace("there", 5), 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_USER, getpid()), 0);
	EXPECT_EQ(utrace("here", 4), 0);

	static const char *const lines[] = {"words here"};
	EXPECT_TRACE(lines, getpid());
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, ALL, getpid()), 0);
	EXPECT_EQ(rename(OTHER, TRACE), 0);

	static const char *const others[] = {"words there"};
	EXPECT_TRACE(others, getpid());
}

/* It is written to, and so neither executed nor a program that keeps its owner's rights. */
TEST(a_file_that_is_traced_into_is_open_for_writing)
{
	struct stat status;

	REQUIRE(files_are_made());
	EXPECT_EQ(chmod(TRACE, 06755), 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_USER, getpid()), 0);
	EXPECT_FAILS(execl(TRACE, TRACE, NULL), ETXTBSY);
	EXPECT_EQ(utrace("here", 4), 0);
	EXPECT_EQ(trace_count(KTR_USER), 1);
	EXPECT_EQ(stat(TRACE, &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0755);
}

/* ---------------- No room ---------------- */

enum {
	LEFT = 12 << 10 /* Bytes that somebody else than root can still write. */
};

static void fill_device(void)
{
	static char bytes[64 << 10];
	int fd = open(BIG, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	EXPECT_EQ(setuid(STUDENT), 0);
	while (write(fd, bytes, sizeof bytes) > 0)
		continue;
	while (write(fd, bytes, 1) > 0)
		continue;
	close(fd);
}

/*
 * Tracing has ended, for all; what is in the file are whole records, and those before are all
 * there.  Root could write on, and does not for a trace.
 */
TEST(a_device_that_is_full_ends_tracing)
{
	static const char words[1000];
	pid_t sleeper;
	unsigned count;

	REQUIRE(files_are_made());
	sleeper = fork_sleeper();
	EXPECT(all_is_well_in_a_child(fill_device));
	EXPECT_EQ(truncate(BIG, size_of(BIG) - LEFT), 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_PSIG, sleeper), 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_USER, getpid()), 0);
	for (int n = 0; n < 200; n++)
		EXPECT_EQ(utrace(words, sizeof words), 0);
	count = trace_count(KTR_USER);
	EXPECT(count > 0 && count <= LEFT / sizeof words);
	EXPECT_EQ(unlink(BIG), 0);
	end_sleeper(sleeper);
	EXPECT_EQ(utrace("late", 4), 0);
	EXPECT_EQ(trace_count(KTR_USER), count);
	EXPECT_EQ(trace_count(KTR_PSIG), 0);
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_USER, getpid()), 0);
}
