/* SPDX-License-Identifier: MIT */
/*
 * Descriptors: arrays of ports in line and out of line, short and long forms, and all that a
 * descriptor can get wrong.
 */
#include "check.h"
#include "ipc.h"

#define NO_SUCH  0x7654
#define UNMAPPED 0x60000000u
#define PORTS    40
#define MANY     5000

static mach_port_t ports[MANY];

static mach_msg_return_t post_complex(struct message *message, mach_port_t port, uint32_t words)
{
	message_head(message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	message->head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	return message_post(message, words);
}

/* ---------------- Arrays of ports ---------------- */

TEST(ports_in_line)
{
	mach_port_t port = port_new();
	struct message message;

	for (int i = 0; i < PORTS; i++)
		ports[i] = port_new_with_send();
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 32, PORTS);
	memcpy(message.body + 1, ports, PORTS * 4);
	EXPECT_EQ(post_complex(&message, port, 1 + PORTS), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[0] & 0xff, MACH_MSG_TYPE_PORT_SEND);
	EXPECT_EQ(memcmp(message.body + 1, ports, PORTS * 4), 0);
	for (int i = 0; i < PORTS; i++) {
		EXPECT_EQ(port_refs(ports[i], MACH_PORT_RIGHT_SEND), 2);
		port_destroy(ports[i]);
	}
	port_destroy(port);
}

/* Out of line: the array comes as memory of the receiver's. */
static void send_array(mach_port_t port, const mach_port_t *array, uint32_t n, uint32_t kind)
{
	struct message message;

	message.body[0] = TYPE_LONG;
	message.body[1] = kind | 32 << 16;
	message.body[2] = n;
	message.body[3] = (uint32_t)array;
	EXPECT_EQ(post_complex(&message, port, 4), MACH_MSG_SUCCESS);
}

static mach_port_t *receive_array(mach_port_t port, uint32_t n, uint32_t kind)
{
	struct message message;

	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[1] & 0xffff, kind);
	EXPECT_EQ(message.body[2], n);
	return (mach_port_t *)message.body[3];
}

TEST(ports_out_of_line)
{
	mach_port_t port = port_new(), *array;

	for (int i = 0; i < PORTS; i++)
		ports[i] = port_new();
	send_array(port, ports, PORTS, MACH_MSG_TYPE_MOVE_RECEIVE);
	for (int i = 0; i < PORTS; i++)
		EXPECT_EQ(port_type(ports[i]), 0);
	array = receive_array(port, PORTS, MACH_MSG_TYPE_PORT_RECEIVE);
	for (int i = 0; i < PORTS; i++) {
		EXPECT_EQ(port_type(array[i]), MACH_PORT_TYPE_RECEIVE);
		port_destroy(array[i]);
	}
	EXPECT_EQ(vm_deallocate(mach_task_self(), (vm_address_t)array, PORTS * 4), KERN_SUCCESS);
	port_destroy(port);
}

TEST(thousands_of_ports_out_of_line)
{
	mach_port_t port = port_new(), right = port_new(), *array;

	for (int i = 0; i < MANY; i++)
		ports[i] = i % 5 == 0 ? MACH_PORT_NULL : i % 5 == 1 ? MACH_PORT_DEAD : right;
	send_array(port, ports, MANY, MACH_MSG_TYPE_MAKE_SEND);
	array = receive_array(port, MANY, MACH_MSG_TYPE_PORT_SEND);
	EXPECT_EQ(memcmp(array, ports, MANY * 4), 0);
	EXPECT_EQ(port_refs(right, MACH_PORT_RIGHT_SEND), MANY / 5 * 3);
	EXPECT_EQ(vm_deallocate(mach_task_self(), (vm_address_t)array, MANY * 4), KERN_SUCCESS);
	port_destroy(right);
	port_destroy(port);
}

/* The last is wrong: all that were taken before it are given back. */
TEST(a_wrong_port_out_of_line)
{
	mach_port_t port = port_new();
	struct message message;

	for (int i = 0; i < PORTS; i++)
		ports[i] = port_new_with_send();
	ports[PORTS] = NO_SUCH;
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_MOVE_SEND, 32, PORTS + 1);
	message.body[1] = (uint32_t)ports;
	EXPECT_EQ(post_complex(&message, port, 2), MACH_SEND_INVALID_RIGHT);
	for (int i = 0; i < PORTS; i++) {
		EXPECT_EQ(port_type(ports[i]), MACH_PORT_TYPE_SEND_RECEIVE);
		port_destroy(ports[i]);
	}
	EXPECT(message_none(port));
	port_destroy(port);
}

TEST(ports_from_nowhere)
{
	mach_port_t port = port_new();
	struct message message;

	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_COPY_SEND, 32, 10);
	message.body[1] = UNMAPPED;
	EXPECT_EQ(post_complex(&message, port, 2), MACH_SEND_INVALID_MEMORY);
	message.body[1] = 0xc0100000;
	EXPECT_EQ(post_complex(&message, port, 2), MACH_SEND_INVALID_MEMORY);
	message.body[0] = TYPE_LONG;
	message.body[1] = MACH_MSG_TYPE_COPY_SEND | 32 << 16;
	message.body[2] = 0x40000001; /* Times four this is four. */
	message.body[3] = (uint32_t)ports;
	EXPECT_EQ(post_complex(&message, port, 4), MACH_SEND_INVALID_MEMORY);
	EXPECT(message_none(port));
	port_destroy(port);
}

/* Memory that is moved goes even when it is an array of ports. */
TEST(a_moved_array)
{
	mach_port_t port = port_new(), *array;
	vm_address_t pages = 0;
	struct message message;

	EXPECT_EQ(vm_allocate(mach_task_self(), &pages, PAGE_SIZE, TRUE), KERN_SUCCESS);
	message.body[0] = TYPE_MOVED(MACH_MSG_TYPE_MOVE_SEND, 32, 3);
	message.body[1] = pages;
	EXPECT_EQ(post_complex(&message, port, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	array = (mach_port_t *)message.body[1];
	EXPECT_EQ(array[0] | array[1] | array[2], MACH_PORT_NULL);
	EXPECT_EQ(vm_deallocate(mach_task_self(), (vm_address_t)array, 12), KERN_SUCCESS);
	/* The page that was moved has been given back: its place is free. */
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_MOVE_SEND, 32, 3);
	message.body[1] = pages;
	if ((vm_address_t)array != pages)
		EXPECT_EQ(post_complex(&message, port, 2), MACH_SEND_INVALID_MEMORY);
	port_destroy(port);
}

/* A number of a port is only a number. */
TEST(port_names_are_numbers)
{
	mach_port_t port = port_new();
	struct message message;

	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_PORT_NAME, 32, 2);
	message.body[1] = NO_SUCH;
	message.body[2] = port;
	EXPECT_EQ(post_complex(&message, port, 3), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[1], NO_SUCH);
	EXPECT_EQ(message.body[2], port);
	EXPECT_EQ(message.head.msgh_bits & MACH_MSGH_BITS_COMPLEX, 0);
	port_destroy(port);
}

/* ---------------- Descriptors ---------------- */

TEST(long_descriptors_in_line)
{
	mach_port_t port = port_new(), right = port_new();
	struct message message;

	message.body[0] = TYPE_LONG | TYPE_IS_INLINE;
	message.body[1] = MACH_MSG_TYPE_BYTE | 8 << 16;
	message.body[2] = 6;
	message.body[3] = 0x11111111;
	message.body[4] = 0x2222;
	message.body[5] = TYPE_LONG | TYPE_IS_INLINE;
	message.body[6] = MACH_MSG_TYPE_MAKE_SEND | 32 << 16;
	message.body[7] = 1;
	message.body[8] = right;
	EXPECT_EQ(post_complex(&message, port, 9), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[3], 0x11111111);
	EXPECT_EQ(message.body[4], 0x2222);
	EXPECT_EQ(message.body[6], MACH_MSG_TYPE_PORT_SEND | 32 << 16);
	EXPECT_EQ(message.body[8], right);
	EXPECT_EQ(port_type(right), MACH_PORT_TYPE_SEND_RECEIVE);
	port_destroy(right);
	port_destroy(port);
}

/* One descriptor and what sending it answers; `words` of body are sent, the rest zero. */
static const struct {
	uint32_t words[4];
	uint32_t n;
	mach_msg_return_t result;
} bad[] = {
	/* More data than message. */
	{{TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1)}, 1, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 4095)}, 4, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 32, 4)}, 4, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_FAR(MACH_MSG_TYPE_INTEGER_32, 32, 1)}, 1, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_LONG | TYPE_IS_INLINE}, 1, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_LONG | TYPE_IS_INLINE, 8 << 16 | 9}, 2, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_LONG | TYPE_IS_INLINE, 8 << 16 | 9, 1}, 3, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_LONG | TYPE_IS_INLINE, 8 << 16 | 9, 5, 0}, 4, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_LONG | TYPE_IS_INLINE, 8 << 16 | 9, 0xffffffff, 0}, 4, MACH_SEND_MSG_TOO_SMALL},
	/* Sizes whose product is small only in 32 bits. */
	{{TYPE_LONG | TYPE_IS_INLINE, 32 << 16 | 9, 0x08000001, 0}, 4, MACH_SEND_MSG_TOO_SMALL},
	{{TYPE_LONG | TYPE_IS_INLINE, 32 << 16 | 2, 0x40000001, 0}, 4, MACH_SEND_MSG_TOO_SMALL},
	/* Ports that are not 32 bits. */
	{{TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 8, 4), 0}, 2, MACH_SEND_INVALID_TYPE},
	{{TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 64, 1), 0, 0}, 3, MACH_SEND_INVALID_TYPE},
	/* Bits that mean nothing, and a place in line that is to be deallocated. */
	{{1u << 31 | TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1), 0}, 2, MACH_SEND_INVALID_TYPE},
	{{TYPE(MACH_MSG_TYPE_INTEGER_32, 32, 1, 1, 1), 0}, 2, MACH_SEND_INVALID_TYPE},
	/* Both forms at once. */
	{{TYPE_LONG | TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 0, 0), 32 << 16 | 2, 1, 0},
	 4,
	 MACH_SEND_INVALID_TYPE},
	{{TYPE_LONG | TYPE_INLINE(0, 32, 0), 32 << 16 | 2, 1, 0}, 4, MACH_SEND_INVALID_TYPE},
	{{TYPE_LONG | TYPE_INLINE(0, 0, 1), 32 << 16 | 2, 1, 0}, 4, MACH_SEND_INVALID_TYPE},
};

TEST(wrong_descriptors)
{
	mach_port_t port = port_new();
	struct message message;

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		mach_msg_return_t result;

		memset(&message, 0, sizeof message);
		memcpy(message.body, bad[i].words, sizeof bad[i].words);
		result = post_complex(&message, port, bad[i].n);
		if (result != bad[i].result)
			check_fail("descriptor %u: got 0x%x, expected 0x%x", i, result,
				   bad[i].result);
	}
	EXPECT(message_none(port));
	port_destroy(port);
}

/* A wrong descriptor behind good ones: what those named is given back. */
TEST(a_wrong_descriptor_at_the_end)
{
	mach_port_t port = port_new(), right = port_new();
	vm_address_t pages = 0;
	struct message message;

	EXPECT_EQ(vm_allocate(mach_task_self(), &pages, 2 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	*(uint32_t *)pages = 0x1234;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 1);
	message.body[1] = right;
	message.body[2] = TYPE_FAR(MACH_MSG_TYPE_INTEGER_32, 32, 2048);
	message.body[3] = pages;
	message.body[4] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 2);
	message.body[5] = 0;
	EXPECT_EQ(post_complex(&message, port, 6), MACH_SEND_MSG_TOO_SMALL);
	EXPECT_EQ(port_type(right), MACH_PORT_TYPE_RECEIVE);
	EXPECT_EQ(*(uint32_t *)pages, 0x1234);
	EXPECT_EQ(vm_deallocate(mach_task_self(), pages, 2 * PAGE_SIZE), KERN_SUCCESS);
	port_destroy(right);
	port_destroy(port);
}

/* Without the complex bit nobody looks at the body. */
TEST(a_simple_body_is_not_looked_at)
{
	mach_port_t port = port_new();
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	message.body[0] = 0xffffffff;
	message.body[1] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 1);
	message.body[2] = port;
	EXPECT_EQ(message_post(&message, 3), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.body[0], 0xffffffff);
	EXPECT_EQ(message.body[2], port);
	port_destroy(port);
}
