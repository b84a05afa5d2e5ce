/* SPDX-License-Identifier: MIT */
/*
 * Waits of threads: how long, and for what.  What is to come out is known beforehand: from the
 * clock that whoever waits reads before and after; and from counting CPUs, since of N threads that
 * share one all but one wait at any moment.
 *
 * machine: cpus=1 append="pool=16" arguments="${host-port}" limit=60
 * machine: cpus=2 append="pool=16" arguments="${host-port}" limit=60
 * machine: cpus=2 append="pool=16" arguments="${host-port}" limit=60 seed=5 when=nightly
 */
#include "check.h"
#include "pager.h"
#include "samples.h"

#define LONG_MS 40u
#define LONG_NS (LONG_MS * 1000000u)

static struct collected collected;
static const sample_options_t usual;

static uint64_t now(void)
{
	uint64_t ns = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &ns);
	return ns;
}

static void start_thread(mach_port_t thread)
{
	samples_new(&collected);
	EXPECT_EQ(thread_sample_start(thread, SAMPLED_PC_WAIT, 0, usual, collected.port),
		  KERN_SUCCESS);
}

static void stop_thread(mach_port_t thread)
{
	EXPECT_EQ(thread_sample_stop(thread, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	EXPECT_EQ(prof_u64(collected.times.lost), 0);
}

static void start_task(const sample_options_t *options)
{
	samples_new(&collected);
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_WAIT, 0, *options, collected.port),
		  KERN_SUCCESS);
}

static void stop_task(void)
{
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
}

static uint64_t elapsed(void)
{
	return prof_u64(collected.end.time) - prof_u64(collected.begin.time);
}

/* Of one thread's stream: one wait after the other, within the stream's time. */
static void expect_in_order(void)
{
	uint64_t at = prof_u64(collected.begin.time);

	EXPECT_LE(collected.waits, SAMPLES_KEPT);
	for (uint32_t n = 0; n < collected.waits; n++) {
		EXPECT_LE(at, kept_waits[n].begin);
		at = kept_waits[n].end;
	}
	EXPECT_LE(at, prof_u64(collected.end.time));
}

/* How long all waits of a reason took that lie between these moments; and all there are. */
static uint64_t time_between(uint32_t reason, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < collected.waits; n++) {
		const struct kept_wait *wait = &kept_waits[n];

		if (wait->reason == reason && wait->begin >= from && wait->end <= to)
			sum += wait->end - wait->begin;
	}
	return sum;
}

static uint64_t time_of(uint32_t reason)
{
	return time_between(reason, 0, UINT64_MAX);
}

static const struct kept_wait *first_of(uint32_t reason)
{
	static const struct kept_wait none;

	for (uint32_t n = 0; n < collected.waits; n++)
		if (kept_waits[n].reason == reason)
			return &kept_waits[n];
	check_fail("no wait of reason %u", reason);
	return &none;
}

/* Of a time that is measured, what may be missing or too much: less than a percent. */
#define PARTS 128u

static void expect_about(uint64_t ns, uint64_t right)
{
	EXPECT_LE(right - right / PARTS, ns);
	EXPECT_LE(ns, right + right / PARTS);
}

/* ---------------- Reasons, one at a time ---------------- */

/* A worker that waits in one way, and how long that took by its own clock. */
static struct {
	void (*wait)(void);
	volatile uint32_t go;
	mach_port_t port;
	uint32_t word;
	uint64_t before, after;
} worker;

static void wait_once(void *unused)
{
	(void)unused;
	wait_for(&worker.go, 1);
	worker.before = now();
	worker.wait();
	worker.after = now();
	wait_for(&worker.go, 2);
}

static void wait_receive(void)
{
	struct message message;

	EXPECT_EQ(message_get(&message, worker.port, LONG_WAIT), MACH_MSG_SUCCESS);
}

static void wait_send(void)
{
	struct message message;

	message_head(&message, worker.port, MACH_MSG_TYPE_MAKE_SEND, 0, 0, 7);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0),
		  MACH_MSG_SUCCESS);
}

static void wait_word(void)
{
	EXPECT_EQ(gsync_wait(SELF, (vm_address_t)&worker.word, 0, 0, 0, 0), KERN_SUCCESS);
}

static void wait_time(void)
{
	thread_switch(0, SWITCH_OPTION_WAIT, LONG_MS);
}

static void wait_page(void)
{
	EXPECT_EQ(*(volatile uint32_t *)at(1), 5);
}

/* The worker waits like this, until `end_it` after LONG_MS. */
static void one_wait(void (*wait)(void), void (*end_it)(void), uint32_t reason)
{
	worker.wait = wait;
	worker.go = 0;
	worker_start(0, wait_once, NULL);
	start_thread(worker_port(0));
	worker.go = 1;
	sleep_ms(LONG_MS);
	end_it();
	sleep_ms(LONG_MS / 2);
	stop_thread(worker_port(0));
	worker.go = 2;
	EXPECT(worker_join(0));
	expect_in_order();
	expect_about(time_between(reason, worker.before, worker.after),
		     worker.after - worker.before);
	EXPECT_EQ(first_of(reason)->task, task_id_of(SELF));
	EXPECT_EQ(first_of(reason)->label, task_id_of(SELF));
	EXPECT_LT(first_of(reason)->pc, 0xc0000000);
	EXPECT_LE(0xc0000000, first_of(reason)->kernel_pc);
	samples_forget(&collected);
}

static void send_one(void)
{
	EXPECT_EQ(message_send_id(worker.port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
}

static void receive_one(void)
{
	struct message message;

	EXPECT_EQ(message_get(&message, worker.port, LONG_WAIT), MACH_MSG_SUCCESS);
}

static void wake_word(void)
{
	EXPECT_EQ(gsync_wake(SELF, (vm_address_t)&worker.word, 0, 0), KERN_SUCCESS);
}

static void answer_page(void)
{
	expect(DATA_REQUEST);
	fill(1, 1, 5);
}

static void nothing(void)
{
}

TEST(a_message)
{
	worker.port = port_new();
	one_wait(wait_receive, send_one, PROF_WAIT_RECEIVE);
	port_destroy(worker.port);
}

TEST(room_for_a_message)
{
	worker.port = port_new();
	while (message_send_id(worker.port, MACH_MSG_TYPE_MAKE_SEND, 1) == MACH_MSG_SUCCESS)
		continue;
	one_wait(wait_send, receive_one, PROF_WAIT_SEND);
	port_destroy(worker.port);
}

TEST(a_word)
{
	one_wait(wait_word, wake_word, PROF_WAIT_LOCK);
}

TEST(time_alone)
{
	one_wait(wait_time, nothing, PROF_WAIT_TIMER);
}

TEST(a_page)
{
	begin(false, MEMORY_OBJECT_COPY_NONE);
	one_wait(wait_page, answer_page, PROF_WAIT_PAGE);
	end();
}

/* ---------------- Their turn ---------------- */

#define SPINNERS 3u

static volatile uint32_t spins;

/* Or they do nothing but give the CPU away. */
static void spin(void *yields)
{
	while (spins == 0)
		continue;
	while (spins != 2)
		if (yields != NULL)
			thread_switch(0, SWITCH_OPTION_NONE, 0);
}

static void start_spinners(bool yield)
{
	spins = 1;
	for (uint32_t n = 0; n < SPINNERS; n++)
		worker_start(n, spin, yield ? &collected : NULL);
}

static void join_spinners(void)
{
	spins = 2;
	for (uint32_t n = 0; n < SPINNERS; n++)
		EXPECT(worker_join(n));
}

/*
 * All threads together: at any moment as many run as there are CPUs, but for what the kernel's own
 * threads have; of several CPUs one may be idle for a tick.
 */
static void expect_all_but_cpus(uint64_t waited)
{
	bool one = collected.begin.cpus == 1;
	uint64_t right = (SPINNERS + 1 - collected.begin.cpus) * elapsed();
	uint64_t part = right / PARTS;

	EXPECT_LE(one ? right : right - part, waited);
	EXPECT_LE(waited, right + (one ? part : 6 * part));
}

TEST(turns)
{
	start_spinners(false);
	start_task(&usual);
	sleep_ms(10 * LONG_MS);
	stop_task();
	join_spinners();
	expect_all_but_cpus(collected.waited);
	EXPECT_EQ(prof_u64(collected.times.lost), 0);
	EXPECT_LE(10 * (uint64_t)LONG_NS, time_of(PROF_WAIT_TIMER));
	EXPECT_EQ(first_of(PROF_WAIT_CPU)->task, task_id_of(SELF));
	samples_forget(&collected);
}

/* Whoever was preempted in user mode was not in the kernel. */
TEST(where_a_turn_ended)
{
	uint32_t outside = 0;

	start_spinners(false);
	start_task(&usual);
	sleep_ms(10 * LONG_MS);
	stop_task();
	join_spinners();
	for (uint32_t n = 0; n < collected.waits; n++)
		outside += kept_waits[n].reason == PROF_WAIT_CPU && kept_waits[n].kernel_pc == 0 &&
			   kept_waits[n].pc - (uint32_t)spin < 256;
	EXPECT_LT(SPINNERS - collected.begin.cpus, outside);
	samples_forget(&collected);
}

/* ---------------- Beginnings and ends ---------------- */

/* What was open when the stream began counts from then on. */
TEST(open_at_the_beginning)
{
	worker.wait = wait_receive;
	worker.port = port_new();
	worker.go = 1;
	worker_start(0, wait_once, NULL);
	sleep_ms(LONG_MS);
	start_thread(worker_port(0));
	sleep_ms(LONG_MS);
	send_one();
	sleep_ms(LONG_MS);
	stop_thread(worker_port(0));
	expect_in_order();
	EXPECT_EQ(kept_waits[0].reason, PROF_WAIT_RECEIVE);
	EXPECT_EQ(kept_waits[0].begin, prof_u64(collected.begin.time));
	/* It was woken, and from the same moment on it waited for its turn. */
	EXPECT_EQ(kept_waits[1].reason, PROF_WAIT_CPU);
	EXPECT_EQ(kept_waits[1].begin, kept_waits[0].end);
	worker.go = 2;
	EXPECT(worker_join(0));
	port_destroy(worker.port);
	samples_forget(&collected);
}

/* What is open when it ends counts until then: from end to end, if need be, and in two streams. */
TEST(open_at_the_end)
{
	struct collected other;
	uint64_t other_elapsed;

	worker.wait = wait_receive;
	worker.port = port_new();
	worker.go = 1;
	worker_start(0, wait_once, NULL);
	sleep_ms(LONG_MS);
	start_thread(worker_port(0));
	other = collected;
	sleep_ms(LONG_MS);
	start_thread(worker_port(0));
	sleep_ms(LONG_MS);
	stop_thread(worker_port(0));
	EXPECT_EQ(collected.waits, 1);
	EXPECT_EQ(kept_waits[0].reason, PROF_WAIT_RECEIVE);
	EXPECT_EQ(collected.waited, elapsed());
	EXPECT_EQ(thread_sample_stop(worker_port(0), other.port), KERN_SUCCESS);
	samples_receive_all(&other);
	other_elapsed = prof_u64(other.end.time) - prof_u64(other.begin.time);
	EXPECT_EQ(other.waited, other_elapsed);
	EXPECT_LT(elapsed(), other_elapsed);
	send_one();
	worker.go = 2;
	EXPECT(worker_join(0));
	port_destroy(worker.port);
	samples_forget(&collected);
	samples_forget(&other);
}

/* The number of the thread that runs: a stream of it says it. */
static uint32_t own_id(void)
{
	uint32_t id;

	start_thread(mach_thread_self());
	stop_thread(mach_thread_self());
	id = collected.begin.id;
	samples_forget(&collected);
	return id;
}

/* A thread that was made meanwhile counts from then on, and not after it has ended. */
TEST(a_short_life)
{
	uint64_t before, after;
	uint32_t self = own_id(), others = 0;

	start_task(&usual);
	before = now();
	worker.wait = wait_time;
	worker.go = 0;
	worker_start(0, wait_once, NULL);
	worker.go = 1;
	sleep_ms(LONG_MS);
	worker.go = 2;
	EXPECT(worker_join(0));
	after = now();
	sleep_ms(LONG_MS);
	stop_task();
	for (uint32_t n = 0; n < collected.waits; n++) {
		const struct kept_wait *wait = &kept_waits[n];

		if (wait->thread == self)
			continue;
		EXPECT_LE(before, wait->begin);
		EXPECT_LE(wait->end, after);
		others++;
	}
	EXPECT_LT(0, others);
	samples_forget(&collected);
}

/* ---------------- Suspension ---------------- */

/* A wait that ends while the thread is suspended goes on as one for the end of that. */
TEST(suspended)
{
	uint64_t stopped;

	worker.wait = wait_receive;
	worker.port = port_new();
	worker.go = 1;
	worker_start(0, wait_once, NULL);
	sleep_ms(LONG_MS);
	start_thread(worker_port(0));
	EXPECT_EQ(thread_suspend(worker_port(0)), KERN_SUCCESS);
	send_one();
	stopped = now();
	sleep_ms(LONG_MS);
	EXPECT_EQ(thread_resume(worker_port(0)), KERN_SUCCESS);
	stopped = now() - stopped;
	sleep_ms(LONG_MS);
	stop_thread(worker_port(0));
	expect_in_order();
	EXPECT_EQ(kept_waits[0].reason, PROF_WAIT_RECEIVE);
	EXPECT_EQ(kept_waits[1].reason, PROF_WAIT_STOP);
	EXPECT_EQ(kept_waits[2].reason, PROF_WAIT_CPU);
	EXPECT_EQ(kept_waits[1].begin, kept_waits[0].end);
	EXPECT_EQ(kept_waits[2].begin, kept_waits[1].end);
	expect_about(time_of(PROF_WAIT_STOP), stopped);
	worker.go = 2;
	EXPECT(worker_join(0));
	port_destroy(worker.port);
	samples_forget(&collected);
}

/* One that could run, and is suspended before it does. */
TEST(suspended_in_its_turn)
{
	start_spinners(false);
	start_thread(worker_port(1));
	sleep_ms(LONG_MS);
	EXPECT_EQ(thread_suspend(worker_port(1)), KERN_SUCCESS);
	sleep_ms(LONG_MS);
	EXPECT_EQ(thread_resume(worker_port(1)), KERN_SUCCESS);
	sleep_ms(LONG_MS);
	stop_thread(worker_port(1));
	join_spinners();
	expect_in_order();
	EXPECT_LE(LONG_NS - LONG_NS / 4, time_of(PROF_WAIT_STOP));
	EXPECT_LT(0, time_of(PROF_WAIT_CPU));
	samples_forget(&collected);
}

/* ---------------- On whose behalf ---------------- */

static mach_port_t service;

/* A server for a client in another task: what it waits for itself is not the client's. */
static void serve(void *unused)
{
	struct message message;

	(void)unused;
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	wait_time();
	message_head(&message, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0,
		     2);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
			   sizeof message, service, 0, 0),
		  MACH_MSG_SUCCESS);
}

static void call_service(uint32_t to)
{
	struct message message;
	mach_port_t reply;

	mach_port_allocate(SELF, MACH_PORT_RIGHT_RECEIVE, &reply);
	thread_switch(0, SWITCH_OPTION_WAIT, LONG_MS);
	message_head(&message, to, MACH_MSG_TYPE_COPY_SEND, reply, MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head, sizeof message,
		 reply, 0, 0);
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, 1000);
}

/* How long the threads of a task waited for a reason, on behalf of another. */
static uint64_t time_for(uint32_t task, uint32_t label, uint32_t reason)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < collected.waits; n++)
		if (kept_waits[n].task == task && kept_waits[n].label == label &&
		    kept_waits[n].reason == reason)
			sum += kept_waits[n].end - kept_waits[n].begin;
	return sum;
}

static void of_label(bool all)
{
	mach_port_t host = check_number(0), child, thread;
	uint32_t own = task_id_of(SELF), clients;

	if (host == 0)
		SKIP("needs the host's port");
	service = port_new_with_send();
	child = child_new();
	clients = task_id_of(child);
	child_give(child, 0x7000, service, MACH_MSG_TYPE_COPY_SEND);
	samples_new(&collected);
	EXPECT_EQ(host_sample_start(host, all ? 0 : clients, SAMPLED_PC_WAIT, 0, usual,
				    collected.port),
		  KERN_SUCCESS);
	worker_start(0, serve, NULL);
	thread = child_start(child, 0, call_service, 0x7000);
	sleep_ms(4 * LONG_MS);
	EXPECT_EQ(host_sample_stop(host, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	/* The server slept for its client, which waited for it meanwhile. */
	EXPECT_LE(LONG_NS - LONG_NS / 4, time_for(own, clients, PROF_WAIT_TIMER));
	EXPECT_LE(time_for(own, clients, PROF_WAIT_TIMER),
		  time_for(clients, clients, PROF_WAIT_RECEIVE));
	/* Whether it waits for the first request or for the next. */
	EXPECT_EQ(time_for(own, clients, PROF_WAIT_RECEIVE), 0);
	if (all)
		EXPECT_LE(LONG_NS, time_for(own, own, PROF_WAIT_RECEIVE));
	else
		EXPECT_EQ(time_for(own, own, PROF_WAIT_RECEIVE), 0);
	child_end(child);
	port_destroy(thread);
	EXPECT_EQ(message_send_id(service, MACH_MSG_TYPE_COPY_SEND, 1), MACH_MSG_SUCCESS);
	EXPECT(worker_join(0));
	port_destroy(service);
	samples_forget(&collected);
}

TEST(of_a_label)
{
	of_label(false);
}

TEST(of_the_host)
{
	of_label(true);
}

/* ---------------- Stacks ---------------- */

__attribute__((noinline)) static void deep_in_here(void)
{
	thread_switch(0, SWITCH_OPTION_WAIT, LONG_MS);
	__asm__ volatile("");
}

TEST(stacks)
{
	const sample_options_t options = {.flags = SAMPLE_STACK, .depth = 16};

	start_task(&options);
	deep_in_here();
	stop_task();
	EXPECT_LT(0, first_of(PROF_WAIT_TIMER)->kernel_frames);
	EXPECT_LT(1, first_of(PROF_WAIT_TIMER)->user_frames);
	EXPECT_LT(first_of(PROF_WAIT_TIMER)->caller - (uint32_t)deep_in_here, 64);
	samples_forget(&collected);
}

/* ---------------- Loss ---------------- */

/*
 * Nobody receives: what neither the queue nor the buffers have room for is lost, and it is known
 * how much time that was.  All together is still what it must be.
 */
TEST(lost)
{
	start_spinners(true);
	start_task(&usual);
	sleep_ms(10 * LONG_MS);
	stop_task();
	join_spinners();
	EXPECT_LT(0, prof_u64(collected.stream.lost));
	EXPECT_LT(0, prof_u64(collected.times.lost));
	EXPECT_EQ(prof_u64(collected.times.taken),
		  collected.waited + prof_u64(collected.times.lost));
	if (collected.begin.cpus == 1)
		expect_all_but_cpus(prof_u64(collected.times.taken));
	samples_forget(&collected);
}

/* ---------------- Streams ---------------- */

/* A receiver that dies takes the stream with it, and threads are as they were. */
TEST(a_receiver_dies)
{
	start_spinners(true);
	start_task(&usual);
	sleep_ms(LONG_MS);
	samples_forget(&collected);
	sleep_ms(LONG_MS);
	join_spinners();
}

/* Waits do not bring samples, nor samples waits. */
TEST(beside_samples)
{
	samples_new(&collected);
	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_PERIODIC | SAMPLED_PC_WAIT, 1000, usual,
				    collected.port),
		  KERN_SUCCESS);
	start_spinners(false);
	sleep_ms(2 * LONG_MS);
	stop_task();
	join_spinners();
	EXPECT_EQ(samples_of(&collected, SAMPLED_PC_PERIODIC), collected.samples);
	EXPECT_LT(0, collected.samples);
	EXPECT_LT(0, collected.waits);
	samples_forget(&collected);
}
