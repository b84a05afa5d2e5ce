/* SPDX-License-Identifier: MIT */
/*
 * Who pays, under the server: what a user's programs take from the kernel has an end for that user
 * alone, and is all back when they are killed.
 *
 * guest: user=root limit=60 when=nightly
 * guest: user=root cpus=2 seed=1 limit=60
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/ux.h>
#include <ux/bsd.h>

#include "attackers.h"

enum {
	STACK_WORDS = 256,
	SLACK = 4, /* A few of the server's threads come and go. */
#ifdef KERNEL_SAN
	STACK_PAGES = 4,
#else
	STACK_PAGES = 2,
#endif
	KEPT = 64 * STACK_PAGES + 128, /* Pages for what comes next, at most: stacks, and others. */
};

#define SELF   "/tmp/owners"
#define COPIED "/tmp/owners_of_root"

/* Executed by a test: a program of root's, whoever runs it. */
__attribute__((constructor)) static void play_role(void)
{
	if (getenv(ROLE) != NULL)
		_exit(geteuid() != 0 || used(STUDENT, OWNER_TASKS) != 2);
}

/* Another of the user's tasks has an empty space, and no names either. */
static void take_names_of_all_tasks(void)
{
	mach_port_t task;

	take_names();
	EXPECT_EQ(task_create(mach_task_self(), false, &task), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate_name(task, MACH_PORT_RIGHT_DEAD_NAME, 1 << 20),
		  KERN_RESOURCE_SHORTAGE);
}

/*
 * A process of the student's that takes what it can and stops; the caller goes on when it has all.
 */
static pid_t attack(void (*take)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		check_failures = 0;
		if (setuid(STUDENT) != 0)
			_exit(1);
		take();
		raise(SIGSTOP);
		_exit(check_failures != 0);
	}
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT(WIFSTOPPED(status));
	return pid;
}

/* What others do meanwhile: a user, */
static void work_as_ta(void)
{
	EXPECT_EQ(setuid(TA), 0);
	EXPECT_EQ(used(TA, OWNER_TASKS), 1);
	need_some_of_everything();
}

/* and root. */
static void expect_others_go_on(void)
{
	EXPECT(all_is_well_in_a_child(work_as_ta));
	EXPECT(has_nothing(TA));
	EXPECT_EQ(status_of_role("/bin/true", "none"), 0);
	EXPECT_EQ(status_of_role("/bin/ps", "none"), 0);
}

/* Takes all of a kind that the student may have, and kills the taker. */
static void expect_limited(enum owner_kind kind, void (*take)(void))
{
	static const char *const counts[] = {
		"ports", "tasks",       "threads",    "kernel stacks", "spaces",
		"maps",  "name leaves", "name nodes", "messages",      "pages of messages"};
	uint32_t before[sizeof counts / sizeof counts[0]], pages;
	pid_t pid;

	expect_others_go_on(); /* Once before: what the server keeps for later is there then. */
	for (unsigned n = 0; n < sizeof counts / sizeof counts[0]; n++)
		before[n] = count_of(counts[n]);
	pages = free_pages();
	pid = attack(take);
	EXPECT_LT(0, limit_of(STUDENT, kind));
	EXPECT_EQ(used(STUDENT, kind), limit_of(STUDENT, kind));
	expect_others_go_on();
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(status_of(pid), W_EXITCODE(0, SIGKILL));
	EXPECT(has_nothing(STUDENT));
	for (unsigned n = 0; n < sizeof counts / sizeof counts[0]; n++)
		EXPECT_LE(count_of(counts[n]), before[n] + SLACK);
	EXPECT_LE(pages, free_pages() + KEPT);
}

TEST(ports_without_end)
{
	expect_limited(OWNER_PORTS, take_ports);
}

TEST(ports_of_threads_without_end)
{
	expect_limited(OWNER_PORTS, take_ports_of_threads);
}

TEST(requests_without_end)
{
	expect_limited(OWNER_QUEUED, take_requests);
}

TEST(names_without_end)
{
	expect_limited(OWNER_NAMES, take_names_of_all_tasks);
}

TEST(tasks_without_end)
{
	expect_limited(OWNER_TASKS, take_tasks);
}

TEST(pages_without_end)
{
	expect_limited(OWNER_PAGES, take_pages);
}

TEST(messages_without_end)
{
	expect_limited(OWNER_QUEUED, take_messages);
}

/* The server makes a port for each call; whoever asked keeps it. */
static void hold_file_objects(void)
{
	enum {
		OBJECTS = 100
	};
	int fd = open(SELF, O_RDONLY);
	mach_port_t object;
	int64_t size;
	uint32_t before;

	EXPECT_EQ(setuid(STUDENT), 0);
	before = used(STUDENT, OWNER_PORTS);
	for (int n = 0; n < OBJECTS; n++)
		EXPECT_EQ(bsd_file_object(ux_server_port(), fd, &object, &size), 0);
	EXPECT_EQ(used(STUDENT, OWNER_PORTS), before + OBJECTS);
}

TEST(what_the_server_makes_for_a_user_is_his)
{
	EXPECT(all_is_well_in_a_child(hold_file_objects));
	EXPECT(has_nothing(STUDENT));
}

TEST(threads_without_end)
{
	expect_limited(OWNER_THREADS, take_threads);
}

/* ---------------- What ps does not show ---------------- */

static void spin(void)
{
	for (;;)
		continue;
}

static void start_running(mach_port_t task, void (*run)(void))
{
	static uint32_t stack[STACK_WORDS];
	struct i386_thread_state state = {.eip = (uint32_t)run,
					  .uesp = (uint32_t)&stack[STACK_WORDS - 1]};
	mach_port_t thread;

	EXPECT_EQ(thread_create(task, &thread), KERN_SUCCESS);
	EXPECT_EQ(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
				   i386_THREAD_STATE_COUNT),
		  KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
}

/* The student's process ends by itself, and leaves a task that spins, and a thread of its own. */
static void leave_spinning(void)
{
	mach_port_t task;

	EXPECT_EQ(setuid(STUDENT), 0);
	EXPECT_EQ(task_create(mach_task_self(), true, &task), KERN_SUCCESS);
	start_running(task, spin);
	start_running(mach_task_self(), spin);
	EXPECT_EQ(used(STUDENT, OWNER_TASKS), 2);
	EXPECT_EQ(used(STUDENT, OWNER_THREADS), 3);
}

TEST(what_a_process_made_ends_with_it)
{
	EXPECT(all_is_well_in_a_child(leave_spinning));
	EXPECT(has_nothing(STUDENT));
}

/* It is no process, which a signal could end, and must not have its exception for ever. */
static void make_a_task_that_fails(void)
{
	mach_port_t task;

	EXPECT_EQ(setuid(STUDENT), 0);
	EXPECT_EQ(task_create(mach_task_self(), false, &task), KERN_SUCCESS);
	start_running(task, NULL);
	for (int patience = PATIENCE; patience > 0 && used(STUDENT, OWNER_TASKS) > 1; patience--)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	EXPECT_EQ(used(STUDENT, OWNER_TASKS), 1);
}

TEST(a_task_that_fails_ends)
{
	EXPECT(all_is_well_in_a_child(make_a_task_that_fails));
	EXPECT(has_nothing(STUDENT));
}

/* ---------------- Whose a process is ---------------- */

/* In a child of the student's, beside which it is paid for. */
static void expect_two_tasks(void)
{
	EXPECT_EQ(used(STUDENT, OWNER_TASKS), 2);
}

static void become_student(void)
{
	EXPECT_EQ(used(STUDENT, OWNER_TASKS), 0);
	EXPECT_EQ(seteuid(STUDENT), 0);
	EXPECT_EQ(used(STUDENT, OWNER_TASKS), 0);
	EXPECT_EQ(seteuid(0), 0);
	EXPECT_EQ(setuid(STUDENT), 0);
	EXPECT_EQ(used(STUDENT, OWNER_TASKS), 1);
	EXPECT(all_is_well_in_a_child(expect_two_tasks));
	EXPECT_EQ(status_of_role(COPIED, "whose"), 0);
	EXPECT_EQ(used(STUDENT, OWNER_TASKS), 1);
}

TEST(the_real_user_pays)
{
	EXPECT(copy_file(SELF, COPIED, 04755));
	EXPECT(all_is_well_in_a_child(become_student));
	EXPECT(has_nothing(STUDENT));
}

/* ---------------- Limits of processes ---------------- */

static int fork_sleepers(pid_t *pids)
{
	int n = 0;

	while (n < UX_PROCESSES_MAX && (pids[n] = fork_sleeper()) > 0)
		n++;
	return n;
}

static void end_sleepers(const pid_t *pids, int n)
{
	for (int i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (int i = 0; i < n; i++)
		EXPECT_EQ(status_of(pids[i]), SIGKILL);
}

/* In all they are as many as the student may have. */
static void fill_the_table(void)
{
	static pid_t pids[UX_PROCESSES_MAX];
	struct rlimit limit = {0, 0};
	int n;

	EXPECT_EQ(getrlimit(RLIMIT_NPROC, &limit), 0);
	EXPECT_EQ(setuid(STUDENT), 0);
	n = fork_sleepers(pids);
	EXPECT_EQ(errno, EAGAIN);
	EXPECT_EQ(n + 1, limit.rlim_cur);
	raise(SIGSTOP);
	end_sleepers(pids, n);
}

TEST(a_user_does_not_fill_the_table_of_processes)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		check_failures = 0;
		fill_the_table();
		_exit(check_failures != 0);
	}
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT(WIFSTOPPED(status));
	expect_others_go_on();
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), 0);
}

static kern_return_t allocate_once(vm_size_t size)
{
	vm_address_t address;
	kern_return_t result = vm_allocate(mach_task_self(), &address, size, true);

	if (result == KERN_SUCCESS)
		vm_deallocate(mach_task_self(), address, size);
	return result;
}

static void limit_oneself(void)
{
	struct rlimit few = {8, 8}, more = {9, 9}, memory = {64 << 20, 64 << 20};
	pid_t pids[UX_PROCESSES_MAX];
	int fd = 0, n;

	EXPECT_EQ(setuid(STUDENT), 0);
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	EXPECT_FAILS(setrlimit(RLIMIT_NOFILE, &more), EPERM);
	while (fd >= 0 && fd < 7)
		fd = dup(0);
	EXPECT_EQ(fd, 7);
	EXPECT_FAILS(dup(0), EMFILE);
	while (fd > 2)
		close(fd--);
	EXPECT_EQ(setrlimit(RLIMIT_NPROC, &few), 0);
	n = fork_sleepers(pids);
	EXPECT_EQ(n + 1, 8);
	end_sleepers(pids, n);
	EXPECT_EQ(allocate_once(100 << 20), KERN_SUCCESS);
	EXPECT_EQ(setrlimit(RLIMIT_AS, &memory), 0);
	EXPECT(allocate_once(100 << 20) != KERN_SUCCESS);
	/* What it executes has the same limits. */
	EXPECT_EQ(system("test $(ulimit -n)$(ulimit -u)$(ulimit -v) = 8865536"), 0);
}

TEST(a_process_has_limits)
{
	EXPECT(all_is_well_in_a_child(limit_oneself));
}
