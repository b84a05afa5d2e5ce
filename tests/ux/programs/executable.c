/* SPDX-License-Identifier: MIT */
/*
 * What profilers ask of the server: which file a process executes, tokens, programs that stop
 * before they begin, and who may ask for that.  Root becomes others, in children.
 *
 * guest: user=root limit=30
 * guest: user=root cpus=2 seed=1 limit=30
 */
#include <grp.h>
#include <limits.h>
#include <mach.h>
#include <mach/task_info.h>
#include <servers/gprof_types.h>
#include <signal.h>
#include <sys/ux.h>
#include <ux/bsd.h>

#include "help.h"

#define SELF   "/tmp/executable"
#define D      "/tmp/executable.d"
#define COPY   D "/copy"
#define SCRIPT D "/script"

enum {
	STUDENT = 100,
	TA = 101,
	KMEM = 2
};

/* Executed by a test: ends, says its token, or waits until its standard input has an end. */
__attribute__((constructor)) static void play_role(void)
{
	const char *role = getenv(ROLE);
	char token[UX_TOKEN_ROOM];

	if (role == NULL)
		return;
	if (strcmp(role, "token") == 0 && ux_gprof_token(0, token) == 0)
		write(1, token, sizeof token);
	if (strcmp(role, "wait") == 0) {
		for (char byte; read(0, &byte, 1) > 0;)
			continue;
	}
	_exit(7);
}

static void become(uid_t uid, gid_t more)
{
	EXPECT_EQ(setgroups(more != 0, &more), 0);
	EXPECT_EQ(setgid(uid), 0);
	EXPECT_EQ(setuid(uid), 0);
}

/* A child that executes a program, which waits; it ends with the pipe whose end is put in `end`. */
static pid_t execute_waiter(const char *directory, const char *path, uid_t uid, int *end)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(ends[0], 0);
		close(ends[0]);
		close(ends[1]);
		if (uid != 0)
			become(uid, 0);
		setenv(ROLE, "wait", 1);
		if (chdir(directory) == 0 && ux_stop_at_exec() == 0)
			execl(path, path, (char *)NULL);
		_exit(99);
	}
	close(ends[0]);
	*end = ends[1];
	return pid;
}

static bool has_stopped(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
	       WSTOPSIG(status) == SIGSTOP;
}

static int status_after(pid_t pid, int end)
{
	close(end);
	return kill(pid, SIGCONT) == 0 ? status_of(pid) : -1;
}

/* What the file that a child executes is called. */
static const char *name_of(const char *directory, const char *path)
{
	static char name[PATH_MAX];
	int end;
	pid_t pid = execute_waiter(directory, path, 0, &end);

	strcpy(name, "nothing");
	if (has_stopped(pid) && ux_executable(pid, name, sizeof name) != 0)
		snprintf(name, sizeof name, "error %d", errno);
	EXPECT_EQ(status_after(pid, end), W_EXITCODE(7, 0));
	return name;
}

static void make_places(void)
{
	unlink(COPY);
	unlink(SCRIPT);
	EXPECT(mkdir(D, 0777) == 0 || errno == EEXIST);
	EXPECT(copy_file(SELF, COPY, 0755));
	EXPECT(make_text(SCRIPT, "#!" COPY "\n", 0755));
}

static bool is_same(const char *one, const char *other)
{
	if (strcmp(one, other) == 0)
		return true;
	printf("  %s, not %s\n", one, other);
	return false;
}

/* ---------------- Names ---------------- */

TEST(a_program_is_known_by_its_absolute_path)
{
	char name[PATH_MAX] = "";

	make_places();
	EXPECT_EQ(ux_executable(getpid(), name, sizeof name), 0);
	EXPECT(is_same(name, SELF));
	EXPECT(is_same(name_of("/", COPY), COPY));
	EXPECT(is_same(name_of(D, "copy"), COPY));
	EXPECT(is_same(name_of(D, "./../executable.d//copy"), COPY));
	EXPECT(is_same(name_of("/etc", "../tmp/executable"), SELF));
	EXPECT(is_same(name_of("/", SCRIPT), COPY));
}

TEST(it_keeps_its_path_whatever_becomes_of_the_file)
{
	char name[PATH_MAX] = "";
	int end;
	pid_t pid, child;

	make_places();
	pid = execute_waiter(D, "copy", 0, &end);
	REQUIRE(has_stopped(pid));
	EXPECT_EQ(rename(COPY, D "/other"), 0);
	EXPECT_EQ(ux_executable(pid, name, sizeof name), 0);
	EXPECT(is_same(name, COPY));
	EXPECT_EQ(unlink(D "/other"), 0);
	EXPECT_EQ(ux_executable(pid, name, sizeof name), 0);
	EXPECT(is_same(name, COPY));
	EXPECT_EQ(status_after(pid, end), W_EXITCODE(7, 0));
	child = fork_sleeper();
	EXPECT_EQ(ux_executable(child, name, sizeof name), 0);
	EXPECT(is_same(name, SELF));
	kill(child, SIGKILL);
	EXPECT_EQ(status_of(child), SIGKILL);
}

TEST(names_are_refused_for_good_reasons)
{
	char name[PATH_MAX];
	pid_t zombie = fork();
	int status;

	if (zombie == 0)
		_exit(0);
	EXPECT_FAILS(ux_executable(getpid(), name, 3), ERANGE);
	EXPECT_FAILS(ux_executable(29999, name, sizeof name), ESRCH);
	EXPECT_FAILS(ux_executable(-1, name, sizeof name), ESRCH);
	EXPECT_FAILS(ux_executable(getpid(), NULL, 10), EFAULT);
	while (ux_executable(zombie, name, sizeof name) == 0)
		usleep(1000);
	EXPECT_EQ(errno, ESRCH);
	EXPECT_EQ(waitpid(zombie, &status, 0), zombie);
}

/* ---------------- Who may ask ---------------- */

static pid_t whom;

static void ask_as_owner(void)
{
	char name[PATH_MAX], token[UX_TOKEN_ROOM];

	become(STUDENT, 0);
	EXPECT_EQ(ux_executable(whom, name, sizeof name), 0);
	EXPECT_EQ(ux_gprof_token(whom, token), 0);
	EXPECT_FAILS(ux_executable(1, name, sizeof name), EPERM);
	EXPECT_FAILS(ux_gprof_token(1, token), EPERM);
	EXPECT_FAILS(ux_executable(0, name, sizeof name), EPERM);
}

static void ask_as_another(void)
{
	char name[PATH_MAX], token[UX_TOKEN_ROOM];

	become(TA, 0);
	EXPECT_FAILS(ux_executable(whom, name, sizeof name), EPERM);
	EXPECT_FAILS(ux_gprof_token(whom, token), EPERM);
	EXPECT_EQ(ux_gprof_token(0, token), 0);
}

/* Whoever may read the kernel's memory finds names there, but tokens are what only owners have. */
static void ask_as_group_of_kernel_memory(void)
{
	char name[PATH_MAX], token[UX_TOKEN_ROOM];

	become(TA, KMEM);
	EXPECT_EQ(ux_executable(whom, name, sizeof name), 0);
	EXPECT_EQ(ux_executable(0, name, sizeof name), 0);
	EXPECT(is_same(name, "/mach_servers/startup"));
	EXPECT_FAILS(ux_gprof_token(whom, token), EPERM);
}

TEST(owners_ask_and_root_and_of_names_the_group_of_kernel_memory)
{
	char name[PATH_MAX];
	int end;

	whom = execute_waiter("/", SELF, STUDENT, &end);
	REQUIRE(has_stopped(whom));
	EXPECT(all_is_well_in_a_child(ask_as_owner));
	EXPECT(all_is_well_in_a_child(ask_as_another));
	EXPECT(all_is_well_in_a_child(ask_as_group_of_kernel_memory));
	EXPECT_EQ(ux_executable(0, name, sizeof name), 0);
	EXPECT_EQ(status_after(whom, end), W_EXITCODE(7, 0));
}

/* ---------------- Tasks that have ended ---------------- */

static uint32_t ended_task; /* Root's. */

static uint32_t task_number(pid_t pid)
{
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	EXPECT_EQ(task_info(task_by_pid(pid), TASK_ID_INFO, (task_info_t)&info, &count), 0);
	return info.id;
}

/* A child that stops before it executes a program, which ends at once. */
static pid_t execute_later(const char *path)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	raise(SIGSTOP);
	close(0);
	setenv(ROLE, "wait", 1);
	execl(path, path, (char *)NULL);
	_exit(99);
}

static void ask_of_the_past(void)
{
	struct ux_task_program program;

	become(TA, 0);
	EXPECT_EQ(ux_task_program(ended_task, &program), 0);
	EXPECT(is_same(program.command, "copy"));
	EXPECT(is_same(program.path, ""));
}

static void ask_as_owner_of_the_past(void)
{
	struct ux_task_program program;

	become(STUDENT, 0);
	EXPECT_EQ(ux_task_program(ended_task, &program), 0);
	EXPECT(is_same(program.path, SELF));
}

static void ask_of_one_that_was_root(void)
{
	struct ux_task_program program;

	become(STUDENT, 0);
	EXPECT_EQ(ux_task_program(ended_task, &program), 0);
	EXPECT(is_same(program.path, ""));
}

TEST(the_file_is_told_to_the_owner_that_it_had)
{
	int end;
	pid_t pid = execute_waiter("/", SELF, STUDENT, &end);

	REQUIRE(has_stopped(pid));
	ended_task = task_number(pid);
	EXPECT_EQ(status_after(pid, end), W_EXITCODE(7, 0));
	EXPECT(all_is_well_in_a_child(ask_as_owner_of_the_past));
	pid = fork();
	if (pid == 0) {
		become(STUDENT, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	REQUIRE(has_stopped(pid));
	ended_task = task_number(pid);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), 0);
	EXPECT(all_is_well_in_a_child(ask_of_one_that_was_root));
}

TEST(what_a_task_ran_is_known_after_its_end)
{
	struct ux_task_program program;
	uint32_t before;
	int end;
	pid_t pid;

	make_places();
	pid = execute_later(COPY); /* What its task ran before is not that. */
	REQUIRE(has_stopped(pid));
	before = task_number(pid);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), W_EXITCODE(7, 0));
	EXPECT_EQ(ux_task_program(before, &program), 0);
	EXPECT_EQ(program.pid, pid);
	EXPECT(is_same(program.command, "executable"));
	EXPECT(is_same(program.path, SELF));

	pid = execute_waiter(D, "copy", 0, &end);
	REQUIRE(has_stopped(pid));
	ended_task = task_number(pid);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(ux_task_program(ended_task, &program), 0);
		EXPECT_EQ(program.pid, pid);
		EXPECT(is_same(program.command, "copy"));
		EXPECT(is_same(program.path, COPY));
		if (i == 0)
			EXPECT_EQ(status_after(pid, end), W_EXITCODE(7, 0));
	}
	EXPECT(all_is_well_in_a_child(ask_of_the_past));
	EXPECT_FAILS(ux_task_program(0, &program), ESRCH);
	EXPECT_FAILS(ux_task_program(UINT32_MAX, &program), ESRCH);
	EXPECT_FAILS(ux_task_program(ended_task, NULL), EFAULT);
}

/* ---------------- Tokens ---------------- */

/* What a child's program says its token is. */
static bool read_token(char token[UX_TOKEN_ROOM])
{
	int ends[2];
	ssize_t size;
	pid_t pid;

	if (pipe(ends) != 0)
		return false;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		setenv(ROLE, "token", 1);
		execl(SELF, SELF, (char *)NULL);
		_exit(99);
	}
	close(ends[1]);
	size = read(ends[0], token, UX_TOKEN_ROOM);
	close(ends[0]);
	return status_of(pid) == W_EXITCODE(7, 0) && size == UX_TOKEN_ROOM;
}

static unsigned same_letters(const char *one, const char *other)
{
	unsigned n = 0;

	for (unsigned i = 0; i < UX_TOKEN_ROOM - 2; i++)
		n += one[i] == other[i];
	return n;
}

TEST(tokens_are_of_one_program_each)
{
	char own[UX_TOKEN_ROOM], again[UX_TOKEN_ROOM], by_pid[UX_TOKEN_ROOM];
	char first[UX_TOKEN_ROOM], second[UX_TOKEN_ROOM];

	EXPECT_EQ(ux_gprof_token(0, own), 0);
	EXPECT_EQ(ux_gprof_token(0, again), 0);
	EXPECT_EQ(ux_gprof_token(getpid(), by_pid), 0);
	EXPECT_EQ(strlen(own), UX_TOKEN_ROOM - 2);
	EXPECT(strcmp(own, again) == 0 && strcmp(own, by_pid) == 0);
	EXPECT(read_token(first) && read_token(second));
	EXPECT(same_letters(own, first) < 15);
	EXPECT(same_letters(first, second) < 15);
	EXPECT_FAILS(ux_gprof_token(29999, own), ESRCH);
}

TEST(a_token_goes_with_an_exec)
{
	char before[UX_TOKEN_ROOM], after[UX_TOKEN_ROOM];
	int end, ready[2];
	pid_t pid;

	REQUIRE(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		read(ready[0], before, 1);
		ux_stop_at_exec();
		execl(SELF, SELF, (char *)NULL);
		_exit(99);
	}
	end = ready[1];
	EXPECT_EQ(ux_gprof_token(pid, before), 0);
	setenv(ROLE, "end", 1);
	write(end, "", 1);
	REQUIRE(has_stopped(pid));
	EXPECT_EQ(ux_gprof_token(pid, after), 0);
	EXPECT(same_letters(before, after) < 15);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(status_of(pid), SIGKILL);
}

/* ---------------- Programs that do not begin by themselves ---------------- */

static unsigned microseconds(mach_port_t task)
{
	struct task_thread_times_info times = {0};
	mach_msg_type_number_t count = TASK_THREAD_TIMES_INFO_COUNT;

	task_info(task, TASK_THREAD_TIMES_INFO, (task_info_t)&times, &count);
	return (unsigned)(times.user_time.seconds * 1000000 + times.user_time.microseconds);
}

static uint32_t first_instruction(mach_port_t task)
{
	struct i386_thread_state state = {0};
	mach_msg_type_number_t size = i386_THREAD_STATE_COUNT, count = 0;
	mach_port_array_t threads = NULL;

	EXPECT_EQ(task_threads(task, &threads, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(thread_get_state(threads[0], i386_THREAD_STATE, (thread_state_t)&state, &size),
		  KERN_SUCCESS);
	return state.eip;
}

void _start(void);

TEST(a_program_stops_before_its_first_instruction)
{
	char *const paths[] = {COPY, SCRIPT};

	make_places();
	for (unsigned n = 0; n < 2; n++) {
		int end, status;
		pid_t pid = execute_waiter("/", paths[n], 0, &end);
		mach_port_t task;

		REQUIRE(has_stopped(pid));
		task = task_by_pid(pid);
		REQUIRE(task != MACH_PORT_NULL);
		EXPECT_EQ(first_instruction(task), (uintptr_t)_start);
		EXPECT_EQ(microseconds(task), 0);
		EXPECT_EQ(waitpid(pid, &status, WUNTRACED | WNOHANG), 0);
		EXPECT_EQ(status_after(pid, end), W_EXITCODE(7, 0));
	}
}

TEST(an_exec_that_fails_leaves_it_for_the_next)
{
	pid_t pid = fork();

	if (pid == 0) {
		ux_stop_at_exec();
		execl("/tmp/there-is-none", "none", (char *)NULL);
		execl("/etc/passwd", "none", (char *)NULL);
		setenv(ROLE, "end", 1);
		execl(SELF, SELF, (char *)NULL);
		_exit(99);
	}
	REQUIRE(has_stopped(pid));
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), W_EXITCODE(7, 0));
}

/* Neither a child nor the program after the next stops. */
TEST(it_is_for_one_program_of_one_process)
{
	pid_t pid = fork();

	if (pid == 0) {
		ux_stop_at_exec();
		_exit(status_of_role(SELF, "end") != W_EXITCODE(7, 0));
	}
	EXPECT_EQ(status_of(pid), 0);
	pid = fork();
	if (pid == 0) {
		ux_stop_at_exec();
		execl("/bin/sh", "sh", "-c", "exec /bin/true", (char *)NULL);
		_exit(99);
	}
	REQUIRE(has_stopped(pid));
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), 0);
}

TEST(one_that_has_stopped_can_be_killed)
{
	int end;
	pid_t pid = execute_waiter("/", SELF, 0, &end);

	REQUIRE(has_stopped(pid));
	EXPECT_EQ(kill(pid, SIGTERM), 0);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(status_of(pid), SIGKILL);
}

/* ---------------- The server's own profile ---------------- */

static void control(kern_return_t expected)
{
	mach_port_t server = ux_server_port();
	struct gprof_options options = {.rate = 0};
	mach_msg_type_number_t size = 0;
	struct gprof_status status;
	unsigned flavors = 0;
	char *data = NULL;

	EXPECT_EQ(bsd_gprof_mon_options(server, options), expected);
	EXPECT_EQ(bsd_gprof_mon_switch(server, &flavors), expected);
	EXPECT_EQ(bsd_gprof_mon_status(server, &status), expected);
	EXPECT_EQ(bsd_gprof_mon_dump(server, &data, &size), expected);
	EXPECT_EQ(size > 0, expected == KERN_SUCCESS);
	if (size > 0)
		vm_deallocate(mach_task_self(), (vm_address_t)data, size);
}

static void control_as_somebody(void)
{
	become(STUDENT, 0);
	control(EPERM);
}

static void control_as_group_of_kernel_memory(void)
{
	become(TA, KMEM);
	control(KERN_SUCCESS);
}

TEST(only_some_control_the_servers_profile)
{
	EXPECT(all_is_well_in_a_child(control_as_somebody));
	EXPECT(all_is_well_in_a_child(control_as_group_of_kernel_memory));
	control(KERN_SUCCESS);
}
