/* SPDX-License-Identifier: MIT */
/*
 * Two collectors at once: two processes are sampled at two rates, by one thread for both and then
 * by a thread of each.  Prints what each process has used of the CPU, in microseconds.
 */
#include <mach.h>
#include <prof/collector.h>
#include <servers/gprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include "balance.h"
#include "check_unix.h"
#include "work.h"

#define ROUNDS  80u
#define WAIT_MS 10000u

extern const char __executable_start[], etext[];

/* What a process does: for so many milliseconds this, and for so many that. */
static KEPT void left(unsigned ms)
{
	for (unsigned n = 0; n < ms * LOOPS_PER_MS; n++)
		sink += n;
}

static KEPT void right(unsigned ms)
{
	for (unsigned n = 0; n < ms * LOOPS_PER_MS; n++)
		sink += n;
}

static unsigned long used_us(void)
{
	struct rusage usage;

	EXPECT(getrusage(RUSAGE_SELF, &usage) == 0);
	return (unsigned long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
	       (unsigned long)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* A process that is sampled, and who samples it. */
struct half {
	unsigned left_ms, right_ms;
	unsigned rate;
	const char *file;
	pid_t pid;
	int start; /* A pipe's end: what is written to it lets the process go. */
	struct prof_collector *collector;
};

static void make_halves(struct half halves[2], const char *first, const char *second)
{
	halves[0] = (struct half){.left_ms = 3, .right_ms = 1, .rate = 1000, .file = first};
	halves[1] = (struct half){.left_ms = 1, .right_ms = 4, .rate = 400, .file = second};
}

static _Noreturn void work(const struct half *half, int start)
{
	unsigned long before;
	char byte;

	if (read(start, &byte, 1) != 1)
		exit(1);
	before = used_us();
	for (unsigned n = 0; n < ROUNDS; n++) {
		left(half->left_ms);
		right(half->right_ms);
	}
	printf("%s %lu\n", half->file, used_us() - before);
	fflush(stdout);
	_exit(0);
}

static void start(struct half *half)
{
	int ends[2];

	EXPECT(pipe(ends) == 0);
	half->pid = fork();
	if (half->pid == 0)
		work(half, ends[0]);
	close(ends[0]);
	half->start = ends[1];
}

static struct prof_collector *collect(const struct half *half, mach_port_t set)
{
	const struct prof_collector_target target = {.task = task_by_pid(half->pid),
						     .pid = (uint32_t)half->pid,
						     .low = (uint32_t)(uintptr_t)__executable_start,
						     .high = (uint32_t)(uintptr_t)etext,
						     .proxy = (uint32_t)getpid(),
						     .name = half->file,
						     .set = set};
	const gprof_options_t options = {.rate = half->rate};
	struct prof_collector *collector = NULL;

	EXPECT(prof_collector_make(&target, &collector) == KERN_SUCCESS);
	EXPECT(prof_collector_options(collector, &options) == KERN_SUCCESS);
	return collector;
}

static void let_go(const struct half *half)
{
	EXPECT(write(half->start, ".", 1) == 1 && close(half->start) == 0);
}

static void save(const char *path, const char *data, size_t size)
{
	FILE *file = fopen(path, "w");

	EXPECT(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
	vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
}

/* ---------------- One thread for both ---------------- */

static bool serve(struct half halves[2], mach_port_t set)
{
	union {
		mach_msg_header_t head;
		char room[PROF_MESSAGE_MAX];
	} message;

	if (mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message, set,
		     WAIT_MS, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		return false;
	/* Of two one has it. */
	return prof_collector_feed(halves[0].collector, &message.head) !=
	       prof_collector_feed(halves[1].collector, &message.head);
}

static void begin(const struct half *half)
{
	uint32_t flavors = SAMPLED_PC_PERIODIC;

	EXPECT(prof_collector_switch(half->collector, &flavors) == KERN_SUCCESS && flavors == 0);
	let_go(half);
}

static bool are_over(const struct half halves[2])
{
	return prof_collector_target_ended(halves[0].collector) &&
	       prof_collector_target_ended(halves[1].collector);
}

static void end(struct half *half)
{
	char *data = NULL;
	size_t size = 0;

	EXPECT(prof_collector_dump(half->collector, &data, &size) == KERN_SUCCESS);
	save(half->file, data, size);
	prof_collector_end(half->collector);
	EXPECT(waitpid(half->pid, NULL, 0) == half->pid);
}

static void test_one_thread(void)
{
	struct half halves[2];
	mach_port_t set = MACH_PORT_NULL;

	EXPECT(mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_PORT_SET, &set) ==
	       KERN_SUCCESS);
	make_halves(halves, "one.out", "two.out");
	for (unsigned n = 0; n < 2; n++) {
		start(&halves[n]);
		halves[n].collector = collect(&halves[n], set);
	}
	begin(&halves[0]);
	begin(&halves[1]);
	while (!are_over(halves) && serve(halves, set))
		continue;
	EXPECT(are_over(halves));
	end(&halves[0]);
	end(&halves[1]);
	mach_port_destroy(mach_task_self_cached(), set);
}

/* ---------------- A thread of each ---------------- */

/* Its counts are asked for by a message; when it has ended, all it took has been counted. */
static void end_by_request(const struct half *half)
{
	mach_port_t port = prof_collector_port(half->collector);
	mach_msg_type_number_t size = 0;
	gprof_status_t status;
	char *data = NULL;

	EXPECT(gprof_mon_status(port, &status) == KERN_SUCCESS);
	EXPECT(status.pid == (unsigned)half->pid && status.rate == half->rate);
	EXPECT(waitpid(half->pid, NULL, 0) == half->pid);
	EXPECT(gprof_mon_dump(port, &data, &size) == KERN_SUCCESS);
	save(half->file, data, size);
	prof_collector_end(half->collector);
}

static void test_two_threads(const char *first, const char *second)
{
	struct half halves[2];

	make_halves(halves, first, second);
	for (unsigned n = 0; n < 2; n++) {
		uint32_t flavors = SAMPLED_PC_PERIODIC;

		start(&halves[n]);
		halves[n].collector = collect(&halves[n], MACH_PORT_NULL);
		EXPECT(prof_collector_run(halves[n].collector) == KERN_SUCCESS);
		EXPECT(prof_collector_run(halves[n].collector) == KERN_INVALID_ARGUMENT);
		EXPECT(gprof_mon_switch(prof_collector_port(halves[n].collector), &flavors) ==
		       KERN_SUCCESS);
	}
	let_go(&halves[0]);
	let_go(&halves[1]);
	end_by_request(&halves[0]);
	end_by_request(&halves[1]);
}

/* ---------------- What is not left, and what is refused ---------------- */

/* All that two collectors had, while they sampled, is given back. */
static void test_ends(void)
{
	const struct prof_collector_target target = {.task = mach_task_self_cached(),
						     .low = (uint32_t)(uintptr_t)__executable_start,
						     .high = (uint32_t)(uintptr_t)etext};
	struct balance before = {0};

	for (unsigned n = 0; n < 5; n++) {
		struct prof_collector *one = NULL, *other = NULL;
		uint32_t flavors = SAMPLED_PC_PERIODIC;

		if (n == 1) /* What is kept for the next time is there now. */
			before = balance();
		EXPECT(prof_collector_make(&target, &one) == KERN_SUCCESS);
		EXPECT(prof_collector_make(&target, &other) == KERN_SUCCESS);
		EXPECT(prof_collector_run(other) == KERN_SUCCESS);
		EXPECT(prof_collector_switch(one, &flavors) == KERN_SUCCESS);
		flavors = SAMPLED_PC_PERIODIC;
		EXPECT(gprof_mon_switch(prof_collector_port(other), &flavors) == KERN_SUCCESS);
		spin(3);
		prof_collector_end(one);
		prof_collector_end(other);
	}
	expect_balance(before);
}

static kern_return_t begin_nothing(void *context, uint32_t flavors, uint32_t rate,
				   sample_options_t options, mach_port_t reply)
{
	(void)context, (void)flavors, (void)rate, (void)options, (void)reply;
	return KERN_SUCCESS;
}

static void test_refusals(void)
{
	struct prof_collector_target target = {.task = mach_task_self_cached(),
					       .counts_calls = true};
	struct prof_collector *collector = NULL, *second = NULL;
	struct balance before;

	EXPECT(prof_collector_make(&target, &collector) == KERN_SUCCESS);
	before = balance();
	EXPECT(prof_collector_make(&target, &second) == KERN_NAME_EXISTS && second == NULL);
	EXPECT(balance().names == before.names && balance().bytes == before.bytes);
	target = (struct prof_collector_target){.begin = begin_nothing};
	EXPECT(prof_collector_make(&target, &second) == KERN_INVALID_ARGUMENT);
	prof_collector_end(collector);
}

int main(void)
{
	test_one_thread();
	test_two_threads("three.out", "four.out");
	test_ends();
	test_refusals();
	return check_failures != 0;
}
