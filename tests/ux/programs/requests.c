/* SPDX-License-Identifier: MIT */
/*
 * Requests that no library would make: the server answers with an error, and goes on.
 *
 * guest: user=root limit=30
 * guest: user=root cpus=2 seed=1 limit=30
 */
#include <mach.h>
#include <mach/messages.h>
#include <sys/ux.h>

#include "check_unix.h"

#define TIMEOUT    5000 /* Milliseconds until an answer is missed. */
#define FIRST_CALL 101000
#define CALLS_END  101100

union message {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	struct {
		mach_msg_header_t head;
		mach_msg_type_t type;
		char text[64];
	} string;
	struct {
		mach_msg_header_t head;
		mach_msg_type_long_t type;
		vm_address_t data;
	} memory;
	struct {
		mach_msg_header_t head;
		mach_msg_type_t type;
		mach_port_t port;
	} right;
	char room[10000];
};

static union message message;

static mach_port_t server(void)
{
	mach_port_t port = MACH_PORT_NULL;

	task_get_special_port(mach_task_self(), TASK_BOOTSTRAP_PORT, &port);
	return port;
}

/*
 * Sends the message and receives the answer: its result, or 1 and more than errno has for no
 * answer.
 */
static int ask(mach_msg_id_t id, size_t size, mach_msg_bits_t bits)
{
	mach_port_t reply = mach_reply_port(), port = server();
	mach_msg_return_t result;

	message.head.msgh_bits =
		bits | MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	message.head.msgh_remote_port = port;
	message.head.msgh_local_port = reply;
	message.head.msgh_id = id;
	result = mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG | MACH_RCV_TIMEOUT, size,
			  sizeof message, reply, TIMEOUT, MACH_PORT_NULL);
	mach_port_mod_refs(mach_task_self(), reply, MACH_PORT_RIGHT_RECEIVE, -1);
	mach_port_deallocate(mach_task_self(), port);
	if (result != MACH_MSG_SUCCESS)
		return result;
	return message.head.msgh_id == id + 100 ? message.reply.RetCode : MIG_SERVER_DIED;
}

static bool server_is_well(void)
{
	memset(&message, 0, sizeof message);
	return ask(ID_BSD_GETPID, sizeof message.head, 0) == 0;
}

TEST(every_id_without_a_body)
{
	for (mach_msg_id_t id = FIRST_CALL - 10; id < CALLS_END; id++) {
		int result;

		if (id == ID_BSD_EXIT || id == ID_BSD_THREAD_EXIT)
			continue;
		memset(&message, 0, sizeof message);
		result = ask(id, sizeof message.head + 4 * (unsigned)(id % 5), 0);
		if (result != 0 && result != MIG_BAD_ID && result != MIG_BAD_ARGUMENTS)
			check_fail("%d: %d", id, result);
	}
	EXPECT(server_is_well());
}

TEST(more_than_any_request_has)
{
	memset(&message, 0, sizeof message);
	EXPECT_EQ(ask(ID_BSD_GETPID, sizeof message - 16, 0), MIG_SERVER_DIED);
	EXPECT(server_is_well());
}

static int ask_string(unsigned number)
{
	memset(&message, 0, sizeof message);
	message.string.type = (mach_msg_type_t){.msgt_name = MACH_MSG_TYPE_STRING_C,
						.msgt_size = 8,
						.msgt_number = number,
						.msgt_inline = TRUE};
	memset(message.string.text, 'a', sizeof message.string.text);
	return ask(ID_BSD_UNLINK, sizeof message.string, 0);
}

TEST(strings_without_an_end)
{
	EXPECT_EQ(ask_string(sizeof message.string.text), EINVAL);
	EXPECT_EQ(ask_string(0), EINVAL);
	EXPECT_EQ(ask_string(1000), MIG_BAD_ARGUMENTS);
	EXPECT_EQ(ask_string(4095), MIG_BAD_ARGUMENTS);
	EXPECT(server_is_well());
}

static int ask_memory(vm_address_t data, vm_size_t size)
{
	memset(&message, 0, sizeof message);
	message.memory.type = (mach_msg_type_long_t){.msgtl_header = {.msgt_longform = TRUE},
						     .msgtl_name = MACH_MSG_TYPE_CHAR,
						     .msgtl_size = 8,
						     .msgtl_number = size};
	message.memory.data = data;
	return ask(ID_BSD_GETPID, sizeof message.memory, MACH_MSGH_BITS_COMPLEX);
}

/* The server takes no more than half of the machine. */
TEST(more_memory_than_there_is)
{
	const vm_size_t size = 256 << 20;
	vm_address_t memory = 0;

	REQUIRE(vm_allocate(mach_task_self(), &memory, size, TRUE) == KERN_SUCCESS);
	EXPECT_EQ(ask_memory(memory, size), ENOMEM);
	for (int n = 0; n < 20; n++)
		EXPECT_EQ(ask_memory(memory, 1 << 20), MIG_BAD_ARGUMENTS);
	vm_deallocate(mach_task_self(), memory, size);
	EXPECT(server_is_well());
}

/* What the server has: names of rights, and megabytes of memory. */
static unsigned names_of_server(void)
{
	mach_port_t task = task_by_pid(0);
	mach_port_array_t names = NULL;
	mach_port_type_array_t types = NULL;
	mach_msg_type_number_t n = 0, n_types = 0;

	mach_port_names(task, &names, &n, &types, &n_types);
	vm_deallocate(mach_task_self(), (vm_address_t)names, n * sizeof *names);
	vm_deallocate(mach_task_self(), (vm_address_t)types, n_types * sizeof *types);
	mach_port_deallocate(mach_task_self(), task);
	return n;
}

static unsigned memory_of_server(void)
{
	mach_port_t task = task_by_pid(0);
	struct task_basic_info info = {.virtual_size = 0};
	mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT;

	task_info(task, TASK_BASIC_INFO, (task_info_t)&info, &count);
	mach_port_deallocate(mach_task_self(), task);
	return info.virtual_size >> 20;
}

static void send_right(mach_msg_type_name_t kind)
{
	mach_port_t port = mach_reply_port();

	memset(&message, 0, sizeof message);
	message.right.type = (mach_msg_type_t)DESCRIBE_MACH_PORT_POLY_T(kind, 1);
	message.right.port = port;
	EXPECT_EQ(ask(ID_BSD_GETPID, sizeof message.right, MACH_MSGH_BITS_COMPLEX),
		  MIG_BAD_ARGUMENTS);
	if (kind != MACH_MSG_TYPE_MOVE_RECEIVE)
		mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1);
}

TEST(what_nobody_wants_is_given_back)
{
	unsigned names = names_of_server(), megabytes = memory_of_server();
	vm_address_t memory = 0;

	REQUIRE(vm_allocate(mach_task_self(), &memory, 1 << 20, TRUE) == KERN_SUCCESS);
	for (int n = 0; n < 50; n++) {
		send_right(MACH_MSG_TYPE_MAKE_SEND);
		send_right(MACH_MSG_TYPE_MAKE_SEND_ONCE);
		send_right(MACH_MSG_TYPE_MOVE_RECEIVE);
		EXPECT_EQ(ask_memory(memory, 1 << 20), MIG_BAD_ARGUMENTS);
	}
	vm_deallocate(mach_task_self(), memory, 1 << 20);
	EXPECT(names_of_server() < names + 10);
	EXPECT(memory_of_server() < megabytes + 10);
	EXPECT(server_is_well());
}

/* Requests without a place for the answer, more at a time than a process may have under way. */
TEST(more_calls_than_a_process_may_make)
{
	mach_port_t port = server();

	for (int n = 0; n < 1000; n++) {
		memset(&message, 0, sizeof message.head);
		message.head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
		message.head.msgh_remote_port = port;
		message.head.msgh_id = ID_BSD_GETPID;
		EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0,
				   MACH_PORT_NULL, 0, MACH_PORT_NULL),
			  MACH_MSG_SUCCESS);
	}
	EXPECT(server_is_well());
}
