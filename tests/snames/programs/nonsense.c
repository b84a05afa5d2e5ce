/* SPDX-License-Identifier: MIT */
/* Whoever sends the name server nonsense harms nobody, and leaves nothing with it. */
#include "names.h"

#include <mach/messages.h>

struct nonsense {
	mach_msg_header_t head;
	mach_msg_type_t type;
	union {
		mach_port_t port;
		void *memory;
		char text[NETNAME_NAME_MAX];
	};
	char room[2000];
};

static struct nonsense begin_nonsense(int id, size_t size)
{
	find_server();
	return (struct nonsense){
		.head = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND,
						     MACH_MSG_TYPE_MAKE_SEND_ONCE),
			 .msgh_size = size,
			 .msgh_remote_port = server,
			 .msgh_id = id},
	};
}

/* What the server answers; -1: nothing. */
static kern_return_t answer_to(struct nonsense *message)
{
	mach_port_t port = new_port();
	union {
		mig_reply_header_t reply;
		char room[256];
	} answer = {.reply = {.RetCode = -1}};

	message->head.msgh_local_port = port;
	EXPECT_EQ(mach_msg(&message->head, MACH_SEND_MSG, message->head.msgh_size, 0,
			   MACH_PORT_NULL, 0, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	mach_msg(&answer.reply.Head, MACH_RCV_MSG, 0, sizeof answer, port, MACH_MSG_TIMEOUT_NONE,
		 MACH_PORT_NULL);
	EXPECT_EQ(mach_port_destroy(mach_task_self(), port), KERN_SUCCESS);
	return answer.reply.RetCode;
}

static void send_unknown(void)
{
	struct nonsense message = begin_nonsense(ID_NETNAME_VERSION + 1, sizeof message.head);

	EXPECT_EQ(answer_to(&message), MIG_BAD_ID);
	message = begin_nonsense(ID_NETNAME_CHECK_IN, sizeof message.head);
	EXPECT_EQ(answer_to(&message), MIG_BAD_ARGUMENTS);
}

static void send_too_much(void)
{
	struct nonsense message = begin_nonsense(ID_NETNAME_VERSION, sizeof message);

	answer_to(&message);
}

static void send_rights(mach_msg_type_name_t name)
{
	struct nonsense message =
		begin_nonsense(ID_NETNAME_CHECK_OUT, offsetof(struct nonsense, port) + 4);
	mach_port_t port = new_port();

	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.type = (mach_msg_type_t)DESCRIBE_MACH_PORT_POLY_T(name, 1);
	message.port = port;
	EXPECT_EQ(answer_to(&message), MIG_BAD_ARGUMENTS);
	mach_port_destroy(mach_task_self(), port);
}

static void send_memory(void)
{
	struct nonsense message =
		begin_nonsense(ID_NETNAME_LOOK_UP, offsetof(struct nonsense, memory) + 4);
	static char data[100000];

	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.type = (mach_msg_type_t){
		.msgt_name = MACH_MSG_TYPE_BYTE, .msgt_size = 8, .msgt_number = 4000};
	message.memory = data;
	EXPECT_EQ(answer_to(&message), MIG_BAD_ARGUMENTS);
}

/* A name that does not end. */
static void send_endless_name(void)
{
	struct nonsense message = begin_nonsense(ID_NETNAME_CHECK_OUT, 0);
	char *at = message.room;
	static const mach_msg_type_t text = {.msgt_name = MACH_MSG_TYPE_STRING_C,
					     .msgt_size = 8,
					     .msgt_number = NETNAME_NAME_MAX,
					     .msgt_inline = TRUE};
	static const mach_msg_type_t right = DESCRIBE_MACH_PORT_COPY_SEND_T(1);

	message.type = text;
	memset(message.text, 'x', sizeof message.text);
	memcpy(at, &right, sizeof right);
	memset(at + sizeof right, 0, sizeof(mach_port_t));
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.head.msgh_size =
		(mach_msg_size_t)(at + sizeof right + sizeof(mach_port_t) - (char *)&message);
	EXPECT_EQ(answer_to(&message), KERN_INVALID_ARGUMENT);
}

/* As if a port had died that lives: only the kernel is believed, who says so elsewhere. */
static void send_false_deaths(void)
{
	struct nonsense message =
		begin_nonsense(MACH_NOTIFY_DEAD_NAME, offsetof(struct nonsense, port) + 4);

	for (mach_port_t name = 1; name < 400; name++) {
		message.head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
		message.head.msgh_remote_port = server;
		message.type = (mach_msg_type_t)DESCRIBE_MACH_PORT_NAME_T(1);
		message.port = name;
		EXPECT_EQ(mach_msg(&message.head, MACH_SEND_MSG, message.head.msgh_size, 0,
				   MACH_PORT_NULL, 0, MACH_PORT_NULL),
			  MACH_MSG_SUCCESS);
	}
}

struct text {
	mach_msg_type_t type;
	netname_name_t text;
};

/* A request whose answer would bring a right. */
static void ask_for_kept(void)
{
	static const struct text text = {
		.type = {.msgt_name = MACH_MSG_TYPE_STRING_C,
			 .msgt_size = 8,
			 .msgt_number = NETNAME_NAME_MAX,
			 .msgt_inline = TRUE},
	};
	struct {
		mach_msg_header_t head;
		struct text host;
		struct text name;
	} request = {.host = text, .name = text};

	find_server();
	strcpy(request.name.text, "names.kept");
	request.head = begin_nonsense(ID_NETNAME_LOOK_UP, sizeof request).head;
	request.head.msgh_local_port = new_port();
	EXPECT_EQ(mach_msg(&request.head, MACH_SEND_MSG, sizeof request, 0, MACH_PORT_NULL, 0,
			   MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
}

/* Whoever asks and does not take the answer: his port's queue is full, or he dies. */
static void ask_and_go(void)
{
	mach_port_t port = new_port();

	EXPECT_EQ(mach_port_set_qlimit(mach_task_self(), port, 1), KERN_SUCCESS);
	for (unsigned n = 0; n < 20; n++) {
		struct nonsense message = begin_nonsense(ID_NETNAME_VERSION, sizeof message.head);

		message.head.msgh_bits =
			MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND);
		message.head.msgh_local_port = port;
		mach_msg(&message.head, MACH_SEND_MSG, message.head.msgh_size, 0, MACH_PORT_NULL, 0,
			 MACH_PORT_NULL);
	}
	EXPECT_EQ(look_up("names.kept"), NETNAME_SUCCESS); /* Others are heard meanwhile. */
	mach_port_destroy(mach_task_self(), port);
	for (unsigned n = 0; n < 20; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			forget_names();
			ask_for_kept();
			_exit(check_failures);
		}
		EXPECT_EQ(status_of(pid), 0);
	}
}

/* Names of rights that the name server has. */
static unsigned rights_of_server(pid_t pid)
{
	mach_msg_type_number_t n_names = 0, n_types = 0;
	mach_port_t task = task_by_pid(pid), *names = NULL;
	mach_port_type_t *types = NULL;

	EXPECT_EQ(mach_port_names(task, &names, &n_names, &types, &n_types), KERN_SUCCESS);
	vm_deallocate(mach_task_self(), (vm_address_t)names, n_names * sizeof *names);
	vm_deallocate(mach_task_self(), (vm_address_t)types, n_types * sizeof *types);
	mach_port_deallocate(mach_task_self(), task);
	return n_names;
}

static pid_t find_snames(void)
{
	struct ux_process_info all[UX_PROCESSES_MAX + 1];
	int count = ux_processes(all, UX_PROCESSES_MAX + 1);

	for (int n = 0; n < count; n++) {
		if (strcmp(all[n].command, "snames") == 0 && all[n].state != UX_ZOMBIE)
			return all[n].pid;
	}
	return -1;
}

static void send_nonsense(void)
{
	send_unknown();
	send_too_much();
	send_rights(MACH_MSG_TYPE_MOVE_RECEIVE);
	send_rights(MACH_MSG_TYPE_MAKE_SEND);
	send_rights(MACH_MSG_TYPE_MAKE_SEND_ONCE);
	send_memory();
	send_endless_name();
	send_false_deaths();
	ask_and_go();
}

/* All that a name can go through, with a signature of its own. */
static void use_name(mach_port_t port)
{
	mach_port_t signature = new_port();

	EXPECT_EQ(check_in("names.again", signature, port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.again", signature, port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.again", server, port), NETNAME_NOT_YOURS);
	EXPECT_EQ(check_out("names.again", server), NETNAME_NOT_YOURS);
	EXPECT_EQ(look_up("names.again"), NETNAME_SUCCESS);
	EXPECT_EQ(check_out("names.again", signature), NETNAME_SUCCESS);
	EXPECT_EQ(check_out("names.again", signature), NETNAME_NOT_CHECKED_IN);
	end_port(signature);
}

TEST(nonsense_harms_nobody_and_leaves_nothing)
{
	mach_port_t port = new_port();
	pid_t pid = find_snames();
	unsigned before;

	REQUIRE(pid > 0);
	EXPECT_EQ(check_in("names.kept", port, port), NETNAME_SUCCESS);
	send_nonsense();
	EXPECT_EQ(look_up("names.kept"), NETNAME_SUCCESS); /* It is done with what came before. */
	before = rights_of_server(pid);
	send_nonsense();
	EXPECT_EQ(look_up("names.kept"), NETNAME_SUCCESS);
	EXPECT_EQ(rights_of_server(pid), before);
	for (unsigned n = 0; n < 50; n++)
		use_name(port);
	EXPECT_EQ(rights_of_server(pid), before);
}
