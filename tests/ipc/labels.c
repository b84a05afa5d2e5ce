/* SPDX-License-Identifier: MIT */
/*
 * Labels: on whose behalf a thread runs, through servers, out of turn, and against forgery.
 *
 * Clients and servers are tasks of their own where it matters; they use mach_msg() alone.  The test
 * looks at their labels from outside.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=4
 */
#include "check.h"
#include "ipc.h"

#define NO_SUCH 0x7654
#define CHAIN   3
#define CLIENTS 3
#define ROUNDS  50

/* Names in the children. */
#define IN     0x101 /* Requests come here, */
#define OUT    0x102 /* and go on there. */
#define ANSWER 0x103 /* Where an answer to OUT comes. */
#define GO     0x104 /* Who is last in the chain waits here before it answers. */
#define NOTICE 0x105 /* And says here that it does. */

static mach_port_t self(void)
{
	return mach_task_self();
}

static void pause_here(void *port)
{
	struct message message;

	message_get(&message, (mach_port_t)port, LONG_WAIT);
}

static void serve_oneself(void)
{
	EXPECT_EQ(assay_thread_serve(self()), KERN_SUCCESS);
	EXPECT_EQ(my_label(), task_id_of(self()));
}

TEST(a_thread_starts_with_its_tasks_label)
{
	mach_port_t port = port_new(), child = child_new(), thread;

	worker_start(0, pause_here, (void *)port);
	EXPECT_EQ(label_of(worker_port(0)), task_id_of(self()));
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 0), MACH_MSG_SUCCESS);
	worker_join(0);
	EXPECT_NE(task_id_of(child), task_id_of(self()));
	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(label_of(thread), task_id_of(child));
	port_drop_send(thread);
	child_end(child);
	port_destroy(port);
}

/* ---------------- Through three servers ---------------- */

/* Receives a request, asks the next about it, answers. */
static void forward(uint32_t unused)
{
	struct message message;
	mach_port_t reply;

	(void)unused;
	for (;;) {
		if (mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, IN, 0, 0))
			return;
		reply = message.head.msgh_remote_port;
		message_head(&message, OUT, MACH_MSG_TYPE_COPY_SEND, ANSWER,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, 1);
		if (mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
			     sizeof message, ANSWER, 0, 0))
			return;
		message_head(&message, reply, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0, 2);
		mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	}
}

/* Receives a request, says so, and answers when it is told to, whoever tells. */
static void last(uint32_t unused)
{
	struct message message;
	mach_port_t reply;

	(void)unused;
	for (;;) {
		if (mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, IN, 0, 0))
			return;
		reply = message.head.msgh_remote_port;
		message_head(&message, NOTICE, MACH_MSG_TYPE_COPY_SEND, 0, 0, 3);
		mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
		mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, GO, 0, 0);
		message_head(&message, reply, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0, 2);
		mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	}
}

/* Asks once, says so, and waits until it is ended. */
static void ask(uint32_t unused)
{
	struct message message;

	(void)unused;
	message_head(&message, OUT, MACH_MSG_TYPE_COPY_SEND, ANSWER, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     1);
	mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head, sizeof message,
		 ANSWER, 0, 0);
	message_head(&message, NOTICE, MACH_MSG_TYPE_COPY_SEND, 0, 0, 4);
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, ANSWER, 0, 0);
}

struct stage {
	mach_port_t task;
	mach_port_t thread;
	mach_port_t in; /* A send right to the port that it has as IN. */
};

static void stage_new(struct stage *stage, mach_port_t out, mach_port_t notice)
{
	stage->task = child_new();
	stage->in = port_new_with_send();
	child_give(stage->task, IN, stage->in, MACH_MSG_TYPE_MOVE_RECEIVE);
	EXPECT_EQ(mach_port_allocate_name(stage->task, MACH_PORT_RIGHT_RECEIVE, ANSWER),
		  KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate_name(stage->task, MACH_PORT_RIGHT_RECEIVE, GO), KERN_SUCCESS);
	if (out != MACH_PORT_NULL)
		child_give(stage->task, OUT, out, MACH_MSG_TYPE_COPY_SEND);
	child_give(stage->task, NOTICE, notice, MACH_MSG_TYPE_MAKE_SEND);
}

static void stage_end(struct stage *stage)
{
	child_end(stage->task);
	port_destroy(stage->thread);
	port_destroy(stage->in);
}

/* Tells the last server to go on, which it does for itself: the reply must not carry that. */
static void tell_to_go(mach_port_t task)
{
	mach_port_t go = MACH_PORT_NULL;
	mach_msg_type_name_t kind;

	EXPECT_EQ(mach_port_extract_right(task, GO, MACH_MSG_TYPE_MAKE_SEND, &go, &kind),
		  KERN_SUCCESS);
	EXPECT_EQ(message_send_id(go, MACH_MSG_TYPE_MOVE_SEND, 0), MACH_MSG_SUCCESS);
}

TEST(a_label_crosses_three_servers)
{
	struct stage stages[CHAIN + 1]; /* The servers, the last of them first, and the client. */
	mach_port_t notice = port_new(), next = MACH_PORT_NULL;
	struct message message;
	uint32_t client;

	for (int i = 0; i <= CHAIN; i++) {
		stage_new(&stages[i], next, notice);
		next = stages[i].in;
	}
	client = task_id_of(stages[CHAIN].task);
	for (int i = 0; i < CHAIN; i++) {
		stages[i].thread = child_start(stages[i].task, 0, i == 0 ? last : forward, 0);
		EXPECT_EQ(label_of(stages[i].thread), task_id_of(stages[i].task));
	}
	stages[CHAIN].thread = child_start(stages[CHAIN].task, 0, ask, 0);
	EXPECT_EQ(message_get(&message, notice, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 3);
	/* All of them work for the client now, but not who was only told of it by the last. */
	EXPECT_EQ(my_label(), task_id_of(self()));
	for (int i = 0; i <= CHAIN; i++)
		EXPECT_EQ(label_of(stages[i].thread), client);
	tell_to_go(stages[0].task);
	EXPECT_EQ(message_get(&message, notice, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 4);
	/* The answers have brought it back, though the last server was told by another. */
	EXPECT_EQ(label_of(stages[CHAIN].thread), client);
	/* Who has answered works for itself. */
	for (int i = 0; i < CHAIN; i++)
		EXPECT_EQ(label_of(stages[i].thread), task_id_of(stages[i].task));
	for (int i = 0; i <= CHAIN; i++)
		stage_end(&stages[i]);
	port_destroy(notice);
	serve_oneself();
}

/* ---------------- Clients of this task's ---------------- */

static void stage_ask(struct stage *stage, mach_port_t service, mach_port_t notice)
{
	stage_new(stage, MACH_PORT_NULL, notice);
	child_give(stage->task, OUT, service, MACH_MSG_TYPE_MAKE_SEND);
	stage->thread = child_start(stage->task, 0, ask, 0);
}

/* Two requests are parked and answered in the other order. */
TEST(parked_clients_are_served_in_any_order)
{
	mach_port_t service = port_new(), notice = port_new(), reply[2];
	uint32_t ids[2];
	struct stage clients[2];
	struct message message;

	for (int i = 0; i < 2; i++) {
		stage_ask(&clients[i], service, notice);
		ids[i] = task_id_of(clients[i].task);
		EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
		EXPECT_EQ(my_label(), ids[i]);
		reply[i] = message.head.msgh_remote_port;
	}
	EXPECT_EQ(assay_thread_serve(reply[0]), KERN_SUCCESS);
	EXPECT_EQ(my_label(), ids[0]);
	EXPECT_EQ(assay_thread_serve(reply[1]), KERN_SUCCESS);
	EXPECT_EQ(my_label(), ids[1]);
	/*
	 * Each answer brings its own client's label, whatever that of the server is; which keeps
	 * its own as long as it is another's answer.
	 */
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(message_send_id(reply[i], MACH_MSG_TYPE_MOVE_SEND_ONCE, 0),
			  MACH_MSG_SUCCESS);
		EXPECT_EQ(my_label(), i == 0 ? ids[1] : task_id_of(self()));
		EXPECT_EQ(message_get(&message, notice, LONG_WAIT), MACH_MSG_SUCCESS);
		EXPECT_EQ(my_label(), task_id_of(self()));
		EXPECT_EQ(label_of(clients[i].thread), ids[i]);
		if (i == 0)
			EXPECT_EQ(assay_thread_serve(reply[1]), KERN_SUCCESS);
	}
	for (int i = 0; i < 2; i++)
		stage_end(&clients[i]);
	port_destroy(notice);
	port_destroy(service);
	serve_oneself();
}

/* ---------------- An event loop ---------------- */

/* Sends its task's id again and again. */
static void send_ids(uint32_t id)
{
	struct message message;

	for (;;) {
		message_head(&message, OUT, MACH_MSG_TYPE_COPY_SEND, 0, 0, (int)id);
		mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
	}
}

/* Receives from them all; returns how often the label was not as it should be. */
static uint32_t receive_ids(mach_port_t set, bool count)
{
	struct message message;
	uint32_t wrong = 0;

	for (int round = 0; round < ROUNDS; round++) {
		EXPECT_EQ(message_get(&message, set, LONG_WAIT), MACH_MSG_SUCCESS);
		wrong +=
			my_label() != (count ? (uint32_t)message.head.msgh_id : task_id_of(self()));
	}
	return wrong;
}

/* By itself for nobody else; when the ports' owner wants that, for the sender. */
TEST(an_event_loop_is_never_charged_to_the_wrong_one)
{
	mach_port_t set = 0, ports[CLIENTS], children[CLIENTS], threads[CLIENTS];

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		ports[i] = port_new();
		EXPECT_EQ(mach_port_move_member(self(), ports[i], set), KERN_SUCCESS);
		children[i] = child_new();
		child_give(children[i], OUT, ports[i], MACH_MSG_TYPE_MAKE_SEND);
		threads[i] = child_start(children[i], 0, send_ids, task_id_of(children[i]));
	}
	EXPECT_EQ(receive_ids(set, false), 0);
	for (uint32_t i = 0; i < CLIENTS; i++)
		EXPECT_EQ(port_one_way_counts(self(), ports[i], TRUE), KERN_SUCCESS);
	EXPECT_EQ(receive_ids(set, true), 0);
	for (uint32_t i = 0; i < CLIENTS; i++)
		EXPECT_EQ(port_one_way_counts(self(), ports[i], FALSE), KERN_SUCCESS);
	EXPECT_EQ(receive_ids(set, false), 0);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		child_end(children[i]);
		port_destroy(threads[i]);
		port_destroy(ports[i]);
	}
	port_destroy(set);
	serve_oneself();
}

/* Only who has the receive right says so, and it does not go along with that. */
TEST(one_way_messages_count_by_port)
{
	mach_port_t port = port_new_with_send(), child = child_new(), thread;
	mach_msg_type_name_t kind;
	struct message message;

	EXPECT_EQ(port_one_way_counts(self(), NO_SUCH, TRUE), KERN_INVALID_NAME);
	EXPECT_EQ(port_one_way_counts(self(), self(), TRUE), KERN_INVALID_RIGHT);
	EXPECT_EQ(port_one_way_counts(self(), port, TRUE), KERN_SUCCESS);
	child_give(child, IN, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	EXPECT_EQ(mach_port_extract_right(child, IN, MACH_MSG_TYPE_MOVE_RECEIVE, &port, &kind),
		  KERN_SUCCESS);
	child_give(child, OUT, port, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, send_ids, 1);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(my_label(), task_id_of(self()));
	child_end(child);
	port_destroy(thread);
	port_destroy(port);
}

/* ---------------- Until it is answered ---------------- */

/* Who answers, and waits in vain for the next request, works for itself. */
TEST(an_answer_ends_the_work)
{
	mach_port_t service = port_new(), notice = port_new();
	struct stage client;
	struct message message;

	stage_ask(&client, service, notice);
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(my_label(), task_id_of(client.task));
	message_head(&message, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0,
		     2);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG | MACH_RCV_TIMEOUT,
			   sizeof message.head, sizeof message, service, 1, 0),
		  MACH_RCV_TIMED_OUT);
	EXPECT_EQ(my_label(), task_id_of(self()));
	EXPECT_EQ(message_get(&message, notice, LONG_WAIT), MACH_MSG_SUCCESS);
	stage_end(&client);
	port_destroy(notice);
	port_destroy(service);
}

/* Answers the request that it has, and waits for one that does not come. */
static void answer_and_wait(void *unused)
{
	struct message message;
	mach_port_t service = (mach_port_t)unused;

	message_get(&message, service, LONG_WAIT);
	message_head(&message, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0,
		     2);
	mach_msg_trap(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head,
		      sizeof message, service, 0, 0);
	pause_here(unused);
}

/* The same by the fast path, where the wait is broken off. */
TEST(an_answer_ends_the_work_of_who_is_aborted)
{
	mach_port_t service = port_new(), notice = port_new();
	struct stage client;
	struct message message;

	worker_start(1, answer_and_wait, (void *)service);
	stage_ask(&client, service, notice);
	EXPECT_EQ(message_get(&message, notice, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(thread_abort(worker_port(1)), KERN_SUCCESS);
	sleep_ms(1);
	EXPECT_EQ(label_of(worker_port(1)), task_id_of(self()));
	EXPECT_EQ(message_send_id(service, MACH_MSG_TYPE_MAKE_SEND, 0), MACH_MSG_SUCCESS);
	worker_join(1);
	stage_end(&client);
	port_destroy(notice);
	port_destroy(service);
}

/* What cannot be answered any more is work for nobody. */
TEST(a_dead_reply_port_is_none)
{
	mach_port_t service = port_new(), notice = port_new(), child = child_new();
	mach_port_t thread, reply = port_new_with_send();
	struct message message;

	child_give(child, OUT, service, MACH_MSG_TYPE_MAKE_SEND);
	child_give(child, NOTICE, notice, MACH_MSG_TYPE_MAKE_SEND);
	child_give(child, ANSWER, reply, MACH_MSG_TYPE_MOVE_RECEIVE);
	thread = child_start(child, 0, ask, 0);
	sleep_ms(1);
	child_end(child);
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_DEAD);
	EXPECT_EQ(my_label(), task_id_of(self()));
	port_destroy(thread);
	port_destroy(reply);
	port_destroy(notice);
	port_destroy(service);
}

/* What the kernel has to say by a send-once right is said to whom the right was made for. */
TEST(notifications_are_for_who_asked)
{
	mach_port_t service = port_new(), notice = port_new(), port = port_new(), once;
	struct stage client;
	struct message message;
	uint32_t id;

	stage_ask(&client, service, notice);
	id = task_id_of(client.task);
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	once = port_send_once(port);
	message_drop_reply(&message);
	serve_oneself();
	port_drop_send(once);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_SEND_ONCE);
	EXPECT_EQ(my_label(), id);
	serve_oneself();
	stage_end(&client);
	port_destroy(port);
	port_destroy(notice);
	port_destroy(service);
}

/* A task has as maker whom its maker worked for, whatever task it is given as parent. */
TEST(a_task_knows_for_whom_it_was_made)
{
	mach_port_t service = port_new(), notice = port_new(), task = child_new();
	struct stage client;
	struct message message;

	EXPECT_EQ(task_maker_of(self()), 0);
	EXPECT_EQ(task_maker_of(task), task_id_of(self()));
	child_end(task);
	stage_ask(&client, service, notice);
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	task = child_new();
	EXPECT_EQ(task_maker_of(task), task_id_of(client.task));
	message_drop_reply(&message);
	child_end(task);
	stage_end(&client);
	port_destroy(notice);
	port_destroy(service);
	serve_oneself();
}

/* A call of the kernel changes nothing. */
TEST(calls_of_the_kernel_keep_the_label)
{
	mach_port_t service = port_new(), notice = port_new();
	struct stage client;
	struct message message;
	uint32_t id;

	stage_ask(&client, service, notice);
	id = task_id_of(client.task);
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(port_type(service), MACH_PORT_TYPE_RECEIVE);
		EXPECT_EQ(my_label(), id);
	}
	message_drop_reply(&message);
	stage_end(&client);
	port_destroy(notice);
	port_destroy(service);
	serve_oneself();
}

/* ---------------- Pagers ---------------- */

static uint32_t label_at_init, label_at_request;
static mach_port_t control, control_name; /* Of the mapped object. */

/* A pager of one page, which it has not; it says that it is one after the first message only. */
static void page_once(void *port)
{
	struct message message;

	EXPECT_EQ(message_get(&message, (mach_port_t)port, LONG_WAIT), MACH_MSG_SUCCESS);
	label_at_init = my_label();
	control = message.body[1];
	control_name = message.body[3];
	EXPECT_EQ(memory_object_ready(control, FALSE, MEMORY_OBJECT_COPY_NONE), KERN_SUCCESS);
	EXPECT_EQ(message_get(&message, (mach_port_t)port, LONG_WAIT), MACH_MSG_SUCCESS);
	label_at_request = my_label();
	EXPECT_EQ(memory_object_data_unavailable(control, 0, PAGE_SIZE), KERN_SUCCESS);
}

/* Who maps any port of others' does not put them to work; who wants a page of a pager's does. */
TEST(a_pager_works_for_who_wants_a_page)
{
	mach_port_t object = port_new_with_send(), service = port_new(), notice = port_new();
	vm_address_t address = 0;
	struct stage client;
	struct message message;

	worker_start(1, page_once, (void *)object);
	stage_ask(&client, service, notice);
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(vm_map(self(), &address, PAGE_SIZE, 0, TRUE, object, 0, FALSE, VM_PROT_DEFAULT,
			 VM_PROT_ALL, VM_INHERIT_NONE),
		  KERN_SUCCESS);
	EXPECT_EQ(*(volatile uint32_t *)address, 0);
	worker_join(1);
	EXPECT_EQ(label_at_init, task_id_of(self()));
	EXPECT_EQ(label_at_request, task_id_of(client.task));
	EXPECT_EQ(vm_deallocate(self(), address, PAGE_SIZE), KERN_SUCCESS);
	message_drop_reply(&message);
	serve_oneself();
	stage_end(&client);
	port_destroy(control);
	port_destroy(control_name);
	port_destroy(object);
	port_destroy(notice);
	port_destroy(service);
}

/* ---------------- Forgery ---------------- */

static void sleep_forever(uint32_t unused)
{
	(void)unused;
	for (;;)
		sleep_ms(LONG_WAIT);
}

static void expect_refused(mach_port_t name)
{
	uint32_t before = my_label();

	EXPECT_NE(assay_thread_serve(name), KERN_SUCCESS);
	EXPECT_EQ(my_label(), before);
}

TEST(no_label_can_be_forged)
{
	mach_port_t port = port_new_with_send(), send = port_new_with_send(), once, set = 0;
	mach_port_t child = child_new(), thread = child_start(child, 0, sleep_forever, 0);
	mach_port_t host = mach_host_self();

	once = port_send_once(port);
	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	expect_refused(MACH_PORT_NULL);
	expect_refused(MACH_PORT_DEAD);
	expect_refused(NO_SUCH);
	expect_refused(port);
	expect_refused(set);
	expect_refused(host);
	expect_refused(thread);
	port_drop_receive(send);
	expect_refused(send);
	port_drop_receive(port);
	expect_refused(once);
	child_end(child);
	expect_refused(thread);
	port_destroy(thread);
	port_destroy(once);
	port_destroy(port);
	port_destroy(send);
	port_destroy(set);
	port_drop_send(host);
}

/* Whoever has a task's port can have it do anything, and so may work for it while it is there. */
TEST(a_task_that_one_has)
{
	mach_port_t child = child_new();
	uint32_t id = task_id_of(child);

	EXPECT_EQ(assay_thread_label(), task_id_of(self()));
	EXPECT_EQ(assay_thread_serve(child), KERN_SUCCESS);
	EXPECT_EQ(my_label(), id);
	EXPECT_EQ(assay_thread_label(), id);
	serve_oneself();
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	expect_refused(child);
	child_end(child);
}

/* A reply right to a port of one's own has no label to give, whenever it was made. */
TEST(ones_own_reply_right)
{
	mach_port_t service = port_new(), notice = port_new(), own = port_new(), before, during;
	struct stage client;
	struct message message;
	uint32_t id;

	before = port_send_once(own);
	stage_ask(&client, service, notice);
	id = task_id_of(client.task);
	EXPECT_EQ(message_get(&message, service, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(my_label(), id);
	during = port_send_once(own);
	EXPECT_EQ(assay_thread_serve(message.head.msgh_remote_port), KERN_SUCCESS);
	EXPECT_EQ(my_label(), id);
	expect_refused(before);
	expect_refused(during);
	message_drop_reply(&message);
	serve_oneself();
	expect_refused(during);
	port_destroy(before);
	port_destroy(during);
	stage_end(&client);
	port_destroy(own);
	port_destroy(notice);
	port_destroy(service);
}
