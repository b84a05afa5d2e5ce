/* SPDX-License-Identifier: MIT */
/*
 * Calls as clients and servers usually make them: each sends and waits for the answer, or for the
 * next request, in one trap and without a limit.  That is what the kernel's fast path serves, so
 * everything that it must not get wrong is looked at here, with it and without.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include <mach/messages.h>

#include "check.h"
#include "ipc.h"

#define CALL_ID   77
#define N_WORDS   8 /* Of a request's and of an answer's body. */
#define UNTOUCHED 0xa5a5a5a5u

/* What a server tells in its answer of the request and of itself. */
enum word {
	WORD_LABEL,
	WORD_BITS,
	WORD_LOCAL,
	WORD_SEQNO,
	WORD_ID,
	WORD_SIZE,
	WORD_ECHO,
};

static mach_port_t served;            /* What servers of this task receive from. */
static volatile uint32_t answered;    /* Answers that clients among the workers have got. */
static volatile uint32_t naptime;     /* Milliseconds that a server sleeps before it answers. */
static volatile uint32_t last_result; /* With which the server's last trap came back. */

static mach_port_t self(void)
{
	return mach_task_self();
}

static mach_msg_return_t exchange(struct message *message, uint32_t words, uint32_t room,
				  mach_port_t port)
{
	return mach_msg(&message->head, MACH_SEND_MSG | MACH_RCV_MSG,
			sizeof message->head + words * sizeof(uint32_t), room, port,
			MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

static mach_msg_return_t call(struct message *message, mach_port_t port, mach_port_t reply,
			      uint32_t echo)
{
	message_head(message, port, MACH_MSG_TYPE_COPY_SEND, reply, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     CALL_ID);
	message->body[WORD_ECHO] = echo;
	return exchange(message, N_WORDS, sizeof *message, reply);
}

/* ---------------- Servers ---------------- */

static void answer(struct message *message)
{
	mach_msg_header_t request = message->head;

	message->body[WORD_LABEL] = my_label();
	message->body[WORD_BITS] = request.msgh_bits;
	message->body[WORD_LOCAL] = request.msgh_local_port;
	message->body[WORD_SEQNO] = request.msgh_seqno;
	message->body[WORD_ID] = (uint32_t)request.msgh_id;
	message->body[WORD_SIZE] = request.msgh_size;
	message_head(message, request.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
		     MACH_PORT_NULL, 0, request.msgh_id + 100);
}

static void serve_at(mach_port_t port, uint32_t requests)
{
	struct message message;
	mach_msg_return_t result;

	result = mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, port,
			  MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
	for (uint32_t n = 1; result == MACH_MSG_SUCCESS; n++) {
		if (naptime != 0)
			sleep_ms(naptime);
		answer(&message);
		if (n == requests) {
			message_post(&message, N_WORDS);
			return;
		}
		result = exchange(&message, N_WORDS, sizeof message, port);
	}
	last_result = (uint32_t)result;
}

#define IN 0x101 /* What a server in a task of its own receives from. */

static void serve_in_child(uint32_t requests)
{
	serve_at(IN, requests);
}

static void serve_here(void *requests)
{
	serve_at(served, (uint32_t)requests);
}

/* ---------------- What both sides see ---------------- */

TEST(calls_bring_what_they_should)
{
	mach_port_t port = port_new_with_send(), reply = port_new(), child = child_new(), thread;
	struct message message;

	child_give(child, IN, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	thread = child_start(child, 0, serve_in_child, 0);
	for (uint32_t n = 0; n < 10; n++) {
		EXPECT_EQ(call(&message, port, reply, n * 3), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_bits, MACH_MSGH_BITS(0, MACH_MSG_TYPE_PORT_SEND_ONCE));
		EXPECT_EQ(message.head.msgh_size, sizeof message.head + N_WORDS * 4);
		EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_NULL);
		EXPECT_EQ(message.head.msgh_local_port, reply);
		EXPECT_EQ(message.head.msgh_seqno, n);
		EXPECT_EQ(message.head.msgh_id, CALL_ID + 100);
		EXPECT_EQ(message.body[WORD_LABEL], task_id_of(self()));
		EXPECT_EQ(message.body[WORD_BITS],
			  MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND_ONCE, MACH_MSG_TYPE_PORT_SEND));
		EXPECT_EQ(message.body[WORD_LOCAL], IN);
		EXPECT_EQ(message.body[WORD_SEQNO], n);
		EXPECT_EQ(message.body[WORD_ID], CALL_ID);
		EXPECT_EQ(message.body[WORD_SIZE], sizeof message.head + N_WORDS * 4);
		EXPECT_EQ(message.body[WORD_ECHO], n * 3);
		EXPECT_EQ(my_label(), task_id_of(self()));
	}
	child_end(child);
	port_destroy(thread);
	port_destroy(reply);
	port_destroy(port);
}

static void call_for_a_client(uint32_t unused)
{
	struct message message;

	(void)unused;
	call(&message, IN, mach_reply_port(), 0);
}

static void wait_there(void *port)
{
	struct message message;

	message_get(&message, (mach_port_t)port, LONG_WAIT);
}

static void serve_oneself(void)
{
	mach_port_t port = port_new();

	worker_start(7, wait_there, (void *)port);
	EXPECT_EQ(assay_thread_serve(worker_port(7)), KERN_SUCCESS);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 0), MACH_MSG_SUCCESS);
	worker_join(7);
	port_destroy(port);
}

/* First for itself and then for a client, by the same reply port. */
TEST(labels_go_along_and_come_back)
{
	mach_port_t port = port_new_with_send(), reply = port_new(), own = port_new();
	mach_port_t server = child_new(), client = child_new(), threads[2];
	struct message message, request;
	uint32_t id = task_id_of(client);

	child_give(server, IN, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	child_give(client, IN, own, MACH_MSG_TYPE_MAKE_SEND);
	threads[0] = child_start(server, 0, serve_in_child, 0);
	for (uint32_t n = 0; n < 3; n++)
		EXPECT_EQ(call(&message, port, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[WORD_LABEL], task_id_of(self()));
	threads[1] = child_start(client, 0, call_for_a_client, 0);
	EXPECT_EQ(message_get(&request, own, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(my_label(), id);
	EXPECT_EQ(call(&message, port, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[WORD_LABEL], id);
	EXPECT_EQ(my_label(), id);
	serve_oneself();
	EXPECT_EQ(call(&message, port, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[WORD_LABEL], task_id_of(self()));
	EXPECT_EQ(my_label(), task_id_of(self()));
	message_drop_reply(&request);
	child_end(client);
	child_end(server);
	for (int i = 0; i < 2; i++)
		port_destroy(threads[i]);
	port_destroy(own);
	port_destroy(reply);
	port_destroy(port);
}

static volatile uint32_t receivers_label;

static void receive_answer(void *reply)
{
	struct message message;

	mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, (mach_port_t)reply,
		 MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
	receivers_label = my_label();
}

/* One thread asks on behalf of a client, another one, which never did, gets the answer. */
TEST(answers_label_whoever_receives_them)
{
	mach_port_t port = port_new_with_send(), reply = port_new(), own = port_new();
	mach_port_t server = child_new(), client = child_new(), threads[2];
	struct message message, request;

	child_give(server, IN, port, MACH_MSG_TYPE_MOVE_RECEIVE);
	child_give(client, IN, own, MACH_MSG_TYPE_MAKE_SEND);
	threads[0] = child_start(server, 0, serve_in_child, 0);
	threads[1] = child_start(client, 0, call_for_a_client, 0);
	for (uint32_t n = 0; n < 3; n++)
		EXPECT_EQ(call(&message, port, reply, 0), MACH_MSG_SUCCESS);
	worker_start(1, receive_answer, (void *)reply);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(message_get(&request, own, LONG_WAIT), MACH_MSG_SUCCESS);
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, reply, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     CALL_ID);
	EXPECT_EQ(message_post(&message, N_WORDS), MACH_MSG_SUCCESS);
	EXPECT(worker_join(1));
	EXPECT_EQ(receivers_label, task_id_of(client));
	serve_oneself();
	message_drop_reply(&request);
	child_end(client);
	child_end(server);
	for (int i = 0; i < 2; i++)
		port_destroy(threads[i]);
	port_destroy(own);
	port_destroy(reply);
	port_destroy(port);
}

/* ---------------- When it is not as usual ---------------- */

/* Makes the calls of a test to a server that is worker 0. */
static void begin_service(uint32_t requests)
{
	served = port_new_with_send();
	naptime = 0;
	worker_start(0, serve_here, (void *)requests);
}

static void end_service(mach_port_t reply)
{
	EXPECT(worker_join(0));
	port_destroy(served);
	if (reply != MACH_PORT_NULL)
		port_destroy(reply);
}

TEST(answers_that_do_not_fit_are_cut)
{
	mach_port_t reply = port_new();
	struct message message;

	begin_service(3);
	EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	message_head(&message, served, MACH_MSG_TYPE_COPY_SEND, reply, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     CALL_ID);
	for (uint32_t i = 0; i < N_WORDS; i++)
		message.body[i] = UNTOUCHED;
	EXPECT_EQ(exchange(&message, N_WORDS, sizeof message.head + 4, reply), MACH_RCV_TOO_LARGE);
	for (uint32_t i = 1; i < N_WORDS; i++)
		EXPECT_EQ(message.body[i], UNTOUCHED);
	EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	end_service(reply);
}

TEST(payloads_come_instead_of_names)
{
	mach_port_t reply = port_new();
	struct message message;

	begin_service(3);
	EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[WORD_LOCAL], served);
	EXPECT_EQ(mach_port_set_protected_payload(self(), served, 0x1234567), KERN_SUCCESS);
	for (int n = 0; n < 2; n++) {
		EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.body[WORD_LOCAL], 0x1234567);
	}
	end_service(reply);
}

static void call_once(void *unused)
{
	mach_port_t reply = port_new();
	struct message message;

	(void)unused;
	if (call(&message, served, reply, 0) == MACH_MSG_SUCCESS)
		__atomic_add_fetch(&answered, 1, __ATOMIC_SEQ_CST);
	port_destroy(reply);
}

/* ---------------- Messages that are long ---------------- */

#define LONG_WORDS 3000u

struct long_message {
	mach_msg_header_t head;
	uint32_t body[LONG_WORDS];
};

static uint32_t long_size(uint32_t words)
{
	return sizeof(mach_msg_header_t) + words * sizeof(uint32_t);
}

static mach_msg_return_t long_exchange(struct long_message *message, uint32_t words,
				       mach_port_t remote, uint32_t remote_kind, mach_port_t local,
				       uint32_t local_kind, mach_port_t from)
{
	message->head.msgh_bits = MACH_MSGH_BITS(remote_kind, local_kind);
	message->head.msgh_remote_port = remote;
	message->head.msgh_local_port = local;
	message->head.msgh_size = UNTOUCHED; /* The kernel's to say. */
	return mach_msg(&message->head, MACH_SEND_MSG | MACH_RCV_MSG, long_size(words),
			sizeof *message, from, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

/* Answers so many requests with as many words, each of them one more. */
static void serve_long(void *requests)
{
	static struct long_message message;
	uint32_t left = (uint32_t)requests;
	mach_msg_return_t result = mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, served,
					    MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);

	while (result == MACH_MSG_SUCCESS) {
		uint32_t words = (message.head.msgh_size - long_size(0)) / sizeof(uint32_t);

		for (uint32_t i = 0; i < words; i++)
			message.body[i]++;
		if (--left == 0) {
			message.head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0);
			message.head.msgh_local_port = MACH_PORT_NULL;
			mach_msg(&message.head, MACH_SEND_MSG, long_size(words), 0, MACH_PORT_NULL,
				 MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
			return;
		}
		result = long_exchange(&message, words, message.head.msgh_remote_port,
				       MACH_MSG_TYPE_MOVE_SEND_ONCE, MACH_PORT_NULL, 0, served);
	}
	last_result = (uint32_t)result;
}

static struct long_message asked;

static void long_call(mach_port_t reply, uint32_t words, uint32_t n)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < LONG_WORDS; i++)
		asked.body[i] = i < words ? n * i : UNTOUCHED;
	asked.head.msgh_id = (mach_msg_id_t)n;
	EXPECT_EQ(long_exchange(&asked, words, served, MACH_MSG_TYPE_COPY_SEND, reply,
				MACH_MSG_TYPE_MAKE_SEND_ONCE, reply),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(asked.head.msgh_bits, MACH_MSGH_BITS(0, MACH_MSG_TYPE_PORT_SEND_ONCE));
	EXPECT_EQ(asked.head.msgh_size, long_size(words));
	EXPECT_EQ(asked.head.msgh_remote_port, MACH_PORT_NULL);
	EXPECT_EQ(asked.head.msgh_local_port, reply);
	EXPECT_EQ(asked.head.msgh_seqno, n);
	EXPECT_EQ(asked.head.msgh_id, (mach_msg_id_t)n);
	for (uint32_t i = 0; i < LONG_WORDS; i++)
		wrong += asked.body[i] != (i < words ? n * i + 1 : UNTOUCHED);
	EXPECT_EQ(wrong, 0);
}

/* Around what a thread's inbox takes, and what the kernel's messages of two sizes take. */
TEST(long_messages_come_whole)
{
	static const uint32_t words[] = {27, 28, 29, 52, 53, 256, 1010, 1011, 2034, 2035, 3000, 1};
	uint32_t n = sizeof words / sizeof words[0];
	mach_port_t reply = port_new();

	served = port_new_with_send();
	worker_start(0, serve_long, (void *)n);
	for (uint32_t i = 0; i < n; i++)
		long_call(reply, words[i], i);
	end_service(reply);
}

/* What is too long for its receiver is cut as ever, and one that nobody waits for is queued. */
TEST(long_messages_that_do_not_fit)
{
	mach_port_t reply = port_new();

	begin_service(2);
	EXPECT_EQ(long_exchange(&asked, 1500, served, MACH_MSG_TYPE_COPY_SEND, reply,
				MACH_MSG_TYPE_MAKE_SEND_ONCE, reply),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(asked.head.msgh_id, MACH_NOTIFY_SEND_ONCE);
	EXPECT(worker_join(0));
	EXPECT_EQ(last_result, (uint32_t)MACH_RCV_TOO_LARGE);
	EXPECT_EQ(long_exchange(&asked, 1500, reply, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0,
				reply),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(asked.head.msgh_size, long_size(1500));
	port_destroy(served);
	port_destroy(reply);
}

/* A long one to the kernel is a call with the wrong size, and to nobody a mistake. */
TEST(long_messages_that_nobody_can_take)
{
	mach_port_t reply = port_new();

	asked.head.msgh_id = ID_MACH_PORT_TYPE;
	EXPECT_EQ(long_exchange(&asked, 100, self(), MACH_MSG_TYPE_COPY_SEND, reply,
				MACH_MSG_TYPE_MAKE_SEND_ONCE, reply),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(asked.body[1], (uint32_t)MIG_BAD_ARGUMENTS);
	EXPECT_EQ(long_exchange(&asked, 100, 0x7654, MACH_MSG_TYPE_COPY_SEND, reply,
				MACH_MSG_TYPE_MAKE_SEND_ONCE, reply),
		  MACH_SEND_INVALID_DEST);
	port_destroy(reply);
}

/* Answers one request from a page that cannot be written to any more when the next one comes. */
static void serve_from_a_sealed_page(void *page)
{
	struct message *message = page;

	mach_msg(&message->head, MACH_RCV_MSG, 0, sizeof *message, served, 0, 0);
	answer(message);
	vm_protect(self(), (vm_address_t)page, PAGE_SIZE, FALSE, VM_PROT_READ);
	last_result = (uint32_t)exchange(message, N_WORDS, sizeof *message, served);
}

/* The second request, a long one, comes where it cannot be written. */
TEST(long_messages_that_cannot_be_written)
{
	mach_port_t reply = port_new();
	vm_address_t page = 0;
	struct message message;

	EXPECT_EQ(vm_allocate(self(), &page, PAGE_SIZE, TRUE), KERN_SUCCESS);
	served = port_new_with_send();
	worker_start(0, serve_from_a_sealed_page, (void *)page);
	EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(long_exchange(&asked, 200, served, MACH_MSG_TYPE_COPY_SEND, reply,
				MACH_MSG_TYPE_MAKE_SEND_ONCE, reply),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(asked.head.msgh_id, MACH_NOTIFY_SEND_ONCE);
	end_service(reply);
	EXPECT_EQ(last_result, (uint32_t)MACH_RCV_INVALID_DATA);
	EXPECT_EQ(vm_deallocate(self(), page, PAGE_SIZE), KERN_SUCCESS);
}

/* While the server is busy with one request others come: it has them without waiting. */
TEST(requests_that_wait_are_not_forgotten)
{
	begin_service(4);
	naptime = SHORT_WAIT;
	answered = 0;
	for (uint32_t n = 1; n <= 4; n++)
		worker_start(n, call_once, NULL);
	for (uint32_t n = 1; n <= 4; n++)
		EXPECT(worker_join(n));
	EXPECT_EQ(answered, 4);
	naptime = 0;
	end_service(MACH_PORT_NULL);
}

/* A server that is suspended while it waits neither runs nor loses the request. */
TEST(suspended_servers_answer_later)
{
	mach_port_t reply = port_new();
	struct message message;

	begin_service(4);
	for (int n = 0; n < 3; n++)
		EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(thread_suspend(worker_port(0)), KERN_SUCCESS);
	answered = 0;
	worker_start(1, call_once, NULL);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(answered, 0);
	EXPECT_EQ(thread_resume(worker_port(0)), KERN_SUCCESS);
	EXPECT(worker_join(1));
	EXPECT_EQ(answered, 1);
	end_service(reply);
}

/* Receives three requests and asks to be told about the right that the second came with. */
static void serve_and_watch(void *notice)
{
	struct message message;
	mach_port_t previous;

	mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, served, 0, 0);
	answer(&message);
	exchange(&message, N_WORDS, sizeof message, served);
	mach_port_request_notification(self(), message.head.msgh_remote_port, MACH_NOTIFY_DEAD_NAME,
				       0, (mach_port_t)notice, MACH_MSG_TYPE_MAKE_SEND_ONCE,
				       &previous);
	answer(&message);
	exchange(&message, N_WORDS, sizeof message, served);
	answer(&message);
	message_post(&message, N_WORDS);
}

TEST(requests_about_the_reply_right_are_kept)
{
	mach_port_t reply = port_new(), notice = port_new();
	struct message message;

	served = port_new_with_send();
	worker_start(0, serve_and_watch, (void *)notice);
	for (int n = 0; n < 3; n++)
		EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, notice, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_PORT_DELETED);
	EXPECT(message_none(notice));
	port_destroy(notice);
	end_service(reply);
}

/* The request is lost and its client is told; the server has no right that it does not know. */
TEST(what_cannot_be_written_is_taken_back)
{
	mach_port_t reply = port_new();
	vm_address_t page = 0;
	struct message message;

	EXPECT_EQ(vm_allocate(self(), &page, PAGE_SIZE, TRUE), KERN_SUCCESS);
	served = port_new_with_send();
	worker_start(0, serve_from_a_sealed_page, (void *)page);
	EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(call(&message, served, reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_SEND_ONCE);
	end_service(reply);
	EXPECT_EQ(last_result, (uint32_t)MACH_RCV_INVALID_DATA);
	EXPECT_EQ(vm_deallocate(self(), page, PAGE_SIZE), KERN_SUCCESS);
}
