/* SPDX-License-Identifier: MIT */
/*
 * Whose child a task was, when and of whom: what the server tells of tasks, which outlives them.
 *
 * guest: user=root limit=30
 * guest: user=root cpus=2 seed=1 limit=30
 */
#include <mach.h>
#include <mach/prof.h>
#include <mach/task_info.h>
#include <signal.h>
#include <sys/ux.h>
#include <time.h>

#include "help.h"

#define SELF "/tmp/lives"

/* More than the files that are remembered, and fewer than the tasks. */
#define MANY 300

enum {
	STUDENT = 100
};

/* Executed by a test: ends at once. */
__attribute__((constructor)) static void play_role(void)
{
	if (getenv(ROLE) != NULL)
		_exit(3);
}

static uint32_t number_of(pid_t pid)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);

	for (int i = 0; i < found && i < UX_PROCESSES_MAX; i++)
		if (processes[i].pid == pid)
			return processes[i].task_id;
	return 0;
}

static uint64_t now(void)
{
	struct timespec time = {0};

	EXPECT_EQ(clock_gettime(CLOCK_MONOTONIC, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct ux_task_life life_of(uint32_t task)
{
	struct ux_task_life life = {0};

	EXPECT_EQ(ux_task_life(task, &life), 0);
	EXPECT_EQ(life.task_id, task);
	return life;
}

static void expect_within(const struct ux_task_life *life, uint64_t from, uint64_t to)
{
	EXPECT(from < prof_u64(life->begun) && prof_u64(life->begun) < prof_u64(life->ended));
	EXPECT(prof_u64(life->ended) < to);
}

/* A child stops, executes this file, which stops, and ends; its two tasks. */
static pid_t child_of_two_tasks(uint32_t *forked, uint32_t *executed)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		raise(SIGSTOP);
		setenv(ROLE, "end", 1);
		if (ux_stop_at_exec() == 0)
			execl(SELF, SELF, (char *)NULL);
		_exit(99);
	}
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	*forked = number_of(pid);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	do
		EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	while (WIFSTOPPED(status) && number_of(pid) == *forked);
	*executed = number_of(pid);
	EXPECT_EQ(life_of(*forked).state, UX_LIFE_EXECUTED);
	EXPECT_EQ(life_of(*executed).state, UX_LIFE_LIVES);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), W_EXITCODE(3, 0));
	return pid;
}

TEST(a_task_has_a_parent_when_both_have_ended)
{
	uint64_t before = now(), after;
	uint32_t own = number_of(getpid()), forked, executed;
	uint32_t children = life_of(own).children;
	pid_t pid = child_of_two_tasks(&forked, &executed);
	struct ux_task_life one = life_of(forked), two = life_of(executed);

	after = now();
	EXPECT_EQ(life_of(own).children, children + 1);
	EXPECT_EQ(one.parent_task, own);
	EXPECT_EQ(two.parent_task, forked);
	EXPECT_EQ(one.pid, pid);
	EXPECT_EQ(two.pid, pid);
	EXPECT_EQ(one.ppid, getpid());
	EXPECT_EQ(two.ppid, getpid());
	EXPECT_EQ(two.pgrp, getpgrp());
	EXPECT_EQ(two.uid, 0);
	EXPECT_EQ(one.state, UX_LIFE_EXECUTED);
	EXPECT_EQ(two.state, UX_LIFE_ENDED);
	EXPECT(strcmp(one.command, "lives") == 0 && strcmp(two.command, "lives") == 0);
	expect_within(&one, before, after);
	expect_within(&two, before, after);
	EXPECT(prof_u64(one.ended) <= prof_u64(two.begun));
	EXPECT_EQ(prof_u64(life_of(own).ended), 0);
}

static void fork_and_end(void)
{
	pid_t pid;

	EXPECT_EQ(setuid(STUDENT), 0);
	pid = fork();
	if (pid == 0) {
		/* Its parent ends before it does. */
		while (getppid() != 1)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		_exit(0);
	}
}

/* An orphan is pid 1's to wait for, and still the child of whoever made it. */
TEST(an_orphan_stays_whose_child_it_was)
{
	uint32_t last;
	struct ux_task_life parent, orphan = {0};

	EXPECT(all_is_well_in_a_child(fork_and_end));
	/* The orphan's task was made behind its parent's. */
	last = number_of(getpid());
	for (uint32_t task = last; task < last + 50; task++)
		if (ux_task_life(task, &orphan) == 0 && orphan.uid == STUDENT &&
		    ux_task_life(orphan.parent_task, &parent) == 0 && parent.uid == STUDENT)
			break;
	EXPECT_EQ(orphan.uid, STUDENT);
	EXPECT_EQ(orphan.ppid, parent.pid);
	EXPECT_EQ(orphan.parent_task, parent.task_id);
	EXPECT_EQ(parent.ppid, getpid());
	EXPECT_EQ(parent.state, UX_LIFE_ENDED);
}

TEST(many_are_known)
{
	uint32_t own = number_of(getpid()), first = 0;
	struct ux_task_life life;
	int found = 0;

	for (int i = 0; i < MANY; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (i == 0)
			first = number_of(pid);
		EXPECT_EQ(status_of(pid), 0);
	}
	for (uint32_t task = first; task < first + MANY; task++)
		found += ux_task_life(task, &life) == 0 && life.parent_task == own;
	EXPECT_EQ(found, MANY);
}

TEST(what_is_none)
{
	struct ux_task_life life;

	EXPECT_FAILS(ux_task_life(0, &life), ESRCH);
	EXPECT_FAILS(ux_task_life(UINT32_MAX, &life), ESRCH);
	EXPECT_FAILS(ux_task_life(1, NULL), EFAULT);
}
