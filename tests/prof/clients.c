/* SPDX-License-Identifier: MIT */
/*
 * Clients' stacks behind a server's (SAMPLE_CLIENTS).  Every program here goes through a function
 * of its own on the way to where it waits or works, so that a stack says whose it is; who waits for
 * whom is known beforehand.
 *
 * machine: cpus=1 arguments="${host-port}" limit=60
 * machine: cpus=1 arguments="${host-port}" append="fastpath=off" limit=60
 * machine: cpus=2 arguments="${host-port}" limit=60 seed=3
 */
#include "block.h"
#include "check.h"
#include "pager.h"
#include "tally.h"

#define FULL_RATE 10000u
#define WORSE     (PRIORITY_USUAL + 5) /* So that who collects has the CPU when a message comes. */

/* ---------------- Programs that can be told apart ---------------- */

/* name(run, argument) calls run(argument), which returns to name_returns. */
#define THROUGH(name)                                                                  \
	__asm__(".text\n.globl " #name ", " #name "_returns\n" #name                   \
		": pushl %ebp\nmovl %esp, %ebp\npushl 12(%ebp)\ncall *8(%ebp)\n" #name \
		"_returns: leave\nret\n");                                             \
	void name(void (*run)(uint32_t), uint32_t argument);                           \
	extern const char name##_returns[]

THROUGH(through_client);
THROUGH(through_front);
THROUGH(through_back);

/* 40,002 instructions. */
__asm__(".text\n.globl spin, spin_end\n"
	"spin: pushl %ebp\nmovl %esp, %ebp\nmovl $400, %ecx\n" HUNDREDS_TEXT "leave\nret\n"
	"spin_end:\n");
void spin(void);
extern const char spin_end[];

static void spin_often(uint32_t rounds)
{
	while (rounds-- > 0)
		spin();
}

/* ---------------- What samples are to say ---------------- */

#define CHAIN_MAX SAMPLE_CLIENTS_MAX

struct expected {
	uint32_t label;
	bool cut;   /* The clients do not reach back to the label. */
	uint32_t n; /* Clients, the nearest first: */
	uint32_t tasks[CHAIN_MAX];
	const char *places[CHAIN_MAX]; /* each with this return address on its stack. */
	uint32_t found;                /* Samples and waits that were as expected, */
	uint32_t reason;               /* PROF_WAIT_*, of waits. */
	uint64_t waited;               /* and how long the waits of these took. */
	const char *inside; /* Only those with this return address on their own stack count. */
};

static bool has_frame(const uint32_t *frames, uint32_t n, const char *place)
{
	for (uint32_t i = 0; i < n; i++)
		if (frames[i] == (uint32_t)place)
			return true;
	return false;
}

/* The clients of a record whose own frames end at `words`; as many as are expected, in order. */
static bool expect_clients(const struct expected *expected, const struct prof_record *record,
			   uint32_t words)
{
	uint32_t n = 0;

	while (words < record->words) {
		const struct prof_client *client =
			(const struct prof_client *)((const uint32_t *)record + words);

		words += sizeof *client / 4 + client->user_frames;
		if (!EXPECT_LE(words, record->words) || !EXPECT_LT(n, expected->n) ||
		    !EXPECT_EQ(client->task, expected->tasks[n]))
			return false;
		EXPECT_EQ(client->flags, 0);
		EXPECT(has_frame(client->frames, client->user_frames, expected->places[n]));
		n++;
	}
	return EXPECT_EQ(n, expected->n);
}

static void take_sample(struct tally *tally, const struct prof_sample *sample)
{
	struct expected *expected = tally->data;
	const uint32_t *users = sample->frames + sample->kernel_frames;

	if (!has_frame(users, sample->user_frames, expected->inside) ||
	    sample->label != expected->label)
		return;
	EXPECT_EQ((sample->flags & PROF_CLIENTS_CUT) != 0, expected->cut);
	if (expect_clients(expected, &sample->record,
			   sizeof *sample / 4 + sample->kernel_frames + sample->user_frames))
		expected->found++;
}

static void take_wait(struct tally *tally, const struct prof_wait *wait)
{
	struct expected *expected = tally->data;
	const uint32_t *users = wait->frames + wait->kernel_frames;

	if (!has_frame(users, wait->user_frames, expected->inside) ||
	    wait->label != expected->label || wait->reason != expected->reason)
		return;
	EXPECT_EQ((wait->flags & PROF_CLIENTS_CUT) != 0, expected->cut);
	if (expect_clients(expected, &wait->record,
			   sizeof *wait / 4 + wait->kernel_frames + wait->user_frames)) {
		expected->found++;
		expected->waited += prof_u64(wait->length);
	}
}

/* ---------------- Streams ---------------- */

static const sample_options_t with_clients = {
	.flags = SAMPLE_STACK | SAMPLE_CLIENTS,
	.age_ms = 500,
};

static struct tally tally;

static void start(struct expected *expected, uint32_t flavors)
{
	tally_new(&tally, 1, take_sample);
	tally.take_wait = take_wait;
	tally.data = expected;
	EXPECT_EQ(
		host_sample_start(check_number(0), 0, flavors, FULL_RATE, with_clients, tally.port),
		KERN_SUCCESS);
}

static mach_port_t over; /* A message here says that the test's work is done. */

static void stop_when_over(void *unused)
{
	struct message message;

	(void)unused;
	EXPECT_EQ(message_get(&message, over, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(host_sample_stop(check_number(0), tally.port), KERN_SUCCESS);
}

/* Samples until somebody says that it is over. */
static void collect(void)
{
	worker_start(WORKERS - 1, stop_when_over, NULL);
	tally_all(&tally, 1);
	worker_join(WORKERS - 1);
}

/* ---------------- A client, a server in front, and one behind ---------------- */

/* Names in the children. */
#define ASKED  0x503u /* Whom to call, */
#define ANSWER 0x607u /* where the answer comes, */
#define OVER   0x70bu /* and whom to tell of the end. */

static void call(mach_port_t server, mach_port_t answer)
{
	struct message message;

	message_head(&message, server, MACH_MSG_TYPE_COPY_SEND, answer,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
	mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head, sizeof message,
		 answer, 0, 0);
}

static void wait_for_ever(void)
{
	for (;;)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, LONG_WAIT);
}

static void call_often(uint32_t calls)
{
	while (calls-- > 0)
		call(ASKED, ANSWER);
}

static void be_client(uint32_t calls)
{
	through_client(call_often, calls);
	message_send_id(OVER, MACH_MSG_TYPE_COPY_SEND, 2);
	wait_for_ever();
}

/* Answers each request with a call of its own to whoever is behind, and work of its own. */
static void call_and_spin(uint32_t unused)
{
	(void)unused;
	call(ASKED, ANSWER);
	spin();
}

static void be_front(uint32_t server)
{
	struct message request;

	for (;;) {
		if (message_get(&request, server, LONG_WAIT) != MACH_MSG_SUCCESS)
			continue;
		through_front(call_and_spin, 0);
		message_drop_reply(&request);
	}
}

#define FRONT 0x80fu /* The front's own port, in it. */

static mach_port_t front, client, front_thread, client_thread;

static void make_caller(mach_port_t child, mach_port_t server)
{
	child_give(child, ASKED, server, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_RECEIVE, ANSWER), KERN_SUCCESS);
}

static void start_front(mach_port_t back)
{
	mach_port_t port;

	front = child_new();
	make_caller(front, back);
	EXPECT_EQ(mach_port_allocate_name(front, MACH_PORT_RIGHT_RECEIVE, FRONT), KERN_SUCCESS);
	front_thread = child_start(front, 0, be_front, FRONT);
	EXPECT_EQ(mach_port_extract_right(front, FRONT, MACH_MSG_TYPE_MAKE_SEND, &port,
					  &(mach_msg_type_name_t){0}),
		  KERN_SUCCESS);
	client = child_new();
	child_give(client, ASKED, port, MACH_MSG_TYPE_MOVE_SEND);
	EXPECT_EQ(mach_port_allocate_name(client, MACH_PORT_RIGHT_RECEIVE, ANSWER), KERN_SUCCESS);
	child_give(client, OVER, over, MACH_MSG_TYPE_MAKE_SEND);
}

static void end_front(void)
{
	port_drop_send(client_thread);
	port_drop_send(front_thread);
	child_end(client);
	child_end(front);
	port_destroy(over);
}

#define CALLS 400u

static void serve_behind(void *port)
{
	struct message request;

	for (uint32_t n = 0; n < CALLS && !check_failed(); n++) {
		EXPECT_EQ(message_get(&request, (mach_port_t)port, LONG_WAIT), MACH_MSG_SUCCESS);
		through_back(spin_often, 2);
		message_drop_reply(&request);
	}
}

/* Runs it all, and counts what is expected. */
static void run_chain(struct expected *expected, uint32_t clients)
{
	mach_port_t back = port_new();

	over = port_new();
	start_front(back);
	expected->label = task_id_of(client);
	expected->tasks[clients - 1] = task_id_of(client);
	expected->places[clients - 1] = through_client_returns;
	expected->n = clients;
	if (clients == 2) {
		expected->tasks[0] = task_id_of(front);
		expected->places[0] = through_front_returns;
	}
	worker_start(0, serve_behind, (void *)back);
	EXPECT_EQ(thread_priority(worker_port(0), WORSE, FALSE), KERN_SUCCESS);
	start(expected, SAMPLED_PC_PERIODIC);
	client_thread = child_start(client, 0, be_client, CALLS);
	collect();
	worker_join(0);
	end_front();
	port_destroy(back);
	EXPECT_LT(100, expected->found);
}

TEST(a_chain_of_two)
{
	struct expected expected = {.inside = through_back_returns};

	run_chain(&expected, 2);
}

TEST(a_chain_of_one)
{
	struct expected expected = {.inside = through_front_returns};

	run_chain(&expected, 1);
}

/* ---------------- A request put aside ---------------- */

#define PAIR 2u

static mach_port_t pair[PAIR], pair_threads[PAIR];

/* The first has asked when the second starts. */
static void start_pair(mach_port_t server)
{
	over = port_new();
	for (uint32_t n = 0; n < PAIR; n++) {
		pair[n] = child_new();
		make_caller(pair[n], server);
		child_give(pair[n], OVER, over, MACH_MSG_TYPE_MAKE_SEND);
		pair_threads[n] = child_start(pair[n], n, be_client, 1);
		while (port_status(server).mps_msgcount <= n)
			sleep_ms(1);
	}
}

static void end_pair(void)
{
	for (uint32_t n = 0; n < PAIR; n++) {
		port_drop_send(pair_threads[n]);
		child_end(pair[n]);
	}
	port_destroy(over);
}

/* Takes both requests and works for the first, then for itself, then answers. */
static void serve_first_later(void *port)
{
	struct message requests[PAIR];

	for (uint32_t n = 0; n < PAIR; n++)
		EXPECT_EQ(message_get(&requests[n], (mach_port_t)port, LONG_WAIT),
			  MACH_MSG_SUCCESS);
	EXPECT_EQ(assay_thread_serve(requests[0].head.msgh_remote_port), KERN_SUCCESS);
	through_back(spin_often, 400);
	EXPECT_EQ(assay_thread_serve(SELF), KERN_SUCCESS);
	through_front(spin_often, 400);
	for (uint32_t n = 0; n < PAIR; n++)
		message_drop_reply(&requests[n]);
}

/* Who asks first is who is started first: both wait in turn. */
TEST(a_request_taken_up_again)
{
	mach_port_t server = port_new();
	struct expected expected = {
		.inside = through_back_returns, .n = 1, .places = {through_client_returns}};

	start_pair(server);
	expected.label = expected.tasks[0] = task_id_of(pair[0]);
	start(&expected, SAMPLED_PC_PERIODIC);
	worker_start(0, serve_first_later, (void *)server);
	collect();
	worker_join(0);
	end_pair();
	port_destroy(server);
	EXPECT_LT(100, expected.found);
}

/* Once it works for itself there is nobody behind it, though both still wait. */
TEST(nobody_behind_a_server_of_its_own)
{
	mach_port_t server = port_new();
	struct expected expected = {.inside = through_front_returns, .label = task_id_of(SELF)};

	start_pair(server);
	start(&expected, SAMPLED_PC_PERIODIC);
	worker_start(0, serve_first_later, (void *)server);
	collect();
	worker_join(0);
	end_pair();
	port_destroy(server);
	EXPECT_LT(100, expected.found);
}

/* ---------------- Clients that are gone ---------------- */

static void serve_the_dead(void *port)
{
	struct message request;

	EXPECT_EQ(message_get(&request, (mach_port_t)port, LONG_WAIT), MACH_MSG_SUCCESS);
	child_end(pair[0]);
	EXPECT_EQ(assay_thread_serve(request.head.msgh_remote_port), KERN_INVALID_ARGUMENT);
	through_back(spin_often, 400);
	message_drop_reply(&request);
	EXPECT_EQ(message_send_id(over, MACH_MSG_TYPE_MAKE_SEND, 2), MACH_MSG_SUCCESS);
}

TEST(a_client_that_has_ended)
{
	mach_port_t server = port_new();
	struct expected expected = {.inside = through_back_returns, .cut = true};

	over = port_new();
	pair[0] = child_new();
	make_caller(pair[0], server);
	expected.label = task_id_of(pair[0]);
	pair_threads[0] = child_start(pair[0], 0, call_often, 1);
	start(&expected, SAMPLED_PC_PERIODIC);
	worker_start(0, serve_the_dead, (void *)server);
	collect();
	worker_join(0);
	port_drop_send(pair_threads[0]);
	port_destroy(over);
	port_destroy(server);
	EXPECT_LT(100, expected.found);
}

/* ---------------- Faults ---------------- */

/* It calls, so it has a frame to be found by. */
static void read_word(uint32_t address)
{
	spin();
	*(volatile uint32_t *)address;
}

static void be_reader(uint32_t address)
{
	through_client(read_word, address);
	message_send_id(OVER, MACH_MSG_TYPE_COPY_SEND, 2);
	wait_for_ever();
}

/* Whoever faults on a page is the client of the pager that is asked for it. */
TEST(a_fault_has_a_pager_work)
{
	struct expected expected = {
		.inside = through_back_returns, .n = 1, .places = {through_client_returns}};
	vm_address_t address = 0;

	over = port_new();
	if (!begin(false, MEMORY_OBJECT_COPY_DELAY))
		return;
	client = child_new();
	child_give(client, OVER, over, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(vm_map(client, &address, BYTES, 0, TRUE, object, 0, FALSE, VM_PROT_READ,
			 VM_PROT_ALL, VM_INHERIT_NONE),
		  KERN_SUCCESS);
	expected.label = expected.tasks[0] = task_id_of(client);
	start(&expected, SAMPLED_PC_PERIODIC);
	client_thread = child_start(client, 0, be_reader, address);
	expect(DATA_REQUEST);
	through_back(spin_often, 400);
	fill(0, 1, 7);
	collect();
	port_drop_send(client_thread);
	child_end(client);
	end();
	port_destroy(over);
	EXPECT_LT(100, expected.found);
}

/* ---------------- Waits ---------------- */

static void sleep_for(uint32_t milliseconds)
{
	sleep_ms(milliseconds);
}

#define SLEPT_MS 20u

static void serve_asleep(void *port)
{
	struct message request;

	EXPECT_EQ(message_get(&request, (mach_port_t)port, LONG_WAIT), MACH_MSG_SUCCESS);
	through_back(sleep_for, SLEPT_MS);
	message_drop_reply(&request);
}

/* A server that waits for a client: as long as it does, with the client's stack. */
TEST(a_server_waits_for_its_client)
{
	mach_port_t server = port_new();
	struct expected expected = {.inside = through_back_returns,
				    .n = 1,
				    .places = {through_client_returns},
				    .reason = PROF_WAIT_TIMER};

	over = port_new();
	client = child_new();
	make_caller(client, server);
	child_give(client, OVER, over, MACH_MSG_TYPE_MAKE_SEND);
	expected.label = expected.tasks[0] = task_id_of(client);
	worker_start(0, serve_asleep, (void *)server);
	start(&expected, SAMPLED_PC_WAIT);
	client_thread = child_start(client, 0, be_client, 1);
	collect();
	worker_join(0);
	port_drop_send(client_thread);
	child_end(client);
	port_destroy(over);
	port_destroy(server);
	EXPECT_EQ(expected.found, 1);
	EXPECT_LE(SLEPT_MS * 1000000u - 2000000u, expected.waited);
}

static void wait_for_request(uint32_t milliseconds)
{
	struct message message;

	EXPECT_EQ(message_get(&message, object, milliseconds), MACH_RCV_TIMED_OUT);
}

/* A pager that has supplied a page works for nobody while it waits for the next request. */
TEST(a_pager_waits_for_itself)
{
	struct expected expected = {.inside = through_back_returns,
				    .label = task_id_of(SELF),
				    .reason = PROF_WAIT_RECEIVE};
	vm_address_t address = 0;

	over = port_new();
	if (!begin(false, MEMORY_OBJECT_COPY_DELAY))
		return;
	client = child_new();
	child_give(client, OVER, over, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(vm_map(client, &address, BYTES, 0, TRUE, object, 0, FALSE, VM_PROT_READ,
			 VM_PROT_ALL, VM_INHERIT_NONE),
		  KERN_SUCCESS);
	start(&expected, SAMPLED_PC_WAIT);
	client_thread = child_start(client, 0, be_reader, address);
	expect(DATA_REQUEST);
	fill(0, 1, 7);
	through_back(wait_for_request, SLEPT_MS);
	collect();
	port_drop_send(client_thread);
	child_end(client);
	end();
	port_destroy(over);
	EXPECT_LE(SLEPT_MS * 1000000u - 2000000u, expected.waited);
}

/* ---------------- Who may ---------------- */

/* Whoever samples a server of its own sees no stacks of those who call it. */
TEST(only_the_host_has_clients)
{
	mach_port_t port = port_new(), thread = mach_thread_self();

	EXPECT_EQ(task_sample_start(SELF, SAMPLED_PC_PERIODIC, 0, with_clients, port),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_sample_start(thread, SAMPLED_PC_PERIODIC, 0, with_clients, port),
		  KERN_INVALID_ARGUMENT);
	port_drop_send(thread);
	port_destroy(port);
}
