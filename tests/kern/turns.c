/* SPDX-License-Identifier: MIT */
/*
 * Turns of threads that have others work for them: a client whose server is better than itself has
 * no longer turns, together with it, than a thread that computes.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 */
#include "check.h"
#include "ipc.h"

#define BETTER  (PRIORITY_USUAL - 5)
#define BEST    (PRIORITY_USUAL - 10)
#define THREADS 4
#define STOP_ID 2

#define NANOS_PER_MS 1000000u
#define QUANTUM_MS   100
#define LONGEST_MS   (QUANTUM_MS + 15) /* A tick may come late, and somebody in between. */
#define RUN_MS       800

static uint8_t stacks[THREADS][PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[THREADS];

static volatile bool stop;
static mach_port_t service;

static uint64_t now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

static void start(uint32_t number, void (*run)(void *), void *argument, int priority)
{
	if (thread_start(run, argument, stacks[number], sizeof stacks[number], priority,
			 &ids[number]) != KERN_SUCCESS)
		check_fail("thread %u does not start", number);
}

static void work(uint32_t turns)
{
	for (volatile uint32_t turn = 0; turn < turns; turn++)
		continue;
}

/* What a thread has of the CPU: its time, and the longest that it waited for more. */
struct share {
	uint32_t had, longest; /* In nanoseconds: a run is shorter than four seconds. */
	uint64_t last;
};

/* Less than a tick since the last time: it had the CPU all the while. */
static void note_share(struct share *share)
{
	uint64_t time = now();
	uint32_t passed = (uint32_t)(time - share->last);

	if (passed < 10 * NANOS_PER_MS)
		share->had += passed;
	else if (passed > share->longest)
		share->longest = passed;
	share->last = time;
}

static void compute(void *share)
{
	((struct share *)share)->last = now();
	while (!stop) {
		work(1000);
		note_share(share);
	}
}

/* ---------------- A client and its server ---------------- */

/* Does nearly all of the work, so that nearly all ticks come while it runs. */
static void serve(void *unused)
{
	struct message message;

	(void)unused;
	if (!EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS))
		return;
	while (message.head.msgh_id != STOP_ID) {
		work(5000);
		message.head.msgh_bits &= MACH_MSGH_BITS_REMOTE_MASK;
		message.head.msgh_local_port = MACH_PORT_NULL;
		if (!EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG,
					sizeof message.head, sizeof message, service, 0, 0),
			       MACH_MSG_SUCCESS))
			return;
	}
}

static void call(void *share)
{
	mach_port_t answer = port_new();
	struct message message;

	((struct share *)share)->last = now();
	while (!stop) {
		message_head(&message, service, MACH_MSG_TYPE_MAKE_SEND, answer,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
		EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
				   sizeof message, answer, 0, 0),
			  MACH_MSG_SUCCESS);
		note_share(share);
	}
	port_destroy(answer);
}

/* Somebody better that comes all the time, and never stays. */
static void disturb(void *unused)
{
	(void)unused;
	while (!stop)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, 1);
}

static void expect_fair(bool disturbed)
{
	struct share client = {0}, other = {0};

	stop = false;
	service = port_new();
	start(0, serve, NULL, BETTER);
	start(1, call, &client, PRIORITY_USUAL);
	start(2, compute, &other, PRIORITY_USUAL);
	if (disturbed)
		start(3, disturb, NULL, BEST);
	sleep_ms(RUN_MS);
	stop = true;
	for (uint32_t n = 1; n < (disturbed ? 4u : 3u); n++)
		EXPECT_EQ(assay_thread_join(ids[n], TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(message_send_id(service, MACH_MSG_TYPE_MAKE_SEND, STOP_ID), MACH_MSG_SUCCESS);
	EXPECT_EQ(assay_thread_join(ids[0], TIMEOUT_NONE), KERN_SUCCESS);
	port_destroy(service);
	print("# client %u ms, longest %u; other %u ms, longest %u\n", client.had / NANOS_PER_MS,
	      client.longest / NANOS_PER_MS, other.had / NANOS_PER_MS,
	      other.longest / NANOS_PER_MS);
	EXPECT_LE(client.longest, LONGEST_MS * NANOS_PER_MS);
	EXPECT_LE(other.longest, LONGEST_MS * NANOS_PER_MS);
	EXPECT_LE(RUN_MS * 2 / 5, client.had / NANOS_PER_MS);
	EXPECT_LE(RUN_MS * 2 / 5, other.had / NANOS_PER_MS);
}

TEST(a_client_has_its_turn_and_no_more)
{
	expect_fair(false);
}

TEST(so_it_has_when_others_come_between)
{
	expect_fair(true);
}
