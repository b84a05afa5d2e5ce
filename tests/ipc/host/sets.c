/* SPDX-License-Identifier: MIT */
/*
 * links: ipc/port_set.c ipc/queue.c base/owner.c base/zone.c vm/page/page.c
 * flags: -Itests/lib/host/threads -no-pie -ffunction-sections -Wl,--gc-sections
 */
/*
 * What comes in a pause to a port that becomes a member of a set, or to one that stops being one.
 *
 * Threads are structures that wait; here nobody runs.  Messages hold pointers in 32 bits: hence
 * -no-pie.
 */
#include "ipc/port_set.h"

#include "base/owner.h"
#include "host/kernel.h"
#include "ipc/kernel_object.h"
#include "ipc/message.h"
#include "ipc/queue.h"
#include "thread/work.h"
#include "vm/pager/pager.h"

#define PAGES 100

uint32_t kernel_lock_word = 1;
uint32_t pause_turns_left = 1;

static struct page array[PAGES];

/* ---------------- Pauses ---------------- */

/* What happens in the next pause, once; NULL: nothing. */
static void (*in_pause)(void);
static unsigned pauses;

void kernel_pause(void)
{
	void (*happens)(void) = in_pause;

	pause_turns_left = 1;
	in_pause = NULL;
	pauses++;
	if (happens != NULL)
		happens();
}

/* ---------------- Threads that wait ---------------- */

static struct thread receivers[3], sender;
static const struct mach_msg_words any_size = {.rcv_size = UINT32_MAX};

static void wait_at(struct thread *thread, struct wait_queue *queue)
{
	*thread = (struct thread){.magic = THREAD_MAGIC, .state = THREAD_WAITING};
	thread->receive.words = &any_size;
	list_add_last(&queue->waiters, &thread->wait_link);
}

/* A sender goes on only when it is resumed. */
void thread_wake(struct thread *thread, enum wait_result result)
{
	EXPECT_EQ(thread->state, THREAD_WAITING);
	list_remove(&thread->wait_link);
	thread->state = thread == &sender ? THREAD_STOPPED : THREAD_RUNNABLE;
	thread->wait_result = result;
}

void thread_wake_waiters(struct wait_queue *queue)
{
	while (!list_empty(&queue->waiters))
		thread_wake(list_first_object(&queue->waiters, struct thread, wait_link),
			    WAIT_WOKEN);
}

void wait_queue_init(struct wait_queue *queue)
{
	list_init(&queue->waiters);
}

/* ---------------- What no message of these tests needs ---------------- */

void message_accept(struct message *message)
{
	EXPECT(message == NULL);
}

void message_destroy(struct message *message)
{
	EXPECT(message == NULL);
}

/* The kernel's own messages are nobody's to pay. */
uint32_t message_price(struct message *message)
{
	EXPECT(message == NULL);
	return 0;
}

void port_swallow(struct port *port, struct message *message)
{
	EXPECT(port == NULL && message == NULL);
}

void kernel_object_send(struct message *request)
{
	EXPECT(request == NULL);
}

void kernel_object_send_before_wait(struct message *request, struct thread **woken)
{
	EXPECT(request == NULL && woken == NULL);
}

void pager_note_received(struct pager *pager)
{
	EXPECT(pager == NULL);
}

/* ---------------- Ports ---------------- */

static struct port ports[3];
static struct message messages[3];
static struct port_set *set;

static void begin(void)
{
	static bool begun;

	if (!begun) {
		page_init(array, PAGES * PAGE_SIZE);
		page_add_range(0, PAGES * PAGE_SIZE);
		owner_module_init();
		port_set_module_init();
	}
	begun = true;
	in_pause = NULL;
	pauses = 0;
	for (unsigned i = 0; i < COUNT_OF(ports); i++) {
		ports[i] = (struct port){
			.magic = PORT_MAGIC, .refs = 1, .state = PORT_HELD, .limit = 1};
		list_init(&ports[i].messages);
		wait_queue_init(&ports[i].receivers);
		wait_queue_init(&ports[i].senders);
		messages[i] = (struct message){.magic = MESSAGE_MAGIC};
		message_set_ports(&messages[i], &ports[i], PORT_NULL);
	}
	set = port_set_create(1, &owner_system);
}

static void end(void)
{
	port_set_destroy(set);
	for (unsigned i = 0; i < COUNT_OF(ports); i++)
		EXPECT(ports[i].set == NULL);
}

static void message_comes(void)
{
	message_send_always(&messages[0]);
}

/* ---------------- The tests ---------------- */

TEST(a_message_comes_while_a_port_is_added)
{
	begin();
	wait_at(&receivers[0], &ports[0].receivers);
	in_pause = message_comes;
	port_set_add(set, &ports[0]);
	EXPECT_EQ(pauses, 1);
	EXPECT_EQ(receivers[0].receive.result, MACH_RCV_PORT_CHANGED);
	EXPECT_EQ(ports[0].n_messages, 1);
	EXPECT(port_set_ready(set) == &ports[0]);
	end();
}

/* Nobody who waits at the set is passed over for it. */
TEST(a_message_that_comes_then_is_for_who_waits_at_the_set)
{
	begin();
	wait_at(&receivers[0], &ports[0].receivers);
	wait_at(&receivers[1], &set->receivers);
	in_pause = message_comes;
	port_set_add(set, &ports[0]);
	EXPECT_EQ(receivers[1].wait_result, WAIT_WOKEN);
	EXPECT(receivers[1].receive.message == &messages[0]);
	EXPECT_EQ(ports[0].n_messages, 0);
	EXPECT(port_set_ready(set) == NULL);
	end();
}

/* Where the last of those that waited at the port has it, the set has a quiet member. */
TEST(a_message_that_comes_then_may_be_for_who_waits_at_the_port)
{
	begin();
	wait_at(&receivers[0], &ports[0].receivers);
	wait_at(&receivers[1], &ports[0].receivers);
	in_pause = message_comes;
	port_set_add(set, &ports[0]);
	EXPECT_EQ(receivers[0].receive.result, MACH_RCV_PORT_CHANGED);
	EXPECT_EQ(receivers[1].receive.result, MACH_MSG_SUCCESS);
	EXPECT(receivers[1].receive.message == &messages[0]);
	EXPECT(port_set_ready(set) == NULL);
	end();
}

static void receiver_times_out(void)
{
	if (receivers[0].state == THREAD_WAITING)
		thread_wake(&receivers[0], WAIT_TIMED_OUT);
}

/* Room for a sender that is suspended takes a pause; who is served has the message by then. */
TEST(a_receiver_is_served_or_times_out)
{
	begin();
	message_comes();
	wait_at(&sender, &ports[0].senders);
	wait_at(&receivers[0], &set->receivers);
	in_pause = receiver_times_out;
	port_set_add(set, &ports[0]);
	EXPECT(pauses > 0);
	EXPECT_EQ(sender.state, THREAD_STOPPED);
	EXPECT_EQ(receivers[0].wait_result, WAIT_WOKEN);
	EXPECT(receivers[0].receive.message == &messages[0]);
	EXPECT_EQ(ports[0].n_messages, 0);
	end();
}

/* It moves from the list of quiet members to that of ready ones, which were gone through. */
TEST(a_message_comes_while_a_set_is_destroyed)
{
	begin();
	port_set_add(set, &ports[1]);
	port_set_add(set, &ports[0]);
	in_pause = message_comes;
	end();
	EXPECT_EQ(ports[0].n_messages, 1);
}
