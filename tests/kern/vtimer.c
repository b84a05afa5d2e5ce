/* SPDX-License-Identifier: MIT */
/*
 * Virtual timers: what they count, whom they tell, and that no expiry is lost or told twice, also
 * when the thread is stopped and aborted all the time, is long in the kernel, or ends there.
 *
 * The threads are those of a child; the test is its handler.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=5 when=nightly
 */
#include <mach/profil.h>

#include "block.h"
#include "check.h"
#include "ipc.h"

#define TICK_US 10000u
#define TICK_MS 10u

#define RIGHTS   262144u /* In one message: destroying it takes a tick. */
#define MESSAGES 5

static mach_port_t child, handler;

static uint32_t n_cpus(void)
{
	struct assay_cpu_info info = {0};

	assay_cpu_info(&info);
	return info.cpus;
}

/* exception_raise(), as it is received. */
static struct {
	mach_msg_header_t head;
	uint32_t thread_type, thread;
	uint32_t task_type, task;
	uint32_t exception_type, exception;
	uint32_t code_type, code;
	uint32_t subcode_type, subcode;
	uint32_t room[16];
} told;

/* What the test's own memory needs once is there before anything is counted. */
static void warm_up(void)
{
	static bool warm;

	if (warm)
		return;
	warm = true;
	child = child_new();
	memset(&told, 1, sizeof told);
	child_end(child);
	balance_note();
}

static void begin(void)
{
	warm_up();
	handler = port_new_with_send();
	child = child_new();
	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, handler), KERN_SUCCESS);
}

static void end(void)
{
	child_end(child);
	port_destroy(handler);
}

static void set(int which, uint32_t value, uint32_t interval)
{
	EXPECT_EQ(task_vtimer_set(child, which, value, interval), KERN_SUCCESS);
}

static uint64_t elapsed(int which)
{
	uint64_t elapsed = 0, remaining;

	EXPECT_EQ(task_vtimer_update(child, which, &elapsed, &remaining), KERN_SUCCESS);
	return elapsed;
}

static uint64_t remaining(int which)
{
	uint64_t elapsed, remaining = 0;

	EXPECT_EQ(task_vtimer_update(child, which, &elapsed, &remaining), KERN_SUCCESS);
	return remaining;
}

/* Receives an exception, and drops its rights but for the one to answer by. */
static bool get(uint32_t limit)
{
	memset(&told, 0, sizeof told);
	if (mach_msg(&told.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof told, handler, limit,
		     MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		return false;
	port_drop_send(told.thread);
	port_drop_send(told.task);
	EXPECT_EQ(told.task, child);
	return EXPECT_EQ(told.exception, EXC_SOFTWARE);
}

/* The thread may have been aborted meanwhile: then nobody waits for the answer. */
static void answer(kern_return_t result)
{
	struct message reply;
	mach_port_t port = told.head.msgh_remote_port;

	if (port == MACH_PORT_DEAD)
		return;
	if (port_type(port) == MACH_PORT_TYPE_DEAD_NAME) {
		port_drop_send(port);
		return;
	}
	message_head(&reply, port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0, 2500);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = (uint32_t)result;
	EXPECT_EQ(message_post(&reply, 2), MACH_MSG_SUCCESS);
}

/* ---------------- What the child does ---------------- */

void spin_begin(void);
void spin_end(void);

__asm__(".text\n"
	"spin_begin: " NOPS_TEXT(250) "jmp spin_begin\n"
				      "spin_end: nop\n");

static void spin(uint32_t unused)
{
	(void)unused;
	spin_begin();
}

static void wait_for_ever(uint32_t unused)
{
	(void)unused;
	for (;;)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, LONG_WAIT);
}

static mach_port_t start(uint32_t stack, void (*run)(uint32_t))
{
	return child_start(child, stack, run, 0);
}

static uint32_t pc_of(mach_port_t thread)
{
	struct i386_thread_state state = {0};
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

	EXPECT_EQ(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count),
		  KERN_SUCCESS);
	return state.eip;
}

/* ---------------- Setting ---------------- */

/* Nothing runs in the child, so nothing goes on. */
TEST(times_are_rounded_up)
{
	static const struct {
		uint64_t value, remaining;
	} cases[] = {
		{0, 0},
		{1, TICK_US},
		{TICK_US, TICK_US},
		{TICK_US + 1, 2 * TICK_US},
		{3600000000ull * 24, 3600000000ull * 24},
		{~0ull, 0xffffffffull * TICK_US},
	};

	begin();
	for (uint32_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
		EXPECT_EQ(task_vtimer_set(child, TASK_VTIMER_PROF, cases[n].value, 0),
			  KERN_SUCCESS);
		EXPECT_EQ(remaining(TASK_VTIMER_PROF), cases[n].remaining);
		EXPECT_EQ(elapsed(TASK_VTIMER_PROF), 0);
		EXPECT_EQ(remaining(TASK_VTIMER_VIRTUAL), 0);
	}
	EXPECT_EQ(task_vtimer_clear(child, TASK_VTIMER_PROF), KERN_SUCCESS);
	EXPECT_EQ(remaining(TASK_VTIMER_PROF), 0);
	set(TASK_VTIMER_VIRTUAL, 1, 1);
	end();
}

TEST(what_makes_no_sense)
{
	mach_port_t thread = mach_thread_self();
	uint64_t one, other;

	begin();
	EXPECT_EQ(task_vtimer_set(child, -1, 1, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_vtimer_set(child, TASK_VTIMERS, 1, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_vtimer_clear(child, TASK_VTIMERS), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_vtimer_update(child, TASK_VTIMERS, &one, &other), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_vtimer_set(thread, TASK_VTIMER_PROF, 1, 0), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(task_vtimer_update(thread, TASK_VTIMER_PROF, &one, &other),
		  KERN_INVALID_ARGUMENT);
	port_drop_send(thread);
	end();
}

/* ---------------- Who is told what ---------------- */

/* The thread waits for an answer() then. */
static bool expect_waiting(mach_port_t thread, uint32_t code, uint32_t expiries)
{
	if (!EXPECT(get(LONG_WAIT)))
		return false;
	EXPECT_EQ(told.thread, thread);
	EXPECT_EQ(told.code, code);
	/* A CPU that was parked may be charged two ticks at once. */
	if (n_cpus() == 1 || told.subcode != expiries + 1)
		EXPECT_EQ(told.subcode, expiries);
	EXPECT_LE((uint32_t)spin_begin, pc_of(thread));
	EXPECT_LT(pc_of(thread), (uint32_t)spin_end);
	return true;
}

static void expect_told(mach_port_t thread, uint32_t code, uint32_t expiries)
{
	if (expect_waiting(thread, code, expiries))
		answer(KERN_SUCCESS);
}

TEST(once)
{
	mach_port_t thread;

	begin();
	set(TASK_VTIMER_PROF, 3 * TICK_US, 0);
	thread = start(0, spin);
	expect_told(thread, EXC_VTIMER_PROF, 1);
	EXPECT_EQ(elapsed(TASK_VTIMER_PROF), 3 * TICK_US);
	EXPECT_EQ(remaining(TASK_VTIMER_PROF), 0);
	EXPECT(!get(5 * TICK_MS));
	port_drop_send(thread);
	end();
}

/* A first time and an interval of its own; and whatever the handler answers, the thread goes on. */
TEST(again_and_again)
{
	mach_port_t thread;
	uint32_t ticks;

	begin();
	set(TASK_VTIMER_VIRTUAL, 2 * TICK_US, 3 * TICK_US);
	thread = start(0, spin);
	for (uint32_t n = 0; n < 4; n++) {
		if (!expect_waiting(thread, EXC_VTIMER_VIRTUAL, 1))
			break;
		ticks = (uint32_t)elapsed(TASK_VTIMER_VIRTUAL) / TICK_US;
		/* A CPU that was parked may be charged two ticks at once. */
		EXPECT(ticks == 2 + 3 * n || (n_cpus() > 1 && ticks == 3 + 3 * n));
		answer(n % 2 == 0 ? KERN_SUCCESS : KERN_FAILURE);
	}
	expect_told(thread, EXC_VTIMER_VIRTUAL, 1);
	EXPECT_EQ(task_vtimer_clear(child, TASK_VTIMER_VIRTUAL), KERN_SUCCESS);
	EXPECT(!get(5 * TICK_MS));
	port_drop_send(thread);
	end();
}

/* Both at the same tick are two exceptions of the same thread, at the same place. */
TEST(both_timers)
{
	mach_port_t thread;

	begin();
	set(TASK_VTIMER_VIRTUAL, TICK_US, 0);
	set(TASK_VTIMER_PROF, TICK_US, 0);
	thread = start(0, spin);
	expect_told(thread, EXC_VTIMER_VIRTUAL, 1);
	expect_told(thread, EXC_VTIMER_PROF, 1);
	EXPECT(!get(3 * TICK_MS));
	port_drop_send(thread);
	end();
}

TEST(who_sleeps_is_never_told)
{
	mach_port_t sleepers[2], thread;

	begin();
	sleepers[0] = start(0, wait_for_ever);
	sleepers[1] = start(1, wait_for_ever);
	sleep_ms(SHORT_WAIT);
	set(TASK_VTIMER_PROF, TICK_US, TICK_US);
	thread = start(2, spin);
	for (uint32_t n = 0; n < 20 && EXPECT(get(LONG_WAIT)); n++) {
		EXPECT_EQ(told.thread, thread);
		answer(KERN_SUCCESS);
	}
	port_drop_send(sleepers[0]);
	port_drop_send(sleepers[1]);
	port_drop_send(thread);
	end();
}

/* Nobody listens: the task goes on. */
TEST(without_a_handler)
{
	mach_port_t thread;

	begin();
	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, MACH_PORT_NULL), KERN_SUCCESS);
	set(TASK_VTIMER_PROF, TICK_US, TICK_US);
	thread = start(0, spin);
	while (elapsed(TASK_VTIMER_PROF) < 5 * TICK_US && !check_failed())
		swtch();
	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, handler), KERN_SUCCESS);
	expect_told(thread, EXC_VTIMER_PROF, 1);
	port_drop_send(thread);
	end();
}

/* ---------------- What is counted ---------------- */

#define LONG_US 10000000u

static void run_for(void (*run)(uint32_t), uint32_t ticks)
{
	mach_port_t thread;

	begin();
	set(TASK_VTIMER_VIRTUAL, LONG_US, 0);
	set(TASK_VTIMER_PROF, LONG_US, 0);
	thread = start(0, run);
	while (elapsed(TASK_VTIMER_PROF) < ticks * TICK_US && !check_failed())
		swtch();
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(elapsed(TASK_VTIMER_PROF) + remaining(TASK_VTIMER_PROF), LONG_US);
	port_drop_send(thread);
}

TEST(user_mode_counts_for_both)
{
	run_for(spin, 10);
	EXPECT_EQ(elapsed(TASK_VTIMER_VIRTUAL), elapsed(TASK_VTIMER_PROF));
	end();
}

/* ---------------- Long in the kernel ---------------- */

/* A port in whose queue there is so much that to destroy it takes several ticks. */
static mach_port_t port_with_much(void)
{
	static mach_port_t rights[RIGHTS];
	mach_port_t port = port_new_with_send();
	struct message message;

	for (uint32_t n = 0; n < RIGHTS; n++)
		rights[n] = port;
	for (uint32_t n = 0; n < MESSAGES; n++) {
		message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
		message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
		message.body[0] = TYPE_FAR(0, 0, 0) | TYPE_LONG;
		message.body[1] = MACH_MSG_TYPE_COPY_SEND | 32 << 16;
		message.body[2] = RIGHTS;
		message.body[3] = (uint32_t)rights;
		EXPECT_EQ(message_post(&message, 4), MACH_MSG_SUCCESS);
	}
	return port;
}

static void be_in_the_kernel(uint32_t unused)
{
	(void)unused;
	mach_forget_names();
	for (;;)
		mach_port_destroy(mach_task_self(), port_with_much());
}

TEST(the_kernel_counts_for_one)
{
	run_for(be_in_the_kernel, 20);
	EXPECT_LT(elapsed(TASK_VTIMER_VIRTUAL), elapsed(TASK_VTIMER_PROF));
	end();
}

static void destroy_much(uint32_t unused)
{
	mach_port_t port;

	(void)unused;
	mach_forget_names();
	port = port_with_much();
	task_vtimer_set(mach_task_self(), TASK_VTIMER_PROF, TICK_US, TICK_US);
	mach_port_destroy(mach_task_self(), port);
	task_vtimer_set(mach_task_self(), TASK_VTIMER_PROF, LONG_US, 0);
	wait_for_ever(0);
}

TEST(several_expiries_are_told_at_once)
{
	mach_port_t thread;
	uint32_t most = 0;

	begin();
	thread = start(0, destroy_much);
	while (most < 2 && EXPECT(get(LONG_WAIT))) {
		EXPECT_EQ(told.thread, thread);
		if (told.subcode > most)
			most = told.subcode;
		answer(KERN_SUCCESS);
	}
	port_drop_send(thread);
	end();
}

static void end_with_much(uint32_t unused)
{
	mach_port_t port;

	(void)unused;
	mach_forget_names();
	port = port_with_much();
	sleep_ms(1); /* To a tick: the next is not to come before it has ended. */
	task_vtimer_set(mach_task_self(), TASK_VTIMER_PROF, TICK_US, 0);
	thread_terminate_release(mach_thread_self(), mach_task_self(), MACH_PORT_NULL, port, 0, 0);
}

/* What has ended before it could tell has its expiry told by another. */
TEST(an_expiry_is_passed_on)
{
	mach_port_t thread;

	begin();
	thread = start(0, end_with_much);
	for (uint32_t n = 0; n < 1000 && port_type(thread) != MACH_PORT_TYPE_DEAD_NAME; n++)
		sleep_ms(10);
	port_drop_send(thread);
	EXPECT_EQ(elapsed(TASK_VTIMER_PROF), TICK_US);
	EXPECT_EQ(remaining(TASK_VTIMER_PROF), 0);
	EXPECT(!get(0));
	thread = start(1, spin);
	expect_told(thread, EXC_VTIMER_PROF, 1);
	EXPECT(!get(3 * TICK_MS));
	port_drop_send(thread);
	end();
}

TEST(an_expiry_is_nobodys)
{
	mach_port_t thread;

	begin();
	thread = start(0, end_with_much);
	for (uint32_t n = 0; n < 1000 && port_type(thread) != MACH_PORT_TYPE_DEAD_NAME; n++)
		sleep_ms(10);
	port_drop_send(thread);
	end();
}

/* ---------------- A histogram beside it ---------------- */

/*
 * What a timer tells is told after the histogram is paid (<mach/profil.h>): a thread that has to
 * tell of two ticks at once has paid for both.
 */
TEST(two_ticks_are_two_in_the_histogram)
{
	extern const char __executable_start[];
	vm_address_t bins = 0;
	bool once = false, twice = n_cpus() == 1;
	mach_port_t thread;

	begin();
	EXPECT_EQ(vm_allocate(child, &bins, PAGE_SIZE, TRUE), KERN_SUCCESS);
	/* All code in one bin or two. */
	EXPECT_EQ(task_profil(child, bins, PAGE_SIZE, (vm_offset_t)__executable_start, 2, FALSE),
		  KERN_SUCCESS);
	set(TASK_VTIMER_VIRTUAL, TICK_US, TICK_US);
	thread = start(0, spin);
	for (uint32_t n = 0; n < 100 && !(once && twice) && EXPECT(get(LONG_WAIT)); n++) {
		once |= told.subcode == 1;
		twice |= told.subcode == 2;
		EXPECT_EQ((word_in(child, bins) & 0xffff) + (word_in(child, bins) >> 16),
			  (uint32_t)elapsed(TASK_VTIMER_VIRTUAL) / TICK_US);
		answer(KERN_SUCCESS);
	}
	EXPECT(once && twice);
	port_drop_send(thread);
	end();
}

/* ---------------- Stopped and aborted ---------------- */

/*
 * Answers nobody for a while, so that the queue is full and telling has to wait too.  In the end
 * each tick of both threads has been told.
 */
TEST(nothing_is_lost_by_abort)
{
	mach_port_t threads[2];
	uint64_t sum = 0;

	begin();
	EXPECT_EQ(mach_port_set_qlimit(mach_task_self(), handler, 1), KERN_SUCCESS);
	set(TASK_VTIMER_PROF, TICK_US, TICK_US);
	threads[0] = start(0, spin);
	threads[1] = start(1, spin);
	for (uint32_t n = 0; n < 150; n++) {
		mach_port_t thread = threads[n % 2];

		sleep_ms(n % 3);
		EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
		EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
		while (n % 8 == 0 && get(0)) {
			sum += told.subcode;
			answer(KERN_SUCCESS);
		}
	}
	set(TASK_VTIMER_VIRTUAL, LONG_US, 0);
	while (elapsed(TASK_VTIMER_VIRTUAL) < 2 * TICK_US ||
	       sum * TICK_US < elapsed(TASK_VTIMER_PROF)) {
		if (!EXPECT(get(LONG_WAIT)))
			break;
		sum += told.subcode;
		answer(KERN_SUCCESS);
	}
	EXPECT_LE(sum * TICK_US, elapsed(TASK_VTIMER_PROF));
	port_drop_send(threads[0]);
	port_drop_send(threads[1]);
	end();
}
