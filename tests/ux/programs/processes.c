/* SPDX-License-Identifier: MIT */
/*
 * Processes: how they are made, execute programs, end and are waited for, and who may do what.
 *
 * guest: user=root limit=60
 * guest: user=root cpus=2 seed=1 limit=60
 */
#include <fcntl.h>
#include <grp.h>
#include <assay.h>
#include <mach.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <unistd.h>

#include "check_unix.h"

#define SELF  "/tmp/processes"
#define ROLE  "TEST_ROLE" /* What this program does when a test has executed it. */
#define ROUND 20

/* Executed by a test: the status tells what was found. */
__attribute__((constructor)) static void play_role(void)
{
	const char *role = getenv(ROLE);

	if (role == NULL)
		return;
	if (strcmp(role, "euid") == 0)
		_exit((int)geteuid());
	if (strcmp(role, "descriptor") == 0)
		_exit(fcntl(10, F_GETFD) >= 0);
	_exit(atoi(role));
}

static int status_of(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* The status of this program in a role, executed by the path. */
static int status_of_role(const char *path, const char *role)
{
	pid_t pid = fork();

	if (pid == 0) {
		setenv(ROLE, role, 1);
		execl(path, "processes", (char *)NULL);
		_exit(99);
	}
	return status_of(pid);
}

static pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static bool make_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	bool success = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return success && chmod(path, mode) == 0;
}

static bool copy_self(const char *path)
{
	static char bytes[8192];
	int from = open(SELF, O_RDONLY), to = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0700);
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0) {
		if (write(to, bytes, (size_t)n) != n)
			break;
	}
	close(from);
	close(to);
	return n == 0;
}

/* ---------------- fork, wait, exit ---------------- */

static volatile int word = 1;

TEST(memory_is_copied)
{
	pid_t pid = fork();

	if (pid == 0) {
		word++;
		_exit(word);
	}
	EXPECT_EQ(status_of(pid), W_EXITCODE(2, 0));
	EXPECT_EQ(word, 1);
}

TEST(wait_tells_of_those_that_are_meant)
{
	pid_t one = fork_sleeper(), other = fork();
	int status;

	if (other == 0)
		_exit(300);
	EXPECT_EQ(waitpid(one, &status, WNOHANG), 0);
	EXPECT_EQ(status_of(-1), -1);
	EXPECT_FAILS(waitpid(other, &status, 0), ECHILD);
	EXPECT_FAILS(waitpid(-one, &status, 0), ECHILD);
	EXPECT_FAILS(waitpid(-1, &status, 0x100), EINVAL);
	kill(one, SIGKILL);
	EXPECT_EQ(waitpid(0, &status, 0), one);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	EXPECT_FAILS(wait(&status), ECHILD);
}

TEST(orphans_are_the_first_process_s)
{
	int ends[2];
	pid_t parent = 0, pid;

	REQUIRE(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			while (getppid() != 1)
				swtch();
			parent = getppid();
			write(ends[1], &parent, sizeof parent);
		}
		_exit(0);
	}
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(read(ends[0], &parent, sizeof parent), sizeof parent);
	EXPECT_EQ(parent, 1);
}

TEST(ignored_children_are_not_waited_for)
{
	pid_t pid;
	int status;

	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (pid == 0)
		_exit(0);
	EXPECT_FAILS(waitpid(pid, &status, 0), ECHILD);
}

TEST(too_many_processes)
{
	static pid_t pids[UX_PROCESSES_MAX];
	int n = 0;

	while (n < UX_PROCESSES_MAX && (pids[n] = fork_sleeper()) > 0)
		n++;
	EXPECT(n < UX_PROCESSES_MAX && n > UX_PROCESSES_MAX - 10);
	EXPECT_EQ(errno, EAGAIN);
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < n; i++)
		EXPECT_EQ(status_of(pids[i]), SIGKILL);
}

TEST(usage_is_told)
{
	static volatile char fresh[40 * 4096];
	struct rusage own, children;
	pid_t pid = fork();

	if (pid == 0) {
		for (size_t n = 0; n < sizeof fresh; n += 4096)
			fresh[n] = 1;
		_exit(0);
	}
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(getrusage(RUSAGE_SELF, &own), 0);
	EXPECT(own.ru_cow > 0 && own.ru_msgsnd > 0);
	EXPECT_EQ(getrusage(RUSAGE_CHILDREN, &children), 0);
	EXPECT(children.ru_zfill >= 40);
	EXPECT_FAILS(getrusage(7, &own), EINVAL);
}

/* ---------------- exec ---------------- */

TEST(programs_are_executed)
{
	EXPECT_EQ(status_of_role(SELF, "7"), W_EXITCODE(7, 0));
}

TEST(what_is_no_program)
{
	char *const words[] = {"x", NULL};
	int fd;

	EXPECT_FAILS(execv("/nothing", words), ENOENT);
	EXPECT_FAILS(execv("/etc", words), EACCES);
	EXPECT_FAILS(execv("", words), ENOENT);
	EXPECT_FAILS(execv("/etc/passwd/x", words), ENOTDIR);
	REQUIRE(make_file("/tmp/no_program", "neither one nor the other", 0755));
	EXPECT_FAILS(execv("/tmp/no_program", words), ENOEXEC);
	EXPECT_EQ(chmod("/tmp/no_program", 0644), 0);
	EXPECT_FAILS(execv("/tmp/no_program", words), EACCES);
	EXPECT_EQ(chmod("/tmp/no_program", 0755), 0);
	fd = open("/tmp/no_program", O_WRONLY);
	EXPECT_FAILS(execv("/tmp/no_program", words), ETXTBSY);
	close(fd);
	EXPECT_FAILS(open(SELF, O_WRONLY), ETXTBSY);
	EXPECT_FAILS(truncate(SELF, 0), ETXTBSY);
	unlink("/tmp/no_program");
}

TEST(arguments_have_a_limit)
{
	static char much[UX_ARGUMENTS_MAX];
	char *words[] = {"x", much, NULL};

	memset(much, 'x', sizeof much - 1);
	EXPECT_FAILS(execv(SELF, words), E2BIG);
	much[UX_ARGUMENTS_MAX / 2] = '\0';
	EXPECT_EQ(status_of_role(SELF, "3"), W_EXITCODE(3, 0));
}

TEST(scripts_name_their_interpreter)
{
	char *const words[] = {"x", NULL};

	REQUIRE(make_file("/tmp/script", "#! " SELF "  an option \n", 0755));
	EXPECT_EQ(status_of_role("/tmp/script", "9"), W_EXITCODE(9, 0));
	REQUIRE(make_file("/tmp/script2", "#!/tmp/script\n", 0755));
	EXPECT_FAILS(execv("/tmp/script2", words), ENOEXEC);
	REQUIRE(make_file("/tmp/script2", "#!/nothing\n", 0755));
	EXPECT_FAILS(execv("/tmp/script2", words), ENOENT);
	unlink("/tmp/script");
	unlink("/tmp/script2");
}

TEST(descriptors_close_on_exec)
{
	int fd = open("/dev/null", O_RDONLY);

	EXPECT_EQ(dup2(fd, 10), 10);
	EXPECT_EQ(status_of_role(SELF, "descriptor"), W_EXITCODE(1, 0));
	EXPECT_EQ(fcntl(10, F_SETFD, FD_CLOEXEC), 0);
	EXPECT_EQ(status_of_role(SELF, "descriptor"), 0);
}

/* ---------------- Tasks that others end ---------------- */

TEST(a_task_ended_from_outside)
{
	pid_t pid = fork_sleeper();
	mach_port_t task = task_by_pid(pid);

	REQUIRE(task != MACH_PORT_NULL);
	EXPECT_EQ(task_terminate(task), KERN_SUCCESS);
	EXPECT_EQ(status_of(pid), SIGKILL);
	EXPECT_EQ(task_by_pid(pid), MACH_PORT_NULL);
	EXPECT_EQ(errno, ESRCH);
}

TEST(a_thread_ended_from_outside)
{
	pid_t pid = fork();

	if (pid == 0) {
		thread_terminate(mach_thread_self());
		_exit(1);
	}
	EXPECT_EQ(status_of(pid), 0);
}

/* ---------------- Users ---------------- */

static void expect_no_rights(void)
{
	EXPECT_FAILS(setuid(0), EPERM);
	EXPECT_FAILS(setgid(0), EPERM);
	EXPECT_FAILS(setgroups(0, NULL), EPERM);
	EXPECT_FAILS(ux_reboot(UX_HALT, 0), EPERM);
	EXPECT_EQ(task_by_pid(1), MACH_PORT_NULL);
	EXPECT_EQ(errno, EPERM);
	EXPECT_EQ(task_by_pid(0), MACH_PORT_NULL);
	EXPECT_EQ(task_by_pid(-1), MACH_PORT_NULL);
	EXPECT_EQ(ux_device_port(), MACH_PORT_NULL);
	EXPECT(task_by_pid(getpid()) != MACH_PORT_NULL);
}

TEST(users_are_no_roots)
{
	EXPECT(task_by_pid(-1) != MACH_PORT_NULL);
	EXPECT(ux_device_port() != MACH_PORT_NULL);
	EXPECT_EQ(setgroups(0, NULL), 0);
	EXPECT_EQ(setgid(100), 0);
	EXPECT_EQ(setuid(100), 0);
	EXPECT_EQ(geteuid(), 100);
	expect_no_rights();
}

TEST(group_kmem_may_look_at_the_server)
{
	const gid_t kmem = 2;

	EXPECT_EQ(setgroups(1, &kmem), 0);
	EXPECT_EQ(setuid(100), 0);
	EXPECT(task_by_pid(0) != MACH_PORT_NULL);
	EXPECT_EQ(task_by_pid(1), MACH_PORT_NULL);
}

TEST(files_change_the_user)
{
	REQUIRE(copy_self("/tmp/changes_user"));
	EXPECT_EQ(chown("/tmp/changes_user", 17, 18), 0);
	EXPECT_EQ(chmod("/tmp/changes_user", 04755), 0);
	EXPECT_EQ(setuid(100), 0);
	EXPECT_EQ(status_of_role("/tmp/changes_user", "euid"), W_EXITCODE(17, 0));
	EXPECT_EQ(geteuid(), 100);
}

/* What root's program may have in its task is not for the user that it has become. */
TEST(a_task_that_was_root_s)
{
	int ends[2];
	char byte;
	pid_t pid;

	REQUIRE(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		setgid(100);
		setuid(100);
		write(ends[1], "x", 1);
		for (;;)
			pause();
	}
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	EXPECT(task_by_pid(pid) != MACH_PORT_NULL);
	EXPECT_EQ(setgid(100), 0);
	EXPECT_EQ(setuid(100), 0);
	EXPECT_EQ(task_by_pid(pid), MACH_PORT_NULL);
	EXPECT_EQ(errno, EPERM);
	EXPECT(task_by_pid(getpid()) != MACH_PORT_NULL);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(status_of(pid), SIGKILL);
}

/* ---------------- The server keeps nothing ---------------- */

/* What a task has: bytes mapped, and names. */
static void measure_server(unsigned *bytes, unsigned *names)
{
	mach_port_t server = task_by_pid(0);
	struct task_basic_info info = {0};
	mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT, n_types = 0;
	mach_port_array_t list = NULL;
	mach_port_type_array_t types = NULL;

	task_info(server, TASK_BASIC_INFO, (task_info_t)&info, &count);
	*bytes = info.virtual_size;
	*names = 0;
	mach_port_names(server, &list, names, &types, &n_types);
	vm_deallocate(mach_task_self(), (vm_address_t)list, *names * sizeof *list);
	vm_deallocate(mach_task_self(), (vm_address_t)types, n_types * sizeof *types);
	mach_port_deallocate(mach_task_self(), server);
}

static void live_and_die(void)
{
	char *const words[] = {"x", NULL};
	pid_t pid;

	for (int n = 0; n < ROUND; n++) {
		status_of_role(SELF, "1");
		pid = fork_sleeper();
		kill(pid, SIGKILL);
		status_of(pid);
		execv("/nothing", words);
		execv("/etc/passwd", words);
	}
}

/*
 * Notifications of what has ended may still be on their way, and the server may have begun another
 * thread or two, which stay and have ports.  What each process left behind would be ROUND and more.
 */
#define THREADS_BEGUN 4u

TEST(nothing_is_left_behind)
{
	unsigned bytes, names, bytes_after, names_after;
	int patience = 1000;

	live_and_die();
	measure_server(&bytes, &names);
	live_and_die();
	do {
		swtch();
		measure_server(&bytes_after, &names_after);
	} while (names_after > names + THREADS_BEGUN && patience-- > 0);
	EXPECT(names_after <= names + THREADS_BEGUN);
	EXPECT(bytes_after <= bytes + (256 << 10));
}
