/* SPDX-License-Identifier: MIT */
/*
 * Turns of threads that have others work for them: a client whose server is better than itself has
 * no longer turns, together with it, than a thread that computes.
 *
 * machine: cpus=1 ns=8
 * machine: cpus=1 ns=8 append="fastpath=off"
 */
#include "block.h"
#include "check.h"
#include "ipc.h"

#define BETTER  (PRIORITY_USUAL - 5)
#define BEST    (PRIORITY_USUAL - 10)
#define THREADS 5
#define STOP_ID 2
#define GOOD    (PRIORITY_USUAL - 3) /* Better than clients, worse than their server. */

#define NANOS_PER_MS 1000000u
#define QUANTUM_MS   100
#define LONGEST_MS   (QUANTUM_MS + 15) /* A tick may come late, and somebody in between. */
#define RUN_MS       800

static uint8_t stacks[THREADS][PAGE_SIZE] __attribute__((aligned(16)));
static uint32_t ids[THREADS];

static volatile bool stop;
static mach_port_t service;
static mach_port_t help, helped; /* What a server may ask for, and where it gets it. */
static void (*besides)(void);    /* What the server does before it answers; or NULL. */

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

static void join(uint32_t first, uint32_t end)
{
	for (uint32_t n = first; n < end; n++)
		EXPECT_EQ(assay_thread_join(ids[n], TIMEOUT_NONE), KERN_SUCCESS);
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

/* Next to no time since the last time: it had the CPU all the while. */
static void note_share(struct share *share)
{
	uint64_t time = now();
	uint32_t passed = (uint32_t)(time - share->last);

	if (passed < NANOS_PER_MS)
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

/* Who waits in the middle of a call wakes with what was left of the client's turn, or a new one. */
static void ask_for_help(void)
{
	struct message message;

	EXPECT_EQ(message_send_id(help, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, helped, LONG_WAIT), MACH_MSG_SUCCESS);
}

static void help_out(void *unused)
{
	struct message message;

	(void)unused;
	while (message_get(&message, help, LONG_WAIT) == MACH_MSG_SUCCESS &&
	       message.head.msgh_id != STOP_ID)
		EXPECT_EQ(message_send_id(helped, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
}

/* Does nearly all of the work, so that nearly all ticks come while it runs. */
static void serve(void *unused)
{
	struct message message;

	(void)unused;
	if (!EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS))
		return;
	while (message.head.msgh_id != STOP_ID) {
		work(5000);
		if (besides != NULL)
			besides();
		message.head.msgh_bits &= MACH_MSGH_BITS_REMOTE_MASK;
		message.head.msgh_local_port = MACH_PORT_NULL;
		if (!EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG,
					sizeof message.head, sizeof message, service, 0, 0),
			       MACH_MSG_SUCCESS))
			return;
	}
}

static void call_once(mach_port_t answer)
{
	struct message message;

	message_head(&message, service, MACH_MSG_TYPE_MAKE_SEND, answer,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
			   sizeof message, answer, 0, 0),
		  MACH_MSG_SUCCESS);
}

static void call(void *share)
{
	mach_port_t answer = port_new();

	((struct share *)share)->last = now();
	while (!stop) {
		call_once(answer);
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

static void start_server(void (*then)(void))
{
	stop = false;
	besides = then;
	service = port_new();
	help = port_new();
	helped = port_new();
	start(0, serve, NULL, BETTER);
	start(1, help_out, NULL, GOOD);
}

static void end_server(void)
{
	EXPECT_EQ(message_send_id(service, MACH_MSG_TYPE_MAKE_SEND, STOP_ID), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_send_id(help, MACH_MSG_TYPE_MAKE_SEND, STOP_ID), MACH_MSG_SUCCESS);
	join(0, 2);
	port_destroy(service);
	port_destroy(help);
	port_destroy(helped);
}

static void expect_fair(bool disturbed, void (*then)(void))
{
	struct share client = {0}, other = {0};

	start_server(then);
	start(2, call, &client, PRIORITY_USUAL);
	start(3, compute, &other, PRIORITY_USUAL);
	if (disturbed)
		start(4, disturb, NULL, BEST);
	sleep_ms(RUN_MS);
	stop = true;
	join(2, disturbed ? 5 : 4);
	end_server();
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
	expect_fair(false, NULL);
}

TEST(so_it_has_when_others_come_between)
{
	expect_fair(true, NULL);
}

TEST(so_it_has_when_its_server_waits_in_each_call)
{
	expect_fair(false, ask_for_help);
}

/* ---------------- Those that wake ---------------- */

/* What a thread that sleeps and works by turns wants, and what it had. */
struct sleeper {
	uint32_t work_ms;
	uint32_t wakes;
	uint32_t
		late; /* The longest that it waited for the CPU beyond its sleep, in nanoseconds. */
	struct share share;
};

/* A sleep of one millisecond ends with the second tick from now at the latest. */
static void sleep_and_work(void *argument)
{
	struct sleeper *sleeper = argument;

	while (!stop) {
		uint64_t before = now(), woken;
		uint32_t passed;

		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, 1);
		woken = now();
		passed = (uint32_t)(woken - before);
		if (passed > 20 * NANOS_PER_MS && passed - 20 * NANOS_PER_MS > sleeper->late)
			sleeper->late = passed - 20 * NANOS_PER_MS;
		sleeper->wakes++;
		sleeper->share.last = woken;
		for (uint32_t had = sleeper->share.had;
		     sleeper->share.had - had < sleeper->work_ms * NANOS_PER_MS && !stop;) {
			work(1000);
			note_share(&sleeper->share);
		}
	}
}

/* It comes to run for the first time behind the first turns of `others`. */
static void expect_prompt(const struct sleeper *sleeper, uint32_t others)
{
	print("# woken %u times, at most %u us late\n", sleeper->wakes, sleeper->late / 1000);
	EXPECT_LE((RUN_MS - others * LONGEST_MS) / 20, sleeper->wakes);
	EXPECT_LE(sleeper->late, NANOS_PER_MS);
}

static void run_together(uint32_t threads, uint32_t ms)
{
	sleep_ms(ms);
	stop = true;
	join(0, threads);
}

TEST(who_wakes_in_its_turn_runs_at_once)
{
	struct share shares[3] = {0};
	struct sleeper sleeper = {0};

	stop = false;
	for (uint32_t n = 0; n < 3; n++)
		start(n, compute, &shares[n], PRIORITY_USUAL);
	start(3, sleep_and_work, &sleeper, PRIORITY_USUAL);
	run_together(4, RUN_MS);
	expect_prompt(&sleeper, 3);
}

/* Mostly it wakes while the server is at work, which is better than it. */
TEST(so_it_does_beside_a_client)
{
	struct share client = {0};
	struct sleeper sleeper = {0};

	start_server(NULL);
	start(2, call, &client, PRIORITY_USUAL);
	start(3, sleep_and_work, &sleeper, PRIORITY_USUAL);
	sleep_ms(RUN_MS);
	stop = true;
	join(2, 4);
	end_server();
	expect_prompt(&sleeper, 1);
}

#define ANSWERS 10

static mach_port_t news;
static volatile uint32_t n_answers, answers_before;

static void tell_news(void)
{
	if (n_answers == 0)
		EXPECT_EQ(message_send_id(news, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
}

static void await_news(void *unused)
{
	struct message message;

	(void)unused;
	EXPECT_EQ(message_get(&message, news, LONG_WAIT), MACH_MSG_SUCCESS);
	answers_before = n_answers;
}

static void call_some(void *unused)
{
	mach_port_t answer = port_new();

	(void)unused;
	for (n_answers = 0; n_answers < ANSWERS; n_answers++)
		call_once(answer);
	port_destroy(answer);
}

/* With a switch to it at once, and back, a byte by a pipe would cost a quarter more. */
TEST(whom_a_server_wakes_for_its_client_waits_until_that_does)
{
	news = port_new();
	start_server(tell_news);
	start(2, await_news, NULL, PRIORITY_USUAL);
	start(3, call_some, NULL, PRIORITY_USUAL);
	join(2, 4);
	end_server();
	port_destroy(news);
	EXPECT_EQ(answers_before, ANSWERS);
}

/*
 * In step with the tick, so that no tick finds the two sleepers: one wants less than its share and
 * has that, one wants more and has no more than the two that compute.
 */
TEST(who_sleeps_and_works_has_its_share)
{
	const uint32_t ms = 2000;
	struct share shares[2] = {0};
	struct sleeper modest = {.work_ms = 3}, greedy = {.work_ms = 9};

	stop = false;
	start(0, compute, &shares[0], PRIORITY_USUAL);
	start(1, compute, &shares[1], PRIORITY_USUAL);
	start(2, sleep_and_work, &modest, PRIORITY_USUAL);
	start(3, sleep_and_work, &greedy, PRIORITY_USUAL);
	run_together(4, ms);
	print("# modest %u ms of %u wakes, greedy %u ms of %u, computing %u and %u ms\n",
	      modest.share.had / NANOS_PER_MS, modest.wakes, greedy.share.had / NANOS_PER_MS,
	      greedy.wakes, shares[0].had / NANOS_PER_MS, shares[1].had / NANOS_PER_MS);
	EXPECT_LE(ms * 10 / 100, modest.share.had / NANOS_PER_MS);
	EXPECT_LE(greedy.share.had / NANOS_PER_MS, ms * 27 / 100);
	EXPECT_LE(ms * 28 / 100, shares[0].had / NANOS_PER_MS);
	EXPECT_LE(ms * 28 / 100, shares[1].had / NANOS_PER_MS);
}

static mach_port_t balls[2];

/* Sends and receives apart: each wakes the other, and gives it no turn of its own. */
static void play(void *number)
{
	uint32_t mine = (uint32_t)number;
	struct message message;

	do {
		if (!EXPECT_EQ(message_get(&message, balls[mine], LONG_WAIT), MACH_MSG_SUCCESS) ||
		    message.head.msgh_id == STOP_ID)
			return;
		work(5000);
		message.head.msgh_id = stop ? STOP_ID : 1;
		EXPECT_EQ(message_send_id(balls[!mine], MACH_MSG_TYPE_MAKE_SEND,
					  message.head.msgh_id),
			  MACH_MSG_SUCCESS);
	} while (message.head.msgh_id != STOP_ID);
}

TEST(two_that_wake_each_other_use_up_their_turns)
{
	struct share share = {0};

	stop = false;
	balls[0] = port_new();
	balls[1] = port_new();
	start(0, play, (void *)0, PRIORITY_USUAL);
	start(1, play, (void *)1, PRIORITY_USUAL);
	start(2, compute, &share, PRIORITY_USUAL);
	EXPECT_EQ(message_send_id(balls[0], MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	run_together(3, RUN_MS);
	port_destroy(balls[0]);
	port_destroy(balls[1]);
	print("# computing %u ms, longest wait %u\n", share.had / NANOS_PER_MS,
	      share.longest / NANOS_PER_MS);
	EXPECT_LE(RUN_MS * 3 / 10, share.had / NANOS_PER_MS);
	EXPECT_LE(share.longest, 2 * LONGEST_MS * NANOS_PER_MS);
}

/* One that may run here only and one that may run anywhere are equals all the same. */
static void compute_here(void *share)
{
	EXPECT_EQ(assay_thread_bind(0), KERN_SUCCESS);
	compute(share);
}

TEST(who_is_bound_has_its_share)
{
	struct share bound = {0}, free = {0};

	stop = false;
	start(0, compute_here, &bound, PRIORITY_USUAL);
	start(1, compute, &free, PRIORITY_USUAL);
	run_together(2, RUN_MS);
	print("# bound %u ms, free %u ms\n", bound.had / NANOS_PER_MS, free.had / NANOS_PER_MS);
	EXPECT_LE(RUN_MS * 2 / 5, bound.had / NANOS_PER_MS);
	EXPECT_LE(RUN_MS * 2 / 5, free.had / NANOS_PER_MS);
}

/* Until it has the CPU for the second time. */
static void compute_till_back(void *share)
{
	((struct share *)share)->last = now();
	while (((struct share *)share)->longest == 0) {
		work(1000);
		note_share(share);
	}
	stop = true;
}

static mach_port_t child;

static void spin(uint32_t unused)
{
	(void)unused;
	for (;;)
		use_cpu();
}

static void make_threads(void *share)
{
	for (uint32_t n = 0; n < 3; n++)
		port_destroy(child_start(child, n, spin, n));
	compute(share);
}

/* At first they have together what it had. */
TEST(nobody_has_more_turns_by_making_threads)
{
	struct share share = {0}, maker = {0};

	stop = false;
	child = child_new();
	start(0, compute_till_back, &share, PRIORITY_USUAL);
	start(1, make_threads, &maker, PRIORITY_USUAL);
	join(0, 1);
	child_end(child);
	join(1, 2);
	print("# waited %u ms\n", share.longest / NANOS_PER_MS);
	/* Each may run on to a tick. */
	EXPECT_LE(share.longest, QUANTUM_MS * 3 / 2 * NANOS_PER_MS);
}
