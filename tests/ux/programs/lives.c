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

	CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct ux_task_life life_of(uint32_t task)
{
	struct ux_task_life life = {0};

	CHECK_EQ(ux_task_life(task, &life), 0);
	CHECK_EQ(life.task_id, task);
	return life;
}

static void expect_within(const struct ux_task_life *life, uint64_t from, uint64_t to)
{
	CHECK(from < prof_u64(life->begun) && prof_u64(life->begun) < prof_u64(life->ended));
	CHECK(prof_u64(life->ended) < to);
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
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	*forked = number_of(pid);
	CHECK_EQ(kill(pid, SIGCONT), 0);
	do
		CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	while (WIFSTOPPED(status) && number_of(pid) == *forked);
	*executed = number_of(pid);
	CHECK_EQ(life_of(*forked).state, UX_LIFE_EXECUTED);
	CHECK_EQ(life_of(*executed).state, UX_LIFE_LIVES);
	CHECK_EQ(kill(pid, SIGCONT), 0);
	CHECK_EQ(status_of(pid), W_EXITCODE(3, 0));
	return pid;
}

TRY(a_task_has_a_parent_when_both_have_ended)
{
	uint64_t before = now(), after;
	uint32_t own = number_of(getpid()), forked, executed;
	uint32_t children = life_of(own).children;
	pid_t pid = child_of_two_tasks(&forked, &executed);
	struct ux_task_life one = life_of(forked), two = life_of(executed);

	after = now();
	CHECK_EQ(life_of(own).children, children + 1);
	CHECK_EQ(one.parent_task, own);
	CHECK_EQ(two.parent_task, forked);
	CHECK_EQ(one.pid, pid);
	CHECK_EQ(two.pid, pid);
	CHECK_EQ(one.ppid, getpid());
	CHECK_EQ(two.ppid, getpid());
	CHECK_EQ(two.pgrp, getpgrp());
	CHECK_EQ(two.uid, 0);
	CHECK_EQ(one.state, UX_LIFE_EXECUTED);
	CHECK_EQ(two.state, UX_LIFE_ENDED);
	CHECK(strcmp(one.command, "lives") == 0 && strcmp(two.command, "lives") == 0);
	expect_within(&one, before, after);
	expect_within(&two, before, after);
	CHECK(prof_u64(one.ended) <= prof_u64(two.begun));
	CHECK_EQ(prof_u64(life_of(own).ended), 0);
}

static void fork_and_end(void)
{
	pid_t pid;

	CHECK_EQ(setuid(STUDENT), 0);
	pid = fork();
	if (pid == 0) {
		/* Its parent ends before it does. */
		while (getppid() != 1)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		_exit(0);
	}
}

/* An orphan is pid 1's to wait for, and still the child of whoever made it. */
TRY(an_orphan_stays_whose_child_it_was)
{
	uint32_t last;
	struct ux_task_life parent, orphan = {0};

	CHECK(all_is_well_in_a_child(fork_and_end));
	/* The orphan's task was made behind its parent's. */
	last = number_of(getpid());
	for (uint32_t task = last; task < last + 50; task++)
		if (ux_task_life(task, &orphan) == 0 && orphan.uid == STUDENT &&
		    ux_task_life(orphan.parent_task, &parent) == 0 && parent.uid == STUDENT)
			break;
	CHECK_EQ(orphan.uid, STUDENT);
	CHECK_EQ(orphan.ppid, parent.pid);
	CHECK_EQ(orphan.parent_task, parent.task_id);
	CHECK_EQ(parent.ppid, getpid());
	CHECK_EQ(parent.state, UX_LIFE_ENDED);
}

TRY(many_are_known)
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
		CHECK_EQ(status_of(pid), 0);
	}
	for (uint32_t task = first; task < first + MANY; task++)
		found += ux_task_life(task, &life) == 0 && life.parent_task == own;
	CHECK_EQ(found, MANY);
}

TRY(what_is_none)
{
	struct ux_task_life life;

	CHECK_FAILS(ux_task_life(0, &life), ESRCH);
	CHECK_FAILS(ux_task_life(UINT32_MAX, &life), ESRCH);
	CHECK_FAILS(ux_task_life(1, NULL), EFAULT);
}
