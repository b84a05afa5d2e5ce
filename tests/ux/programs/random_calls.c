/* SPDX-License-Identifier: MIT */
/*
 * The fuzzer of the kernel's interface (tests/lib/fuzz.h) in the hands of a user, who may have a
 * tenth of what is usual: random traps, random messages and broken calls, which take what there is
 * until they are refused it.  Root's shell goes on, and everything is back when the processes are
 * killed.
 *
 * Each process makes tasks that do nothing else, as calls do not spare the memory of their own.  It
 * begins their threads again after exceptions, until they are through or wait for ever.  Every
 * other process takes all threads, tasks and ports meanwhile.  The argument is the number of
 * rounds, and the first of them.
 *
 * guest: user=root append="limits=10" limit=300 when=nightly
 * guest: user=root append="limits=10" limit=300 cpus=2 seed=3 argument="12 100"
 * guest: user=root append="limits=10" limit=3000 cpus=2 argument="200 1000" when=nightly
 * guest: user=root append="limits=10" limit=3000 cpus=4 seed=5 argument="200 2000" when=nightly
 * guest: user=root append="limits=4" limit=3000 argument="200 3000" when=nightly
 */
#include <mach/calls.h>
#include <signal.h>
#include <unistd.h>

#include "attackers.h"
#include "fuzz.h"

enum {
	ROUNDS = 12,
	PROCESSES = 2,
	TASKS = 2,
	THREADS = TASKS * FUZZ_THREADS,
	CALLS = 600, /* Of a thread. */
	REPORT_EVERY = 16,
	RESTARTS = 40, /* Exceptions of a process's tasks. */
	MESSAGES = THREADS * CALLS / REPORT_EVERY + 2 * RESTARTS, /* More than come in order. */
	QUIET_MS = 60,
	RESCUES = 6,
	STACK_WORDS = 4 * PAGE / 4,
	EXCEPTION = 2400,
	REPORT = 1,
	DONE,
	LEAST = 1000, /* Calls that are made in a round, on the average. */
};

/* What a process is told by its tasks, or by the kernel of their exceptions. */
struct report {
	mach_msg_header_t head;
	uint32_t body[64];
};

/* ---------------- In the tasks ---------------- */

static struct fuzz fuzzes[FUZZ_THREADS];
static uint32_t stacks[FUZZ_THREADS][STACK_WORDS] __attribute__((aligned(16)));
static uint32_t n_of_task; /* Which of them has this copy. */

static void tell(mach_msg_id_t what, uint32_t number)
{
	struct report report = {
		.head = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
			 .msgh_remote_port = FUZZ_CONTROL,
			 .msgh_id = what},
		.body = {number},
	};

	mach_msg(&report.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT, sizeof report.head + 4, 0,
		 MACH_PORT_NULL, 0, MACH_PORT_NULL);
}

static void one_call(struct fuzz *fuzz)
{
	uint32_t kind = fuzz_below(fuzz, 10);

	if (kind < 2)
		fuzz_trap(fuzz);
	else if (kind < 4)
		fuzz_random_message(fuzz);
	else if (kind < 5)
		fuzz_receive(fuzz);
	else
		fuzz_broken_call(fuzz);
}

/* Also begun again, after an exception, with what was left to do. */
static void fuzz_on(uint32_t n)
{
	struct fuzz *fuzz = &fuzzes[n];

	mach_forget_names();
	if (fuzz->reply_port == MACH_PORT_NULL)
		fuzz->reply_port = mach_reply_port();
	while (fuzz->left > 0) {
		fuzz->left--;
		one_call(fuzz);
		if (fuzz->left % REPORT_EVERY == 0)
			tell(REPORT, REPORT_EVERY);
	}
	tell(DONE, n_of_task * FUZZ_THREADS + n);
	for (;;)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, QUIET_MS);
}

static void fuzz_first(void)
{
	fuzz_on(0);
}

static void fuzz_second(void)
{
	fuzz_on(1);
}

/* ---------------- A process that has such tasks ---------------- */

static mach_port_t control, sink, pset;
static mach_port_t idle_task, idle_thread;
static mach_port_t tasks[TASKS], threads[THREADS];

/* Whatever is refused is not there, and calls go on without it. */
static void give(mach_port_t task, mach_port_t name, mach_port_t port, mach_msg_type_name_t kind)
{
	if (MACH_PORT_VALID(port))
		(void)mach_port_insert_right(task, name, port, kind);
}

static mach_port_t new_port(void)
{
	mach_port_t port = MACH_PORT_NULL;

	if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS)
		_exit(1);
	give(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND);
	return port;
}

static bool aim(uint32_t thread)
{
	struct i386_thread_state state;
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

	if (thread_get_state(threads[thread], i386_THREAD_STATE, (thread_state_t)&state, &count) !=
	    KERN_SUCCESS)
		return false;
	state.eip = (uint32_t)(thread % FUZZ_THREADS == 0 ? fuzz_first : fuzz_second);
	state.uesp = (uint32_t)&stacks[thread % FUZZ_THREADS][STACK_WORDS - 1];
	return thread_set_state(threads[thread], i386_THREAD_STATE, (thread_state_t)&state,
				i386_THREAD_STATE_COUNT) == KERN_SUCCESS;
}

static void furnish(mach_port_t task)
{
	mach_port_t receive_too = FUZZ_RECEIVE_TOO;

	give(task, FUZZ_CONTROL, control, MACH_MSG_TYPE_MAKE_SEND);
	(void)task_set_exception_port(task, control);
	(void)mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, FUZZ_RECEIVE);
	(void)mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, receive_too);
	give(task, FUZZ_SEND, sink, MACH_MSG_TYPE_MAKE_SEND);
	give(task, FUZZ_SEND_ONCE, sink, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	give(task, FUZZ_SEND_ONCE_TOO, sink, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	(void)mach_port_allocate_name(task, MACH_PORT_RIGHT_PORT_SET, FUZZ_SET);
	(void)mach_port_allocate_name(task, MACH_PORT_RIGHT_DEAD_NAME, FUZZ_DEAD);
	(void)mach_port_move_member(task, receive_too, FUZZ_SET);
	give(task, FUZZ_HOST, mach_host_self(), MACH_MSG_TYPE_COPY_SEND);
	give(task, FUZZ_PSET, pset, MACH_MSG_TYPE_COPY_SEND);
	give(task, FUZZ_IDLE_TASK, idle_task, MACH_MSG_TYPE_COPY_SEND);
	give(task, FUZZ_IDLE_THREAD, idle_thread, MACH_MSG_TYPE_COPY_SEND);
}

/* States of the generators, which differ for every thread of every process. */
static void seed_threads(uint32_t seed, uint32_t task)
{
	n_of_task = task;
	for (uint32_t n = 0; n < FUZZ_THREADS; n++) {
		uint32_t x = (seed * 0x9e3779b1u) ^ ((task * FUZZ_THREADS + n + 1) * 0xc2b2ae35u);

		fuzzes[n] = (struct fuzz){.random = (x ^ x >> 15) % 0x7ffffffeu + 1, .left = CALLS};
	}
}

static void start_task(uint32_t seed, uint32_t n)
{
	mach_port_t *own = &threads[n * FUZZ_THREADS];

	seed_threads(seed, n);
	if (task_create(mach_task_self(), true, &tasks[n]) != KERN_SUCCESS)
		return;
	furnish(tasks[n]);
	for (uint32_t t = 0; t < FUZZ_THREADS; t++) {
		if (thread_create(tasks[n], &own[t]) == KERN_SUCCESS)
			(void)aim(n * FUZZ_THREADS + t);
	}
	give(tasks[n], FUZZ_TASK, tasks[n], MACH_MSG_TYPE_COPY_SEND);
	give(tasks[n], FUZZ_THREAD, own[0], MACH_MSG_TYPE_COPY_SEND);
	give(tasks[n], FUZZ_OTHER_TASK, tasks[0], MACH_MSG_TYPE_COPY_SEND);
	give(tasks[n], FUZZ_OTHER_THREAD, threads[0], MACH_MSG_TYPE_COPY_SEND);
	for (uint32_t t = 0; t < FUZZ_THREADS; t++)
		(void)thread_resume(own[t]);
}

static void answer_exception(const struct report *request)
{
	struct report answer = {
		.head = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0),
			 .msgh_remote_port = request->head.msgh_remote_port,
			 .msgh_id = EXCEPTION + 100},
		.body = {0x10012002, KERN_SUCCESS}, /* One word, inline. */
	};

	mach_msg(&answer.head, MACH_SEND_MSG | MACH_SEND_TIMEOUT, sizeof answer.head + 8, 0,
		 MACH_PORT_NULL, 0, MACH_PORT_NULL);
}

/* Begins the thread again, which may not be one of ours: then it waits until its task ends. */
static void handle_exception(const struct report *request, uint32_t exceptions)
{
	mach_port_t thread = request->body[1];

	for (uint32_t n = 0; n < THREADS; n++) {
		if (threads[n] != thread)
			continue;
		if (exceptions > RESTARTS || !aim(n))
			(void)thread_terminate(thread);
		answer_exception(request);
	}
}

/* Threads that wait for ever, or are suspended, begin again. */
static void rescue(uint32_t done)
{
	for (uint32_t n = 0; n < THREADS; n++) {
		if ((done & 1u << n) != 0 || thread_suspend(threads[n]) != KERN_SUCCESS)
			continue;
		(void)thread_abort(threads[n]);
		(void)aim(n);
		while (thread_resume(threads[n]) == KERN_SUCCESS)
			continue;
	}
	for (uint32_t n = 0; n < TASKS; n++) {
		while (task_resume(tasks[n]) == KERN_SUCCESS)
			continue;
	}
}

/*
 * How many calls its tasks have made, until they are through.  Not for ever: a task may have
 * overwritten the number of calls that it has left.
 */
static uint32_t watch(void)
{
	uint32_t calls = 0, exceptions = 0, done = 0, rescues = 0;
	struct report report;

	for (uint32_t n = 0; n < MESSAGES && done != (1u << THREADS) - 1 && rescues < RESCUES;
	     n++) {
		if (mach_msg(&report.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof report,
			     control, QUIET_MS, MACH_PORT_NULL) != MACH_MSG_SUCCESS) {
			rescues++;
			rescue(done);
		} else if (report.head.msgh_id == REPORT) {
			calls += REPORT_EVERY;
		} else if (report.head.msgh_id == DONE) {
			done |= 1u << report.body[0] % THREADS;
		} else if (report.head.msgh_id == EXCEPTION) {
			handle_exception(&report, ++exceptions);
		}
	}
	return calls;
}

/* So that whatever a call needs is refused. */
static void take_what_there_is(void)
{
	take_threads();
	take_tasks();
	take_ports();
}

/* Says in the pipe how many calls were made, and waits to be killed with all that is left. */
static void be_process(uint32_t seed, int pipe_in)
{
	uint32_t calls;
	mach_port_t answers;

	if (setuid(STUDENT) != 0)
		_exit(1);
	answers = mig_get_reply_port(); /* In the end there may be no other to hear by. */
	control = new_port();
	sink = new_port();
	(void)processor_set_default(mach_host_self(), &pset);
	if (task_create(mach_task_self(), false, &idle_task) == KERN_SUCCESS)
		(void)thread_create(idle_task, &idle_thread);
	for (uint32_t n = 0; n < TASKS; n++)
		start_task(seed, n);
	if (seed % 2 != 0)
		take_what_there_is();
	calls = watch();
	mig_put_reply_port(answers);
	(void)write(pipe_in, &calls, sizeof calls);
	for (;;)
		pause();
}

/* ---------------- Root ---------------- */

static pid_t start_process(uint32_t seed, int *pipe_out)
{
	int ends[2] = {-1, -1};
	pid_t pid;

	EXPECT_EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		be_process(seed, ends[1]);
	}
	close(ends[1]);
	*pipe_out = ends[0];
	return pid;
}

/* The calls that the round's processes say that they have made. */
static uint32_t run_round(uint32_t round)
{
	pid_t pids[PROCESSES];
	int pipes[PROCESSES];
	uint32_t total = 0;

	for (uint32_t n = 0; n < PROCESSES; n++)
		pids[n] = start_process(round * PROCESSES + n, &pipes[n]);
	EXPECT_EQ(system("ls -l /bin > /dev/null"), 0);
	for (uint32_t n = 0; n < PROCESSES; n++) {
		uint32_t calls = 0;

		if (read(pipes[n], &calls, sizeof calls) == sizeof calls)
			total += calls;
		close(pipes[n]);
	}
	EXPECT_EQ(system("ps > /dev/null"), 0);
	for (uint32_t n = 0; n < PROCESSES; n++) {
		kill(pids[n], SIGKILL);
		EXPECT_NE(status_of(pids[n]), -1);
	}
	EXPECT(has_nothing(STUDENT));
	return total;
}

TEST(a_user_calls_at_random)
{
	char *rest;
	uint32_t rounds = strtoul(check_argument, &rest, 10), first = strtoul(rest, NULL, 10);
	uint32_t calls = 0, round = first;

	fuzz_makes_tasks = true;
	rounds += rounds == 0 ? ROUNDS : 0;
	while (round < first + rounds && !check_failed())
		calls += run_round(round++);
	printf("%u calls in %u rounds\n", calls, round - first);
	if (check_failed())
		printf("the last round was %u\n", round - 1);
	EXPECT_LE(rounds * LEAST, calls);
}
