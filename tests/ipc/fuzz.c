/* SPDX-License-Identifier: MIT */
/*
 * The fuzzer: random traps, random messages, and calls of every routine of the kernel with one
 * field broken, by several threads of several tasks.  The kernel must survive, everything must be
 * gone when the tasks are, and nothing may come back that looks like an address in the kernel.
 *
 *     tools/guest boot --icount -- 'ipc/fuzz calls=100000 seed=7 ${host-port} ${device-port}'
 *
 * A batch is two tasks that make BATCH calls each, watched by this one, which puts their threads
 * right after exceptions, and when they wait for a pager, which they are themselves.  It ends both
 * tasks when they are through or stuck.  `first` begins with a
 * later batch: with it and the same seed a batch that failed can be run alone.  With `switch=1` the
 * kernel's calls begin or end to be counted in the midst of each batch, as by kgmon.
 *
 * machine: cpus=1 limit=300 append="pool=48 ramdisk=1" \
 *	arguments="calls=33400 seed=11 ${host-port} ${device-port}"
 * machine: cpus=1 limit=300 append="pool=48 ramdisk=1" \
 *	arguments="calls=33400 seed=12 ${host-port} ${device-port}" seed=5 when=nightly
 * machine: cpus=2 limit=300 append="pool=48 ramdisk=1" \
 *	arguments="calls=33400 seed=13 ${host-port} ${device-port}"
 * machine: cpus=2 limit=300 append="pool=48 ramdisk=1" \
 *	arguments="calls=33400 seed=14 ${host-port} ${device-port}" seed=1 when=nightly
 * machine: cpus=2 limit=300 append="pool=48 ramdisk=1" \
 *	arguments="calls=33400 seed=15 switch=1 ${host-port} ${device-port}" seed=7
 * machine: cpus=2 limit=300 append="pool=48 ramdisk=1" \
 *	arguments="calls=33400 seed=16 ${host-port} ${device-port}" seed=9 when=nightly
 */
#include <mach/calls.h>

#include "check.h"
#include "fuzz.h"
#include "ipc.h"

#define TASKS        2u
#define ALL_THREADS  (TASKS * FUZZ_THREADS)
#define BATCH        400u /* Calls of a task, shared by its threads. */
#define CALLS        2000u
#define REPORT_EVERY 16u
#define QUIET        60u         /* Milliseconds without a word: all threads wait for something. */
#define OBJECT_START 0x20010000u /* Where the tasks' calls mean it to be: fuzz_address(). */
#define OBJECT_SIZE  (12 * PAGE_SIZE)
#define PATIENCE     10u  /* Milliseconds in which a thread gives up what it waits for. */
#define RESCUES      8u   /* Of a batch: that often its threads are called back. */
#define RESTARTS     24u  /* Exceptions in a batch; a task without its code has no end of them. */
#define REPORTS      300u /* Of a batch, more than it can make in order. */
#define SEED         1u

/* Messages to FUZZ_CONTROL. */
enum report {
	REPORT_CALLS = 1, /* So many calls were made, */
	REPORT_DONE,      /* the thread of this number is through, */
	REPORT_FOUND,     /* it has received what looks like an address: found, where, last. */
	EXCEPTION = 2400,
};

/* Each task under test uses its own copy of these. */
static struct fuzz fuzzes[FUZZ_THREADS];

/* ---------------- In the tasks under test ---------------- */

static void report(enum report what, uint32_t a, uint32_t b, uint32_t c)
{
	struct message message;

	message_head(&message, FUZZ_CONTROL, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, what);
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 3);
	message.body[1] = a;
	message.body[2] = b;
	message.body[3] = c;
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head + 16, 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

static void one_call(struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 10)) {
	case 0:
	case 1:
		fuzz_trap(fuzz);
		break;
	case 2:
	case 3:
		fuzz_random_message(fuzz);
		break;
	case 4:
		fuzz_receive(fuzz);
		break;
	default:
		fuzz_broken_call(fuzz);
		break;
	}
	if (fuzz->found != 0)
		report(REPORT_FOUND, fuzz->found, fuzz->where, fuzz->last);
	fuzz->found = 0;
}

/* Thread `n` of the batch.  Also begun again, after an exception, with what was left to do. */
static void fuzzer(uint32_t n)
{
	struct fuzz *fuzz = &fuzzes[n % FUZZ_THREADS];

	if (fuzz->reply_port == MACH_PORT_NULL)
		fuzz->reply_port = mach_reply_port();
	fuzz_receive(fuzz);
	memory_object_ready(fuzz_known[FUZZ_KNOWN_CONTROL], fuzz_one_in(fuzz, 2),
			    (int)fuzz_below(fuzz, 5));
	while (fuzz->left > 0) {
		fuzz->left--;
		one_call(fuzz);
		if (fuzz->left % REPORT_EVERY == 0)
			report(REPORT_CALLS, REPORT_EVERY, 0, 0);
	}
	report(REPORT_DONE, n, 0, 0);
	for (;;)
		sleep_ms(LONG_WAIT);
}

/* ---------------- Tasks that outlive their makers ---------------- */

/* The control port of the processor set knows all tasks; 0 if we were not given the host's. */
static mach_port_t all_tasks(void)
{
	mach_port_t host = mach_host_self(), name = MACH_PORT_NULL, control = MACH_PORT_NULL;

	if (check_number(0) != 0) {
		EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
		EXPECT_EQ(host_processor_set_priv(check_number(0), name, &control), KERN_SUCCESS);
		port_drop_send(name);
	}
	port_drop_send(host);
	return control;
}

/* Ends every task but this one. */
static void end_all_others(void)
{
	mach_port_t control = all_tasks(), self = mach_task_self();
	mach_msg_type_number_t n = 0;
	task_array_t tasks;

	if (control == MACH_PORT_NULL)
		return;
	EXPECT_EQ(processor_set_tasks(control, &tasks, &n), KERN_SUCCESS);
	for (mach_msg_type_number_t i = 0; i < n; i++) {
		if (!MACH_PORT_VALID(tasks[i]))
			continue; /* It has ended meanwhile. */
		if (tasks[i] != self)
			task_terminate(tasks[i]);
		port_drop_send(tasks[i]);
	}
	if (n > 0)
		vm_deallocate(self, (vm_address_t)tasks, n * sizeof *tasks);
	port_drop_send(control);
}

/* ---------------- A batch ---------------- */

struct batch {
	mach_port_t control; /* Where the tasks report, and their exceptions are sent. */
	mach_port_t sink;    /* A port that nobody receives from. */
	mach_port_t pset;
	mach_port_t idle_task, idle_thread;
	mach_port_t console, disk, clock;
	mach_port_t tasks[TASKS];
	mach_port_t threads[TASKS][FUZZ_THREADS];
	uint32_t calls, exceptions;
	uint32_t done;                   /* A bit for each thread that is through. */
	mach_port_t unanswered[REPORTS]; /* Reply rights of exceptions that wait. */
	uint32_t n_unanswered;
};

static uint32_t seed;
static uint32_t total_calls, total_exceptions, total_stuck;
static boolean_t is_counted;
static uint32_t switches;

/* States of the generators, which differ for every thread of every batch. */
static void seed_threads(uint32_t batch, uint32_t task)
{
	for (uint32_t n = 0; n < FUZZ_THREADS; n++) {
		uint32_t x = (seed * 0x9e3779b1u) ^ (batch * 0x85ebca6bu) ^
			     ((task * FUZZ_THREADS + n + 1) * 0xc2b2ae35u);

		fuzzes[n].random = (x ^ x >> 15) % 0x7ffffffeu + 1;
		fuzzes[n].left = BATCH / FUZZ_THREADS;
	}
}

/* The task is the pager of some of its own memory: the first message tells it the control port. */
static void make_pager(mach_port_t task, mach_port_t object)
{
	vm_address_t address = OBJECT_START;

	EXPECT_EQ(vm_map(task, &address, OBJECT_SIZE, 0, FALSE, object, 0, FALSE, VM_PROT_DEFAULT,
			 VM_PROT_ALL, VM_INHERIT_COPY),
		  KERN_SUCCESS);
}

static void make_port(mach_port_t task, enum fuzz_name name)
{
	EXPECT_EQ(mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, name), KERN_SUCCESS);
}

/* Rights that the task has to its own objects and to nobody's. */
static void furnish(const struct batch *batch, mach_port_t task)
{
	mach_port_t port = port_new();

	child_give(task, FUZZ_RECEIVE, port, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	make_pager(task, port);
	child_give(task, FUZZ_RECEIVE, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	port_drop_send(port);
	make_port(task, FUZZ_RECEIVE_TOO);
	child_give(task, FUZZ_SEND, batch->sink, MACH_MSG_TYPE_MAKE_SEND);
	child_give(task, FUZZ_SEND_ONCE, batch->sink, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	child_give(task, FUZZ_SEND_ONCE_TOO, batch->sink, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	EXPECT_EQ(mach_port_allocate_name(task, MACH_PORT_RIGHT_PORT_SET, FUZZ_SET), KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate_name(task, MACH_PORT_RIGHT_DEAD_NAME, FUZZ_DEAD),
		  KERN_SUCCESS);
	EXPECT_EQ(mach_port_move_member(task, FUZZ_RECEIVE_TOO, FUZZ_SET), KERN_SUCCESS);
}

/* Rights that it has to what others are. */
static void introduce(const struct batch *batch, uint32_t n)
{
	const struct {
		enum fuzz_name name;
		mach_port_t port;
	} rights[] = {
		{FUZZ_TASK, batch->tasks[n]},
		{FUZZ_THREAD, batch->threads[n][0]},
		{FUZZ_OTHER_TASK, batch->tasks[(n + 1) % TASKS]},
		{FUZZ_OTHER_THREAD, batch->threads[(n + 1) % TASKS][0]},
		{FUZZ_IDLE_TASK, batch->idle_task},
		{FUZZ_IDLE_THREAD, batch->idle_thread},
		{FUZZ_PSET, batch->pset},
		{FUZZ_HOST_PRIV, check_number(0)},
		{FUZZ_DEVICES, check_number(1)},
		{FUZZ_CONSOLE, batch->console},
		{FUZZ_DISK, batch->disk},
		{FUZZ_CLOCK, batch->clock},
	};

	for (uint32_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
		if (rights[i].port != MACH_PORT_NULL)
			child_give(batch->tasks[n], rights[i].name, rights[i].port,
				   MACH_MSG_TYPE_COPY_SEND);
	}
}

/* Exceptions go where the reports go. */
static void connect(const struct batch *batch, mach_port_t task)
{
	mach_port_t host = mach_host_self();

	child_give(task, FUZZ_CONTROL, batch->control, MACH_MSG_TYPE_MAKE_SEND);
	child_give(task, FUZZ_HOST, host, MACH_MSG_TYPE_COPY_SEND);
	EXPECT_EQ(task_set_exception_port(task, batch->control), KERN_SUCCESS);
	port_drop_send(host);
}

static void start_tasks(struct batch *batch, uint32_t number)
{
	for (uint32_t n = 0; n < TASKS; n++) {
		seed_threads(number, n);
		batch->tasks[n] = child_new();
		furnish(batch, batch->tasks[n]);
		connect(batch, batch->tasks[n]);
		EXPECT_EQ(task_suspend(batch->tasks[n]), KERN_SUCCESS);
		for (uint32_t t = 0; t < FUZZ_THREADS; t++)
			batch->threads[n][t] =
				child_start(batch->tasks[n], t, fuzzer, n * FUZZ_THREADS + t);
	}
	for (uint32_t n = 0; n < TASKS; n++)
		introduce(batch, n);
	/* The first may have resumed the second by itself. */
	for (uint32_t n = 0; n < TASKS; n++)
		task_resume(batch->tasks[n]);
}

/* ---------------- Exceptions ---------------- */

/* Which thread it is; false if it is none of ours, but one that a call has made. */
static bool find_thread(const struct batch *batch, mach_port_t thread, uint32_t *n)
{
	for (*n = 0; *n < ALL_THREADS; ++*n) {
		if (batch->threads[*n / FUZZ_THREADS][*n % FUZZ_THREADS] == thread)
			return true;
	}
	return false;
}

static bool begin_again(mach_port_t thread, uint32_t n)
{
	return child_restart(thread, n % FUZZ_THREADS, fuzzer, n);
}

static void reply_to_exception(const struct message *request)
{
	struct message reply;

	message_head(&reply, request->head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
		     MACH_PORT_NULL, 0, EXCEPTION + 100);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = KERN_SUCCESS;
	if (message_post(&reply, 2) != MACH_MSG_SUCCESS)
		message_drop_reply(request);
}

/* A thread that has ended meanwhile waits for no answer. */
static void keep_unanswered(struct batch *batch, mach_port_t reply)
{
	if (MACH_PORT_VALID(reply))
		batch->unanswered[batch->n_unanswered++] = reply;
}

/*
 * Begins the thread again; whichever way that fails, it ends instead.  One that is not known waits
 * for an answer until its task ends: what the message calls a thread may be any port, with a
 * receiver who never answers a call.
 */
static void handle_exception(struct batch *batch, const struct message *request)
{
	mach_port_t thread = request->body[1], task = request->body[3];
	uint32_t n;

	batch->exceptions++;
	if (!find_thread(batch, thread, &n)) {
		keep_unanswered(batch, request->head.msgh_remote_port);
	} else {
		if (batch->exceptions > RESTARTS || !begin_again(thread, n))
			thread_terminate(thread);
		reply_to_exception(request);
	}
	if (MACH_PORT_VALID(thread))
		port_drop_send(thread);
	if (MACH_PORT_VALID(task))
		port_drop_send(task);
}

/* ---------------- Watching ---------------- */

static void count_calls(boolean_t on)
{
	EXPECT_EQ(host_calls_count(check_number(0), on), KERN_SUCCESS);
	is_counted = on;
	switches++;
}

/* The kernel's text is another one while a part of the batch runs. */
static void switch_counting(const struct batch *batch)
{
	boolean_t on = batch->calls >= BATCH / 2 && batch->calls < BATCH;

	if (on != is_counted && check_parameter("switch", 0) != 0)
		count_calls(on);
}

/* What was counted takes memory until it is forgotten. */
static void forget_counts(void)
{
	if (is_counted)
		count_calls(FALSE);
	if (check_parameter("switch", 0) != 0)
		EXPECT_EQ(host_calls_reset(check_number(0)), KERN_SUCCESS);
}

static void take_report(struct batch *batch, const struct message *message)
{
	switch (message->head.msgh_id) {
	case REPORT_CALLS:
		batch->calls += message->body[1];
		switch_counting(batch);
		break;
	case REPORT_DONE:
		batch->done |= 1u << message->body[1] % ALL_THREADS;
		break;
	case REPORT_FOUND:
		/* The task's memory is not safe from its own calls. */
		if (!fuzz_suspects(message->body[1]))
			break;
		check_fail("word %u is 0x%x after call or trap %u", message->body[2],
			   message->body[1], message->body[3]);
		break;
	case EXCEPTION:
		handle_exception(batch, message);
		break;
	}
}

static volatile uint32_t aborted;

static void abort_thread(void *thread)
{
	thread_abort((mach_port_t)thread);
	aborted = 1;
}

/* A message that it is given by way of a pager, who does not answer, is not taken from it. */
static void abort_or_end(mach_port_t thread)
{
	aborted = 0;
	worker_start(0, abort_thread, (void *)thread);
	for (uint32_t n = 0; n < PATIENCE && aborted == 0; n++)
		sleep_ms(1);
	if (aborted == 0)
		thread_terminate(thread);
	worker_join(0);
}

/* Calls a thread back from whatever it waits for, or is suspended in. */
static void rescue_thread(mach_port_t thread, uint32_t n)
{
	if (thread_suspend(thread) != KERN_SUCCESS)
		return;
	abort_or_end(thread);
	begin_again(thread, n);
	while (thread_resume(thread) == KERN_SUCCESS)
		continue;
}

static void rescue(const struct batch *batch)
{
	for (uint32_t n = 0; n < ALL_THREADS; n++) {
		if ((batch->done & 1u << n) == 0)
			rescue_thread(batch->threads[n / FUZZ_THREADS][n % FUZZ_THREADS], n);
	}
	for (uint32_t n = 0; n < TASKS; n++) {
		while (task_resume(batch->tasks[n]) == KERN_SUCCESS)
			continue;
	}
}

/* Not for ever: a task may have overwritten the number of calls that it has left. */
static void watch(struct batch *batch)
{
	struct message message;
	uint32_t rescues = 0;

	for (uint32_t n = 0; n < REPORTS && batch->done != (1u << ALL_THREADS) - 1; n++) {
		if (message_get(&message, batch->control, QUIET) == MACH_MSG_SUCCESS) {
			take_report(batch, &message);
		} else if (++rescues > RESCUES) {
			total_stuck++;
			return;
		} else {
			rescue(batch);
		}
	}
}

/* What the host keeps of a call, until the next one of the kind: a port, dead by now. */
static void forget_notifications(void)
{
	if (check_number(0) != 0)
		register_new_task_notification(check_number(0), MACH_PORT_NULL,
					       MACH_MSG_TYPE_COPY_SEND);
}

/* Opened for each batch, so that what the tasks have asked of it ends with them. */
static mach_port_t open_device(const char *name)
{
	mach_port_t device = MACH_PORT_NULL;
	dev_name_t padded = "";

	memcpy(padded, name, strlen(name));
	if (check_number(1) != 0)
		EXPECT_EQ(device_open(check_number(1), D_READ | D_WRITE, padded, &device),
			  D_SUCCESS);
	return device;
}

/*
 * By as many calls as it takes, for a read that waits may have the device's own port to answer to:
 * that, which may be another one than at first, is dead then.
 */
static void close_device(mach_port_t device, const char *name)
{
	mach_port_t now = open_device(name);

	if (!MACH_PORT_VALID(now))
		return;
	while (device_close(now) == D_SUCCESS)
		continue;
	port_destroy(now);
	if (device != now)
		port_destroy(device);
}

static void open_devices(struct batch *batch)
{
	batch->console = open_device("console");
	batch->disk = open_device("rd0");
	batch->clock = open_device("time");
}

static void close_devices(const struct batch *batch)
{
	close_device(batch->console, "console");
	close_device(batch->disk, "rd0");
	close_device(batch->clock, "time");
}

static void end_task(mach_port_t task, const mach_port_t *threads, uint32_t n)
{
	child_end(task);
	for (uint32_t i = 0; i < n; i++)
		port_destroy(threads[i]);
}

static void run_batch(uint32_t number)
{
	struct batch batch = {.control = port_new_with_send(), .sink = port_new()};
	mach_port_t host = mach_host_self();

	mach_port_set_qlimit(mach_task_self(), batch.control, MACH_PORT_QLIMIT_MAX);
	EXPECT_EQ(processor_set_default(host, &batch.pset), KERN_SUCCESS);
	batch.idle_task = child_new();
	EXPECT_EQ(thread_create(batch.idle_task, &batch.idle_thread), KERN_SUCCESS);
	open_devices(&batch);
	start_tasks(&batch, number);
	watch(&batch);
	forget_counts();
	for (uint32_t n = 0; n < TASKS; n++)
		end_task(batch.tasks[n], batch.threads[n], FUZZ_THREADS);
	end_task(batch.idle_task, &batch.idle_thread, 1);
	end_all_others();
	while (batch.n_unanswered > 0)
		port_drop_send(batch.unanswered[--batch.n_unanswered]);
	close_devices(&batch);
	port_destroy(batch.control);
	port_destroy(batch.sink);
	forget_notifications();
	port_drop_send(batch.pset);
	port_drop_send(host);
	total_calls += batch.calls;
	total_exceptions += batch.exceptions;
}

/* ---------------- The search itself ---------------- */

#define UPDATE_TIMER 4602

/* Asks for the task's timer, in the fuzzer's own buffer. */
static void ask_timer(struct fuzz *fuzz, mach_port_t reply)
{
	struct message message;

	message_head(&message, mach_task_self(), MACH_MSG_TYPE_COPY_SEND, reply,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, UPDATE_TIMER);
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	message.body[1] = TASK_VTIMER_VIRTUAL;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	memset(fuzz->buffer, 0, sizeof fuzz->buffer);
	EXPECT_EQ(mach_msg((mach_msg_header_t *)fuzz->buffer, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0,
			   sizeof fuzz->buffer, reply, LONG_WAIT, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
}

/* A number that is the caller's own, less a little time, is no leak; any other word like it is. */
TEST(what_the_caller_chose_is_no_leak)
{
	/* The program must not have the word itself: what it has may come back. */
	static volatile uint32_t half = 0x600c0002u;
	struct fuzz *fuzz = &fuzzes[0];
	mach_port_t reply = port_new();

	fuzz->found = 0;
	EXPECT_EQ(task_vtimer_set(mach_task_self(), TASK_VTIMER_VIRTUAL, 2u * half, 0),
		  KERN_SUCCESS);
	ask_timer(fuzz, reply);
	EXPECT(fuzz_suspects(fuzz->buffer[12]));
	fuzz_search_received(fuzz);
	EXPECT_EQ(fuzz->found, 0);
	fuzz->buffer[9] = 2u * half;
	fuzz_search_received(fuzz);
	EXPECT_EQ(fuzz->found, 2u * half);
	EXPECT_EQ(task_vtimer_clear(mach_task_self(), TASK_VTIMER_VIRTUAL), KERN_SUCCESS);
	*fuzz = (struct fuzz){.found = 0};
	port_destroy(reply);
}

/* ---------------- Random calls ---------------- */

/* Until so many calls were made, or a batch leaves something behind. */
TEST(random_calls)
{
	uint32_t calls = check_parameter("calls", CALLS);
	uint32_t number = check_parameter("first", 0);

	seed = check_parameter("seed", SEED);
	fuzz_makes_tasks = check_number(0) != 0;
	run_batch(~0u); /* What the kernel keeps for its next use, it has now. */
	total_calls = 0;
	while (total_calls < calls) {
		balance_note();
		run_batch(number);
		balance_settle();
		if (check_failed()) {
			print("fuzz: failed in seed=%u first=%u\n", seed, number);
			return;
		}
		number++;
	}
	print("fuzz: %u calls in %u batches, %u exceptions, %u batches got stuck, %u switches\n",
	      total_calls, number - check_parameter("first", 0), total_exceptions, total_stuck,
	      switches);
}
