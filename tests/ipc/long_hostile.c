/* SPDX-License-Identifier: MIT */
/*
 * Long messages whose senders are up to no good, or whose receivers go, while the kernel reads
 * them.
 *
 * A client sends from the memory of a pager by hand.  Its message begins with the last word of one
 * page, which is there, and goes on in the next, which the kernel has to wait for: meanwhile the
 * test does what it wants.  The fast path and the general one must come to the same end.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include <mach/messages.h>

#include "check.h"
#include "pager.h"

#define WORDS  100u              /* Of a body that is longer than a thread's inbox. */
#define ID     ID_MACH_PORT_TYPE /* Which means something to the kernel alone. */
#define STOP   4712
#define FIRST  0x10000u /* The first word of a body that means nothing, one more each. */
#define CLIENT 0
#define SERVER 1

static mach_port_t served, reply;
static struct message taken;                           /* What the server has got, */
static volatile uint32_t server_result, client_result; /* and what their traps came back with. */

/* Waits for one message, of any size that the sender says. */
static void take_one(void *room)
{
	server_result = (uint32_t)mach_msg(&taken.head, MACH_RCV_MSG, 0, (uint32_t)room, served,
					   MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

static void begin_server(uint32_t room)
{
	memset(&taken, 0, sizeof taken);
	served = port_new_with_send();
	reply = port_new();
	worker_start(SERVER, take_one, (void *)room);
	sleep_ms(SHORT_WAIT);
}

static void end_server(void)
{
	EXPECT(worker_join(SERVER));
	port_destroy(served);
	port_destroy(reply);
}

/* A call that is as long as it is said to be, and answered by nobody but the right's end. */
static mach_msg_return_t send_sized(void *at, uint32_t size)
{
	return mach_msg(at, MACH_SEND_MSG | MACH_RCV_MSG, size, sizeof(struct message), reply,
			MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

static void fill_request(struct message *message)
{
	message_head(message, served, MACH_MSG_TYPE_COPY_SEND, reply, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     ID);
	for (uint32_t i = 0; i < WORDS; i++)
		message->body[i] = FIRST + i;
}

static void expect_taken(void)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < WORDS; i++)
		wrong += taken.body[i] != FIRST + i;
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(taken.head.msgh_id, ID);
	EXPECT_EQ(taken.head.msgh_size, sizeof taken.head + WORDS * sizeof(uint32_t));
	EXPECT_EQ(taken.head.msgh_local_port, served);
	EXPECT_EQ(taken.head.msgh_bits,
		  MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND_ONCE, MACH_MSG_TYPE_PORT_SEND));
}

/* ---------------- Sizes and places ---------------- */

/* The server, who would take anything, hears of none of them but the last. */
TEST(long_messages_of_impossible_sizes)
{
	static const struct {
		uint32_t size;
		mach_msg_return_t result;
	} cases[] = {
		{0xfffffffc, MACH_SEND_NO_BUFFER}, {0xffffffe0, MACH_SEND_NO_BUFFER},
		{0x80000000, MACH_SEND_NO_BUFFER}, {0x10004, MACH_SEND_NO_BUFFER},
		{0x10000, MACH_SEND_INVALID_DATA}, {141, MACH_SEND_MSG_TOO_SMALL},
		{142, MACH_SEND_MSG_TOO_SMALL},    {20, MACH_SEND_MSG_TOO_SMALL},
		{0, MACH_SEND_MSG_TOO_SMALL},
	};
	vm_address_t page = 0;
	struct message *message;

	begin_server(UINT32_MAX);
	EXPECT_EQ(vm_allocate(SELF, &page, 2 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, page + PAGE_SIZE, PAGE_SIZE), KERN_SUCCESS);
	message = (struct message *)page;
	for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		fill_request(message);
		EXPECT_EQ(send_sized(message, cases[i].size), cases[i].result);
		EXPECT_EQ(taken.head.msgh_id, 0);
		EXPECT_EQ(port_status(reply).mps_srights, 0);
		EXPECT_EQ(port_status(reply).mps_sorights, 0);
	}
	EXPECT_EQ(message_send_id(served, MACH_MSG_TYPE_COPY_SEND, STOP), MACH_MSG_SUCCESS);
	end_server();
	EXPECT_EQ(taken.head.msgh_id, STOP);
	EXPECT_EQ(vm_deallocate(SELF, page, PAGE_SIZE), KERN_SUCCESS);
}

/* Its last word is where nothing is: nobody gets a part of it. */
TEST(long_messages_that_cannot_be_read)
{
	vm_address_t page = 0;
	struct message *message;

	begin_server(sizeof taken);
	EXPECT_EQ(vm_allocate(SELF, &page, 2 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	message = (struct message *)(page + PAGE_SIZE - sizeof message->head - 4 * (WORDS - 1));
	fill_request(message);
	EXPECT_EQ(vm_deallocate(SELF, page + PAGE_SIZE, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(send_sized(message, sizeof message->head + 4 * WORDS), MACH_SEND_INVALID_DATA);
	EXPECT_EQ(taken.head.msgh_id, 0);
	EXPECT_EQ(port_status(reply).mps_sorights, 0);
	EXPECT_EQ(message_send_id(served, MACH_MSG_TYPE_COPY_SEND, STOP), MACH_MSG_SUCCESS);
	end_server();
	EXPECT_EQ(taken.head.msgh_id, STOP);
	EXPECT_EQ(vm_deallocate(SELF, page, PAGE_SIZE), KERN_SUCCESS);
}

/* ---------------- While it is read ---------------- */

static void send_from(void *at)
{
	client_result = (uint32_t)send_sized(at, sizeof(mach_msg_header_t) + 4 * WORDS);
}

/* Where the client's message begins: so many bytes before the second page. */
static char *client_start(uint32_t bytes)
{
	char *start = (char *)at(1) - bytes;
	struct message request;

	begin(false, MEMORY_OBJECT_COPY_NONE);
	start = (char *)at(1) - bytes;
	fill(0, 1, 0);
	fill_request(&request);
	memcpy(start, &request, bytes);
	worker_start(CLIENT, send_from, start);
	EXPECT(expect(DATA_REQUEST));
	EXPECT_EQ(word(1), PAGE_SIZE);
	return start;
}

/* The rest of what client_start() has begun comes from the pager; `change` may change it. */
static void client_go_on(uint32_t bytes, void (*change)(struct message *request))
{
	struct message request;
	vm_address_t data = 0;

	fill_request(&request);
	if (change != NULL)
		change(&request);
	EXPECT_EQ(vm_allocate(SELF, &data, PAGE_SIZE, TRUE), KERN_SUCCESS);
	memcpy((void *)data, (char *)&request + bytes, sizeof request.head + 4 * WORDS - bytes);
	EXPECT_EQ(memory_object_data_supply(control, PAGE_SIZE, data, PAGE_SIZE, TRUE, VM_PROT_NONE,
					    FALSE, MACH_PORT_NULL),
		  KERN_SUCCESS);
}

/* The memory's end; the pages that were written to come back before. */
static void client_memory_end(void)
{
	unmap();
	while (EXPECT_EQ(message_get(&got, object, LONG_WAIT), MACH_MSG_SUCCESS) &&
	       got.head.msgh_id == DATA_RETURN) {
		port_drop_send(word(0));
		vm_deallocate(SELF, got.body[7], got.body[6]);
	}
	EXPECT_EQ(got.head.msgh_id, TERMINATE);
	port_destroy(control);
	port_destroy(name);
	port_destroy(object);
}

/* The client has an answer, or the notification that there will be none. */
static void client_end(mach_msg_return_t result)
{
	EXPECT(worker_join(CLIENT));
	EXPECT_EQ(client_result, (uint32_t)result);
	client_memory_end();
}

/* In two places: between the words of the header, and in the body. */
static const uint32_t splits[] = {4, 12, sizeof(mach_msg_header_t) + 40};
#define SPLITS (sizeof splits / sizeof splits[0])

TEST(long_messages_that_are_waited_for_come)
{
	for (uint32_t i = 0; i < SPLITS; i++) {
		begin_server(sizeof taken);
		client_start(splits[i]);
		client_go_on(splits[i], NULL);
		EXPECT(wait_for((volatile uint32_t *)&taken.head.msgh_id, ID));
		expect_taken();
		port_destroy(taken.head.msgh_remote_port);
		client_end(MACH_MSG_SUCCESS);
		end_server();
	}
}

TEST(long_messages_whose_destination_ends)
{
	for (uint32_t i = 0; i < SPLITS; i++) {
		begin_server(sizeof taken);
		client_start(splits[i]);
		port_drop_receive(served);
		client_go_on(splits[i], NULL);
		client_end(MACH_SEND_INVALID_DEST);
		end_server();
		EXPECT_EQ(server_result, (uint32_t)MACH_RCV_PORT_DIED);
		EXPECT_EQ(taken.head.msgh_id, 0);
	}
}

/* Its receiver has another message by then: it is queued. */
TEST(long_messages_whose_receiver_goes)
{
	for (uint32_t i = 0; i < SPLITS; i++) {
		begin_server(sizeof taken);
		client_start(splits[i]);
		message_send_id(served, MACH_MSG_TYPE_COPY_SEND, STOP);
		EXPECT(worker_join(SERVER));
		EXPECT_EQ(taken.head.msgh_id, STOP);
		client_go_on(splits[i], NULL);
		EXPECT_EQ(message_get(&taken, served, LONG_WAIT), MACH_MSG_SUCCESS);
		expect_taken();
		port_destroy(taken.head.msgh_remote_port);
		client_end(MACH_MSG_SUCCESS);
		port_destroy(served);
		port_destroy(reply);
	}
}

static void refuse(void)
{
	EXPECT_EQ(memory_object_data_error(control, PAGE_SIZE, PAGE_SIZE, KERN_FAILURE),
		  KERN_SUCCESS);
}

/* Whoever tries the fast path first asks for the page twice. */
TEST(long_messages_whose_memory_is_refused)
{
	for (uint32_t i = 0; i < SPLITS; i++) {
		begin_server(sizeof taken);
		client_start(splits[i]);
		refuse();
		if (message_get(&got, object, SHORT_WAIT) == MACH_MSG_SUCCESS) {
			port_drop_send(word(0));
			refuse();
		}
		client_end(MACH_SEND_INVALID_DATA);
		EXPECT_EQ(port_status(reply).mps_sorights, 0);
		message_send_id(served, MACH_MSG_TYPE_COPY_SEND, STOP);
		end_server();
		EXPECT_EQ(taken.head.msgh_id, STOP);
	}
}

/* It ends in its trap; what the kernel has read of the message goes with it. */
TEST(long_messages_whose_sender_ends)
{
	for (uint32_t i = 0; i < SPLITS; i++) {
		begin_server(sizeof taken);
		client_start(splits[i]);
		EXPECT_EQ(thread_terminate(worker_port(CLIENT)), KERN_SUCCESS);
		client_go_on(splits[i], NULL);
		EXPECT(worker_join(CLIENT));
		client_memory_end();
		if (taken.head.msgh_id == 0)
			message_send_id(served, MACH_MSG_TYPE_COPY_SEND, STOP);
		EXPECT(worker_join(SERVER));
		if (taken.head.msgh_id == ID)
			port_destroy(taken.head.msgh_remote_port);
		port_destroy(served);
		port_destroy(reply);
	}
}

/* ---------------- Headers that change ---------------- */

static mach_port_t carried;

/* The body of a message that would bring a send right, if it were no simple one. */
static void carry_right(struct message *request)
{
	request->body[0] = TYPE_INLINE(MACH_MSG_TYPE_MAKE_SEND, 32, 1);
	request->body[1] = carried;
	for (uint32_t i = 2; i < WORDS; i++)
		request->body[i] = 0;
	request->body[2] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, WORDS - 3);
}

/* Either the message is complex and brings the right, or it is words and nothing else. */
TEST(long_messages_that_become_complex)
{
	begin_server(sizeof taken);
	carried = port_new();
	*(uint32_t *)client_start(4) |= MACH_MSGH_BITS_COMPLEX;
	client_go_on(4, carry_right);
	EXPECT(wait_for((volatile uint32_t *)&taken.head.msgh_id, ID));
	EXPECT_EQ((taken.head.msgh_bits & MACH_MSGH_BITS_COMPLEX) != 0,
		  (port_type(carried) & MACH_PORT_TYPE_SEND) != 0);
	EXPECT_EQ(taken.head.msgh_bits & ~MACH_MSGH_BITS_COMPLEX,
		  MACH_MSGH_BITS(MACH_MSG_TYPE_PORT_SEND_ONCE, MACH_MSG_TYPE_PORT_SEND));
	port_destroy(taken.head.msgh_remote_port);
	client_end(MACH_MSG_SUCCESS);
	end_server();
	port_destroy(carried);
}

/* Its name is one of the kernel's by then: no message of such a size is a call of it. */
TEST(long_messages_that_become_calls_of_the_kernel)
{
	struct message *request;

	for (uint32_t i = 0; i < SPLITS; i++) {
		mach_port_t child = child_new();

		begin_server(sizeof taken);
		request = (struct message *)client_start(splits[i]);
		port_destroy(served);
		EXPECT_EQ(mach_port_rename(SELF, child, served), KERN_SUCCESS);
		client_go_on(splits[i], NULL);
		EXPECT(worker_join(CLIENT));
		EXPECT_EQ(client_result, (uint32_t)MACH_MSG_SUCCESS);
		EXPECT_EQ(request->head.msgh_id, ID + 100);
		EXPECT_EQ(request->body[1], (uint32_t)MIG_BAD_ARGUMENTS);
		client_memory_end();
		EXPECT(worker_join(SERVER));
		EXPECT_EQ(server_result, (uint32_t)MACH_RCV_PORT_DIED);
		child_end(served);
		port_destroy(reply);
	}
}
