/* SPDX-License-Identifier: MIT */
/*
 * The name server from outside: what names mean, whose they are, when they go, and how many there
 * can be.  Run as root.
 */
#include "names.h"

#include <mach/messages.h>

#define OF_CLIENT 64   /* Names of one client, */
#define ALL       8192 /* and of all of them. */

/* As a program that only wants to know whether there is a name server: 0, or the error. */
__attribute__((constructor)) static void play_role(void)
{
	if (getenv(ROLE) != NULL)
		_exit(name_server_port != MACH_PORT_NULL ? 0 : errno);
}

/* ---------------- What a name means ---------------- */

TEST(a_name_means_the_port_that_was_checked_in)
{
	mach_port_t port = new_port(), found = MACH_PORT_NULL;

	EXPECT_EQ(look_up("names.one"), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(check_in("names.one", MACH_PORT_NULL, port), NETNAME_SUCCESS);
	EXPECT_EQ(look_up_at("", "names.one", &found), NETNAME_SUCCESS);
	EXPECT_EQ(found, port);
	EXPECT_EQ(look_up_at("*", "names.one", &found), NETNAME_SUCCESS);
	EXPECT_EQ(look_up_at("elsewhere", "names.one", &found), NETNAME_NO_SUCH_HOST);
	EXPECT_EQ(look_up("names.On"), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(look_up("names.one "), NETNAME_NOT_CHECKED_IN);
}

struct word {
	mach_msg_header_t head;
	mach_msg_type_t type;
	int value;
	char room[64];
};

static void send_word(mach_port_t port, int value)
{
	struct word word = {
		.head = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0),
			 .msgh_size = offsetof(struct word, room),
			 .msgh_remote_port = port,
			 .msgh_id = 1},
		.type = DESCRIBE_UNSIGNED(1),
		.value = value,
	};

	EXPECT_EQ(mach_msg(&word.head, MACH_SEND_MSG, word.head.msgh_size, 0, MACH_PORT_NULL, 0,
			   MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
}

static int receive_word(mach_port_t port)
{
	struct word word;

	EXPECT_EQ(mach_msg(&word.head, MACH_RCV_MSG, 0, sizeof word, port, MACH_MSG_TIMEOUT_NONE,
			   MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	return word.value;
}

TEST(programs_find_each_other)
{
	mach_port_t port = new_port(), found = MACH_PORT_NULL;
	pid_t pid;

	EXPECT_EQ(check_in("names.parent", port, port), NETNAME_SUCCESS);
	pid = fork();
	if (pid == 0) {
		forget_names();
		EXPECT_EQ(look_up_at("", "names.parent", &found), NETNAME_SUCCESS);
		send_word(found, 42);
		_exit(0);
	}
	EXPECT_EQ(receive_word(port), 42);
	EXPECT_EQ(status_of(pid), 0);
}

TEST(names_have_up_to_79_bytes)
{
	char longest[NETNAME_NAME_MAX], other[NETNAME_NAME_MAX];
	mach_port_t port = new_port();

	memset(longest, 'n', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	memcpy(other, longest, sizeof other);
	other[sizeof other - 2] = 'm';
	EXPECT_EQ(check_in(longest, port, port), NETNAME_SUCCESS);
	EXPECT_EQ(look_up(longest), NETNAME_SUCCESS);
	EXPECT_EQ(look_up(other), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(check_in("", port, port), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(look_up(""), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(check_out("", port), KERN_INVALID_ARGUMENT);
}

TEST(a_version_is_told)
{
	netname_name_t version = "";

	find_server();
	EXPECT_EQ(netname_version(server, version), NETNAME_SUCCESS);
	EXPECT(strncmp(version, "snames ", 7) == 0);
}

/* ---------------- Whose it is ---------------- */

TEST(whoever_has_the_signature_may_change_it)
{
	mach_port_t first = new_port(), second = new_port(), found = MACH_PORT_NULL;

	EXPECT_EQ(check_in("names.own", first, first), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.own", second, second), NETNAME_NOT_YOURS);
	EXPECT_EQ(check_in("names.own", MACH_PORT_NULL, second), NETNAME_NOT_YOURS);
	EXPECT_EQ(check_out("names.own", second), NETNAME_NOT_YOURS);
	EXPECT_EQ(check_out("names.own", MACH_PORT_NULL), NETNAME_NOT_YOURS);
	EXPECT_EQ(look_up("names.own"), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.own", first, second), NETNAME_SUCCESS);
	EXPECT_EQ(look_up_at("", "names.own", &found), NETNAME_SUCCESS);
	EXPECT_EQ(found, second);
	EXPECT_EQ(check_out("names.own", first), NETNAME_SUCCESS);
	EXPECT_EQ(look_up("names.own"), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(check_out("names.own", first), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(check_in("names.own", second, second), NETNAME_SUCCESS);
}

/* A null signature is one that everybody has. */
TEST(without_a_signature_it_is_everybodys)
{
	mach_port_t port = new_port();

	EXPECT_EQ(check_in("names.free", MACH_PORT_NULL, port), NETNAME_SUCCESS);
	EXPECT_EQ(check_out("names.free", port), NETNAME_NOT_YOURS);
	EXPECT_EQ(check_out("names.free", MACH_PORT_NULL), NETNAME_SUCCESS);
}

/* ---------------- When it goes ---------------- */

TEST(a_dead_ports_names_go)
{
	mach_port_t port = new_port(), other = new_port();

	EXPECT_EQ(check_in("names.a", port, port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.b", other, port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.c", port, other), NETNAME_SUCCESS);
	EXPECT_EQ(check_out("names.a", port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.a", port, port), NETNAME_SUCCESS);
	end_port(port);
	EXPECT_EQ(look_up("names.a"), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(look_up("names.b"), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(look_up("names.c"), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.b", other, other), NETNAME_SUCCESS);
	/* Its signature is dead, and nobody has it any more. */
	EXPECT_EQ(check_out("names.c", MACH_PORT_DEAD), NETNAME_NOT_YOURS);
	end_port(other);
	EXPECT_EQ(look_up("names.c"), NETNAME_NOT_CHECKED_IN);
}

TEST(a_process_takes_its_names_with_it)
{
	mach_port_t port = new_port();
	pid_t pid = fork();

	if (pid == 0) {
		forget_names();
		port = new_port();
		_exit(check_in("names.child", port, port) != NETNAME_SUCCESS);
	}
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(look_up("names.child"), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(check_in("names.child", port, port), NETNAME_SUCCESS);
}

TEST(no_name_means_nothing)
{
	mach_port_t port = new_port();

	EXPECT_EQ(check_in("names.null", port, MACH_PORT_NULL), NETNAME_INVALID_PORT);
	EXPECT_EQ(check_in("names.null", port, MACH_PORT_DEAD), NETNAME_INVALID_PORT);
	end_port(port); /* Our name for it is a dead one now. */
	EXPECT_EQ(check_in("names.null", MACH_PORT_NULL, port), NETNAME_INVALID_PORT);
	EXPECT_EQ(look_up("names.null"), NETNAME_NOT_CHECKED_IN);
}

/* ---------------- How many there can be ---------------- */

/* Checks in so many names; the result of the first that fails. */
static kern_return_t check_in_many(const char *prefix, unsigned number, mach_port_t signature,
				   mach_port_t port)
{
	kern_return_t result = KERN_SUCCESS;
	char name[32];

	for (unsigned n = 0; n < number && result == KERN_SUCCESS; n++) {
		snprintf(name, sizeof name, "%s-%u", prefix, n);
		result = check_in(name, signature, port);
	}
	return result;
}

TEST(a_client_has_no_more_than_its_share)
{
	mach_port_t port = new_port();
	pid_t pid;

	EXPECT_EQ(check_in_many("names.share", OF_CLIENT, MACH_PORT_NULL, port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.more", port, port), KERN_RESOURCE_SHORTAGE);
	pid = fork();
	if (pid == 0) {
		forget_names();
		port = new_port();
		_exit(check_in_many("names.other", OF_CLIENT, MACH_PORT_NULL, port) !=
		      NETNAME_SUCCESS);
	}
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(check_out("names.share-7", MACH_PORT_NULL), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.more", port, port), NETNAME_SUCCESS);
	/* Who says who he is has a share of his own. */
	EXPECT_EQ(check_in_many("names.own", OF_CLIENT, ux_server_port(), port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("names.much", ux_server_port(), port), KERN_RESOURCE_SHORTAGE);
}

/* Instructions that the server needs for finding a name that is there and one that is not. */
static uint64_t cost_of_looking(void)
{
	uint64_t begin;

	look_up("names.held");
	look_up("names.none");
	begin = __builtin_ia32_rdtsc();
	for (unsigned n = 0; n < 100; n++) {
		look_up("names.held");
		look_up("names.none");
	}
	return __builtin_ia32_rdtsc() - begin;
}

/* What it costs if nobody else has anything to do. */
static uint64_t least_cost_of_looking(void)
{
	uint64_t least = UINT64_MAX;

	for (int n = 0; n < 3; n++) {
		uint64_t cost = cost_of_looking();

		if (cost < least)
			least = cost;
	}
	return least;
}

/* In a child, of whose names nothing stays but that they mean a port of ours. */
static kern_return_t fill_a_share(unsigned number)
{
	pid_t pid = fork();
	mach_port_t port = MACH_PORT_NULL;
	char prefix[32];
	kern_return_t result;

	if (pid != 0)
		return WEXITSTATUS(status_of(pid));
	forget_names();
	snprintf(prefix, sizeof prefix, "names.%u", number);
	result = look_up_at("", "names.held", &port);
	if (result == NETNAME_SUCCESS)
		result = check_in_many(prefix, OF_CLIENT, ux_server_port(), port);
	_exit(result);
}

TEST(a_long_list_is_not_slow_and_has_an_end)
{
	mach_port_t port = new_port();
	uint64_t alone, among_many;
	unsigned shares = 0;

	EXPECT_EQ(check_in("names.held", port, port), NETNAME_SUCCESS);
	alone = least_cost_of_looking();
	while (shares < ALL / OF_CLIENT - 1)
		EXPECT_EQ(fill_a_share(shares++), NETNAME_SUCCESS);
	among_many = least_cost_of_looking();
	EXPECT(among_many < alone + alone / 4);
	EXPECT_EQ(fill_a_share(shares), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(check_in("names.more", port, port), KERN_RESOURCE_SHORTAGE);
	end_port(port);
	EXPECT_EQ(look_up("names.held"), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(look_up("names.77-7"), NETNAME_NOT_CHECKED_IN);
	port = new_port();
	EXPECT_EQ(check_in("names.more", port, port), NETNAME_SUCCESS);
}
