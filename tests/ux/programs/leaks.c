/* SPDX-License-Identifier: MIT */
/*
 * What the server has must not grow with what programs have done: names of rights, and memory.
 * Each test does things again and again, and looks at the server before and after.
 *
 * guest: user=root limit=120
 * guest: user=root cpus=2 seed=1 limit=120
 */
#include <assay.h>
#include <fcntl.h>
#include <mach.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/ux.h>

#include "check_unix.h"

#define TIMES       10
#define SLACK       (160 << 10) /* Bytes: a few of the server's threads come and go. */
#define NAMES_SLACK 3           /* What these threads have. */
#define PATIENCE    100         /* What ends may take a while. */
#define LARGE       (40 * 4096) /* Travels beside a message. */

struct belongings {
	unsigned bytes, names;
};

static struct belongings belongings_of_server(void)
{
	mach_port_t server = task_by_pid(0);
	struct task_basic_info info = {0};
	mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT, n_names = 0, n_types = 0;
	mach_port_array_t names = NULL;
	mach_port_type_array_t types = NULL;

	task_info(server, TASK_BASIC_INFO, (task_info_t)&info, &count);
	mach_port_names(server, &names, &n_names, &types, &n_types);
	vm_deallocate(mach_task_self(), (vm_address_t)names, n_names * sizeof *names);
	vm_deallocate(mach_task_self(), (vm_address_t)types, n_types * sizeof *types);
	mach_port_deallocate(mach_task_self(), server);
	return (struct belongings){info.virtual_size, n_names};
}

/* The first time is not counted: caches fill, and threads are made that stay. */
static void expect_no_growth(void (*act)(void))
{
	struct belongings before, after;
	int patience = PATIENCE;

	for (int n = 0; n < TIMES; n++)
		act();
	before = belongings_of_server();
	for (int n = 0; n < TIMES; n++)
		act();
	do {
		swtch();
		after = belongings_of_server();
	} while ((after.names > before.names || after.bytes > before.bytes) && patience-- > 0);
	if (after.names > before.names + NAMES_SLACK || after.bytes > before.bytes + SLACK)
		check_fail("%u names and %u bytes have become %u and %u", before.names,
			   before.bytes, after.names, after.bytes);
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
}

/* ---------------- Processes ---------------- */

static void fork_and_kill(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	REQUIRE(pid > 0);
	mach_port_deallocate(mach_task_self(), task_by_pid(pid));
	end(pid);
}

TEST(processes_that_are_killed)
{
	expect_no_growth(fork_and_kill);
}

static void execute(void)
{
	char *const words[] = {"true", NULL};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execv("/nothing", words);
		execv("/etc/passwd", words);
		execv("/bin/true", words);
		_exit(1);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

TEST(programs_that_are_executed)
{
	expect_no_growth(execute);
}

/* ---------------- Files ---------------- */

static char much[LARGE];

static void use_files(void)
{
	int fd = open("/tmp/leaks.file", O_CREAT | O_TRUNC | O_RDWR, 0600);
	int copy = dup(fd);
	struct stat status;

	EXPECT_EQ(write(fd, much, sizeof much), sizeof much);
	EXPECT_EQ(lseek(copy, 0, SEEK_SET), 0);
	EXPECT_EQ(unlink("/tmp/leaks.file"), 0);
	EXPECT_EQ(read(fd, much, sizeof much), sizeof much);
	EXPECT_EQ(fstat(copy, &status), 0);
	EXPECT_FAILS(open("/nothing/at/all", O_RDONLY), ENOENT);
	EXPECT_FAILS(open("/etc", O_RDWR), EISDIR);
	close(fd);
	close(copy);
}

TEST(files_that_are_closed)
{
	expect_no_growth(use_files);
}

static void use_pipe(void)
{
	int ends[2];
	char byte;

	REQUIRE(pipe(ends) == 0);
	EXPECT_EQ(write(ends[1], "x", 1), 1);
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	close(ends[1]);
}

TEST(pipes_that_are_closed)
{
	expect_no_growth(use_pipe);
}

/* ---------------- Killed in the middle ---------------- */

static int ends[2];

static void fork_and_kill_in(void (*call)(void))
{
	pid_t pid;

	REQUIRE(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		call();
		_exit(0);
	}
	REQUIRE(pid > 0);
	for (int n = 0; n < 2; n++)
		swtch();
	end(pid);
	close(ends[0]);
	close(ends[1]);
}

static void read_nothing(void)
{
	read(ends[0], much, 1);
}

static void write_too_much(void)
{
	write(ends[1], much, sizeof much);
}

static void wait_for_child(void)
{
	int status;

	if (fork() == 0) {
		close(ends[1]); /* So that it ends with the test. */
		read_nothing();
	} else {
		wait(&status);
	}
}

static void set_timer(void)
{
	const struct itimerval soon = {{0, 10}, {0, 10}};

	setitimer(ITIMER_REAL, &soon, NULL);
	pause();
}

static void read_much(void)
{
	int fd = open("/bin/sh", O_RDONLY);

	for (int n = 0; n < 50 && read(fd, much, sizeof much) > 0; n++)
		lseek(fd, 0, SEEK_SET);
}

static void fork_on(void)
{
	int status;

	while (fork() != 0)
		wait(&status);
}

static void kill_in_all(void)
{
	static void (*const calls[])(void) = {read_nothing, write_too_much, wait_for_child,
					      set_timer,    read_much,      fork_on};

	for (size_t n = 0; n < sizeof calls / sizeof calls[0]; n++)
		fork_and_kill_in(calls[n]);
}

TEST(calls_that_are_broken_off)
{
	expect_no_growth(kill_in_all);
}

/* ---------------- Signals ---------------- */

static void handle(int signal)
{
	(void)signal;
}

static void raise_signals(void)
{
	signal(SIGUSR1, handle);
	EXPECT_EQ(kill(getpid(), SIGUSR1), 0);
	signal(SIGUSR1, SIG_DFL);
}

TEST(signals_that_are_handled)
{
	expect_no_growth(raise_signals);
}
