/* SPDX-License-Identifier: MIT */
/*
 * Who may do what: permissions of files, programs with another user's rights, signals and tasks.
 * Root becomes others, in children.
 *
 * guest: user=root limit=30
 */
#include <grp.h>
#include <limits.h>
#include <mach.h>
#include <signal.h>
#include <sys/ux.h>

#include "help.h"

#define SELF "/tmp/users"
#define F    "/tmp/users.f"
#define D    "/tmp/users.d"

enum {
	STUDENT = 100,
	TA = 101,
	KMEM = 2,
	GROUP = 50
};

/* Executed by a test as somebody: the status tells what was found. */
__attribute__((constructor)) static void play_role(void)
{
	const char *role = getenv(ROLE);

	if (role == NULL)
		return;
	if (strcmp(role, "ids") == 0)
		_exit(getuid() == STUDENT && geteuid() == TA && getgid() == STUDENT &&
				      getegid() == GROUP
			      ? 0
			      : 1);
	if (strcmp(role, "back") == 0) {
		EXPECT_FAILS(setuid(0), EPERM);
		EXPECT_FAILS(access(F, R_OK), EACCES);
		EXPECT(open(F, O_RDONLY) >= 0);
		EXPECT_EQ(setuid(STUDENT), 0);
		EXPECT_EQ(geteuid(), STUDENT);
		EXPECT_FAILS(open(F, O_RDONLY), EACCES);
		EXPECT_FAILS(setuid(TA), EPERM);
		fflush(stdout);
		_exit(check_failures);
	}
	if (strcmp(role, "wait") == 0) {
		for (char byte; read(0, &byte, 1) > 0;)
			continue;
	}
	_exit(0);
}

static void become(uid_t uid, gid_t gid, gid_t more)
{
	EXPECT_EQ(setgroups(more != 0, &more), 0);
	EXPECT_EQ(setgid(gid), 0);
	EXPECT_EQ(setuid(uid), 0);
}

/* ---------------- Files ---------------- */

struct right {
	mode_t mode;
	uid_t uid;
	gid_t gid, more;
	int allowed; /* R_OK, W_OK, X_OK */
};

static int rights_now(void)
{
	int fd = open(F, O_RDONLY), rights = 0;

	if (fd >= 0)
		rights |= R_OK;
	close(fd);
	fd = open(F, O_WRONLY);
	if (fd >= 0)
		rights |= W_OK;
	close(fd);
	return rights | (access(F, X_OK) == 0 ? X_OK : 0);
}

/* The first class that one is in counts, even if another would allow more. */
TEST(modes_of_files)
{
	static const struct right rights[] = {
		{0640, STUDENT, GROUP, 0, R_OK | W_OK},
		{0640, TA, GROUP, 0, R_OK},
		{0640, TA, TA, GROUP, R_OK},
		{0640, TA, TA, 0, 0},
		{0077, STUDENT, GROUP, 0, 0},
		{0707, TA, GROUP, 0, 0},
		{0701, TA, TA, 0, X_OK},
		{0070, TA, TA, GROUP, R_OK | W_OK | X_OK},
		{0000, 0, 0, 0, R_OK | W_OK},
		{0001, 0, 0, 0, R_OK | W_OK | X_OK},
	};

	REQUIRE(make_text(F, "x", 0600) && chown(F, STUDENT, GROUP) == 0);
	for (size_t n = 0; n < sizeof rights / sizeof rights[0]; n++) {
		const struct right *right = &rights[n];
		pid_t pid;

		EXPECT_EQ(chmod(F, right->mode), 0);
		pid = fork();
		if (pid == 0) {
			become(right->uid, right->gid, right->more);
			_exit(rights_now());
		}
		EXPECT_EQ(status_of(pid), W_EXITCODE(right->allowed, 0));
	}
	unlink(F);
}

static void meddle_in_tmp(void)
{
	become(STUDENT, STUDENT, 0);
	EXPECT_FAILS(unlink(F), EPERM);
	EXPECT_FAILS(rename(F, "/tmp/users.g"), EPERM);
	EXPECT_FAILS(rmdir(D), EPERM);
	EXPECT(make_text("/tmp/users.own", "x", 0600));
	EXPECT_FAILS(rename("/tmp/users.own", F), EPERM);
	EXPECT_EQ(rename("/tmp/users.own", "/tmp/users.own2"), 0);
	EXPECT_EQ(unlink("/tmp/users.own2"), 0);
	EXPECT_FAILS(unlink("/etc/passwd"), EACCES);
	EXPECT_FAILS(mkdir("/etc/x", 0700), EACCES);
	EXPECT_FAILS(open("/dev/console", O_RDONLY), EACCES);
}

TEST(in_tmp_one_removes_ones_own)
{
	REQUIRE(make_text(F, "x", 0666) && mkdir(D, 0777) == 0);
	EXPECT(all_is_well_in_a_child(meddle_in_tmp));
	EXPECT_EQ(rmdir(D), 0);
	EXPECT_EQ(unlink(F), 0);
}

static void make_in_group(void)
{
	struct stat status;

	become(STUDENT, STUDENT, GROUP);
	EXPECT(make_text(D "/f", "x", 0640));
	EXPECT_EQ(stat(D "/f", &status), 0);
	EXPECT_EQ(status.st_uid, STUDENT);
	EXPECT_EQ(chown(D "/f", (uid_t)-1, GROUP), 0);
	EXPECT_FAILS(chown(D "/f", (uid_t)-1, TA), EPERM);
	EXPECT_FAILS(chown(D "/f", TA, (gid_t)-1), EPERM);
	EXPECT_EQ(unlink(D "/f"), 0);
}

TEST(files_belong_to_who_made_them)
{
	struct stat status;

	REQUIRE(mkdir(D, 0777) == 0 && chmod(D, 0777) == 0);
	EXPECT(all_is_well_in_a_child(make_in_group));
	EXPECT_EQ(chown(D, 12, 34), 0);
	EXPECT_EQ(stat(D, &status), 0);
	EXPECT(status.st_uid == 12 && status.st_gid == 34);
	EXPECT_EQ(chown(D, (uid_t)-1, 56), 0);
	EXPECT_EQ(stat(D, &status), 0);
	EXPECT(status.st_uid == 12 && status.st_gid == 56);
	EXPECT_EQ(rmdir(D), 0);
}

static void write_to_it(void)
{
	int fd;

	become(STUDENT, STUDENT, 0);
	fd = open(F, O_WRONLY);
	EXPECT_EQ(write(fd, "y", 1), 1);
}

static void cut_it(void)
{
	become(STUDENT, STUDENT, 0);
	EXPECT_EQ(truncate(F, 0), 0);
}

static void open_it_empty(void)
{
	become(STUDENT, STUDENT, 0);
	EXPECT(open(F, O_WRONLY | O_TRUNC) >= 0);
}

static void open_it(void)
{
	become(STUDENT, STUDENT, 0);
	EXPECT(open(F, O_WRONLY) >= 0);
}

static mode_t mode_after(void (*act)(void))
{
	struct stat status = {.st_mode = 0};

	EXPECT(make_text(F, "x", 0666) && chmod(F, 06777) == 0);
	EXPECT(all_is_well_in_a_child(act));
	EXPECT_EQ(stat(F, &status), 0);
	unlink(F);
	return status.st_mode & 07777;
}

TEST(who_writes_takes_the_rights_of_a_program)
{
	EXPECT_EQ(mode_after(write_to_it), 0777);
	EXPECT_EQ(mode_after(cut_it), 0777);
	EXPECT_EQ(mode_after(open_it_empty), 0777);
	EXPECT_EQ(mode_after(open_it), 06777);
}

/* ---------------- Programs with rights ---------------- */

/* For a while: one comes back to what one has been, or may be. */
static void be_another_for_a_while(void)
{
	EXPECT_EQ(setegid(GROUP), 0);
	EXPECT_EQ(seteuid(STUDENT), 0);
	EXPECT(geteuid() == STUDENT && getuid() == 0 && getegid() == GROUP && getgid() == 0);
	EXPECT_FAILS(seteuid(TA), EPERM);
	EXPECT_FAILS(setegid(TA), EPERM);
	EXPECT_FAILS(open("/etc/passwd", O_WRONLY), EACCES);
	EXPECT_EQ(seteuid(0), 0);
	EXPECT_EQ(setegid(0), 0);
	EXPECT(open("/etc/passwd", O_WRONLY) >= 0);
	become(STUDENT, STUDENT, 0);
	EXPECT_FAILS(seteuid(0), EPERM);
	EXPECT_FAILS(setegid(0), EPERM);
	EXPECT_EQ(seteuid(STUDENT), 0);
}

TEST(users_for_a_while)
{
	EXPECT(all_is_well_in_a_child(be_another_for_a_while));
}

static void execute_as_student(void)
{
	become(STUDENT, STUDENT, 0);
	EXPECT_EQ(status_of_role(D, "ids"), 0);
	EXPECT_EQ(status_of_role(D, "back"), 0);
}

TEST(programs_with_rights_of_others)
{
	REQUIRE(copy_file(SELF, D, 0755) && make_text(F, "x", 0600));
	EXPECT_EQ(chown(D, TA, GROUP), 0);
	EXPECT_EQ(chmod(D, 06755), 0);
	EXPECT_EQ(chown(F, TA, TA), 0);
	EXPECT(all_is_well_in_a_child(execute_as_student));
	unlink(D);
	unlink(F);
}

static void execute_without_right(void)
{
	char *const words[] = {D, NULL};

	become(STUDENT, STUDENT, 0);
	EXPECT_FAILS(execv(D, words), EACCES);
}

TEST(programs_that_others_may_not_execute)
{
	REQUIRE(copy_file(SELF, D, 0744));
	EXPECT(all_is_well_in_a_child(execute_without_right));
	unlink(D);
}

/* ---------------- Signals and tasks ---------------- */

static int input[2];

/* The student's process with root's rights, which waits for its input's end. */
static pid_t start_privileged(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(input, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		become(STUDENT, STUDENT, 0);
		dup2(input[0], 0);
		setenv(ROLE, "wait", 1);
		execl(D, D, (char *)NULL);
		_exit(99);
	}
	/* Its end is the exec. */
	close(ready[1]);
	read(ready[0], &byte, 1);
	return pid;
}

static pid_t start_tas(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		become(TA, TA, 0);
		close(input[1]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	read(ready[0], &byte, 1);
	close(ready[0]);
	return pid;
}

static void check_task(pid_t pid, int error)
{
	mach_port_t task = task_by_pid(pid);

	EXPECT_EQ(task == MACH_PORT_NULL, error != 0);
	if (error != 0)
		EXPECT_EQ(errno, error);
	else
		EXPECT_EQ(mach_port_deallocate(mach_task_self(), task), KERN_SUCCESS);
}

static pid_t privileged, tas;

static void reach_as_student(void)
{
	pid_t own = fork_sleeper();

	become(STUDENT, STUDENT, 0);
	check_task(privileged, EPERM);
	check_task(tas, EPERM);
	check_task(own, EPERM); /* It was made by root. */
	check_task(1, EPERM);
	check_task(0, EPERM);
	check_task(-1, EPERM);
	check_task(-2, ESRCH);
	check_task(29999, ESRCH);
	check_task(getpid(), 0);
	EXPECT_FAILS(kill(tas, SIGKILL), EPERM);
	EXPECT_FAILS(kill(tas, 0), EPERM);
	EXPECT_FAILS(kill(1, SIGKILL), EPERM);
	EXPECT_FAILS(kill(29999, 0), ESRCH);
	EXPECT_FAILS(kill(tas, NSIG), EINVAL);
	EXPECT_FAILS(kill(tas, -1), EINVAL);
	EXPECT_EQ(kill(privileged, 0), 0); /* By the real user. */
	own = fork_sleeper();
	check_task(own, EPERM); /* It has memory of one that was root. */
	EXPECT_EQ(kill(own, SIGKILL), 0);
	EXPECT_EQ(status_of(own), SIGKILL);
}

static void reach_as_ta(void)
{
	become(TA, TA, KMEM);
	check_task(0, 0);
	check_task(-1, EPERM);
	check_task(1, EPERM);
	check_task(privileged, EPERM);
	check_task(tas, EPERM); /* It was root before. */
}

/* Names of ports go by real users, who are not to be shown tokens of what is or was another. */
static void ask_for_tokens(void)
{
	char token[UX_TOKEN_ROOM];

	EXPECT_FAILS(ux_gprof_token(privileged, token), EPERM);
	EXPECT_FAILS(ux_gprof_token(tas, token), EPERM); /* It was root when it began. */
	EXPECT_EQ(ux_gprof_token(1, token), 0);
}

static void reach_as_root(void)
{
	ask_for_tokens();
	check_task(0, 0);
	check_task(-1, 0);
	check_task(1, 0);
	check_task(privileged, 0);
	check_task(tas, 0);
	check_task(30001, ESRCH);
}

TEST(tasks_and_signals_of_others)
{
	REQUIRE(copy_file(SELF, D, 04755));
	privileged = start_privileged();
	REQUIRE(privileged > 0);
	tas = start_tas();
	REQUIRE(tas > 0);
	EXPECT(all_is_well_in_a_child(reach_as_ta));
	EXPECT(all_is_well_in_a_child(reach_as_student));
	EXPECT(all_is_well_in_a_child(reach_as_root));
	EXPECT_EQ(close(input[1]), 0);
	EXPECT_EQ(kill(tas, SIGKILL), 0);
	EXPECT_EQ(status_of(tas), SIGKILL);
	unlink(D);
}

/* -1 means all that one may reach, but oneself. */
static void signal_all(void)
{
	pid_t own;

	become(4711, 4711, 0);
	own = fork_sleeper();
	EXPECT_EQ(kill(-1, SIGKILL), 0);
	EXPECT_EQ(status_of(own), SIGKILL);
}

TEST(a_signal_to_all)
{
	pid_t bystander = fork_sleeper();

	EXPECT(all_is_well_in_a_child(signal_all));
	EXPECT_EQ(kill(bystander, 0), 0);
	EXPECT_EQ(kill(bystander, SIGKILL), 0);
	EXPECT_EQ(status_of(bystander), SIGKILL);
}
