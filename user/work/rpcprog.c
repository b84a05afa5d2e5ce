/* SPDX-License-Identifier: MIT */
/*
 * rpcprog [CALLS]: a server and two clients, of which the first makes three calls for each of the
 * second's.  The server's time is in serve(), three quarters of it on behalf of the first client.
 *
 * The server is the parent.  It gives each child a send right to its port, under a name that both
 * know, before the child is told to begin.
 */
#include <mach.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define CALLS   300
#define UNIT    40000u
#define NAME    0x7001 /* Of the server's port in a client. */
#define REQUEST 77
#define LAST    78
#define CLIENTS 2

static const unsigned shares[CLIENTS] = {3, 1};

void serve(void);

SHOWN void serve(void)
{
	work(UNIT);
}

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "rpcprog: cannot %s\n", what);
	exit(1);
}

/* ---------------- A client ---------------- */

static void call(mach_port_t server, mach_msg_id_t id)
{
	mach_msg_header_t message = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE),
		.msgh_size = sizeof message,
		.msgh_remote_port = server,
		.msgh_local_port = mig_get_reply_port(),
		.msgh_id = id,
	};
	mach_port_t reply = message.msgh_local_port;

	if (mach_msg(&message, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message, sizeof message, reply,
		     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		fail("call the server");
	mig_put_reply_port(reply);
}

static _Noreturn void be_client(int begin, unsigned calls)
{
	char go;

	if (read(begin, &go, 1) != 1)
		fail("begin");
	for (unsigned n = 0; n < calls; n++)
		call(NAME, REQUEST);
	call(NAME, LAST);
	exit(0);
}

/* ---------------- The server ---------------- */

static pid_t start_client(mach_port_t port, unsigned calls)
{
	int begin[2];
	pid_t pid;
	mach_port_t task;

	if (pipe(begin) != 0)
		fail("make a pipe");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		close(begin[1]);
		be_client(begin[0], calls);
	}
	task = task_by_pid(pid);
	if (mach_port_insert_right(task, NAME, port, MACH_MSG_TYPE_MAKE_SEND) != KERN_SUCCESS)
		fail("give the client its right");
	if (write(begin[1], "", 1) != 1)
		fail("let the client begin");
	close(begin[0]);
	close(begin[1]);
	return pid;
}

static void answer(mach_msg_header_t *request)
{
	mach_msg_header_t reply = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0),
		.msgh_size = sizeof reply,
		.msgh_remote_port = request->msgh_remote_port,
		.msgh_id = request->msgh_id + 100,
	};

	mach_msg(&reply, MACH_SEND_MSG, sizeof reply, 0, MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE,
		 MACH_PORT_NULL);
}

static void serve_all(mach_port_t port)
{
	struct {
		mach_msg_header_t head;
		char rest[64];
	} request;

	for (unsigned left = CLIENTS; left != 0;) {
		if (mach_msg(&request.head, MACH_RCV_MSG, 0, sizeof request, port,
			     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			fail("receive");
		if (request.head.msgh_id == LAST)
			left--;
		else
			serve();
		answer(&request.head);
	}
}

int main(int argc, char **argv)
{
	unsigned calls = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : CALLS;
	mach_port_t port = MACH_PORT_NULL;

	if (calls == 0) {
		fprintf(stderr, "usage: rpcprog [CALLS]\n");
		return 2;
	}
	if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS)
		fail("make a port");
	for (unsigned n = 0; n < CLIENTS; n++)
		start_client(port, shares[n] * calls);
	serve_all(port);
	while (wait(NULL) > 0)
		;
	printf("rpcprog: %u and %u calls; serve 75 %% for the first client, 25 %% for the second\n",
	       shares[0] * calls, shares[1] * calls);
	return 0;
}
