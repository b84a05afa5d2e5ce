/* SPDX-License-Identifier: MIT */
/*
 * Whose samples they are: of which thread, and on whose behalf.
 *
 * machine: cpus=1 limit=60 arguments="${host-port}"
 */
#include "block.h"
#include "check.h"
#include "ipc.h"
#include "shares.h"
#include "tally.h"

#define SELF      mach_task_self()
#define FULL_RATE 10000u
#define WORSE     (PRIORITY_USUAL + 5) /* So that who collects has the CPU when a message comes. */

static struct tally tally;

static void must_begin(kern_return_t result)
{
	EXPECT_EQ(result, KERN_SUCCESS);
}

static const sample_options_t usual = {.age_ms = 500};

/* ---------------- Threads ---------------- */

/* 40,002 instructions; each has its own, so that the place says who it was. */
#define SPIN(name)                                                            \
	__asm__(".text\n.globl " #name ", " #name "_end\n" #name              \
		": movl $400, %ecx\n" HUNDREDS_TEXT "ret\n" #name "_end:\n"); \
	void name(void);                                                      \
	extern char name##_end[]

SPIN(spin_0);
SPIN(spin_1);
SPIN(spin_2);
SPIN(spin_3);

struct spinner {
	void (*spin)(void);
	const char *end;
	uint32_t rounds;
	uint32_t thread; /* Of its samples. */
};

#define SPINNERS 4u
#define ROUNDS   10000u

static struct spinner spinners[SPINNERS] = {
	{.spin = spin_0, .end = spin_0_end},
	{.spin = spin_1, .end = spin_1_end},
	{.spin = spin_2, .end = spin_2_end},
	{.spin = spin_3, .end = spin_3_end},
};

static volatile bool stop;

static uint32_t spinner_at(uint32_t pc)
{
	uint32_t n = 0;

	while (n < SPINNERS && (pc < (uint32_t)spinners[n].spin || pc >= (uint32_t)spinners[n].end))
		n++;
	return n;
}

/* In a child. */
static void sleep_for_ever(uint32_t unused)
{
	(void)unused;
	for (;;)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, LONG_WAIT);
}

static void spin_and_exit(uint32_t rounds)
{
	for (uint32_t n = 0; n < rounds; n++)
		spin_0();
	assay_exit(0);
}

static uint32_t spinner_thread, n_elsewhere, n_spinning;

/* The first sample may be of the spinner's start, when it does not spin yet. */
static void find_spinner(struct tally *unused, const struct prof_sample *sample)
{
	(void)unused;
	if (spinner_thread == 0)
		spinner_thread = sample->thread;
	n_elsewhere += sample->thread != spinner_thread;
	n_spinning += spinner_at(sample->pc) == 0;
}

TEST(one_spins_and_three_sleep)
{
	mach_port_t child = child_new(), threads[SPINNERS];

	for (uint32_t n = 1; n < SPINNERS; n++)
		threads[n] = child_start(child, n, sleep_for_ever, 0);
	sleep_ms(20);
	spinner_thread = n_elsewhere = n_spinning = 0;
	tally_new(&tally, 1, find_spinner);
	must_begin(task_sample_start(child, SAMPLED_PC_PERIODIC, FULL_RATE, usual, tally.port));
	threads[0] = child_start(child, 0, spin_and_exit, ROUNDS);
	tally_all(&tally, 1);
	EXPECT_LT(3500, n_spinning);
	/* When the task ends those that sleep run once more, each to its end. */
	EXPECT_LT(n_elsewhere, SPINNERS);
	for (uint32_t n = 0; n < SPINNERS; n++)
		port_destroy(threads[n]);
	port_destroy(child);
}

/* They wait for a message each, so that they do nothing before they are sampled. */
static mach_port_t spin_port;

static void spin_on(void *argument)
{
	struct spinner *spinner = argument;
	struct message message;

	message_get(&message, spin_port, LONG_WAIT);
	while (!stop) {
		spinner->spin();
		spinner->rounds++;
		stop = stop || (spinner == spinners && spinner->rounds >= ROUNDS);
	}
}

static void count_spinner(struct tally *own, const struct prof_sample *sample)
{
	uint32_t n = spinner_at(sample->pc);

	if (n == SPINNERS)
		return;
	((struct shares *)own->data)->counts[n]++;
	if (spinners[n].thread == 0)
		spinners[n].thread = sample->thread;
	EXPECT_EQ(sample->thread, spinners[n].thread);
}

/* They have turns of a tenth of a second, so the shares are what they did and
 * not a quarter. */
static void know_shares(struct shares *shares)
{
	uint32_t total = 0;

	for (uint32_t n = 0; n < SPINNERS; n++)
		total += spinners[n].rounds;
	for (uint32_t n = 0; n < SPINNERS; n++) {
		shares->truth[n] = (double)spinners[n].rounds / total;
		EXPECT_LT(total / 8, spinners[n].rounds);
	}
}

static void stop_when_over(void *unused)
{
	(void)unused;
	for (uint32_t n = 0; n < SPINNERS; n++)
		worker_join(n);
	EXPECT_EQ(task_sample_stop(SELF, tally.port), KERN_SUCCESS);
}

TEST(four_spin)
{
	struct shares shares = {.places = SPINNERS};

	stop = false;
	spin_port = port_new();
	tally_new(&tally, 1, count_spinner);
	tally.data = &shares;
	for (uint32_t n = 0; n < SPINNERS; n++) {
		spinners[n].rounds = spinners[n].thread = 0;
		worker_start(n, spin_on, &spinners[n]);
		EXPECT_EQ(thread_priority(worker_port(n), WORSE, FALSE), KERN_SUCCESS);
	}
	must_begin(task_sample_start(SELF, SAMPLED_PC_PERIODIC, FULL_RATE, usual, tally.port));
	sleep_ms(1);
	for (uint32_t n = 0; n < SPINNERS; n++)
		EXPECT_EQ(message_send_id(spin_port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
	worker_start(SPINNERS, stop_when_over, NULL);
	tally_all(&tally, 1);
	worker_join(SPINNERS);
	port_destroy(spin_port);
	know_shares(&shares);
	shares_print("four", &shares);
	EXPECT_LE(shares_worst(&shares), SHARES_ERRORS);
	for (uint32_t n = 0; n < SPINNERS; n++)
		for (uint32_t other = 0; other < n; other++)
			EXPECT_NE(spinners[n].thread, spinners[other].thread);
}

/* ---------------- On whose behalf ---------------- */

#define SERVER  0x101 /* In the children: where they ask, */
#define ANSWER  0x102 /* and where the answer comes. */
#define CLIENTS 2u
#define UNIT \
	1200u /* Calls of the second client; the first makes three for each of them. \
         */

static mach_port_t clients[CLIENTS], client_threads[CLIENTS];
static uint32_t client_ids[CLIENTS];
static struct message request;

static void ask(uint32_t calls)
{
	struct message message;

	for (uint32_t n = 0; n < calls; n++) {
		message_head(&message, SERVER, MACH_MSG_TYPE_COPY_SEND, ANSWER,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
		mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
			 sizeof message, ANSWER, 0, 0);
	}
	for (;;)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, LONG_WAIT);
}

static void serve(void *server)
{
	for (uint32_t n = 0; n < (3 + 1) * UNIT && !check_failed(); n++) {
		EXPECT_EQ(message_get(&request, (mach_port_t)server, LONG_WAIT), MACH_MSG_SUCCESS);
		spin_0();
		spin_0();
		message_drop_reply(&request);
	}
}

static void start_clients(mach_port_t server)
{
	for (uint32_t n = 0; n < CLIENTS; n++) {
		clients[n] = child_new();
		child_give(clients[n], SERVER, server, MACH_MSG_TYPE_MAKE_SEND);
		EXPECT_EQ(mach_port_allocate_name(clients[n], MACH_PORT_RIGHT_RECEIVE, ANSWER),
			  KERN_SUCCESS);
		client_ids[n] = task_id_of(clients[n]);
		client_threads[n] = child_start(clients[n], 0, ask, n == 0 ? 3 * UNIT : UNIT);
	}
}

static void end_clients(void)
{
	for (uint32_t n = 0; n < CLIENTS; n++) {
		port_drop_send(client_threads[n]);
		child_end(clients[n]);
	}
}

/* What the server did: for the first, for the second, and for nobody that it
 * should. */
static void count_label(struct tally *own, const struct prof_sample *sample)
{
	uint32_t n = 0;

	if (spinner_at(sample->pc) != 0)
		return;
	while (n < CLIENTS && sample->label != client_ids[n])
		n++;
	((struct shares *)own->data)->counts[n]++;
}

static uint32_t n_strangers;

static void find_strangers(struct tally *own, const struct prof_sample *sample)
{
	n_strangers += sample->label != *(const uint32_t *)own->data;
}

static struct tally both[2];

static void stop_both_when_over(void *unused)
{
	(void)unused;
	worker_join(0);
	for (uint32_t n = 0; n < 2; n++)
		EXPECT_EQ(host_sample_stop(check_number(0), both[n].port), KERN_SUCCESS);
}

/* One stream has all that runs, the other what runs on behalf of the first
 * client. */
TEST(two_clients_of_one_server)
{
	struct shares shares = {.places = 3, .truth = {0.75, 0.25, 0}};
	mach_port_t server = port_new(), host = check_number(0);

	n_strangers = 0;
	worker_start(0, serve, (void *)server);
	EXPECT_EQ(thread_priority(worker_port(0), WORSE, FALSE), KERN_SUCCESS);
	start_clients(server);
	tally_new(&both[0], 1, count_label);
	both[0].data = &shares;
	tally_new(&both[1], 1, find_strangers);
	both[1].data = &client_ids[0];
	must_begin(host_sample_start(host, 0, SAMPLED_PC_PERIODIC, FULL_RATE, usual, both[0].port));
	must_begin(host_sample_start(host, client_ids[0], SAMPLED_PC_PERIODIC, FULL_RATE, usual,
				     both[1].port));
	worker_start(1, stop_both_when_over, NULL);
	tally_all(both, 2);
	worker_join(1);
	shares_print("labels", &shares);
	EXPECT_LT(3000, shares_total(&shares));
	EXPECT_LE(shares_worst(&shares), SHARES_ERRORS);
	EXPECT_LE(shares.counts[2] * 100, shares_total(&shares));
	EXPECT_LT(2000, both[1].samples);
	EXPECT_EQ(n_strangers, 0);
	end_clients();
	port_destroy(server);
}

/* ---------------- Empty messages ---------------- */

#define EMPTY    50u
#define OWN_WORK 500u /* 20 million instructions. */

static uint32_t n_own, n_others;

static void send_empty(uint32_t count)
{
	struct message message;

	for (uint32_t n = 0; n < count; n++) {
		message_head(&message, SERVER, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
		mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	}
	sleep_for_ever(0);
}

/* Receives all that was sent, and then does what nobody asked for. */
static void receive_and_spin(void *port)
{
	struct message message;

	for (uint32_t n = 0; n < EMPTY; n++)
		EXPECT_EQ(message_get(&message, (mach_port_t)port, LONG_WAIT), MACH_MSG_SUCCESS);
	for (uint32_t n = 0; n < OWN_WORK; n++)
		spin_0();
	EXPECT_EQ(host_sample_stop(check_number(0), tally.port), KERN_SUCCESS);
}

static void count_own(struct tally *unused, const struct prof_sample *sample)
{
	(void)unused;
	if (spinner_at(sample->pc) != 0)
		return;
	n_own += sample->label == task_id_of(SELF);
	n_others += sample->label != task_id_of(SELF);
}

/* Whoever is sent messages that ask for nothing goes on working for himself. */
TEST(empty_messages_put_nobody_to_work)
{
	mach_port_t port = port_new(), child = child_new(), thread;

	n_own = n_others = 0;
	child_give(child, SERVER, port, MACH_MSG_TYPE_MAKE_SEND);
	tally_new(&tally, 1, count_own);
	must_begin(host_sample_start(check_number(0), 0, SAMPLED_PC_PERIODIC, FULL_RATE, usual,
				     tally.port));
	worker_start(0, receive_and_spin, (void *)port);
	EXPECT_EQ(thread_priority(worker_port(0), WORSE, FALSE), KERN_SUCCESS);
	thread = child_start(child, 0, send_empty, EMPTY);
	tally_all(&tally, 1);
	worker_join(0);
	EXPECT_LT(150, n_own);
	EXPECT_EQ(n_others, 0);
	port_drop_send(thread);
	child_end(child);
	port_destroy(port);
}

/* ---------------- After the answer ---------------- */

/* Makes a reply right to a port of its own while it serves, and works on by it when all is over. */
static void serve_and_keep(void *port)
{
	mach_port_t own = port_new(), kept;

	EXPECT_EQ(message_get(&request, (mach_port_t)port, LONG_WAIT), MACH_MSG_SUCCESS);
	kept = port_send_once(own);
	EXPECT_EQ(assay_thread_serve(request.head.msgh_remote_port), KERN_SUCCESS);
	message_drop_reply(&request);
	EXPECT_EQ(assay_thread_serve(SELF), KERN_SUCCESS);
	EXPECT_EQ(assay_thread_serve(kept), KERN_INVALID_ARGUMENT);
	for (uint32_t n = 0; n < OWN_WORK; n++)
		spin_0();
	EXPECT_EQ(host_sample_stop(check_number(0), tally.port), KERN_SUCCESS);
	port_destroy(kept);
	port_destroy(own);
}

/* Whoever was served pays for nothing that its server does for itself afterwards. */
TEST(a_server_keeps_no_label)
{
	mach_port_t port = port_new();

	n_own = n_others = 0;
	clients[0] = child_new();
	child_give(clients[0], SERVER, port, MACH_MSG_TYPE_MAKE_SEND);
	EXPECT_EQ(mach_port_allocate_name(clients[0], MACH_PORT_RIGHT_RECEIVE, ANSWER),
		  KERN_SUCCESS);
	tally_new(&tally, 1, count_own);
	must_begin(host_sample_start(check_number(0), 0, SAMPLED_PC_PERIODIC, FULL_RATE, usual,
				     tally.port));
	worker_start(0, serve_and_keep, (void *)port);
	EXPECT_EQ(thread_priority(worker_port(0), WORSE, FALSE), KERN_SUCCESS);
	client_threads[0] = child_start(clients[0], 0, ask, 1);
	tally_all(&tally, 1);
	worker_join(0);
	EXPECT_LT(150, n_own);
	EXPECT_EQ(n_others, 0);
	port_drop_send(client_threads[0]);
	child_end(clients[0]);
	port_destroy(port);
}
