/* SPDX-License-Identifier: MIT */
/*
 * Children: their memory, how they end and are waited for, too many of them, too little memory.
 *
 * guest: limit=40
 * guest: cpus=2 seed=1 limit=40
 */
#include <mach.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/ux.h>

#include "help.h"

enum {
	PAGES = 64
};

static char shared_by_copy[PAGES * PAGE];

static bool all_are(const char *bytes, char value)
{
	for (int page = 0; page < PAGES; page++) {
		if (bytes[page * PAGE] != value)
			return false;
	}
	return true;
}

static void set_all(char *bytes, char value)
{
	for (int page = 0; page < PAGES; page++)
		bytes[page * PAGE] = value;
}

/* Parent, child and grandchild: what one writes the others do not see, whoever is first. */
TEST(memory_is_each_ones_own)
{
	pid_t pid;

	set_all(shared_by_copy, 'p');
	pid = fork();
	if (pid == 0) {
		pid_t child = fork();

		if (child == 0) {
			bool was_parents = all_are(shared_by_copy, 'p');

			set_all(shared_by_copy, 'g');
			_exit(!was_parents || !all_are(shared_by_copy, 'g'));
		}
		set_all(shared_by_copy, 'c');
		_exit(status_of(child) != 0 || !all_are(shared_by_copy, 'c'));
	}
	EXPECT(all_are(shared_by_copy, 'p'));
	set_all(shared_by_copy, 'q');
	EXPECT_EQ(status_of(pid), 0);
	EXPECT(all_are(shared_by_copy, 'q'));
}

TEST(how_children_end)
{
	static const int signals[] = {SIGHUP, SIGSEGV, SIGKILL, SIGUSR1};
	int *volatile nowhere = (int *)16;
	pid_t pid;

	for (int status = 0; status < 600; status += 85) {
		pid = fork();
		if (pid == 0)
			_exit(status);
		EXPECT_EQ(status_of(pid), W_EXITCODE(status & 0xff, 0));
	}
	for (size_t n = 0; n < sizeof signals / sizeof signals[0]; n++) {
		pid = fork();
		if (pid == 0) {
			kill(getpid(), signals[n]);
			_exit(1);
		}
		EXPECT_EQ(status_of(pid), signals[n]);
	}
	pid = fork();
	if (pid == 0)
		*nowhere = 1;
	EXPECT_EQ(status_of(pid), SIGSEGV);
	pid = fork();
	if (pid == 0)
		exit(3);
	EXPECT_EQ(status_of(pid), W_EXITCODE(3, 0));
}

TEST(waiting_for_some_of_them)
{
	pid_t in_group = fork_sleeper(), other = fork_sleeper();
	int status = 7;

	EXPECT_EQ(setpgid(in_group, in_group), 0);
	EXPECT_EQ(waitpid(-1, &status, WNOHANG), 0);
	EXPECT_FAILS(waitpid(1, &status, WNOHANG), ECHILD);
	EXPECT_EQ(waitpid(-in_group, &status, WNOHANG), 0);
	EXPECT_EQ(kill(other, SIGTERM), 0);
	EXPECT_EQ(waitpid(0, &status, 0), other);
	EXPECT_EQ(status, SIGTERM);
	EXPECT_FAILS(waitpid(0, &status, 0), ECHILD);
	EXPECT_EQ(kill(-in_group, SIGTERM), 0);
	EXPECT_EQ(waitpid(-in_group, NULL, 0), in_group);
	EXPECT_FAILS(wait(NULL), ECHILD);
	EXPECT_FAILS(waitpid(-1, NULL, WNOHANG), ECHILD);
	EXPECT_FAILS(kill(in_group, 0), ESRCH);
}

/* A zombie has a number, can be signalled in vain, and has no task any more. */
TEST(between_end_and_wait)
{
	int ends[2], status;
	pid_t pid;
	char byte;

	REQUIRE(pipe(ends) == 0);
	pid = fork();
	if (pid == 0)
		_exit(5);
	close(ends[1]);
	EXPECT_EQ(read(ends[0], &byte, 1), 0);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(task_by_pid(pid), MACH_PORT_NULL);
	EXPECT_EQ(errno, ESRCH);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), pid);
	EXPECT_EQ(status, W_EXITCODE(5, 0));
}

TEST(a_stopped_child_is_told)
{
	pid_t pid = fork_sleeper();
	int status = 0;

	EXPECT_EQ(kill(pid, SIGSTOP), 0);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(waitpid(pid, &status, WNOHANG), 0);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(status_of(pid), SIGKILL);
}

TEST(one_after_another)
{
	for (int n = 0; n < 300; n++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(n & 0x7f);
		REQUIRE(status_of(pid) == W_EXITCODE(n & 0x7f, 0));
	}
}

/* Each has two of its own, five deep. */
static int tree(int depth)
{
	int count = 1;

	for (int n = 0; n < 2 && depth > 0; n++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(tree(depth - 1));
		count += WEXITSTATUS(status_of(pid));
	}
	return count;
}

TEST(children_of_children)
{
	EXPECT_EQ(tree(5), 63);
}

/* Leaves a child that has ended, and one that has not; tells their numbers. */
static _Noreturn void leave_children(int out)
{
	int ends[2];
	pid_t pids[2];
	char byte;

	if (pipe(ends) != 0)
		_exit(1);
	pids[0] = fork();
	if (pids[0] == 0)
		_exit(0);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 0)
		_exit(2);
	pids[1] = fork_sleeper();
	_exit(write(out, pids, sizeof pids) == sizeof pids ? 0 : 3);
}

static bool is_gone_soon(pid_t pid)
{
	for (int patience = 1000; patience > 0; patience--) {
		if (kill(pid, 0) != 0)
			return errno == ESRCH;
		usleep(1000);
	}
	return false;
}

/* The first process waits for whoever has no parent any more, also if it ended before. */
TEST(orphans_are_waited_for)
{
	pid_t parent, pids[2] = {0};
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	parent = fork();
	if (parent == 0)
		leave_children(ends[1]);
	EXPECT_EQ(read(ends[0], pids, sizeof pids), (long)sizeof pids);
	EXPECT_EQ(status_of(parent), 0);
	EXPECT(is_gone_soon(pids[0]));
	EXPECT_EQ(kill(pids[1], 0), 0);
	EXPECT_EQ(kill(pids[1], SIGKILL), 0);
	EXPECT(is_gone_soon(pids[1]));
}

/* As many as a user may have, twice: the second time shows that all came back. */
TEST(as_many_as_may_be)
{
	static pid_t pids[UX_PROCESSES_MAX];
	int counts[2];

	for (int round = 0; round < 2; round++) {
		int n = 0;

		while (n < UX_PROCESSES_MAX && (pids[n] = fork_sleeper()) > 0)
			n++;
		EXPECT_EQ(errno, EAGAIN);
		EXPECT_FAILS(fork(), EAGAIN);
		counts[round] = n;
		while (n-- > 0) {
			EXPECT_EQ(kill(pids[n], SIGKILL), 0);
			EXPECT_EQ(status_of(pids[n]), SIGKILL);
		}
	}
	EXPECT_EQ(counts[0], counts[1]);
	EXPECT_EQ(status_of_role("/bin/true", ""), 0);
}

TEST(what_children_used_is_their_parents)
{
	struct rusage usage, of_children;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		pid_t child = fork();

		if (child == 0) {
			set_all(malloc(sizeof shared_by_copy), 1);
			_exit(0);
		}
		_exit(status_of(child));
	}
	EXPECT_EQ(wait4(pid, &status, 0, &usage), pid);
	EXPECT_EQ(status, 0);
	EXPECT(usage.ru_zfill >= PAGES);
	EXPECT_EQ(getrusage(RUSAGE_CHILDREN, &of_children), 0);
	EXPECT(memcmp(&usage, &of_children, sizeof usage) == 0);
	EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
	EXPECT(usage.ru_zfill < PAGES);
}

/* No more memory is a null pointer, and what has been taken can be given back. */
TEST(an_address_space_is_full)
{
	vm_address_t address;
	vm_size_t size = 1 << 30, total = 0;

	while (size >= PAGE) {
		if (vm_allocate(mach_task_self(), &address, size, TRUE) == KERN_SUCCESS)
			total += size;
		else
			size /= 2;
	}
	EXPECT(total > 1u << 30);
	errno = 0;
	EXPECT(malloc(10 << 20) == NULL && errno == ENOMEM);
	EXPECT_EQ(getpid() > 1, 1);
	EXPECT_EQ(size_of("/tmp/children") > 0, 1);
}
