/* SPDX-License-Identifier: MIT */
/*
 * Samples of a process whose program changes: they end with the program, and those of the next one
 * can begin with its first instruction.
 *
 * guest: limit=30
 * guest: cpus=2 seed=1 limit=30
 */
#include <mach.h>
#include <mach/prof.h>
#include <mach/prof_catch.h>
#include <signal.h>
#include <sys/ux.h>

#include "help.h"

#define SELF "/tmp/sampled_exec"

enum {
	TURNS = 3000000,
	RATE = 5000,
	WAIT_MS = 10000
};

/* Where samples of the one program and of the other may be, while they compute. */
static __attribute__((noinline)) void compute_before(void)
{
	for (volatile int n = 0; n < TURNS; n++)
		continue;
}

static __attribute__((noinline)) void compute_after(void)
{
	for (volatile int n = 0; n < TURNS; n++)
		continue;
}

__attribute__((constructor)) static void play_role(void)
{
	if (getenv(ROLE) == NULL)
		return;
	compute_after();
	_exit(7);
}

static struct seen {
	unsigned samples, before, after;
	uint32_t task;   /* Of all samples, or 0. */
	uint32_t first;  /* The first sample's pc. */
	uint32_t reason; /* Of the end; 0: there was none yet. */
	uint64_t taken, delivered, lost, buffered;
} seen;

static bool is_in(uint32_t pc, void (*function)(void))
{
	return pc >= (uintptr_t)function && pc < (uintptr_t)function + 64;
}

static void see_sample(const struct prof_sample *sample)
{
	if (seen.samples++ == 0) {
		seen.first = sample->pc;
		seen.task = sample->task;
	}
	EXPECT_EQ(sample->task, seen.task);
	seen.before += is_in(sample->pc, compute_before);
	seen.after += is_in(sample->pc, compute_after);
}

static void see(const struct prof_record *record)
{
	const struct prof_stream *stream = (const void *)record;

	switch (record->type) {
	case PROF_SAMPLE:
		see_sample((const void *)record);
		break;
	case PROF_STREAM:
		seen.taken = prof_u64(stream->taken);
		seen.delivered = prof_u64(stream->delivered);
		seen.lost = prof_u64(stream->lost);
		seen.buffered = prof_u64(stream->buffered);
		break;
	case PROF_END:
		seen.reason = ((const struct prof_end *)record)->reason;
		break;
	}
}

kern_return_t receive_samples(mach_port_t port, sample_array_t words, mach_msg_type_number_t count)
{
	(void)port;
	for (mach_msg_type_number_t at = 0; at < count;) {
		const struct prof_record *record = (const void *)(words + at);

		see(record);
		at += record->words;
	}
	vm_deallocate(mach_task_self(), (vm_address_t)words, count * sizeof *words);
	return KERN_SUCCESS;
}

static void receive_all(mach_port_t port)
{
	union {
		mach_msg_header_t head;
		char room[256];
	} message, reply;

	while (seen.reason == 0 &&
	       mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message, port,
			WAIT_MS, MACH_PORT_NULL) == MACH_MSG_SUCCESS)
		EXPECT(prof_server(&message.head, &reply.head));
}

static mach_port_t begin(pid_t pid, unsigned flavors)
{
	mach_port_t port = mach_reply_port(), task = task_by_pid(pid);
	sample_options_t options = {.flags = 0};

	EXPECT(task != MACH_PORT_NULL);
	EXPECT_EQ(mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND), 0);
	EXPECT_EQ(task_sample_start(task, flavors, RATE, options, port), KERN_SUCCESS);
	mach_port_deallocate(mach_task_self(), task);
	return port;
}

static bool has_stopped(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
}

static void check_balance(void)
{
	EXPECT_EQ(seen.reason, PROF_END_TARGET);
	EXPECT_EQ(seen.taken, seen.delivered + seen.lost + seen.buffered);
	EXPECT_EQ(seen.buffered, 0);
	EXPECT_EQ(seen.lost, 0);
	EXPECT_EQ(seen.delivered, seen.samples);
}

/*
 * The child computes, executes itself, and computes elsewhere; only the first is of its old task.
 */
TEST(samples_end_with_the_program)
{
	pid_t pid = fork();
	mach_port_t port;

	if (pid == 0) {
		raise(SIGSTOP);
		compute_before();
		setenv(ROLE, "after", 1);
		execl(SELF, SELF, (char *)NULL);
		_exit(99);
	}
	REQUIRE(has_stopped(pid));
	port = begin(pid, SAMPLED_PC_PERIODIC);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), W_EXITCODE(7, 0));
	receive_all(port);
	check_balance();
	EXPECT(seen.before > 20);
	EXPECT_EQ(seen.after, 0);
}

static pid_t execute_stopped(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		ux_stop_at_exec();
		setenv(ROLE, "after", 1);
		execl(SELF, SELF, (char *)NULL);
		_exit(99);
	}
	return pid;
}

void _start(void);

/* Its first instruction is not in memory, or not in its page tables: that is the first event. */
TEST(samples_begin_with_the_first_instruction)
{
	pid_t pid = execute_stopped();
	mach_port_t port;

	REQUIRE(has_stopped(pid));
	port = begin(pid, SAMPLED_PC_VM_FAULTS_ANY);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), W_EXITCODE(7, 0));
	receive_all(port);
	check_balance();
	EXPECT_EQ(seen.first, (uintptr_t)_start);
}

TEST(all_of_a_program_is_sampled)
{
	pid_t pid = execute_stopped();
	mach_port_t port;

	REQUIRE(has_stopped(pid));
	port = begin(pid, SAMPLED_PC_PERIODIC);
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(status_of(pid), W_EXITCODE(7, 0));
	receive_all(port);
	check_balance();
	EXPECT(seen.after > 20);
	EXPECT_EQ(seen.before, 0);
}
