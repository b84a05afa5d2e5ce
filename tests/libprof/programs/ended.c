/* SPDX-License-Identifier: MIT */
/* Samples another process, as a proxy does, which has ended when it is asked for something. */
#include <mach.h>
#include <prof/collector.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_unix.h"
#include "work.h"

#define WAIT_MS 10000u

#define LOW  0x08048000u /* Where programs lie. */
#define HIGH 0x08058000u

static pid_t start_target(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			spin(1);
	}
	return pid;
}

static void end_target(pid_t pid)
{
	int status = 0;

	EXPECT(kill(pid, SIGKILL) == 0);
	EXPECT(waitpid(pid, &status, 0) == pid);
}

static struct prof_collector *collector;

static void prepare(pid_t pid)
{
	const struct prof_collector_target target = {.task = task_by_pid(pid),
						     .pid = (uint32_t)pid,
						     .low = LOW,
						     .high = HIGH,
						     .proxy = (uint32_t)getpid()};

	EXPECT(prof_collector_make(&target, &collector) == KERN_SUCCESS);
}

/* What is to be sampled is not there any more. */
static void begin_too_late(void)
{
	uint32_t flavors = SAMPLED_PC_PERIODIC;
	pid_t pid = start_target();

	prepare(pid);
	end_target(pid);
	EXPECT(prof_collector_switch(collector, &flavors) == GPROF_ENDED);
	EXPECT(!prof_collector_target_ended(collector));
	EXPECT(prof_collector_serve(collector, WAIT_MS) == KERN_SUCCESS);
	EXPECT(prof_collector_target_ended(collector));
}

/* What it took until it ended is in the file, and nobody waits for more. */
static void dump_after_the_end(void)
{
	uint32_t flavors = SAMPLED_PC_PERIODIC;
	pid_t pid = start_target();
	gprof_status_t status;
	unsigned taken;
	char *data = NULL;
	size_t size = 0;

	prepare(pid);
	EXPECT(prof_collector_switch(collector, &flavors) == KERN_SUCCESS);
	spin(10);
	usleep(10000);
	end_target(pid);
	EXPECT(prof_collector_dump(collector, &data, &size) == KERN_SUCCESS && size != 0);
	EXPECT(prof_collector_target_ended(collector));
	prof_collector_status(collector, &status);
	EXPECT(status.flavors == 0 && prof_u64(status.taken) >= 5);
	EXPECT(prof_u64(status.buffered) == 0 && prof_u64(status.lost) == 0);
	taken = status.taken[0];
	flavors = SAMPLED_PC_PERIODIC;
	EXPECT(prof_collector_switch(collector, &flavors) == GPROF_ENDED);
	prof_collector_status(collector, &status);
	EXPECT(status.taken[0] == taken);
}

/* A process has one collector. */
static void in_a_child(void (*run)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		run();
		exit(check_failures);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void)
{
	in_a_child(begin_too_late);
	in_a_child(dump_after_the_end);
	return check_failures;
}
