/* SPDX-License-Identifier: MIT */
/* The library's part of Unix calls: errors that it finds itself, restarts, what a fork inherits. */
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/ux.h>
#include <time.h>
#include <utime.h>

#include "check_unix.h"

#define NOWHERE ((void *)16)
#define KERNEL  ((void *)0xc0001000)

static char long_path[PATH_MAX + 10];

TEST(pointers_that_are_no_programs)
{
	char *const *volatile nowhere = NOWHERE;
	struct stat status;
	char buffer[16];

	EXPECT_FAILS(open(NULL, O_RDONLY), EFAULT);
	EXPECT_FAILS(open(KERNEL, O_RDONLY), EFAULT);
	EXPECT_FAILS(stat("/", NOWHERE), EFAULT);
	EXPECT_FAILS(lstat("/", KERNEL), EFAULT);
	EXPECT_FAILS(stat(NULL, &status), EFAULT);
	EXPECT_FAILS(fstat(0, NULL), EFAULT);
	EXPECT_FAILS(read(0, KERNEL, 4), EFAULT);
	EXPECT_FAILS(read(0, buffer, (size_t)-1), EFAULT);
	EXPECT_FAILS(write(1, NULL, 4), EFAULT);
	EXPECT_FAILS(pipe(NULL), EFAULT);
	EXPECT_FAILS(gettimeofday(NULL, NULL), EFAULT);
	EXPECT_FAILS(getrusage(RUSAGE_SELF, NOWHERE), EFAULT);
	EXPECT_FAILS(waitpid(-1, KERNEL, 0), EFAULT);
	EXPECT_FAILS(execve(NULL, NULL, NULL), EFAULT);
	EXPECT_FAILS(execve("/bin/true", nowhere, NULL), EFAULT);
	EXPECT_FAILS(rename("/tmp/a", NULL), EFAULT);
	EXPECT_FAILS(sigaction(SIGUSR1, NOWHERE, NULL), EFAULT);
	EXPECT_FAILS(setitimer(ITIMER_REAL, NULL, NULL), EFAULT);
	EXPECT_FAILS(nanosleep(NULL, NULL), EFAULT);
	EXPECT_FAILS(uname(NOWHERE), EFAULT);
	EXPECT(getcwd(NOWHERE, 100) == NULL && errno == EFAULT);
}

TEST(paths_that_are_too_long)
{
	struct stat status;

	memset(long_path, 'a', sizeof long_path - 1);
	EXPECT_FAILS(open(long_path, O_RDONLY), ENAMETOOLONG);
	EXPECT_FAILS(stat(long_path, &status), ENAMETOOLONG);
	EXPECT_FAILS(link("/etc/passwd", long_path), ENAMETOOLONG);
	EXPECT_FAILS(rename(long_path, "/tmp/b"), ENAMETOOLONG);
	EXPECT_FAILS(execvp(long_path, NULL), ENAMETOOLONG);
	EXPECT_FAILS(unlink(long_path), ENAMETOOLONG);
}

/* ---------------- Memory and processes ---------------- */

static __thread int own = 1;

TEST(a_child_has_what_its_parent_had)
{
	pid_t child;
	int status = -1;

	own = 2;
	errno = EXDEV;
	child = fork();
	REQUIRE(child >= 0);
	if (child == 0)
		_exit(own == 2 && errno == EXDEV && getpid() != getppid() ? 5 : 6);
	EXPECT_EQ(errno, EXDEV);
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, W_EXITCODE(5, 0));
}

TEST(a_childs_child)
{
	int status = -1;
	pid_t child = fork();

	REQUIRE(child >= 0);
	if (child == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0)
			_exit(1);
		if (waitpid(grandchild, &status, 0) != grandchild)
			_exit(9);
		_exit(WEXITSTATUS(status) + 1);
	}
	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, W_EXITCODE(2, 0));
}

static int run(const char *file, char *const arguments[])
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		execvp(file, arguments);
		_exit(100 + errno);
	}
	waitpid(child, &status, 0);
	return status;
}

TEST(a_program_is_looked_for_in_the_path)
{
	char *const nothing[] = {"x", NULL};

	EXPECT_EQ(run("true", nothing), 0);
	EXPECT_EQ(run("false", nothing), W_EXITCODE(1, 0));
	EXPECT_EQ(run("no-such-program", nothing), W_EXITCODE(100 + ENOENT, 0));
	EXPECT_EQ(run("", nothing), W_EXITCODE(100 + ENOENT, 0));
	EXPECT_EQ(run("/etc/passwd", nothing), W_EXITCODE(100 + EACCES, 0));
	setenv("PATH", "/nowhere::/bin", 1);
	EXPECT_EQ(run("true", nothing), 0);
}

TEST(a_file_without_a_header_is_for_the_shell)
{
	char *const arguments[] = {"script", "7", NULL};
	int fd = open("/tmp/script", O_WRONLY | O_CREAT | O_TRUNC, 0755);

	REQUIRE(fd >= 0);
	EXPECT_EQ(write(fd, "exit $1\n", 8), 8);
	close(fd);
	EXPECT_EQ(run("/tmp/script", arguments), W_EXITCODE(7, 0));
	unlink("/tmp/script");
}

TEST(too_many_arguments)
{
	static char word[70000];
	char *const arguments[] = {"true", word, NULL};

	memset(word, 'a', sizeof word - 1);
	EXPECT_FAILS(execve("/bin/true", arguments, environ), E2BIG);
}

/* ---------------- Signals ---------------- */

static volatile sig_atomic_t signals;
static sigjmp_buf back;

static void count_signal(int signal)
{
	(void)signal;
	signals++;
}

static void jump_back(int signal)
{
	siglongjmp(back, signal);
}

static char state_of(pid_t pid)
{
	static struct ux_process_info all[UX_PROCESSES_MAX];
	int count = ux_processes(all, UX_PROCESSES_MAX);

	for (int n = 0; n < count; n++) {
		if (all[n].pid == pid)
			return (char)all[n].state;
	}
	return UX_ZOMBIE;
}

/* Sends the signal to the parent when that is in a call that waits. */
static void interrupt_parent(int signal)
{
	while (state_of(getppid()) != UX_WAITING)
		sched_yield();
	kill(getppid(), signal);
}

static volatile double computed;

static void compute(int signal)
{
	computed = signal / 3.0;
	errno = EDOM; /* Of which the interrupted code sees nothing. */
}

TEST(a_handler_keeps_errno_and_the_numbers_of_the_fpu)
{
	double pi = 0;

	signal(SIGUSR1, compute);
	errno = EXDEV;
	__asm__ volatile("fldpi");
	raise(SIGUSR1);
	__asm__ volatile("fstpl %0" : "=m"(pi));
	EXPECT_EQ(errno, EXDEV);
	EXPECT(computed == SIGUSR1 / 3.0);
	EXPECT(pi > 3.14159 && pi < 3.1416);
}

TEST(a_call_is_made_again_or_ends)
{
	struct sigaction action = {.sa_handler = count_signal};
	int ends[2], status;
	char letter = 0;
	pid_t child;

	REQUIRE(pipe(ends) == 0);
	REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
	child = fork();
	if (child == 0) {
		interrupt_parent(SIGUSR1);
		_exit(0);
	}
	EXPECT_FAILS(read(ends[0], &letter, 1), EINTR);
	EXPECT_EQ(signals, 1);
	EXPECT_EQ(waitpid(child, &status, 0), child);
	signal(SIGUSR1, count_signal);
	child = fork();
	if (child == 0) {
		interrupt_parent(SIGUSR1);
		interrupt_parent(SIGUSR1);
		_exit(write(ends[1], "x", 1) != 1);
	}
	EXPECT_EQ(read(ends[0], &letter, 1), 1);
	EXPECT_EQ(signals, 3);
	EXPECT_EQ(letter, 'x');
	EXPECT_EQ(waitpid(child, &status, 0), child);
}

TEST(a_sleep_says_what_was_left)
{
	struct timespec long_time = {.tv_sec = 100}, left = {0};
	struct itimerval soon = {.it_value.tv_usec = 20000};

	signal(SIGALRM, count_signal);
	REQUIRE(setitimer(ITIMER_REAL, &soon, NULL) == 0);
	EXPECT_FAILS(nanosleep(&long_time, &left), EINTR);
	EXPECT_EQ(signals, 1);
	EXPECT(left.tv_sec >= 90 && left.tv_sec < 100);
}

TEST(jumps_out_of_handlers)
{
	sigset_t mask;

	signal(SIGUSR1, jump_back);
	for (int n = 0; n < 50; n++) {
		if (sigsetjmp(back, 1) == 0) {
			raise(SIGUSR1);
			EXPECT(!"reached");
		}
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	EXPECT_EQ(mask, 0);
	EXPECT_EQ(getpid() > 0, 1);
}

static volatile int depth_found;
static void *volatile caller;

/* Follows frame pointers from a handler: the interrupted function must be among the callers. */
static void walk(int signal)
{
	void **frame = __builtin_frame_address(0);

	(void)signal;
	for (int depth = 1; frame != NULL && depth < 20; depth++) {
		if (frame[1] == caller)
			depth_found = depth;
		frame = *frame;
	}
}

static __attribute__((noinline)) void be_interrupted(void)
{
	caller = __builtin_return_address(0);
	EXPECT_EQ(raise(SIGUSR1), 0);
}

TEST(frame_pointers_lead_through_a_handler)
{
	signal(SIGUSR1, walk);
	be_interrupted();
	EXPECT(depth_found >= 4);
}

/* ---------------- The rest ---------------- */

static char from_constructor;

__attribute__((constructor)) static void construct(void)
{
	from_constructor = 'c';
}

TEST(constructors_run_before_main)
{
	EXPECT_EQ(from_constructor, 'c');
	EXPECT(strcmp(getprogname(), "libc_calls") == 0);
}

TEST(names_of_the_system_and_of_users)
{
	struct utsname names;
	struct passwd *user;
	char *login;

	EXPECT_EQ(uname(&names), 0);
	EXPECT(strcmp(names.sysname, "Assay") == 0);
	EXPECT(names.version[0] != '\0');
	user = getpwnam("root");
	REQUIRE(user != NULL);
	EXPECT_EQ(user->pw_uid, 0);
	EXPECT(getpwnam("nobody-at-all") == NULL);
	login = getlogin();
	REQUIRE(login != NULL);
	user = getpwuid(getuid());
	REQUIRE(user != NULL);
	EXPECT(strcmp(login, user->pw_name) == 0);
	EXPECT(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
	EXPECT_EQ(sysconf(_SC_PAGESIZE), 4096);
	EXPECT_FAILS(sysconf(-5), EINVAL);
	EXPECT_EQ(sched_yield(), 0);
	EXPECT_FAILS(getgroups(-1, NULL), EINVAL);
}

TEST(paths_from_the_root)
{
	char path[PATH_MAX];

	REQUIRE(chdir("/tmp") == 0);
	EXPECT(realpath("../etc/./passwd", path) == path);
	EXPECT(strcmp(path, "/etc/passwd") == 0);
	EXPECT(realpath("/..//.", path) == path && strcmp(path, "/") == 0);
	EXPECT(realpath(".", path) == path && strcmp(path, "/tmp") == 0);
	EXPECT(realpath("/etc/passwd/x", path) == NULL && errno == ENOTDIR);
	EXPECT(realpath("/no/such", path) == NULL && errno == ENOENT);
}
