/* SPDX-License-Identifier: MIT */
/*
 * snames: the name server.
 *
 *     snames [-f]
 *
 * A process of root's, by which programs find each other's ports (<servers/netname.h>).  It goes
 * into the background when it can be found; with -f it stays where it is.
 */
#include <errno.h>
#include <mach.h>
#include <mach/messages.h>
#include <servers/netname_server.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <unistd.h>

#include "names.h"

#define MESSAGE_MAX 512 /* Bytes; none of netname.defs is as long. */

union buffer {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[MESSAGE_MAX];
};

static mach_port_t all_ports;   /* The set of these two: */
static mach_port_t server_port; /* what programs call, */
static mach_port_t notify_port; /* and where the kernel tells of ports that have died. */

static void main_complain(const char *what)
{
	fprintf(stderr, "snames: %s\n", what);
}

/* ---------------- Requests ---------------- */

/* What every reply begins with. */
static void main_begin_reply(const mach_msg_header_t *request, union buffer *reply)
{
	static const mach_msg_type_t word = DESCRIBE_UNSIGNED(1);

	reply->reply = (mig_reply_header_t){
		.Head = {.msgh_bits = MACH_MSGH_BITS_REMOTE(request->msgh_bits),
			 .msgh_size = sizeof reply->reply,
			 .msgh_remote_port = request->msgh_remote_port,
			 .msgh_id = request->msgh_id + 100},
		.RetCodeType = word,
	};
}

/* The right to answer goes from the request to the reply. */
static void main_answer(union buffer *request, union buffer *reply)
{
	mig_routine_t routine = netname_server_routine(&request->head);

	main_begin_reply(&request->head, reply);
	request->head.msgh_remote_port = MACH_PORT_NULL;
	if (routine != NULL)
		routine(&request->head, &reply->head);
	else
		reply->reply.RetCode = MIG_BAD_ID;
	if (reply->reply.RetCode != KERN_SUCCESS)
		mach_msg_destroy(&request->head);
}

/* Nobody is waited for: whoever has no room for an answer goes without. */
static void main_send(union buffer *reply)
{
	mach_msg_return_t result = MACH_SEND_INVALID_DEST;

	if (MACH_PORT_VALID(reply->head.msgh_remote_port))
		result = mach_msg(&reply->head, MACH_SEND_MSG | MACH_SEND_TIMEOUT,
				  reply->head.msgh_size, 0, MACH_PORT_NULL, 0, MACH_PORT_NULL);
	if (result != MACH_MSG_SUCCESS)
		mach_msg_destroy(&reply->head);
}

/* The notification has brought a right to the dead name. */
static void main_note(const union buffer *message)
{
	const mach_dead_name_notification_t *notification = (const void *)message;

	if (message->head.msgh_id != MACH_NOTIFY_DEAD_NAME)
		return;
	names_remove_port(notification->not_port);
	syscall_mach_port_deallocate(mach_task_self_cached(), notification->not_port);
}

static mach_msg_return_t main_receive(union buffer *message)
{
	return mach_msg(&message->head, MACH_RCV_MSG, 0, sizeof *message, all_ports,
			MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

/* A message that could not be received whole is one less; its sender knows. */
static void main_serve_one(void)
{
	union buffer request, reply;
	mach_msg_return_t result = main_receive(&request);

	if ((result & ~MACH_MSG_MASK) == MACH_RCV_BODY_ERROR)
		mach_msg_destroy(&request.head);
	if (result != MACH_MSG_SUCCESS)
		return;
	if (request.head.msgh_local_port == notify_port) {
		main_note(&request);
	} else {
		main_answer(&request, &reply);
		main_send(&reply);
	}
}

/* ---------------- The beginning ---------------- */

static bool main_make_port(mach_port_right_t right, mach_port_t *port)
{
	return syscall_mach_port_allocate(mach_task_self_cached(), right, port) == KERN_SUCCESS;
}

static bool main_make_ports(void)
{
	mach_port_t self = mach_task_self_cached();

	return main_make_port(MACH_PORT_RIGHT_PORT_SET, &all_ports) &&
	       main_make_port(MACH_PORT_RIGHT_RECEIVE, &server_port) &&
	       main_make_port(MACH_PORT_RIGHT_RECEIVE, &notify_port) &&
	       mach_port_move_member(self, server_port, all_ports) == KERN_SUCCESS &&
	       mach_port_move_member(self, notify_port, all_ports) == KERN_SUCCESS &&
	       syscall_mach_port_insert_right(self, server_port, server_port,
					      MACH_MSG_TYPE_MAKE_SEND) == KERN_SUCCESS;
}

/* Says why not if it cannot. */
static bool main_become_name_server(void)
{
	if (!main_make_ports()) {
		main_complain("there is no memory for its ports");
		return false;
	}
	names_start(notify_port);
	if (ux_set_name_server(server_port) == 0)
		return true;
	switch (errno) {
	case EBUSY:
		main_complain("a name server is running already");
		break;
	case EPERM:
		main_complain("only root may start the name server");
		break;
	default:
		main_complain(strerror(errno));
	}
	return false;
}

static _Noreturn void main_serve(void)
{
	for (;;)
		main_serve_one();
}

/* ---------------- The background ---------------- */

/* Waits until the child can be found, or has said why it cannot be, and is gone. */
static int main_await_child(int from_child)
{
	char byte;

	return read(from_child, &byte, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The child keeps standard error, for what it may have to say. */
static _Noreturn void main_run_as_child(int to_parent)
{
	setpgid(0, 0);
	if (!main_become_name_server())
		exit(EXIT_FAILURE);
	write(to_parent, "", 1);
	close(to_parent);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	main_serve();
}

static int main_run_in_background(void)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0) {
		main_complain(strerror(errno));
		return EXIT_FAILURE;
	}
	if (pid == 0) {
		close(ends[0]);
		main_run_as_child(ends[1]);
	}
	close(ends[1]);
	return main_await_child(ends[0]);
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return main_run_in_background();
	if (argc > 2 || strcmp(argv[1], "-f") != 0) {
		fprintf(stderr, "usage: snames [-f]\n");
		return 2;
	}
	if (!main_become_name_server())
		return EXIT_FAILURE;
	main_serve();
}
