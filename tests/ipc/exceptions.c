/* SPDX-License-Identifier: MIT */
/*
 * Exceptions as messages: to the thread's port first, then to the task's, then the task's end; what
 * an answer does, and what happens when none comes.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include "check.h"

#include <mach/messages.h>
#include "ipc.h"

#define BAD_ADDRESS 0x60000123u

/* exception_raise(), as it is received. */
struct exception_message {
	mach_msg_header_t head;
	uint32_t thread_type, thread;
	uint32_t task_type, task;
	uint32_t exception_type, exception;
	uint32_t code_type, code;
	uint32_t subcode_type, subcode;
	uint32_t room[16];
};

static mach_port_t self(void)
{
	return mach_task_self();
}

static bool exception_get(struct exception_message *message, mach_port_t port)
{
	memset(message, 0, sizeof *message);
	return EXPECT_EQ(mach_msg(&message->head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0,
				  sizeof *message, port, LONG_WAIT, MACH_PORT_NULL),
			 MACH_MSG_SUCCESS) &&
	       EXPECT_EQ(message->head.msgh_id, ID_EXCEPTION_RAISE);
}

static void exception_reply(struct exception_message *message, kern_return_t answer)
{
	struct message reply;

	message_head(&reply, message->head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0,
		     ID_EXCEPTION_RAISE_REPLY);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = (uint32_t)answer;
	EXPECT_EQ(message_post(&reply, 2), MACH_MSG_SUCCESS);
}

/* Drops the rights to thread and task that came with the message. */
static void exception_drop(const struct exception_message *message)
{
	port_drop_send(message->thread);
	port_drop_send(message->task);
}

static void set_pc(mach_port_t thread, void (*pc)(void))
{
	struct i386_thread_state state;
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

	EXPECT_EQ(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count),
		  KERN_SUCCESS);
	state.eip = (uint32_t)pc;
	EXPECT_EQ(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state, count),
		  KERN_SUCCESS);
}

/* ---------------- What a child does wrong ---------------- */

void fault_read(void);
void fault_end(void);

__asm__(".text\n"
	"fault_read: movl 0x60000123, %eax\n"
	"fault_end: call child_over\n");

static void do_read(uint32_t unused)
{
	(void)unused;
	fault_read();
}

static void do_opcode(uint32_t unused)
{
	(void)unused;
	__asm__ volatile("ud2");
}

static void do_divide(uint32_t zero)
{
	uint32_t quotient, rest;

	__asm__ volatile("divl %4" : "=a"(quotient), "=d"(rest) : "0"(1), "1"(0), "r"(zero));
}

static void do_breakpoint(uint32_t unused)
{
	(void)unused;
	__asm__ volatile("int3");
}

static void do_trap_130(uint32_t unused)
{
	uint32_t eax = (uint32_t)-130;

	(void)unused;
	__asm__ volatile("lcall $7, $0" : "+a"(eax)::"memory", "cc");
}

/* The task's exceptions are told to `handler`, a receive right. */
static void set_handler(mach_port_t task, mach_port_t handler)
{
	EXPECT_EQ(mach_port_insert_right(self(), handler, handler, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	EXPECT_EQ(task_set_special_port(task, TASK_EXCEPTION_PORT, handler), KERN_SUCCESS);
	port_drop_send(handler);
}

/* A task that runs `run`, its exceptions told to `handler`. */
static mach_port_t faulty(void (*run)(uint32_t), mach_port_t handler, mach_port_t *thread)
{
	mach_port_t child = child_new();

	set_handler(child, handler);
	*thread = child_start(child, 0, run, 0);
	return child;
}

/* ---------------- What the message says ---------------- */

static void expect_exception(void (*run)(uint32_t), uint32_t exception, uint32_t code,
			     uint32_t subcode)
{
	mach_port_t handler = port_new(), thread, child = faulty(run, handler, &thread);
	struct exception_message message;

	if (exception_get(&message, handler)) {
		EXPECT_EQ(message.head.msgh_size, 64);
		EXPECT_EQ(message.thread, thread);
		EXPECT_EQ(message.task, child);
		EXPECT_EQ(message.exception, exception);
		EXPECT_EQ(message.code, code);
		EXPECT_EQ(message.subcode, subcode);
		exception_drop(&message);
		message_drop_reply((struct message *)&message);
	}
	child_end(child);
	port_destroy(thread);
	port_destroy(handler);
}

TEST(exceptions_are_told)
{
	expect_exception(do_read, EXC_BAD_ACCESS, KERN_INVALID_ADDRESS, BAD_ADDRESS);
	expect_exception(do_opcode, EXC_BAD_INSTRUCTION, EXC_I386_INVOP, 0);
	expect_exception(do_divide, EXC_ARITHMETIC, EXC_I386_DIV, 0);
	expect_exception(do_breakpoint, EXC_BREAKPOINT, EXC_I386_BPT, 0);
	expect_exception(do_trap_130, EXC_BAD_INSTRUCTION, EXC_I386_INVOP, (uint32_t)-130);
}

/* ---------------- Whom it is told ---------------- */

/* The child waits for a message to start, so that its thread can be given a port. */
#define START 0x101

static void fault_when_told(uint32_t unused)
{
	struct message message;

	(void)unused;
	mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, START, 0, 0);
	fault_read();
}

struct faulting {
	mach_port_t task, thread, start, task_handler, thread_handler;
};

static void faulting_new(struct faulting *faulting)
{
	faulting->task_handler = port_new();
	faulting->thread_handler = port_new_with_send();
	faulting->start = port_new_with_send();
	faulting->task = child_new();
	set_handler(faulting->task, faulting->task_handler);
	child_give(faulting->task, START, faulting->start, MACH_MSG_TYPE_MOVE_RECEIVE);
	faulting->thread = child_start(faulting->task, 0, fault_when_told, 0);
	EXPECT_EQ(thread_set_special_port(faulting->thread, THREAD_EXCEPTION_PORT,
					  faulting->thread_handler),
		  KERN_SUCCESS);
	EXPECT_EQ(message_send_id(faulting->start, MACH_MSG_TYPE_COPY_SEND, 0), MACH_MSG_SUCCESS);
}

static void faulting_end(struct faulting *faulting)
{
	child_end(faulting->task);
	port_destroy(faulting->thread);
	port_destroy(faulting->start);
	port_destroy(faulting->task_handler);
	port_destroy(faulting->thread_handler);
}

TEST(the_threads_port_comes_first)
{
	struct faulting faulting;
	struct exception_message message;

	faulting_new(&faulting);
	REQUIRE(exception_get(&message, faulting.thread_handler));
	EXPECT(message_none(faulting.task_handler));
	exception_drop(&message);
	/* It cannot do anything about it: the task's port is next. */
	exception_reply(&message, KERN_FAILURE);
	REQUIRE(exception_get(&message, faulting.task_handler));
	EXPECT_EQ(message.subcode, BAD_ADDRESS);
	exception_drop(&message);
	message_drop_reply((struct message *)&message);
	faulting_end(&faulting);
}

TEST(a_dead_handler_is_passed_over)
{
	struct faulting faulting;
	struct exception_message message;

	faulting_new(&faulting);
	REQUIRE(exception_get(&message, faulting.thread_handler));
	exception_drop(&message);
	/* The handler ends without an answer. */
	message_drop_reply((struct message *)&message);
	REQUIRE(exception_get(&message, faulting.task_handler));
	exception_drop(&message);
	message_drop_reply((struct message *)&message);
	faulting_end(&faulting);
}

/* The port of the handler dies while the message is in its queue. */
TEST(a_handler_dies_before_it_looks)
{
	struct faulting faulting;
	struct exception_message message;

	faulting_new(&faulting);
	sleep_ms(SHORT_WAIT);
	port_drop_receive(faulting.thread_handler);
	REQUIRE(exception_get(&message, faulting.task_handler));
	exception_drop(&message);
	message_drop_reply((struct message *)&message);
	faulting_end(&faulting);
}

static bool has_ended(mach_port_t task)
{
	for (int tries = 0; tries < LONG_WAIT; tries++) {
		if (port_type(task) == MACH_PORT_TYPE_DEAD_NAME)
			return true;
		sleep_ms(1);
	}
	return false;
}

TEST(without_a_handler_the_task_ends)
{
	struct faulting faulting;
	struct exception_message message;

	faulting_new(&faulting);
	REQUIRE(exception_get(&message, faulting.thread_handler));
	exception_drop(&message);
	exception_reply(&message, KERN_FAILURE);
	REQUIRE(exception_get(&message, faulting.task_handler));
	exception_drop(&message);
	exception_reply(&message, KERN_FAILURE);
	EXPECT(has_ended(faulting.task));
	faulting_end(&faulting);
}

TEST(nobody_was_ever_to_be_told)
{
	mach_port_t child = child_new(), thread;

	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, MACH_PORT_NULL), KERN_SUCCESS);
	thread = child_start(child, 0, do_read, 0);
	EXPECT(has_ended(child));
	child_end(child);
	port_destroy(thread);
}

/* ---------------- Answers that are long ---------------- */

#define LONG_ANSWER 100u /* Words: more than the inbox of the thread that waits takes. */

static volatile uint32_t raised;

/* Lets the thread go on, which then does the same again, and then not; by the usual calls. */
static void answer_at_length(void *handler)
{
	struct message answer;
	struct exception_message message;
	mach_msg_return_t result = mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message,
					    (mach_port_t)handler, 0, MACH_PORT_NULL);

	while (result == MACH_MSG_SUCCESS && message.head.msgh_id == ID_EXCEPTION_RAISE) {
		exception_drop(&message);
		memset(&answer, 0, sizeof answer);
		message_head(&answer, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
			     0, 0, ID_EXCEPTION_RAISE_REPLY);
		answer.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
		answer.body[1] = ++raised < 3 ? KERN_SUCCESS : KERN_FAILURE;
		result = mach_msg(&answer.head, MACH_SEND_MSG | MACH_RCV_MSG,
				  sizeof answer.head + 4 * LONG_ANSWER, sizeof answer,
				  (mach_port_t)handler, 0, MACH_PORT_NULL);
		memcpy(&message, &answer, sizeof message);
	}
}

TEST(answers_may_be_long)
{
	mach_port_t handler = port_new(), thread, child;

	raised = 0;
	worker_start(0, answer_at_length, (void *)handler);
	sleep_ms(SHORT_WAIT);
	child = faulty(do_read, handler, &thread);
	EXPECT(wait_for(&raised, 3));
	EXPECT(has_ended(child));
	EXPECT_EQ(raised, 3);
	port_drop_receive(handler);
	EXPECT(worker_join(0));
	port_destroy(child);
	port_destroy(thread);
}

/* ---------------- What an answer does ---------------- */

/* The handler moves the thread on: it ends by itself, which it could not have done otherwise. */
TEST(a_handler_sets_the_state_right)
{
	mach_port_t handler = port_new(), thread, child = faulty(do_read, handler, &thread);
	struct exception_message message;

	REQUIRE(exception_get(&message, handler));
	set_pc(message.thread, fault_end);
	exception_drop(&message);
	exception_reply(&message, KERN_SUCCESS);
	EXPECT(has_ended(child));
	EXPECT(message_none(handler));
	child_end(child);
	port_destroy(thread);
	port_destroy(handler);
}

/* An answer alone tries again, as often as it is given. */
TEST(a_fault_that_is_not_mended_comes_again)
{
	mach_port_t handler = port_new(), thread, child = faulty(do_read, handler, &thread);
	struct exception_message message;

	for (int i = 0; i < 20; i++) {
		REQUIRE(exception_get(&message, handler));
		exception_drop(&message);
		exception_reply(&message, KERN_SUCCESS);
	}
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	while (message_drain(handler) > 0)
		continue;
	child_end(child);
	port_destroy(thread);
	port_destroy(handler);
}

/* A reply of another shape is no success. */
TEST(a_strange_answer_is_a_failure)
{
	struct faulting faulting;
	struct exception_message message;

	faulting_new(&faulting);
	REQUIRE(exception_get(&message, faulting.thread_handler));
	exception_drop(&message);
	EXPECT_EQ(message_send_id(message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 7),
		  MACH_MSG_SUCCESS);
	REQUIRE(exception_get(&message, faulting.task_handler));
	exception_drop(&message);
	message_drop_reply((struct message *)&message);
	faulting_end(&faulting);
}

/* Answers and waits for the next exception, at `next`, in one call, as servers do. */
static bool exception_reply_and_get(struct exception_message *message, kern_return_t answer,
				    mach_port_t next)
{
	message->head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0);
	message->head.msgh_local_port = MACH_PORT_NULL;
	message->head.msgh_id = ID_EXCEPTION_RAISE_REPLY;
	message->thread_type = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	message->thread = (uint32_t)answer;
	return EXPECT_EQ(mach_msg(&message->head, MACH_SEND_MSG | MACH_RCV_MSG,
				  offsetof(struct exception_message, task_type), sizeof *message,
				  next, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
			 MACH_MSG_SUCCESS) &&
	       EXPECT_EQ(message->head.msgh_id, ID_EXCEPTION_RAISE) &&
	       EXPECT_EQ(message->subcode, BAD_ADDRESS);
}

/* The short way through the kernel, if there is one: the answer is no message of its own then. */
TEST(an_answer_in_the_call_that_waits_for_the_next)
{
	struct faulting faulting;
	struct exception_message message;

	faulting_new(&faulting);
	REQUIRE(exception_get(&message, faulting.thread_handler));
	for (int i = 0; i < 5; i++) {
		exception_drop(&message);
		/* It cannot do anything about it; the next one says that it is put right. */
		REQUIRE(exception_reply_and_get(&message, KERN_FAILURE, faulting.task_handler));
		EXPECT_EQ(port_status(faulting.thread_handler).mps_msgcount, 0);
		exception_drop(&message);
		REQUIRE(exception_reply_and_get(&message, KERN_SUCCESS, faulting.thread_handler));
		EXPECT_EQ(port_status(faulting.task_handler).mps_msgcount, 0);
	}
	exception_drop(&message);
	message_drop_reply((struct message *)&message);
	REQUIRE(exception_get(&message, faulting.task_handler));
	exception_drop(&message);
	message_drop_reply((struct message *)&message);
	faulting_end(&faulting);
}

/* ---------------- Ends ---------------- */

TEST(terminated_while_the_handler_thinks)
{
	mach_port_t handler = port_new(), thread, child = faulty(do_read, handler, &thread);
	struct exception_message message;

	REQUIRE(exception_get(&message, handler));
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	EXPECT(has_ended(child));
	exception_drop(&message);
	/* There is nobody any more to have the answer, which is taken nevertheless. */
	exception_reply(&message, KERN_SUCCESS);
	child_end(child);
	port_destroy(thread);
	port_destroy(handler);
}

TEST(a_thread_is_terminated_while_the_handler_thinks)
{
	mach_port_t handler = port_new(), thread, child = faulty(do_read, handler, &thread);
	struct exception_message message;

	REQUIRE(exception_get(&message, handler));
	EXPECT_EQ(thread_terminate(thread), KERN_SUCCESS);
	exception_drop(&message);
	message_drop_reply((struct message *)&message);
	child_end(child);
	port_destroy(thread);
	port_destroy(handler);
}

/* What a handler does that ends what it cannot mend: its answer is taken, whatever it says. */
TEST(the_handler_ends_the_thread_and_answers)
{
	static const kern_return_t answers[] = {KERN_SUCCESS, KERN_FAILURE};

	for (int i = 0; i < 2; i++) {
		mach_port_t handler = port_new(), thread, child = faulty(do_read, handler, &thread);
		struct exception_message message;

		REQUIRE(exception_get(&message, handler));
		EXPECT_EQ(thread_terminate(message.thread), KERN_SUCCESS);
		/* The right is as good as before, and nobody is told of the thread's end by it. */
		EXPECT_EQ(port_type(message.head.msgh_remote_port), MACH_PORT_TYPE_SEND_ONCE);
		exception_drop(&message);
		exception_reply(&message, answers[i]);
		EXPECT_EQ(port_type(message.head.msgh_remote_port), 0);
		child_end(child);
		port_destroy(thread);
		port_destroy(handler);
	}
}

/* An answer that carries rights, to who is no more: they are given back as from any port's end. */
TEST(an_answer_to_nobody_gives_its_rights_back)
{
	mach_port_t handler = port_new(), carried = port_new_with_send(), thread;
	mach_port_t child = faulty(do_read, handler, &thread);
	struct exception_message message;
	struct message reply;

	REQUIRE(exception_get(&message, handler));
	EXPECT_EQ(thread_terminate(thread), KERN_SUCCESS);
	message_head(&reply, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, carried,
		     MACH_MSG_TYPE_MAKE_SEND_ONCE, ID_EXCEPTION_RAISE_REPLY);
	EXPECT_EQ(message_post(&reply, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_status(carried).mps_msgcount, 1);
	EXPECT_EQ(port_status(carried).mps_sorights, 1);
	exception_drop(&message);
	child_end(child);
	port_drop_send(carried);
	port_destroy(carried);
	port_destroy(thread);
	port_destroy(handler);
}

/* The handler's port is full: the thread that waits to tell it can be ended too. */
TEST(terminated_while_the_handlers_queue_is_full)
{
	mach_port_t handler = port_new_with_send(), thread, child;

	for (int i = 0; i < 5; i++)
		EXPECT_EQ(message_send_id(handler, MACH_MSG_TYPE_COPY_SEND, 1), MACH_MSG_SUCCESS);
	child = faulty(do_read, handler, &thread);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(port_status(handler).mps_msgcount, 5);
	child_end(child);
	port_destroy(thread);
	port_destroy(handler);
}

/* ---------------- A thread of one's own task ---------------- */

static volatile uint32_t recovered;

static void recover(void)
{
	recovered = 1;
	assay_thread_exit();
}

static void fault_here(void *port)
{
	mach_port_t handler = *(mach_port_t *)port, thread = mach_thread_self();

	EXPECT_EQ(thread_set_special_port(thread, THREAD_EXCEPTION_PORT, handler), KERN_SUCCESS);
	port_drop_send(thread);
	*(volatile uint32_t *)BAD_ADDRESS = 1;
}

TEST(a_task_handles_its_own_exceptions)
{
	mach_port_t handler = port_new_with_send();
	struct exception_message message;

	recovered = 0;
	worker_start(0, fault_here, &handler);
	REQUIRE(exception_get(&message, handler));
	EXPECT_EQ(message.task, self());
	EXPECT_EQ(message.exception, EXC_BAD_ACCESS);
	set_pc(message.thread, recover);
	exception_drop(&message);
	exception_reply(&message, KERN_SUCCESS);
	EXPECT(wait_for(&recovered, 1));
	worker_join(0);
	port_destroy(handler);
}
