/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel's by process: what sysctl() tells of those that root has tracked is what the
 * kernel tells, and what they did.
 *
 * guest: user=root limit=60 argument="${trap_mach_thread_self},${trap_mach_msg}"
 * guest: user=root cpus=2 limit=60 argument="${trap_mach_thread_self},${trap_mach_msg}"
 */
#include <assay.h>
#include <mach.h>
#include <mach/assay.h>
#include <mach/calls.h>
#include <mach/task_info.h>
#include <signal.h>
#include <sys/gmon.h>
#include <sys/sysctl.h>
#include <sys/ux.h>

#include "help.h"

#define STUDENT  100
#define TRAPS    1234
#define CALLS    345
#define WAITS    16u
#define ROOM     4000 /* Calls of a process, and tracked processes, that there may be. */
#define TIMES    400
#define TICKS_US 30000       /* Ticks come meanwhile, which are the system's. */
#define SLACK    (160 << 10) /* Bytes: a few of the server's threads come and go. */

static const int processes_mib[] = {CTL_KERN, KERN_PROF, GPROF_PROCESSES};

/* Where functions of the kernel's are. */
static uint32_t thread_self(void)
{
	return strtoul(check_argument, NULL, 16);
}

static uint32_t message(void)
{
	return strtoul(strchr(check_argument, ',') + 1, NULL, 16);
}

/* ---------------- By sysctl() ---------------- */

static int track(const int *pids, size_t n)
{
	return sysctl(processes_mib, 3, NULL, NULL, pids, n * sizeof *pids);
}

static int track_one(int pid)
{
	return track(&pid, 1);
}

static int track_none(void)
{
	return track(&(int){0}, 0);
}

/* How many are tracked, if it is these first ones. */
static size_t n_tracked(const int *expected)
{
	int pids[ROOM];
	size_t size = sizeof pids;

	EXPECT_EQ(sysctl(processes_mib, 3, pids, &size, NULL, 0), 0);
	EXPECT(size == 0 || memcmp(pids, expected, size) == 0);
	return size / sizeof pids[0];
}

struct calls {
	struct gmon_call all[ROOM];
	size_t n;
};

static int get_bytes(int pid, void *data, size_t *size)
{
	const int mib[] = {CTL_KERN, KERN_PROF, GPROF_PROCESS, pid};

	return sysctl(mib, 4, data, size, NULL, 0);
}

static const struct calls *get(int pid)
{
	static struct calls calls;
	size_t size = sizeof calls.all;

	calls.n = 0;
	if (EXPECT_EQ(get_bytes(pid, calls.all, &size), 0))
		calls.n = size / sizeof calls.all[0];
	return &calls;
}

static int measure(int pid)
{
	size_t size = 0;

	return get_bytes(pid, NULL, &size);
}

/* Of one function, or by 0 of all. */
static uint64_t count_of(const struct calls *calls, uint32_t function)
{
	uint64_t count = 0;

	for (size_t n = 0; n < calls->n; n++)
		if (function == 0 || calls->all[n].selfpc == function)
			count += calls->all[n].count;
	return count;
}

/* ---------------- By the kernel ---------------- */

static uint32_t label_of(pid_t pid)
{
	mach_port_t task = task_by_pid(pid);
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	EXPECT_EQ(task_info(task, TASK_ID_INFO, (task_info_t)&info, &count), KERN_SUCCESS);
	mach_port_deallocate(mach_task_self(), task);
	return info.id;
}

static void expect_what_the_kernel_tells(int pid, uint32_t label)
{
	const struct calls *calls = get(pid);
	mach_port_t host = task_by_pid(-1);
	mach_msg_type_number_t n = 0;
	host_call_array_t words = NULL;

	EXPECT_EQ(host_calls_get_for(host, label, &words, &n), KERN_SUCCESS);
	EXPECT(n > 0);
	EXPECT_EQ(calls->n, n / HOST_CALL_WORDS);
	for (size_t i = 0; i < calls->n && i < n / HOST_CALL_WORDS; i++) {
		const struct host_call *call = (const struct host_call *)words + i;

		EXPECT(calls->all[i].frompc == call->from && calls->all[i].selfpc == call->to);
		EXPECT(calls->all[i].count == (call->count[0] | (uint64_t)call->count[1] << 32));
	}
	vm_deallocate(mach_task_self(), (vm_address_t)words, n * sizeof *words);
	mach_port_deallocate(mach_task_self(), host);
}

static void count_directly(boolean_t on)
{
	mach_port_t host = task_by_pid(-1);

	EXPECT_EQ(host_calls_count(host, on), KERN_SUCCESS);
	mach_port_deallocate(mach_task_self(), host);
}

/* ---------------- By kgmon's names ---------------- */

static int set_state(int state)
{
	static const int mib[] = {CTL_KERN, KERN_PROF, GPROF_STATE};

	return sysctl(mib, 3, NULL, NULL, &state, sizeof state);
}

static void *get_table(int what, size_t *size)
{
	const int mib[] = {CTL_KERN, KERN_PROF, what};
	void *data;

	EXPECT_EQ(sysctl(mib, 3, NULL, size, NULL, 0), 0);
	data = calloc(*size, 1);
	EXPECT_EQ(sysctl(mib, 3, data, size, NULL, 0), 0);
	return data;
}

static void reset(void)
{
	static const int mib[] = {CTL_KERN, KERN_PROF, GPROF_TOS};
	size_t size = 0;
	void *zeros = get_table(GPROF_TOS, &size);

	memset(zeros, 0, size);
	EXPECT_EQ(sysctl(mib, 3, NULL, NULL, zeros, size), 0);
	free(zeros);
}

static uint64_t count_of_all(void)
{
	size_t size = 0;
	struct tostruct *tos = get_table(GPROF_TOS, &size);
	uint64_t count = 0;

	for (size_t n = 1; n < size / sizeof *tos; n++)
		count += (uint64_t)tos[n].count;
	free(tos);
	return count;
}

/* ---------------- Processes that do what is known ---------------- */

struct worker {
	pid_t pid;
	uint32_t label;
	int go; /* What is written there has it begin. */
};

static void work(int traps, int calls)
{
	for (int n = 0; n < traps; n++)
		mach_thread_self();
	for (int n = 0; n < calls; n++)
		getpid();
}

static struct worker start(int traps, int calls)
{
	struct worker worker = {0};
	int ends[2];
	char go;

	EXPECT_EQ(pipe(ends), 0);
	worker.go = ends[1];
	worker.pid = fork();
	if (worker.pid == 0) {
		close(ends[1]);
		if (read(ends[0], &go, 1) == 1)
			work(traps, calls);
		_exit(0);
	}
	close(ends[0]);
	worker.label = label_of(worker.pid);
	return worker;
}

static void finish(const struct worker *worker)
{
	EXPECT_EQ(write(worker->go, "", 1), 1);
	close(worker->go);
	EXPECT_EQ(status_of(worker->pid), 0);
}

/* ---------------- What is told ---------------- */

TEST(what_processes_did_is_told_when_they_are_gone)
{
	const struct worker busy = start(TRAPS, CALLS), idle = start(0, 0);
	const int pids[] = {busy.pid, idle.pid};
	uint64_t traps, messages;

	EXPECT_EQ(track(pids, 2), 0);
	finish(&busy);
	finish(&idle);
	EXPECT_EQ(kill(busy.pid, 0), -1);
	EXPECT_EQ(n_tracked(pids), 2);
	traps = count_of(get(busy.pid), thread_self());
	messages = count_of(get(busy.pid), message());
	/* One more is the server's, if a thread of its ends that took the last call of one. */
	traps -= count_of(get(idle.pid), thread_self());
	EXPECT_LE(TRAPS - 1, traps);
	EXPECT_LE(traps, TRAPS + 1);
	/*
	 * A call is two: one of the process's, and the server's for it.  Either of them has some
	 * more if another thread had the server's lock just then: to wait, and to wake is a call.
	 */
	messages -= count_of(get(idle.pid), message());
	EXPECT_LE(2 * CALLS - WAITS, messages);
	EXPECT_LE(messages, 2 * CALLS + WAITS);
	/* A thread of the server's has a client's label until it is asked for the next. */
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	expect_what_the_kernel_tells(busy.pid, busy.label);
	expect_what_the_kernel_tells(idle.pid, idle.label);
	EXPECT_EQ(track_none(), 0);
}

TEST(what_is_told_of_each_is_all_together)
{
	const struct worker busy = start(TRAPS, CALLS), idle = start(0, 0);
	const int pids[] = {busy.pid, idle.pid};
	uint64_t sum = 0;

	EXPECT_EQ(track(pids, 2), 0);
	work(TRAPS, CALLS);
	usleep(TICKS_US);
	finish(&busy);
	finish(&idle);
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0); /* What there is stays as it is. */
	expect_what_the_kernel_tells(GPROF_OF_SYSTEM, HOST_CALLS_SYSTEM);
	expect_what_the_kernel_tells(GPROF_OF_OTHERS, HOST_CALLS_OTHERS);
	EXPECT_LE(CALLS, count_of(get(GPROF_OF_OTHERS), message()));
	sum = count_of(get(busy.pid), 0) + count_of(get(idle.pid), 0);
	sum += count_of(get(GPROF_OF_SYSTEM), 0) + count_of(get(GPROF_OF_OTHERS), 0);
	EXPECT(sum == count_of_all());
	EXPECT_EQ(track_none(), 0);
	EXPECT(count_of_all() == 0);
}

TEST(who_is_written_again_begins_with_none)
{
	const int self = getpid();

	EXPECT_EQ(track_one(self), 0);
	work(TRAPS, 0);
	EXPECT_LE(TRAPS, count_of(get(self), thread_self()));
	EXPECT_EQ(track_one(self), 0);
	EXPECT_EQ(count_of(get(self), thread_self()), 0);
	work(1, 0);
	EXPECT_EQ(count_of(get(self), thread_self()), 1);
	EXPECT_EQ(track_one(1), 0);
	EXPECT_FAILS(measure(self), ESRCH);
	EXPECT_EQ(track_none(), 0);
	EXPECT_EQ(n_tracked(NULL), 0);
	EXPECT_FAILS(measure(1), ESRCH);
	EXPECT_FAILS(measure(GPROF_OF_SYSTEM), ESRCH);
	EXPECT_FAILS(measure(GPROF_OF_OTHERS), ESRCH);
}

/* ---------------- Whose the counts are ---------------- */

TEST(counts_of_the_kernel_s_profile_are_left_alone)
{
	EXPECT_EQ(set_state(GMON_PROF_ON), 0);
	EXPECT_FAILS(track_one(1), EBUSY);
	EXPECT_FAILS(track_none(), EBUSY);
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	EXPECT_FAILS(track_one(1), EBUSY);
	EXPECT(count_of_all() > 0);
	reset();
	EXPECT_EQ(track_one(1), 0);
	EXPECT_EQ(track_none(), 0);
}

TEST(counts_of_another_program_are_left_alone)
{
	count_directly(TRUE);
	EXPECT_FAILS(track_one(1), EBUSY);
	EXPECT_EQ(n_tracked(NULL), 0);
	count_directly(FALSE);
	EXPECT_FAILS(track_one(1), EBUSY);
	reset();
	EXPECT_EQ(track_one(1), 0);
	EXPECT(system("pkgmon -c true 2>/dev/null") != 0);
	EXPECT_EQ(n_tracked(&(int){1}), 1);
	EXPECT_EQ(track_none(), 0);
}

/* As long as calls are counted, a reset forgets the counts alone. */
TEST(the_kernel_s_profile_forgets_who_is_tracked)
{
	const int self = getpid();

	EXPECT_EQ(track_one(self), 0);
	work(TRAPS, 0);
	EXPECT_EQ(set_state(GMON_PROF_ON), 0);
	EXPECT_FAILS(track_one(self), EBUSY);
	EXPECT_LE(TRAPS, count_of(get(self), thread_self()));
	reset();
	EXPECT_EQ(count_of(get(self), thread_self()), 0);
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	EXPECT_EQ(n_tracked(&self), 1);
	EXPECT_EQ(measure(self), 0);
	reset();
	EXPECT_EQ(n_tracked(NULL), 0);
	EXPECT_FAILS(measure(self), ESRCH);
}

/* ---------------- What cannot be ---------------- */

TEST(who_is_not_there_is_not_tracked_and_changes_nothing)
{
	const int self = getpid(), pids[] = {self, self, self};
	const struct worker zombie = start(0, 0);
	int many[GPROF_PROCESSES_MAX + 1];

	for (int n = 0; n <= GPROF_PROCESSES_MAX; n++)
		many[n] = self;
	EXPECT_EQ(track(pids, 3), 0);
	work(TRAPS, 0);
	EXPECT_EQ(write(zombie.go, "", 1), 1);
	while (task_by_pid(zombie.pid) != MACH_PORT_NULL)
		swtch();
	EXPECT_FAILS(track_one(zombie.pid), ESRCH);
	EXPECT_EQ(status_of(zombie.pid), 0);
	EXPECT_FAILS(track((int[]){self, zombie.pid}, 2), ESRCH);
	EXPECT_FAILS(track_one(GPROF_OF_SYSTEM), ESRCH);
	EXPECT_FAILS(track_one(GPROF_OF_OTHERS), ESRCH);
	EXPECT_FAILS(track(many, GPROF_PROCESSES_MAX + 1), EINVAL);
	EXPECT_FAILS(sysctl(processes_mib, 3, NULL, NULL, pids, sizeof self + 1), EINVAL);
	EXPECT_FAILS(measure(zombie.pid), ESRCH);
	EXPECT_EQ(n_tracked(pids), 1);
	EXPECT_LE(TRAPS, count_of(get(self), thread_self()));
	EXPECT_EQ(track(many, GPROF_PROCESSES_MAX), 0);
	EXPECT_EQ(n_tracked(pids), 1);
	close(zombie.go);
	EXPECT_EQ(track_none(), 0);
}

static void ask_as_student(void)
{
	EXPECT_EQ(setgroups(0, NULL), 0);
	EXPECT_EQ(setgid(STUDENT), 0);
	EXPECT_EQ(setuid(STUDENT), 0);
	EXPECT_FAILS(track_one(getpid()), EPERM);
	EXPECT_FAILS(track_none(), EPERM);
	EXPECT_FAILS(measure(getppid()), EPERM);
	EXPECT_FAILS(measure(GPROF_OF_SYSTEM), EPERM);
	EXPECT_FAILS(measure(GPROF_OF_OTHERS), EPERM);
	EXPECT_FAILS(measure(getpid()), EPERM);
	EXPECT_EQ(n_tracked(&(int){getppid()}), 1);
}

TEST(nobody_but_root_has_them)
{
	EXPECT_EQ(track_one(getpid()), 0);
	EXPECT(all_is_well_in_a_child(ask_as_student));
	EXPECT_EQ(n_tracked(&(int){getpid()}), 1);
	EXPECT_EQ(track_none(), 0);
}

/* ---------------- Room ---------------- */

static unsigned bytes_of_server(void)
{
	mach_port_t server = task_by_pid(0);
	struct task_basic_info info = {0};
	mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT;

	task_info(server, TASK_BASIC_INFO, (task_info_t)&info, &count);
	mach_port_deallocate(mach_task_self(), server);
	return info.virtual_size;
}

TEST(too_little_room_has_what_fits)
{
	struct gmon_call few[3] = {0};
	size_t size = sizeof few - 1, whole = 0;
	int pid = 1;

	EXPECT_EQ(track_one(getpid()), 0);
	work(TRAPS, CALLS);
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	EXPECT_EQ(get_bytes(getpid(), NULL, &whole), 0);
	EXPECT(whole > sizeof few && whole % sizeof few[0] == 0);
	EXPECT_FAILS(get_bytes(getpid(), few, &size), ENOMEM);
	EXPECT_EQ(size, sizeof few - 1);
	EXPECT(memcmp(few, get(getpid())->all, size) == 0 && few[0].count != 0);
	/* Who is tracked does not fit: nothing is set. */
	size = sizeof pid - 1;
	EXPECT_FAILS(sysctl(processes_mib, 3, &pid, &size, &pid, sizeof pid), ENOMEM);
	EXPECT_EQ(n_tracked(&(int){getpid()}), 1);
	EXPECT_EQ(track_none(), 0);
}

TEST(what_was_told_is_not_kept)
{
	unsigned before;

	EXPECT_EQ(track_one(getpid()), 0);
	work(TRAPS, CALLS);
	measure(getpid());
	before = bytes_of_server();
	for (int n = 0; n < TIMES; n++)
		EXPECT_EQ(measure(getpid()), 0);
	EXPECT_LE(bytes_of_server(), before + SLACK);
	EXPECT_EQ(track_none(), 0);
}
