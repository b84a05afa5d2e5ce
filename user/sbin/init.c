/* SPDX-License-Identifier: MIT */
/*
 * The first process: runs /etc/rc, and then either lets people log in or runs commands.
 *
 *     init                           a shell for USER on the console, again and again
 *     init user=NAME run=FILE limit=SECONDS
 *                                    the commands in FILE; their status ends the machine's run
 *
 * What init does not understand it says, and halts: a machine that nobody can use should not look
 * as if it worked.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsm.h>

#include "common/common.h"

#define CONSOLE      "/dev/console"
#define LOG          "/dev/log"
#define SHELL        "/bin/sh"
#define RC           "/etc/rc"
#define MOTD         "/etc/motd"
#define GRACE        5 /* Seconds between SIGTERM and SIGKILL. */
#define DEFAULT_USER "student"
#define TERMINAL     "ansi" /* Of those who log in; commands without anybody have none. */

/* How the commands ended, beside their status: a contract with tools/assay/unix.py. */
#define BY_SIGNAL 0x100
#define TIMED_OUT 0x200
#define NOT_BEGUN 0x400
#define TOO_MANY  0x800 /* Processes: more than the server's processes= lets them have. */

struct wishes {
	const char *user;
	const char *run; /* Null: people log in. */
	unsigned limit;  /* Seconds; 0: none. */
};

static pid_t commands; /* The process group of run='s commands. */
static volatile sig_atomic_t is_over, are_too_many;

/* ---------------- Beginnings ---------------- */

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "init: %s: %s\n", what, strerror(errno));
	ux_reboot(UX_HALT, NOT_BEGUN);
	exit(EXIT_FAILURE);
}

static void open_as(int fd, const char *path, int flags)
{
	int opened = open(path, flags);

	if (opened >= 0 && opened != fd) {
		dup2(opened, fd);
		close(opened);
	}
}

static struct wishes read_wishes(int argc, char **argv)
{
	struct wishes wishes = {.user = DEFAULT_USER};

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "user=", 5) == 0)
			wishes.user = argv[i] + 5;
		else if (strncmp(argv[i], "run=", 4) == 0)
			wishes.run = argv[i] + 4;
		else if (strncmp(argv[i], "limit=", 6) == 0)
			wishes.limit = (unsigned)strtoul(argv[i] + 6, NULL, 10);
		else
			fprintf(stderr, "init: %s is not understood\n", argv[i]);
	}
	return wishes;
}

/* ---------------- Becoming somebody ---------------- */

static void become(const struct passwd *user)
{
	if (setgid(user->pw_gid) != 0 || initgroups(user->pw_name, user->pw_gid) != 0 ||
	    setuid(user->pw_uid) != 0)
		give_up(user->pw_name);
	if (chdir(user->pw_dir) != 0)
		fprintf(stderr, "init: %s: %s\n", user->pw_dir, strerror(errno));
	setenv("HOME", user->pw_dir, 1);
	setenv("USER", user->pw_name, 1);
	setenv("LOGNAME", user->pw_name, 1);
	setenv("SHELL", SHELL, 1);
	setenv("PATH", PATH_FOR(user->pw_uid), 1);
}

/* What is done from here on is this user's, whoever he becomes. */
static void log_in(const struct passwd *user)
{
	if (!bsm_log_in(user->pw_name, user->pw_uid))
		fprintf(stderr, "init: %s: nothing of %s is audited\n", bsm_error, user->pw_name);
}

/*
 * A process of a user's own that runs the shell with these words.  Its signals are as at the
 * beginning: what init catches execv() takes back, and init ignores none.
 */
static pid_t start_shell(const char *user_name, char *const words[], bool is_login)
{
	const struct passwd *user = getpwnam(user_name);
	pid_t pid;

	if (user == NULL) {
		fprintf(stderr, "init: there is no user %s\n", user_name);
		return -1;
	}
	pid = fork();
	if (pid != 0)
		return pid;
	setpgid(0, 0);
	if (is_login)
		log_in(user);
	become(user);
	execv(SHELL, words);
	give_up(SHELL);
}

/* Waits for one process, and meanwhile for whoever has lost its parent. */
static int wait_for(pid_t pid)
{
	int status = 0;

	for (;;) {
		pid_t ended = wait(&status);

		if (ended == pid)
			return status;
		if (ended < 0 && errno != EINTR)
			give_up("wait");
	}
}

static void run_rc(void)
{
	static char *const words[] = {"sh", RC, NULL};
	pid_t pid = start_shell("root", words, false);

	if (pid < 0 || wait_for(pid) != 0)
		fprintf(stderr, "init: %s failed\n", RC);
}

/* ---------------- Commands without anybody ---------------- */

/* The first time they are asked to end, then they are ended. */
static void limit_over(int number)
{
	(void)number;
	kill(-commands, is_over ? SIGKILL : SIGTERM);
	is_over = 1;
	alarm(GRACE);
}

/* The server says it, by a signal, when somebody wants to make one more. */
static void too_many(int number)
{
	(void)number;
	if (commands > 0)
		kill(-commands, SIGKILL);
	are_too_many = 1;
}

/* The status for the machine's end. */
static int describe(int status)
{
	if (are_too_many)
		return TOO_MANY;
	if (is_over)
		return TIMED_OUT;
	return WIFSIGNALED(status) ? BY_SIGNAL | WTERMSIG(status) : WEXITSTATUS(status);
}

static _Noreturn void run_commands(const struct wishes *wishes)
{
	char *const words[] = {"sh", (char *)wishes->run, NULL};
	int status;

	open_as(STDIN_FILENO, "/dev/null", O_RDONLY);
	open_as(STDERR_FILENO, LOG, O_WRONLY);
	signal(SIGUSR1, too_many);
	commands = start_shell(wishes->user, words, true);
	if (commands < 0)
		give_up("no shell");
	signal(SIGALRM, limit_over);
	if (wishes->limit != 0)
		alarm(wishes->limit);
	status = wait_for(commands);
	alarm(0);
	ux_reboot(UX_HALT, describe(status));
	give_up("halt");
}

/* ---------------- People ---------------- */

static void greet(void)
{
	char text[512];
	int file = open(MOTD, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	while (file >= 0 && (n = read(file, text, sizeof text)) > 0)
		write(STDOUT_FILENO, text, (size_t)n);
	if (file >= 0)
		close(file);
}

static _Noreturn void let_people_in(const struct wishes *wishes)
{
	static char *const words[] = {"-sh", NULL};

	setenv("TERM", TERMINAL, 1);
	for (;;) {
		pid_t pid;

		greet();
		pid = start_shell(wishes->user, words, true);
		if (pid < 0)
			give_up("no shell");
		wait_for(pid);
		sync(); /* Who has logged out may switch the machine off. */
	}
}

int main(int argc, char **argv)
{
	struct wishes wishes;

	open_as(STDIN_FILENO, CONSOLE, O_RDWR);
	open_as(STDOUT_FILENO, CONSOLE, O_RDWR);
	open_as(STDERR_FILENO, CONSOLE, O_RDWR);
	wishes = read_wishes(argc, argv);
	run_rc();
	if (wishes.run != NULL)
		run_commands(&wishes);
	let_people_in(&wishes);
}
