/* SPDX-License-Identifier: MIT */
/*
 * Turns go round by owner: who has twenty threads that compute has no more of the CPU than who has
 * one, and who wakes in its owner's turn does not wait for any of them.
 *
 * machine: cpus=1 ns=8 arguments="${host-port}"
 * machine: cpus=2 ns=8 seed=1 arguments="${host-port}"
 */
#include <stdnoreturn.h>

#include <mach/owner.h>

#include "check.h"
#include "ipc.h"

#define ALICE   100 /* Numbers of owners that pay for nothing else. */
#define BOB     200
#define MANY    20
#define RUN_MS  1000
#define LATE_MS 6 /* The half of a tick, by which one may come early or late, and a little more. */
#define SOON_MS 100
#define HALF    (RUN_MS * 2 / 5)

#define PORT_OF_CHILD 0x4321 /* By what name tasks have it that ask. */

#define NANOS_PER_MS 1000000u
#define STACK_WORDS  256

/* What the tasks share: written by one thread each. */
struct worker {
	volatile uint32_t had;    /* Milliseconds in which it ran. */
	volatile uint32_t latest; /* Nanoseconds that it woke late, at most. */
	uint32_t stack[STACK_WORDS];
};

static struct shared {
	volatile uint32_t stop;
	struct worker workers[2 * MANY];
} * shared;

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

/* Of 1024 * 1024 nanoseconds. */
static uint32_t now_ms(void)
{
	return (uint32_t)(now() >> 20);
}

static noreturn void finish(void)
{
	thread_terminate(mach_thread_self());
	for (;;)
		continue;
}

/* Counts the milliseconds that it sees begin. */
static noreturn void compute(uint32_t number)
{
	uint32_t ms = now_ms();

	while (!shared->stop) {
		uint32_t next = now_ms();

		if (next - ms == 1)
			shared->workers[number].had++;
		ms = next;
	}
	finish();
}

/* Sleeps, which ends with the second tick from now at the latest, and does next to nothing. */
static noreturn void sleep_often(uint32_t number)
{
	struct worker *worker = &shared->workers[number];

	while (!shared->stop) {
		uint64_t before = now();
		uint32_t passed;

		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, 1);
		passed = (uint32_t)(now() - before);
		if (passed > 20 * NANOS_PER_MS && passed - 20 * NANOS_PER_MS > worker->latest)
			worker->latest = passed - 20 * NANOS_PER_MS;
		worker->had++;
	}
	finish();
}

static noreturn void give_way(uint32_t number)
{
	while (!shared->stop) {
		swtch();
		shared->workers[number].had++;
	}
	finish();
}

static void start(mach_port_t task, uint32_t number, void (*run)(uint32_t))
{
	uint32_t *top = &shared->workers[number].stack[STACK_WORDS - 4];
	struct i386_thread_state state = {.eip = (uint32_t)run, .uesp = (uint32_t)top};
	mach_port_t thread = MACH_PORT_NULL;

	top[1] = number;
	EXPECT_EQ(thread_create(task, &thread), KERN_SUCCESS);
	EXPECT_EQ(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
				   i386_THREAD_STATE_COUNT),
		  KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	mach_port_deallocate(mach_task_self(), thread);
}

/* A task of `owner` with `n` threads that have numbers from `first` on. */
static mach_port_t start_task(unsigned owner, uint32_t first, uint32_t n, void (*run)(uint32_t))
{
	mach_port_t task = MACH_PORT_NULL;

	EXPECT_EQ(task_create(mach_task_self(), true, &task), KERN_SUCCESS);
	EXPECT_EQ(task_set_owner(check_number(0), task, owner), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++)
		start(task, first + i, run);
	return task;
}

static void prepare(void)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(mach_task_self(), &address, sizeof *shared, true), KERN_SUCCESS);
	EXPECT_EQ(vm_inherit(mach_task_self(), address, sizeof *shared, VM_INHERIT_SHARE),
		  KERN_SUCCESS);
	shared = (struct shared *)address;
}

static void end_task(mach_port_t task)
{
	EXPECT_EQ(task_terminate(task), KERN_SUCCESS);
	mach_port_deallocate(mach_task_self(), task);
}

static void finish_all(mach_port_t one, mach_port_t other)
{
	shared->stop = true;
	end_task(one);
	end_task(other);
	vm_deallocate(mach_task_self(), (vm_address_t)shared, sizeof *shared);
}

static uint32_t had(uint32_t first, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += shared->workers[first + i].had;
	return sum;
}

TEST(twenty_threads_of_one_owner_have_no_more_than_one_of_another)
{
	mach_port_t alice, bob;

	prepare();
	alice = start_task(ALICE, 0, MANY, compute);
	bob = start_task(BOB, MANY, 1, compute);
	sleep_ms(RUN_MS);
	print("# twenty had %u ms, the other %u\n", had(0, MANY), had(MANY, 1));
	EXPECT_LE(HALF, had(MANY, 1));
	EXPECT_LE(HALF, had(0, MANY));
	finish_all(alice, bob);
}

TEST(so_have_twenty_of_each)
{
	mach_port_t alice, bob;

	prepare();
	alice = start_task(ALICE, 0, MANY, compute);
	bob = start_task(BOB, MANY, MANY, compute);
	sleep_ms(RUN_MS);
	print("# the ones had %u ms, the others %u\n", had(0, MANY), had(MANY, MANY));
	EXPECT_LE(HALF, had(0, MANY));
	EXPECT_LE(HALF, had(MANY, MANY));
	finish_all(alice, bob);
}

TEST(who_wakes_does_not_wait_for_the_turns_of_twenty)
{
	mach_port_t alice, bob;

	prepare();
	alice = start_task(ALICE, 0, MANY, compute);
	bob = start_task(BOB, MANY, 1, sleep_often);
	sleep_ms(RUN_MS);
	print("# woke %u times, %u us late at most\n", had(MANY, 1),
	      shared->workers[MANY].latest / 1000);
	EXPECT_LE(RUN_MS / 25, had(MANY, 1));
	EXPECT_LE(shared->workers[MANY].latest, LATE_MS * NANOS_PER_MS);
	finish_all(alice, bob);
}

/* Sleepers are paid for together: each would be first among those that compute. */
static noreturn void compute_and_sleep(uint32_t number)
{
	uint32_t ms = now_ms(), ran = 0;

	while (!shared->stop) {
		uint32_t next = now_ms();

		if (next - ms == 1) {
			shared->workers[number].had++;
			ran++;
		}
		if (ran == 5) {
			ran = 0;
			thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, 1);
			next = now_ms();
		}
		ms = next;
	}
	finish();
}

TEST(twenty_that_wake_in_turn_have_no_more)
{
	mach_port_t alice, bob;

	prepare();
	alice = start_task(ALICE, 0, MANY, compute_and_sleep);
	bob = start_task(BOB, MANY, 1, compute);
	sleep_ms(RUN_MS);
	print("# twenty had %u ms, the other %u\n", had(0, MANY), had(MANY, 1));
	EXPECT_LE(HALF, had(MANY, 1));
	finish_all(alice, bob);
}

/* Who yields lets others run, also if all that waits of its owner's is itself. */
TEST(who_yields_is_behind_other_owners)
{
	mach_port_t alice, bob;

	prepare();
	alice = start_task(ALICE, 0, 1, give_way);
	bob = start_task(BOB, 1, 1, compute);
	sleep_ms(RUN_MS);
	print("# it yielded %u times, the other had %u ms\n", had(0, 1), had(1, 1));
	EXPECT_LE(HALF, had(1, 1));
	EXPECT_LT(0, had(0, 1));
	finish_all(alice, bob);
}

/* The owner changes while threads wait in its groups, and is gone with that. */
TEST(threads_that_wait_go_along_to_another_owner)
{
	mach_port_t alice, bob;

	prepare();
	alice = start_task(ALICE, 0, MANY, compute);
	bob = start_task(BOB, MANY, 1, compute);
	for (unsigned n = 0; n < 20; n++) {
		EXPECT_EQ(task_set_owner(check_number(0), alice, n % 2 ? ALICE : ALICE + 1),
			  KERN_SUCCESS);
		sleep_ms(20);
	}
	EXPECT_LT(0, had(0, MANY));
	EXPECT_LT(0, had(MANY, 1));
	finish_all(alice, bob);
}

/* Asks the port that it has by its number. */
static noreturn void ask_and_compute(uint32_t number)
{
	mach_port_t answers = mach_reply_port();
	mach_msg_header_t head = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE),
		.msgh_remote_port = PORT_OF_CHILD,
		.msgh_local_port = answers,
		.msgh_id = (mach_msg_id_t)number,
	};

	if (mach_msg(&head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof head, sizeof head, answers,
		     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		finish();
	compute(number);
}

/* Makes whoever asks ALICE's, answers, and waits for the next, as a server does at setuid(). */
static void give_to_alice(const mach_port_t *tasks, mach_port_t port)
{
	struct message message;

	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	for (unsigned n = 1; n <= MANY; n++) {
		mach_msg_option_t more = n < MANY ? MACH_RCV_MSG : 0;

		EXPECT_EQ(task_set_owner(check_number(0), tasks[message.head.msgh_id], ALICE),
			  KERN_SUCCESS);
		message_head(&message, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
			     MACH_PORT_NULL, 0, 0);
		EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | more, sizeof message.head,
				   sizeof message, port, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
			  MACH_MSG_SUCCESS);
	}
}

/* Else each would compute for a turn in between: of twenty the last would wait for all of these. */
TEST(who_is_made_another_owners_waits_for_that_ones_turn)
{
	mach_port_t alice, tasks[MANY], port = port_new_with_send();
	uint32_t begun, took;

	prepare();
	alice = start_task(ALICE, MANY, 1, compute);
	for (uint32_t n = 0; n < MANY; n++) {
		EXPECT_EQ(task_create(mach_task_self(), true, &tasks[n]), KERN_SUCCESS);
		child_give(tasks[n], PORT_OF_CHILD, port, MACH_MSG_TYPE_MAKE_SEND);
		start(tasks[n], n, ask_and_compute);
	}
	begun = now_ms();
	give_to_alice(tasks, port);
	took = now_ms() - begun;
	print("# %u ms for all\n", took);
	EXPECT_LE(took, SOON_MS);
	for (uint32_t n = 1; n < MANY; n++)
		end_task(tasks[n]);
	finish_all(alice, tasks[0]);
	port_destroy(port);
}

static noreturn void bind_once(uint32_t number)
{
	shared->workers[number].had = (uint32_t)assay_thread_bind(0);
	finish();
}

/* Its threads would wait in a queue of their own besides. */
TEST(users_threads_are_not_bound)
{
	mach_port_t alice, bob;

	prepare();
	alice = start_task(ALICE, 0, 1, bind_once);
	bob = start_task(BOB, 1, 1, compute);
	sleep_ms(200);
	EXPECT_EQ(shared->workers[0].had, KERN_NO_ACCESS);
	finish_all(alice, bob);
}
