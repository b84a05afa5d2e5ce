/* SPDX-License-Identifier: MIT */
/* What users have of each other's names: those of their processes, and room for more.  As root. */
#include "names.h"

#include <pthread.h>
#include <unistd.h>

#define STUDENT 100 /* Users of the image's: */
#define TA      101 /* of the group kmem. */

#define OF_CLIENT 64   /* Names of one client, */
#define OF_USER   2048 /* and of one user. */

static const char *name_of(pid_t pid)
{
	static netname_name_t name;

	snprintf(name, sizeof name, "users.%d", (int)pid);
	return name;
}

static kern_return_t check_in_for(pid_t pid)
{
	mach_port_t port = new_port();

	return check_in(name_of(pid), ux_server_port(), port);
}

/* Goes on in a child that is that user's; the parent waits, and returns how that ended. */
static int as_user(uid_t user, void (*run)(void))
{
	pid_t pid = fork();

	if (pid != 0)
		return WEXITSTATUS(status_of(pid));
	forget_names();
	if (setuid(user) == 0)
		run();
	_exit(99);
}

static void take_names_of_others(void)
{
	kern_return_t own = check_in_for(getpid()), parents = check_in_for(getppid());

	_exit(own == NETNAME_SUCCESS && parents == NETNAME_NOT_YOURS &&
			      check_in_for(1) == NETNAME_NOT_YOURS
		      ? 0
		      : 1);
}

TEST(a_process_name_is_its_users)
{
	EXPECT_EQ(as_user(STUDENT, take_names_of_others), 0);
	EXPECT_EQ(look_up(name_of(getpid())), NETNAME_NOT_CHECKED_IN);
	EXPECT_EQ(check_in_for(getpid()), NETNAME_SUCCESS);
	EXPECT_EQ(check_in_for(1), NETNAME_SUCCESS);
	EXPECT_EQ(check_out(name_of(1), MACH_PORT_NULL), NETNAME_NOT_YOURS);
}

static void take_names_of_the_system(void)
{
	mach_port_t port = new_port();

	_exit(check_in("gprof.0", port, port) == NETNAME_NOT_YOURS &&
			      check_in("gprof.kernel", port, port) == NETNAME_NOT_YOURS &&
			      check_in("gprof.", port, port) == NETNAME_NOT_YOURS &&
			      check_in("users.0", port, port) == NETNAME_SUCCESS &&
			      check_in("users.kernel", port, port) == NETNAME_SUCCESS
		      ? 0
		      : 1);
}

/* One of the group kmem, which may have the Unix server's task. */
static void take_the_server(void)
{
	mach_port_t port = new_port();

	_exit(check_in("gprof.0", ux_server_port(), port) == NETNAME_SUCCESS &&
			      check_in("gprof.kernel", ux_server_port(), port) == NETNAME_NOT_YOURS
		      ? 0
		      : 1);
}

/* Where the Unix server's and the kernel's profiles are found, nobody else's is. */
TEST(the_system_has_its_names)
{
	mach_port_t port = new_port();

	EXPECT_EQ(as_user(STUDENT, take_names_of_the_system), 0);
	EXPECT_EQ(as_user(TA, take_the_server), 0);
	EXPECT_EQ(check_in("gprof.0", ux_server_port(), port), NETNAME_SUCCESS);
	EXPECT_EQ(check_in("gprof.kernel", ux_server_port(), port), NETNAME_SUCCESS);
	end_port(port);
}

static bool is_refused_all(mach_port_t signature, mach_port_t port)
{
	return check_in("gprof.0", signature, port) == NETNAME_NOT_YOURS &&
	       check_in("gprof.1", signature, port) == NETNAME_NOT_YOURS &&
	       check_in("gprof.kernel", signature, port) == NETNAME_NOT_YOURS &&
	       check_in("users.1", signature, port) == NETNAME_NOT_YOURS;
}

/* Receives a message of root's, and tries what root may. */
static void take_what_root_may(void)
{
	mach_port_t port = new_port();
	struct {
		mach_msg_header_t head;
		char room[64];
	} message;

	if (check_in("users.deputy", ux_server_port(), port) != NETNAME_SUCCESS)
		_exit(1);
	if (mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, port, 0, MACH_PORT_NULL) != 0)
		_exit(2);
	_exit(is_refused_all(MACH_PORT_NULL, port) && is_refused_all(port, port) &&
			      is_refused_all(ux_server_port(), port)
		      ? 0
		      : 3);
}

static void send_to_deputy(void)
{
	mach_msg_header_t message = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND, 0),
				     .msgh_size = sizeof message};

	while (look_up_at("", "users.deputy", &message.msgh_remote_port) != NETNAME_SUCCESS)
		usleep(1000);
	EXPECT_EQ(mach_msg(&message, MACH_SEND_MSG, sizeof message, 0, MACH_PORT_NULL, 0,
			   MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
}

/* Whose label a thread has says on whose behalf it works, not who it is. */
TEST(a_message_from_root_makes_nobody_root)
{
	pid_t pid = fork();

	if (pid == 0) {
		forget_names();
		if (setuid(STUDENT) == 0)
			take_what_root_may();
		_exit(99);
	}
	send_to_deputy();
	EXPECT_EQ(status_of(pid), 0);
}

static void *check_in_again(void *port)
{
	static kern_return_t result;

	result = check_in("users.again", ux_server_port(), *(mach_port_t *)port);
	return &result;
}

/* A name is its process's, whichever of its threads has checked it in. */
TEST(a_name_is_all_threads)
{
	mach_port_t port = new_port();
	kern_return_t *result;
	pthread_t thread;

	EXPECT_EQ(check_in("users.again", ux_server_port(), port), NETNAME_SUCCESS);
	EXPECT_EQ(pthread_create(&thread, NULL, check_in_again, &port), 0);
	EXPECT_EQ(pthread_join(thread, (void **)&result), 0);
	EXPECT_EQ(*result, NETNAME_SUCCESS);
	EXPECT_EQ(check_in("users.again", port, port), NETNAME_NOT_YOURS);
	end_port(port);
}

/* Names that no process has yet, and whose ports stay: `to_parent` is told when they are there. */
static void take_names_to_come(int to_parent, int from_parent)
{
	char byte = 0;

	forget_names();
	if (setuid(STUDENT) != 0)
		_exit(1);
	for (pid_t pid = getpid() + 1; pid < getpid() + 10; pid++) {
		if (check_in_for(pid) != NETNAME_SUCCESS)
			_exit(2);
	}
	write(to_parent, &byte, 1);
	_exit(read(from_parent, &byte, 1) == 0 ? 0 : 3);
}

/* A process of root's, whose name another had before there was such a process. */
static void have_own_name(void)
{
	forget_names();
	if (look_up(name_of(getpid())) != NETNAME_NOT_CHECKED_IN)
		_exit(1);
	if (check_in_for(getpid()) != NETNAME_SUCCESS)
		_exit(2);
	_exit(look_up(name_of(getpid())) == NETNAME_SUCCESS ? 0 : 3);
}

TEST(nobody_has_a_process_name_before_it)
{
	int there[2], over[2];
	pid_t other, own;
	char byte;

	EXPECT_EQ(pipe(there), 0);
	EXPECT_EQ(pipe(over), 0);
	other = fork();
	if (other == 0) {
		close(over[1]);
		take_names_to_come(there[1], over[0]);
	}
	EXPECT_EQ(read(there[0], &byte, 1), 1);
	own = fork();
	if (own == 0)
		have_own_name();
	EXPECT(own > other && own < other + 10);
	EXPECT_EQ(status_of(own), 0);
	close(over[1]);
	EXPECT_EQ(status_of(other), 0);
	close(over[0]);
	close(there[0]);
	close(there[1]);
}

static unsigned share; /* Which one it is, for names that nobody else has. */

/* So many names for a port of root's, which stay when their client has gone. */
static void fill_a_share(void)
{
	mach_port_t port = MACH_PORT_NULL;
	kern_return_t result = look_up_at("", "users.held", &port);
	char name[32];

	for (unsigned n = 0; n < OF_CLIENT && result == NETNAME_SUCCESS; n++) {
		snprintf(name, sizeof name, "users-%u-%u", share, n);
		result = check_in(name, ux_server_port(), port);
	}
	_exit(result);
}

TEST(a_user_has_no_more_than_a_share)
{
	mach_port_t port = new_port();

	EXPECT_EQ(check_in("users.held", port, port), NETNAME_SUCCESS);
	for (share = 0; share < OF_USER / OF_CLIENT; share++)
		EXPECT_EQ(as_user(STUDENT, fill_a_share), NETNAME_SUCCESS);
	EXPECT_EQ(as_user(STUDENT, fill_a_share), KERN_RESOURCE_SHORTAGE);
	EXPECT_EQ(check_in("users.more", port, port), NETNAME_SUCCESS);
	end_port(port);
	EXPECT_EQ(look_up("users-3-3"), NETNAME_NOT_CHECKED_IN);
}
