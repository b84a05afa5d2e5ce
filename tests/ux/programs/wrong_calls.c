/* SPDX-License-Identifier: MIT */
/*
 * What the Unix server answers to each call whose arguments are wrong, but for those on files
 * (wrong_files.c): numbers that there are not, processes that are nobody's or another's, rights
 * that somebody has not.  And what the library answers to pointers that it need not try.
 *
 * guest: user=root limit=30
 */
#include <bsm/audit.h>
#include <servers/gprof_types.h>
#include <signal.h>
#include <sys/gmon.h>
#include <sys/ktrace.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/time.h>

#include "wrong.h"

#define D       "/tmp/wrong_calls.d"
#define SCRIPT  D "/script"
#define TEXT    D "/text"
#define ORPHAN  D "/orphan" /* Its interpreter is not there. */
#define BUSY    D "/busy"
#define NOBODY  30000 /* No process has this number. */
#define SERVER  0
#define HOST    (-1)
#define FIRST   1
#define OUTSIDE ((void *)0xc0000000) /* The kernel's. */

/* A child that has ended, and that nobody has waited for. */
static pid_t fork_zombie(void)
{
	pid_t pid = fork();
	struct ux_process_info info[UX_PROCESSES_MAX];
	bool has_ended = false;

	if (pid == 0)
		_exit(0);
	while (pid > 0 && !has_ended) {
		int n = ux_processes(info, UX_PROCESSES_MAX);

		while (n > 0 && info[n - 1].pid != pid)
			n--;
		has_ended = n > 0 && info[n - 1].state == UX_ZOMBIE;
	}
	return pid;
}

/* A child that executes another program, and waits there until it is ended. */
static pid_t fork_executed(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		fcntl(ends[1], F_SETFD, FD_CLOEXEC);
		execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(99);
	}
	close(ends[1]);
	while (read(ends[0], &byte, 1) > 0)
		continue;
	close(ends[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---------------- Programs ---------------- */

static kern_return_t execute(const char *path, unsigned n, const char *strings, size_t size)
{
	return bsd_execve(UX, path, n, (char *)(uintptr_t)strings, size);
}

/* A short word, and one as long as both may be with their addresses; how many bytes they are. */
static unsigned fill_with_two_words(char *words)
{
	const unsigned size = UX_ARGUMENTS_MAX - 2 * sizeof(char *);

	memset(words, 'w', size);
	words[1] = words[size - 1] = '\0';
	return size;
}

TEST(programs_that_cannot_be_executed)
{
	static const char words[] = "one\0two";
	static char many[UX_ARGUMENTS_MAX + 1];
	int fd;

	REQUIRE(mkdir(D, 0755) == 0 && make_text(SCRIPT, "#!/bin/true\n", 0755) &&
		make_text(TEXT, "neither this nor that", 0755) &&
		make_text(ORPHAN, "#!/none\n", 0755) && make_text(BUSY, "#!/bin/true\n", 0755));
	fd = open(BUSY, O_WRONLY);
	WRONG(execute(D, 1, words, sizeof words), EACCES);
	WRONG(execute("/dev/null", 1, words, sizeof words), EACCES);
	WRONG(execute("/etc/passwd", 1, words, sizeof words), EACCES);
	WRONG(execute(TEXT, 1, words, sizeof words), ENOEXEC);
	WRONG(execute(ORPHAN, 1, words, sizeof words), ENOENT);
	WRONG(execute(BUSY, 1, words, sizeof words), ETXTBSY);
	WRONG(execute(SCRIPT, 3, words, sizeof words), EINVAL);
	WRONG(execute(SCRIPT, UINT_MAX, words, sizeof words), EINVAL);
	WRONG(execute(SCRIPT, 1, words, sizeof words - 1), EINVAL);
	WRONG(execute(SCRIPT, 1, (const char *)8, PAGE), MACH_SEND_INVALID_MEMORY);
	WRONG(execute(SCRIPT, 1, many, sizeof many), E2BIG);
	WRONG(execute(SCRIPT, 1, many, sizeof many - 1), E2BIG); /* With their addresses. */
	WRONG(execute(SCRIPT, 2, many, fill_with_two_words(many)), E2BIG); /* With #!'s. */
	close(fd);
}

/* ---------------- Processes ---------------- */

TEST(processes_that_nobody_can_wait_for)
{
	rusage_words_t usage;
	unsigned limit, most;
	int ended, status;

	WRONG(bsd_wait4(UX, -1, WNOHANG, &ended, &status, &usage), ECHILD);
	WRONG(bsd_wait4(UX, 0, WNOHANG, &ended, &status, &usage), ECHILD);
	WRONG(bsd_wait4(UX, FIRST, WNOHANG, &ended, &status, &usage), ECHILD);
	WRONG(bsd_wait4(UX, getpid(), WNOHANG, &ended, &status, &usage), ECHILD);
	WRONG(bsd_wait4(UX, NOBODY, 0, &ended, &status, &usage), ECHILD);
	WRONG(bsd_wait4(UX, -NOBODY, 0, &ended, &status, &usage), ECHILD);
	WRONG(bsd_wait4(UX, -1, 4, &ended, &status, &usage), EINVAL);
	WRONG(bsd_wait4(UX, -1, -1, &ended, &status, &usage), EINVAL);
	WRONG(bsd_getrusage(UX, 1, &usage), EINVAL);
	WRONG(bsd_getrusage(UX, -2, &usage), EINVAL);
	WRONG(bsd_getrlimit(UX, -1, &limit, &most), EINVAL);
	WRONG(bsd_getrlimit(UX, RLIM_NLIMITS, &limit, &most), EINVAL);
	WRONG(bsd_setrlimit(UX, RLIM_NLIMITS, 0, 0), EINVAL);
	WRONG(bsd_setrlimit(UX, -1, 0, 0), EINVAL);
	WRONG(bsd_setrlimit(UX, RLIMIT_NOFILE, 2, 1), EINVAL);
	WRONG(bsd_setrlimit(UX, RLIMIT_CPU, 1, 1), EINVAL);
}

TEST(traces_that_cannot_be)
{
	static char words[KTR_USER_MAX + 1];

	WRONG(bsd_ktrace(UX, "/none", KTROP_SET, KTRFAC_USER, getpid()), ENOENT);
	WRONG(bsd_ktrace(UX, "/tmp", KTROP_SET, KTRFAC_USER, getpid()), EACCES);
	WRONG(bsd_ktrace(UX, "", KTROP_CLEAR, 0, getpid()), EINVAL);
	WRONG(bsd_ktrace(UX, "", KTROP_CLEAR, KTRFAC_USER, NOBODY), ESRCH);
	WRONG(bsd_ktrace(UX, "", 3, KTRFAC_USER, getpid()), EINVAL);
	WRONG(bsd_utrace(UX, words, sizeof words), EINVAL);
}

TEST(groups_of_processes_that_cannot_be)
{
	pid_t executed = fork_executed(), zombie = fork_zombie();

	REQUIRE(executed > 0 && zombie > 0);
	WRONG(bsd_setpgid(UX, -1, 0), EINVAL);
	WRONG(bsd_setpgid(UX, 0, -1), EINVAL);
	WRONG(bsd_setpgid(UX, NOBODY, 0), ESRCH);
	WRONG(bsd_setpgid(UX, FIRST, 0), ESRCH);
	WRONG(bsd_setpgid(UX, zombie, 0), ESRCH);
	WRONG(bsd_setpgid(UX, executed, 0), EACCES);
	WRONG(bsd_setpgid(UX, 0, NOBODY), EPERM);
	end_child(executed);
	end_child(zombie);
}

TEST(processes_that_nobody_knows)
{
	static path_t path;
	static char token[UX_INLINE_MAX];
	mach_msg_type_number_t length = sizeof token;
	pid_t zombie = fork_zombie();
	command_t command;
	task_life_t life;
	mach_port_t task;
	unsigned uid;
	int pid;

	REQUIRE(zombie > 0);
	WRONG(bsd_task_by_pid(UX, NOBODY, &task), ESRCH);
	WRONG(bsd_task_by_pid(UX, -2, &task), ESRCH);
	WRONG(bsd_task_by_pid(UX, zombie, &task), ESRCH);
	WRONG(bsd_executable(UX, NOBODY, path), ESRCH);
	WRONG(bsd_executable(UX, -1, path), ESRCH);
	WRONG(bsd_executable(UX, zombie, path), ESRCH);
	WRONG(bsd_gprof_token(UX, NOBODY, token, &length), ESRCH);
	WRONG(bsd_gprof_token(UX, -1, token, &length), ESRCH);
	WRONG(bsd_gprof_token(UX, zombie, token, &length), ESRCH);
	WRONG(bsd_task_program(UX, 0, &pid, command, path), ESRCH);
	WRONG(bsd_task_program(UX, UINT_MAX, &pid, command, path), ESRCH);
	WRONG(bsd_task_life(UX, 0, &life), ESRCH);
	WRONG(bsd_task_life(UX, UINT_MAX, &life), ESRCH);
	WRONG(bsd_port_owner(UX, mach_task_self(), &pid, &uid), ESRCH);
	WRONG(bsd_port_owner(UX, MACH_PORT_NULL, &pid, &uid), ESRCH);
	end_child(zombie);
}

/* ---------------- Signals ---------------- */

TEST(signals_that_there_are_not)
{
	static const int none[] = {-1, NSIG, INT_MAX, INT_MIN};
	unsigned handler;
	sigset_t mask;
	int flags;

	for (size_t n = 0; n < sizeof none / sizeof none[0]; n++) {
		WRONG(bsd_kill(UX, getpid(), none[n]), EINVAL);
		WRONG(bsd_thread_kill(UX, 1, none[n]), EINVAL);
		WRONG(bsd_sigqueue(UX, getpid(), none[n], 0), EINVAL);
		WRONG(bsd_sigaction(UX, none[n], 0, 0, 0, 0, 0, &handler, &mask, &flags), EINVAL);
	}
	WRONG(bsd_sigaction(UX, 0, 0, 0, 0, 0, 0, &handler, &mask, &flags), EINVAL);
	WRONG(bsd_kill(UX, NOBODY, 0), ESRCH);
	WRONG(bsd_kill(UX, NOBODY, SIGTERM), ESRCH);
	WRONG(bsd_kill(UX, -NOBODY, SIGTERM), ESRCH);
	WRONG(bsd_kill(UX, INT_MIN, SIGTERM), ESRCH);
	WRONG(bsd_thread_kill(UX, 0, 0), ESRCH);
	WRONG(bsd_thread_kill(UX, NOBODY, SIGTERM), ESRCH);
	WRONG(bsd_sigqueue(UX, NOBODY, SIGTERM, 0), ESRCH);
	WRONG(bsd_sigqueue(UX, 0, SIGTERM, 0), ESRCH);
	WRONG(bsd_sigqueue(UX, -getpid(), SIGTERM, 0), ESRCH);
}

static kern_return_t handle(int signal, unsigned handler, int flags, unsigned trampoline)
{
	unsigned old_handler;
	sigset_t old_mask;
	int old_flags;

	return bsd_sigaction(UX, signal, 1, handler, 0, flags, trampoline, &old_handler, &old_mask,
			     &old_flags);
}

TEST(handlers_that_cannot_be)
{
	sigset_t mask;

	WRONG(handle(SIGKILL, SIG_IGN_WORD, 0, 0), EINVAL);
	WRONG(handle(SIGSTOP, SIG_DFL_WORD, 0, 0), EINVAL);
	WRONG(handle(SIGUSR1, PAGE, 0, 0), EINVAL);
	WRONG(handle(SIGUSR1, SIG_IGN_WORD, -1, 0), EINVAL);
	WRONG(handle(SIGUSR1, SIG_IGN_WORD, 1 << 29, 0), EINVAL);
	WRONG(bsd_sigprocmask(UX, -1, 0, &mask), EINVAL);
	WRONG(bsd_sigprocmask(UX, 99, 0, &mask), EINVAL);
}

static kern_return_t change_stack(unsigned size, int flags)
{
	static char room[SIGSTKSZ];
	unsigned address, old_size;
	int old_flags;

	return bsd_sigaltstack(UX, 1, (unsigned)room, size, flags, &address, &old_size, &old_flags);
}

static kern_return_t result_on_stack;

static void on_stack(int signal)
{
	(void)signal;
	result_on_stack = change_stack(SIGSTKSZ, SS_DISABLE);
}

TEST(stacks_that_cannot_be)
{
	struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK};

	WRONG(change_stack(SIGSTKSZ, SS_ONSTACK), EINVAL);
	WRONG(change_stack(SIGSTKSZ, -1), EINVAL);
	WRONG(change_stack(MINSIGSTKSZ - 1, 0), ENOMEM);
	WRONG(change_stack(0, 0), ENOMEM);
	EXPECT_EQ(change_stack(SIGSTKSZ, 0), 0);
	EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	EXPECT_EQ(raise(SIGUSR1), 0);
	WRONG(result_on_stack, EPERM);
}

/* ---------------- Time ---------------- */

static kern_return_t set_timer(int which, struct timeval interval, struct timeval value)
{
	timer_t old;

	return bsd_setitimer(UX, which, 1, (timer_t){interval, value}, &old);
}

TEST(times_that_there_are_not)
{
	static const struct timeval wrong[] = {
		{.tv_sec = -1, .tv_usec = 0},
		{.tv_sec = 0, .tv_usec = -1},
		{.tv_sec = 0, .tv_usec = 1000000},
	};
	static const struct timeval zero;
	timer_t old;

	for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++)
		for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
			WRONG(set_timer(which, wrong[n], zero), EINVAL);
			WRONG(set_timer(which, zero, wrong[n]), EINVAL);
		}
	WRONG(set_timer(-1, zero, zero), EINVAL);
	WRONG(set_timer(ITIMER_PROF + 1, zero, zero), EINVAL);
	WRONG(bsd_setitimer(UX, -1, 0, (timer_t){zero, zero}, &old), EINVAL);
}

/* ---------------- Who may what ---------------- */

TEST(what_root_cannot_do)
{
	static unsigned groups[UX_GROUPS_MAX + 1];
	struct gprof_options options = {.rate = UINT_MAX};

	WRONG(bsd_reboot(UX, -1, 0), EINVAL);
	WRONG(bsd_reboot(UX, UX_REBOOT + 1, 0), EINVAL);
	WRONG(bsd_setgroups(UX, groups, UX_GROUPS_MAX + 1), MIG_ARRAY_TOO_LARGE);
	WRONG(bsd_gprof_mon_options(UX, options), GPROF_BAD_OPTIONS);
}

/* Ends the one that the machine has begun with. */
static void end_name_server(void)
{
	struct ux_process_info info[UX_PROCESSES_MAX];
	int n = ux_processes(info, UX_PROCESSES_MAX);
	mach_port_t port;

	while (n-- > 0)
		if (strcmp(info[n].command, "snames") == 0)
			EXPECT_EQ(kill(info[n].pid, SIGKILL), 0);
	while (bsd_name_server(UX, &port) == 0)
		mach_port_deallocate(mach_task_self(), port);
}

static mach_port_t new_port(int rights)
{
	mach_port_t port = mach_reply_port();

	while (rights-- > 0)
		EXPECT_EQ(mach_port_insert_right(mach_task_self(), port, port,
						 MACH_MSG_TYPE_MAKE_SEND),
			  KERN_SUCCESS);
	return port;
}

/* The name server is whoever was first, as long as it is there.  Each call takes a right. */
TEST(name_servers_that_cannot_be)
{
	mach_port_t port = new_port(4), found;

	WRONG(bsd_set_name_server(UX, port), EBUSY);
	end_name_server();
	WRONG(bsd_name_server(UX, &found), ENOENT);
	WRONG(bsd_set_name_server(UX, MACH_PORT_NULL), EINVAL);
	EXPECT_EQ(bsd_set_name_server(UX, port), 0);
	WRONG(bsd_set_name_server(UX, port), EBUSY);
	mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1);
	WRONG(bsd_name_server(UX, &found), ENOENT);
	WRONG(bsd_set_name_server(UX, port), EINVAL);
}

static kern_return_t ask_mib(const int *mib, unsigned length, unsigned flags, const char *new_value,
			     unsigned size)
{
	mach_msg_type_number_t sent = 0;
	unsigned whole;
	char *old;

	return bsd_sysctl(UX, (int *)(uintptr_t)mib, length, flags, 0, (char *)(uintptr_t)new_value,
			  size, &whole, &old, &sent);
}

TEST(values_that_there_are_not)
{
	static const int host_name[] = {CTL_KERN, KERN_HOSTNAME, 0}, clocks[] = {CTL_KERN, 12};
	static const int none[] = {CTL_KERN, -1}, no_group[CTL_MAXNAME] = {-1};
	static const int state[] = {CTL_KERN, KERN_PROF, GPROF_STATE}, busy = GMON_PROF_BUSY;
	static const int count[] = {CTL_KERN, KERN_PROF, GPROF_COUNT};
	static const int processes[] = {CTL_KERN, KERN_PROF, GPROF_PROCESSES};
	static const int process[] = {CTL_KERN, KERN_PROF, GPROF_PROCESS, 1, 0};
	static const char text[HOST_NAME_ROOM + 1] = "a", two[] = "a\0b";
	static char many[UX_TRANSFER_MAX + PAGE];

	WRONG(ask_mib(host_name, 0, 0, NULL, 0), EINVAL);
	WRONG(ask_mib(none, 2, 0, NULL, 0), ENOENT);
	WRONG(ask_mib(no_group, CTL_MAXNAME, 0, NULL, 0), ENOENT);
	WRONG(ask_mib(no_group, CTL_MAXNAME + 1, 0, NULL, 0), MIG_ARRAY_TOO_LARGE);
	WRONG(ask_mib(host_name, 1, 0, NULL, 0), EISDIR);
	WRONG(ask_mib(host_name, 3, 0, NULL, 0), ENOTDIR);
	WRONG(ask_mib(clocks, 2, SYSCTL_WRITES, text, 4), EPERM);
	WRONG(ask_mib(state, 3, SYSCTL_WRITES, (const char *)&busy, sizeof busy), EINVAL);
	WRONG(ask_mib(state, 3, SYSCTL_WRITES, (const char *)&busy, 1), EINVAL);
	WRONG(ask_mib(count, 3, SYSCTL_WRITES, many, PAGE), EINVAL);
	WRONG(ask_mib(processes, 3, SYSCTL_WRITES, many, 3), EINVAL);
	WRONG(ask_mib(processes, 3, SYSCTL_WRITES, many, PAGE), EINVAL);
	WRONG(ask_mib(processes, 3, SYSCTL_WRITES, many, sizeof(int)), ESRCH);
	WRONG(ask_mib(processes, 4, SYSCTL_MEASURES, NULL, 0), ENOTDIR);
	WRONG(ask_mib(process, 3, SYSCTL_MEASURES, NULL, 0), EISDIR);
	WRONG(ask_mib(process, 4, SYSCTL_MEASURES, NULL, 0), ESRCH);
	WRONG(ask_mib(process, 5, SYSCTL_MEASURES, NULL, 0), ENOTDIR);
	WRONG(ask_mib(process, 4, SYSCTL_WRITES, many, sizeof(int)), EPERM);
	WRONG(ask_mib(host_name, 2, SYSCTL_WRITES, NULL, 0), EINVAL);
	WRONG(ask_mib(host_name, 2, SYSCTL_WRITES, text, sizeof text), EINVAL);
	WRONG(ask_mib(host_name, 2, SYSCTL_WRITES, two, sizeof two), EINVAL);
	WRONG(ask_mib(host_name, 2, SYSCTL_WRITES, many, sizeof many), E2BIG);
	WRONG(ask_mib(host_name, 2, SYSCTL_WRITES, (const char *)8, PAGE),
	      MACH_SEND_INVALID_MEMORY);
}

static void do_as_student(void)
{
	static path_t path;
	static char token[UX_INLINE_MAX];
	mach_msg_type_number_t length = sizeof token;
	mach_port_t port = MACH_PORT_NULL;
	unsigned groups[1] = {0};
	auditinfo_t audit = {0};

	become_student();
	WRONG(bsd_setuid(UX, 0), EPERM);
	WRONG(bsd_seteuid(UX, 0), EPERM);
	WRONG(bsd_setgid(UX, 0), EPERM);
	WRONG(bsd_setegid(UX, 0), EPERM);
	WRONG(bsd_setgroups(UX, groups, 1), EPERM);
	WRONG(bsd_getaudit(UX, &audit), EPERM);
	WRONG(bsd_setaudit(UX, audit), EPERM);
	WRONG(bsd_kill(UX, FIRST, 0), EPERM);
	WRONG(bsd_kill(UX, FIRST, SIGTERM), EPERM);
	WRONG(bsd_sigqueue(UX, FIRST, SIGTERM, 0), EPERM);
	WRONG(bsd_task_by_pid(UX, HOST, &port), EPERM);
	WRONG(bsd_task_by_pid(UX, SERVER, &port), EPERM);
	WRONG(bsd_task_by_pid(UX, FIRST, &port), EPERM);
	WRONG(bsd_device_port(UX, &port), EPERM);
	WRONG(bsd_executable(UX, SERVER, path), EPERM);
	WRONG(bsd_executable(UX, FIRST, path), EPERM);
	WRONG(bsd_gprof_token(UX, FIRST, token, &length), EPERM);
	WRONG(bsd_reboot(UX, UX_HALT, 0), EPERM);
	WRONG(bsd_reboot(UX, -1, 0), EPERM);
	WRONG(bsd_set_name_server(UX, MACH_PORT_NULL), EPERM);
}

static void profile_as_student(void)
{
	struct gprof_options options = {.rate = 0};
	mach_msg_type_number_t size = 0;
	gprof_status_words_t status;
	unsigned flavors = 0;
	char *data = NULL;

	become_student();
	WRONG(bsd_gprof_mon_switch(UX, &flavors), EPERM);
	WRONG(bsd_gprof_mon_dump(UX, &data, &size), EPERM);
	WRONG(bsd_gprof_mon_status(UX, &status), EPERM);
	WRONG(bsd_gprof_mon_options(UX, options), EPERM);
}

TEST(what_student_cannot_do)
{
	EXPECT(all_is_well_in_a_child(do_as_student));
	EXPECT(all_is_well_in_a_child(profile_as_student));
}

/* What a program was given by its file's bits is not its user's. */
static void student_becomes_root_again(void)
{
	EXPECT_EQ(bsd_seteuid(UX, STUDENT), 0);
	WRONG(bsd_setgid(UX, STUDENT), EPERM);
	WRONG(bsd_setgroups(UX, NULL, 0), EPERM);
	EXPECT_EQ(bsd_seteuid(UX, 0), 0);
	EXPECT_EQ(bsd_setuid(UX, STUDENT), 0);
	WRONG(bsd_seteuid(UX, 0), EPERM);
	WRONG(bsd_setuid(UX, 0), EPERM);
}

TEST(what_was_given_up)
{
	EXPECT(all_is_well_in_a_child(student_becomes_root_again));
}

/* ---------------- Pointers ---------------- */

/* The library's: what lies in no program's memory is seen before anything is done. */
static void check_pointer(void *wrong)
{
	char *words[] = {NULL};
	int ends;

	EXPECT_FAILS(read(0, wrong, 1), EFAULT);
	EXPECT_FAILS(write(1, wrong, 1), EFAULT);
	EXPECT_FAILS(write(1, wrong, UX_INLINE_MAX + 1), EFAULT);
	EXPECT_FAILS(open(wrong, O_RDONLY), EFAULT);
	EXPECT_FAILS(stat(wrong, wrong), EFAULT);
	EXPECT_FAILS(stat("/", wrong), EFAULT);
	EXPECT_FAILS(lstat("/", wrong), EFAULT);
	EXPECT_FAILS(fstat(0, wrong), EFAULT);
	EXPECT_FAILS(access(wrong, R_OK), EFAULT);
	EXPECT_FAILS(chdir(wrong), EFAULT);
	EXPECT_FAILS(readlink(wrong, (char *)words, sizeof words), EFAULT);
	EXPECT_FAILS(readlink("/", wrong, 8), EFAULT);
	EXPECT_FAILS(mkdir(wrong, 0700), EFAULT);
	EXPECT_FAILS(rmdir(wrong), EFAULT);
	EXPECT_FAILS(unlink(wrong), EFAULT);
	EXPECT_FAILS(rename(wrong, "/tmp/new"), EFAULT);
	EXPECT_FAILS(rename("/tmp", wrong), EFAULT);
	EXPECT_FAILS(link(wrong, "/tmp/new"), EFAULT);
	EXPECT_FAILS(link("/tmp", wrong), EFAULT);
	EXPECT_FAILS(symlink(wrong, "/tmp/new"), EFAULT);
	EXPECT_FAILS(symlink("text", wrong), EFAULT);
	EXPECT_FAILS(chmod(wrong, 0), EFAULT);
	EXPECT_FAILS(truncate(wrong, 0), EFAULT);
	EXPECT_FAILS(pipe(wrong), EFAULT);
	EXPECT_FAILS(execve(wrong, words, words), EFAULT);
	EXPECT_FAILS(getrusage(RUSAGE_SELF, wrong), EFAULT);
	EXPECT_FAILS(sigpending(wrong), EFAULT);
	EXPECT_FAILS(sigsuspend(wrong), EFAULT);
	EXPECT_FAILS(setitimer(ITIMER_REAL, wrong, NULL), EFAULT);
	EXPECT_FAILS(getitimer(ITIMER_REAL, wrong), EFAULT);
	EXPECT_FAILS(ux_executable(FIRST, wrong, sizeof ends), EFAULT);
	EXPECT_FAILS(ux_gprof_token(SERVER, wrong), EFAULT);
}

/* Of its own profile; bins below the kernel's are seen when the first tick is counted. */
TEST(profiles_that_cannot_be)
{
	EXPECT_FAILS(profil(OUTSIDE, 1, 0, 0x10000), EFAULT);
	EXPECT_FAILS(profil(NULL, UINT_MAX, 0, 0x10000), EFAULT);
	EXPECT_FAILS(profil(NULL, 0, 0, 0x10001), EINVAL);
	EXPECT_FAILS(profil(NULL, 0, 0, UINT_MAX), EINVAL);
	EXPECT_FAILS(add_profil(NULL, 0, 0, 0x10000), EINVAL);
	EXPECT_EQ(profil(NULL, 0, 0, 0x10000), 0);
	EXPECT_FAILS(add_profil(OUTSIDE, 1, 0, 0x10000), EFAULT);
	EXPECT_FAILS(add_profil(NULL, 0, 0, 0x10001), EINVAL);
}

TEST(pointers_that_are_nowhere)
{
	struct itimerval old;

	check_pointer(NULL);
	check_pointer((void *)(PAGE - 1));
	check_pointer(OUTSIDE);
	check_pointer((void *)-1);
	EXPECT_FAILS(waitpid(-1, OUTSIDE, WNOHANG), EFAULT);
	EXPECT_FAILS(execve("/bin/true", OUTSIDE, NULL), EFAULT);
	EXPECT_FAILS(execve("/bin/true", NULL, OUTSIDE), EFAULT);
	EXPECT_FAILS(sigaction(SIGUSR1, OUTSIDE, NULL), EFAULT);
	EXPECT_FAILS(sigaction(SIGUSR1, NULL, OUTSIDE), EFAULT);
	EXPECT_FAILS(sigprocmask(SIG_BLOCK, OUTSIDE, NULL), EFAULT);
	EXPECT_FAILS(sigprocmask(SIG_BLOCK, NULL, OUTSIDE), EFAULT);
	EXPECT_FAILS(sigaltstack(OUTSIDE, NULL), EFAULT);
	EXPECT_FAILS(sigaltstack(NULL, OUTSIDE), EFAULT);
	EXPECT_FAILS(getgroups(1, OUTSIDE), EFAULT);
	EXPECT_EQ(getitimer(ITIMER_REAL, &old), 0);
}

/* ---------------- Audit: what root is refused ---------------- */

TEST(audits_that_cannot_be)
{
	unsigned words[AUDITON_WORDS] = {0}, result[AUDITON_WORDS];
	mach_msg_type_number_t n = AUDITON_WORDS;

	WRONG(bsd_audit(UX, (char *)(uintptr_t) "x", 1), EINVAL);
	WRONG(bsd_auditon(UX, -1, words, 1, result, &n), EINVAL);
	WRONG(bsd_auditon(UX, A_GETPINFO, words, 0, result, &n), EINVAL);
	words[0] = NOBODY;
	WRONG(bsd_auditon(UX, A_GETPINFO, words, 1, result, &n), ESRCH);
	WRONG(bsd_auditon(UX, A_SETPMASK, words, AUDITON_WORDS, result, &n), ESRCH);
	WRONG(bsd_auditctl(UX, "/nothing"), ENOENT);
	WRONG(bsd_auditctl(UX, "/dev/null"), EINVAL);
}
