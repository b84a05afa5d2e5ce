/* SPDX-License-Identifier: MIT */
/*
 * Each call of the kernel's by which a collector gets something says once, in turn, that there is
 * nothing left: whoever has asked the collector is told, has as much as before, and gets what they
 * want when they ask again.
 *
 * Those calls are the ones that are linked with -Wl,--wrap=: all that have a word FAILING here.
 */
#include <gprof.h>
#include <mach.h>
#include <mach/assay.h>
#include <prof/collector.h>
#include <pthread.h>
#include <servers/gprof.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "balance.h"
#include "check_unix.h"
#include "work.h"

#define MOST       100 /* Calls that a scenario makes, at most. */
#define AT_ONCE_MS 1000u
#define SAMPLED_MS 4u /* In so long there are samples. */

int gprof_no_auto_initialization_from_crt0 = 1;

/* ---------------- The kernel ---------------- */

static int left; /* Calls until one fails; not positive: none does any more. */

static bool is_turn(void)
{
	return __atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) == 0;
}

static bool has_failed(void)
{
	return __atomic_load_n(&left, __ATOMIC_RELAXED) <= 0;
}

#define FAILING(name, parameters, ...)                                                  \
	kern_return_t __real_##name parameters;                                         \
	kern_return_t __wrap_##name parameters;                                         \
	kern_return_t __wrap_##name parameters                                          \
	{                                                                               \
		return is_turn() ? KERN_RESOURCE_SHORTAGE : __real_##name(__VA_ARGS__); \
	}

FAILING(syscall_vm_allocate, (mach_port_t task, vm_address_t *at, vm_size_t size, boolean_t any),
	task, at, size, any)
FAILING(mach_port_allocate, (mach_port_t task, mach_port_right_t right, mach_port_name_t *name),
	task, right, name)
FAILING(mach_port_insert_right,
	(mach_port_t task, mach_port_name_t name, mach_port_t right, mach_msg_type_name_t type),
	task, name, right, type)
FAILING(mach_port_request_notification,
	(mach_port_t task, mach_port_name_t name, mach_msg_id_t id, mach_port_mscount_t sync,
	 mach_port_t notify, mach_msg_type_name_t type, mach_port_t *previous),
	task, name, id, sync, notify, type, previous)
FAILING(thread_create, (mach_port_t task, mach_port_t *thread), task, thread)
FAILING(thread_set_state,
	(mach_port_t thread, int flavor, thread_state_t state, mach_msg_type_number_t count),
	thread, flavor, state, count)
FAILING(thread_resume, (mach_port_t thread), thread)
FAILING(task_sample_start,
	(mach_port_t task, unsigned flavors, unsigned rate, sample_options_t options,
	 mach_port_t reply),
	task, flavors, rate, options, reply)
FAILING(task_sample_flush, (mach_port_t task, mach_port_t reply, uint64_t *delivered), task, reply,
	delivered)

static uint64_t now_ms(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---------------- A collector ---------------- */

static struct prof_collector_target target;
static struct prof_collector *collector;
static char *data;
static size_t size;

static kern_return_t make(void)
{
	struct balance before = balance();
	kern_return_t result = prof_collector_make(&target, &collector);

	if (result != KERN_SUCCESS) {
		EXPECT(collector == NULL);
		expect_balance(before);
	}
	return result;
}

static kern_return_t run(void)
{
	struct balance before = balance();
	kern_return_t result = prof_collector_run(collector);

	if (result != KERN_SUCCESS)
		expect_balance(before);
	return result;
}

static kern_return_t begin(void)
{
	sampled_pc_flavor_t flavors = SAMPLED_PC_PERIODIC;
	kern_return_t result = gprof_mon_switch(prof_collector_port(collector), &flavors);

	spin(SAMPLED_MS);
	return result;
}

/* Of each sample it is known what became of it; and sampling goes on. */
static kern_return_t ask(void)
{
	gprof_status_t status;
	kern_return_t result = gprof_mon_status(prof_collector_port(collector), &status);

	EXPECT_EQ(status.flavors, SAMPLED_PC_PERIODIC);
	EXPECT(prof_u64(status.taken) ==
	       prof_u64(status.delivered) + prof_u64(status.lost) + prof_u64(status.buffered));
	return result;
}

static kern_return_t dump(void)
{
	mach_msg_type_number_t bytes = 0;
	kern_return_t result = gprof_mon_dump(prof_collector_port(collector), &data, &bytes);

	size = bytes;
	if (result == KERN_SUCCESS)
		vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
	return result;
}

static kern_return_t stop(void)
{
	sampled_pc_flavor_t none = 0;

	return gprof_mon_switch(prof_collector_port(collector), &none);
}

static const struct {
	kern_return_t (*ask)(void);
	kern_return_t shortage; /* What is said then. */
} steps[] = {
	{make, KERN_RESOURCE_SHORTAGE}, {run, KERN_RESOURCE_SHORTAGE},
	{begin, GPROF_NO_SAMPLING},     {ask, KERN_SUCCESS},
	{dump, GPROF_NO_MEMORY},        {stop, KERN_SUCCESS},
};

static void take_step(unsigned n)
{
	bool was_over = has_failed();
	uint64_t before = now_ms();
	kern_return_t result = steps[n].ask();

	EXPECT_LT(now_ms(), before + AT_ONCE_MS); /* Nobody waits for what does not come. */
	if (result == KERN_SUCCESS)
		return;
	EXPECT_EQ(result, steps[n].shortage);
	EXPECT(!was_over && has_failed());
	EXPECT_EQ(steps[n].ask(), KERN_SUCCESS);
}

static void take_all(int number)
{
	collector = NULL;
	left = number;
	for (unsigned n = 0; n < sizeof steps / sizeof steps[0]; n++)
		take_step(n);
	prof_collector_end(collector);
}

/* True: a call has failed. */
static bool one_fails(int number)
{
	struct balance before = balance();

	take_all(number);
	expect_balance(before);
	return has_failed();
}

static void each_fails(const struct prof_collector_target *of)
{
	int number = 0;

	target = *of;
	take_all(0); /* What is kept for the next time is there then. */
	while (number < MOST && one_fails(number + 1) && check_failures == 0)
		number++;
	EXPECT(number > 10 && number < MOST);
}

static void test_collector(void)
{
	const struct prof_collector_target of = {.task = mach_task_self_cached(),
						 .low = 0x08048000,
						 .high = 0x08058000,
						 .owner_only = true};

	each_fails(&of);
}

/* Which is told when the task is gone. */
static void test_proxy(void)
{
	struct prof_collector_target of = {.low = 0x08048000, .high = 0x08058000};
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		for (;;)
			pause();
	}
	of.task = task_by_pid(pid);
	of.proxy = (unsigned)getpid();
	of.pid = (unsigned)pid;
	each_fails(&of);
	kill(pid, SIGKILL);
	EXPECT(waitpid(pid, &status, 0) == pid);
	mach_port_deallocate(mach_task_self_cached(), of.task);
}

/* ---------------- The program's own ---------------- */

/* What cannot be had the first time is had the second. */
static void profile_myself(int number)
{
	static char file[] = "shortage.out";
	kern_return_t result;

	left = number;
	result = gprof_start(SAMPLED_PC_PERIODIC);
	if (result != KERN_SUCCESS) {
		EXPECT(result == KERN_RESOURCE_SHORTAGE || result == GPROF_NO_SAMPLING);
		EXPECT_EQ(gprof_start(SAMPLED_PC_PERIODIC), KERN_SUCCESS);
	}
	spin(SAMPLED_MS);
	if (gprof_stop(file) != 0)
		EXPECT_EQ(gprof_stop(file), 0);
	EXPECT_EQ(unlink(file), 0);
	exit(check_failures != 0 ? 1 : has_failed() ? 0 : 2);
}

static void test_own(void)
{
	int number = 0, status = 0;

	while (number < MOST && status == 0) {
		pid_t pid = fork();

		if (pid == 0)
			profile_myself(number + 1);
		EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		number++;
	}
	EXPECT_EQ(WEXITSTATUS(status), 2); /* None is left that could fail. */
	EXPECT(number > 10);
}

int main(void)
{
	test_collector();
	test_proxy();
	test_own();
	return check_failures != 0;
}
