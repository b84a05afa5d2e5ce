/* SPDX-License-Identifier: MIT */
/*
 * What a message may be: in-line data of every size, memory and ports in line and out of line,
 * descriptors good and bad, buffers too small, sending and receiving in one call.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include "check.h"
#include "ipc.h"

#define NO_SUCH  0x7654
#define UNMAPPED 0x60000000u
#define SMALL    24u

static uint32_t big[20000];
static uint32_t got[20100];

static mach_port_t self(void)
{
	return mach_task_self();
}

static vm_address_t pages_new(uint32_t size)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(self(), &address, size, TRUE), KERN_SUCCESS);
	return address;
}

static void pages_free(vm_address_t address, uint32_t size)
{
	EXPECT_EQ(vm_deallocate(self(), address, size), KERN_SUCCESS);
}

/* Sends `words` words of body, complex, to a send right made of `port`. */
static mach_msg_return_t post_complex(struct message *message, mach_port_t port, uint32_t words)
{
	message_head(message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	message->head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	return message_post(message, words);
}

/* ---------------- In line ---------------- */

/* Sends to oneself `words` words after the header and receives them where they were. */
static void echo(mach_port_t port, uint32_t words)
{
	mach_msg_header_t *head = (mach_msg_header_t *)big;
	const uint32_t size = sizeof *head + 4 * words;

	*head = (mach_msg_header_t){.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MAKE_SEND, 0),
				    .msgh_remote_port = port,
				    .msgh_id = (int)words};
	EXPECT_EQ(mach_msg(head, MACH_SEND_MSG | MACH_RCV_MSG, size, sizeof big, port, 0,
			   MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(head->msgh_size, size);
	EXPECT_EQ(head->msgh_id, words);
	EXPECT_EQ(head->msgh_local_port, port);
}

TEST(inline_sizes)
{
	static const uint32_t sizes[] = {0,   1,   2,    6,    50,   51,   52,   53,   54,
					 100, 256, 1000, 1010, 1011, 1012, 1020, 2000, 9000};
	mach_port_t port = port_new();
	struct message *message = (struct message *)got;

	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		mach_msg_header_t *head = (mach_msg_header_t *)big;

		for (uint32_t w = 6; w < 6 + sizes[i]; w++)
			big[w] = w * 3 + i;
		*head = (mach_msg_header_t){.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MAKE_SEND, 0),
					    .msgh_remote_port = port};
		EXPECT_EQ(mach_msg(head, MACH_SEND_MSG, SMALL + 4 * sizes[i], 0, 0, 0, 0),
			  MACH_MSG_SUCCESS);
		memset(got, 0xee, sizeof got);
		EXPECT_EQ(mach_msg(&message->head, MACH_RCV_MSG, 0, sizeof got, port, 0, 0),
			  MACH_MSG_SUCCESS);
		EXPECT_EQ(message->head.msgh_size, SMALL + 4 * sizes[i]);
		EXPECT_EQ(memcmp(got + 6, big + 6, 4 * sizes[i]), 0);
		/* Nothing past the message is touched. */
		EXPECT_EQ(got[6 + sizes[i]], 0xeeeeeeee);
	}
	port_destroy(port);
}

TEST(in_place)
{
	mach_port_t port = port_new();

	echo(port, 0);
	echo(port, 1);
	echo(port, 300);
	echo(port, 3000);
	port_destroy(port);
}

/* What the sender says of the size in the header does not matter. */
TEST(the_size_is_written_by_the_kernel)
{
	mach_port_t port = port_new();
	struct message message;

	for (uint32_t claim = 0; claim < 3; claim++) {
		message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 9);
		message.head.msgh_size = claim * 0x7fffffff;
		message.head.msgh_seqno = 12345;
		EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
		EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_size, SMALL + 8);
		EXPECT_EQ(message.head.msgh_seqno, claim);
		EXPECT_EQ(message.head.msgh_id, 9);
	}
	port_destroy(port);
}

TEST(sizes_that_cannot_be)
{
	mach_port_t port = port_new();
	struct message message;
	static const uint32_t sizes[] = {0, 4, 20, 23, 25, 26, 27};

	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
		EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG, sizes[i], 0, 0, 0, 0),
			  MACH_SEND_MSG_TOO_SMALL);
	}
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG, 0xfffffffc, 0, 0, 0, 0),
		  MACH_SEND_NO_BUFFER);
	EXPECT(message_none(port));
	port_destroy(port);
}

TEST(messages_from_nowhere)
{
	static const uint32_t places[] = {0,          UNMAPPED,   0xbffffff8,
					  0xc0000000, 0xc0100000, 0xfffffff0};

	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
		EXPECT_EQ(
			mach_msg((mach_msg_header_t *)places[i], MACH_SEND_MSG, SMALL, 0, 0, 0, 0),
			MACH_SEND_INVALID_DATA);
}

/* The message is lost, with what it carried; the receiver's fault. */
TEST(messages_to_nowhere)
{
	static const uint32_t places[] = {0, UNMAPPED, 0xc0000000, 0xfffffff0};
	mach_port_t port = port_new();

	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++) {
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 1), MACH_MSG_SUCCESS);
		EXPECT_EQ(mach_msg((mach_msg_header_t *)places[i], MACH_RCV_MSG | MACH_RCV_TIMEOUT,
				   0, 100, port, 0, 0),
			  MACH_RCV_INVALID_DATA);
		EXPECT(message_none(port));
	}
	port_destroy(port);
}

/* ---------------- Too large for the receiver ---------------- */

TEST(large_messages_wait_if_asked)
{
	mach_port_t port = port_new();
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 7);
	EXPECT_EQ(message_post(&message, 10), MACH_MSG_SUCCESS);
	for (uint32_t room = SMALL; room < SMALL + 40; room += 4) {
		memset(&message, 0, sizeof message);
		EXPECT_EQ(
			mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_LARGE, 0, room, port, 0, 0),
			MACH_RCV_TOO_LARGE);
		EXPECT_EQ(message.head.msgh_size, SMALL + 40);
	}
	EXPECT_EQ(port_status(port).mps_msgcount, 1);
	EXPECT_EQ(mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_LARGE, 0, SMALL + 40, port, 0, 0),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 7);
	port_destroy(port);
}

/* Without MACH_RCV_LARGE the message is destroyed; the header tells what it was. */
TEST(large_messages_are_destroyed)
{
	mach_port_t port = port_new(), notify = port_new(), once = port_send_once(notify);
	struct message message;

	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_SEND_ONCE, 32, 1);
	message.body[1] = once;
	message.body[2] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 17);
	EXPECT_EQ(post_complex(&message, port, 20), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_type(once), 0);
	EXPECT_EQ(mach_msg(&message.head, MACH_RCV_MSG, 0, SMALL + 20, port, 0, 0),
		  MACH_RCV_TOO_LARGE);
	EXPECT_EQ(message.head.msgh_size, SMALL + 80);
	EXPECT(message_none(port));
	/* The right that it carried is gone too. */
	EXPECT_EQ(message_get(&message, notify, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, MACH_NOTIFY_SEND_ONCE);
	port_destroy(notify);
	port_destroy(port);
}

static void receive_small(void *port)
{
	struct message message;

	EXPECT_EQ(mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_LARGE, 0, SMALL,
			   (mach_port_t)port, 0, 0),
		  MACH_RCV_TOO_LARGE);
	EXPECT_EQ(message.head.msgh_size, SMALL + 40);
}

/* The same for a receiver that waits when the message comes: the message is queued then. */
TEST(large_messages_for_waiting_receivers)
{
	mach_port_t port = port_new();
	struct message message;

	worker_start(0, receive_small, (void *)port);
	sleep_ms(SHORT_WAIT);
	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 7);
	EXPECT_EQ(message_post(&message, 10), MACH_MSG_SUCCESS);
	worker_join(0);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, 7);
	port_destroy(port);
}

/* ---------------- Memory out of line ---------------- */

static void fill(vm_address_t address, uint32_t size, uint32_t seed)
{
	for (uint32_t i = 0; i < size / 4; i++)
		((uint32_t *)address)[i] = i * 7 + seed;
}

static bool is_filled(vm_address_t address, uint32_t size, uint32_t seed)
{
	for (uint32_t i = 0; i < size / 4; i++) {
		if (((uint32_t *)address)[i] != i * 7 + seed)
			return false;
	}
	return true;
}

static void expect_far(mach_port_t port, uint32_t size, uint32_t seed)
{
	struct message message;

	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT(message.head.msgh_bits & MACH_MSGH_BITS_COMPLEX);
	EXPECT_EQ(message.body[0] & TYPE_IS_INLINE, 0);
	EXPECT(is_filled(message.body[3], size, seed));
	EXPECT_EQ(message.body[2], size);
	pages_free(message.body[3], size);
}

/* A long descriptor: three words, and the address. */
static mach_msg_return_t send_far(mach_port_t port, vm_address_t address, uint32_t size,
				  bool is_moved)
{
	struct message message;

	message.body[0] = TYPE_LONG | (is_moved ? TYPE_IS_MOVED : 0);
	message.body[1] = MACH_MSG_TYPE_BYTE | 8 << 16;
	message.body[2] = size;
	message.body[3] = address;
	return post_complex(&message, port, 4);
}

TEST(memory_is_copied)
{
	static const uint32_t sizes[] = {4, 100, 4096, 4100, 8192, 20000, 300000};
	mach_port_t port = port_new();

	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		vm_address_t pages = pages_new(sizes[i]);

		fill(pages, sizes[i], i);
		EXPECT_EQ(send_far(port, pages, sizes[i], false), MACH_MSG_SUCCESS);
		/* What is written after it was sent does not arrive. */
		fill(pages, sizes[i], 99);
		expect_far(port, sizes[i], i);
		EXPECT(is_filled(pages, sizes[i], 99));
		pages_free(pages, sizes[i]);
	}
	port_destroy(port);
}

/* From and to odd places in a page. */
TEST(memory_that_is_not_aligned)
{
	mach_port_t port = port_new();
	vm_address_t pages = pages_new(3 * PAGE_SIZE);

	for (uint32_t offset = 0; offset < PAGE_SIZE; offset += 1364) {
		fill(pages + offset, 5000, offset);
		EXPECT_EQ(send_far(port, pages + offset, 5000, false), MACH_MSG_SUCCESS);
		expect_far(port, 5000, offset);
	}
	pages_free(pages, 3 * PAGE_SIZE);
	port_destroy(port);
}

TEST(memory_is_moved)
{
	mach_port_t port = port_new();
	vm_address_t pages = pages_new(3 * PAGE_SIZE);

	fill(pages, 3 * PAGE_SIZE, 5);
	EXPECT_EQ(send_far(port, pages, 3 * PAGE_SIZE, true), MACH_MSG_SUCCESS);
	/* It is not there any more. */
	EXPECT_EQ(send_far(port, pages, 4, false), MACH_SEND_INVALID_MEMORY);
	expect_far(port, 3 * PAGE_SIZE, 5);
	port_destroy(port);
}

TEST(memory_in_a_message_that_nobody_receives)
{
	mach_port_t port = port_new();
	vm_address_t pages = pages_new(5 * PAGE_SIZE);

	EXPECT_EQ(send_far(port, pages, 5 * PAGE_SIZE, true), MACH_MSG_SUCCESS);
	port_destroy(port);
}

TEST(memory_that_is_not_there)
{
	static const uint32_t places[] = {0, UNMAPPED, 0xbffff000, 0xc0000000, 0xfffff000};
	mach_port_t port = port_new();
	vm_address_t pages = pages_new(PAGE_SIZE);

	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
		EXPECT_EQ(send_far(port, places[i], 2 * PAGE_SIZE, false),
			  MACH_SEND_INVALID_MEMORY);
	EXPECT_EQ(send_far(port, pages, 0x40000000, false), MACH_SEND_INVALID_MEMORY);
	EXPECT_EQ(send_far(port, pages, 0xffffffff, true), MACH_SEND_INVALID_MEMORY);
	EXPECT(message_none(port));
	fill(pages, PAGE_SIZE, 1);
	pages_free(pages, PAGE_SIZE);
	port_destroy(port);
}

TEST(no_memory_at_all)
{
	mach_port_t port = port_new();
	struct message message;

	EXPECT_EQ(send_far(port, UNMAPPED, 0, false), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[2], 0);
	EXPECT_EQ(message.body[3], 0);
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_MOVE_SEND, 32, 0);
	message.body[1] = UNMAPPED;
	EXPECT_EQ(post_complex(&message, port, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[1], 0);
	port_destroy(port);
}

/* Two pieces of memory and words before, between and after them. */
TEST(several_pieces)
{
	mach_port_t port = port_new();
	vm_address_t pages = pages_new(2 * PAGE_SIZE);
	struct message message;

	fill(pages, 2 * PAGE_SIZE, 3);
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	message.body[1] = 0x12345678;
	message.body[2] = TYPE_FAR(MACH_MSG_TYPE_INTEGER_32, 32, 1024);
	message.body[3] = pages;
	message.body[4] = TYPE_INLINE(MACH_MSG_TYPE_CHAR, 8, 5);
	message.body[5] = 0x64636261;
	message.body[6] = 0x65;
	message.body[7] = TYPE_MOVED(MACH_MSG_TYPE_INTEGER_32, 32, 2048);
	message.body[8] = pages;
	EXPECT_EQ(post_complex(&message, port, 9), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[1], 0x12345678);
	EXPECT(is_filled(message.body[3], PAGE_SIZE, 3));
	EXPECT_EQ(message.body[5], 0x64636261);
	EXPECT(is_filled(message.body[8], 2 * PAGE_SIZE, 3));
	pages_free(message.body[3], PAGE_SIZE);
	pages_free(message.body[8], 2 * PAGE_SIZE);
	port_destroy(port);
}

/* ---------------- Sending and receiving in one call ---------------- */

static void answer(void *port)
{
	struct message message;
	mach_msg_return_t result = message_get(&message, (mach_port_t)port, LONG_WAIT);

	while (result == MACH_MSG_SUCCESS && message.head.msgh_id != 0) {
		message.head.msgh_bits =
			MACH_MSGH_BITS(MACH_MSGH_BITS_REMOTE(message.head.msgh_bits), 0);
		message.head.msgh_local_port = MACH_PORT_NULL;
		message.head.msgh_id += 100;
		result = mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG | MACH_RCV_TIMEOUT,
				  message.head.msgh_size, sizeof message, (mach_port_t)port,
				  LONG_WAIT, MACH_PORT_NULL);
	}
	EXPECT_EQ(result, MACH_MSG_SUCCESS);
}

TEST(calls)
{
	mach_port_t port = port_new_with_send(), reply = mach_reply_port();
	struct message message;

	worker_start(0, answer, (void *)port);
	for (int i = 1; i < 300; i++) {
		message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, reply,
			     MACH_MSG_TYPE_MAKE_SEND_ONCE, i);
		message.body[0] = (uint32_t)i * 3;
		EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, SMALL + 4,
				   sizeof message, reply, 0, MACH_PORT_NULL),
			  MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_id, i + 100);
		EXPECT_EQ(message.body[0], i * 3);
		EXPECT_EQ(message.head.msgh_local_port, reply);
		EXPECT_EQ(message.head.msgh_remote_port, MACH_PORT_NULL);
	}
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, 0), MACH_MSG_SUCCESS);
	worker_join(0);
	port_destroy(port);
	port_destroy(reply);
}

/* The message to send has to be right before anything is received. */
TEST(a_call_that_fails_to_send)
{
	mach_port_t port = port_new();
	struct message message;

	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, 7), MACH_MSG_SUCCESS);
	message_head(&message, NO_SUCH, MACH_MSG_TYPE_COPY_SEND, port, MACH_MSG_TYPE_MAKE_SEND_ONCE,
		     1);
	EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, SMALL, sizeof message, port,
			   0, MACH_PORT_NULL),
		  MACH_SEND_INVALID_DEST);
	EXPECT_EQ(port_status(port).mps_msgcount, 1);
	EXPECT_EQ(port_status(port).mps_sorights, 0);
	port_destroy(port);
}

TEST(nothing_to_do)
{
	EXPECT_EQ(mach_msg(NULL, 0, 0, 0, 0, 0, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(mach_msg(NULL, MACH_SEND_TIMEOUT | MACH_RCV_LARGE, 99, 99, 99, 99, 99),
		  MACH_MSG_SUCCESS);
}
