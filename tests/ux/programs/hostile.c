/* SPDX-License-Identifier: MIT */
/*
 * Programs that mean harm: memory whose pager never answers, and more of everything than anybody
 * needs.  The server goes on serving others, and whoever did it can be ended.
 *
 * guest: user=root limit=60
 * guest: user=root cpus=2 seed=1 limit=60
 */
#include <assay.h>
#include <cthreads.h>
#include <mach.h>
#include <mach/memory_object.h>
#include <mach/messages.h>
#include <signal.h>
#include <sys/ux.h>
#include <sys/wait.h>

#include "check_unix.h"

#define TIMEOUT   5000        /* Milliseconds until an answer is missed. */
#define PATIENCE  1000        /* Times that others may run first. */
#define MUCH      (64 * 4096) /* The kernel copies less at once. */
#define N_SENDERS 20
#define N_WAITERS 10 /* Processes, each of which makes */
#define N_CALLS   64 /* so many calls that wait: more than the server has threads. */
#define STUDENT   100

union message {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	struct {
		mach_msg_header_t head;
		mach_msg_type_long_t type;
		vm_address_t data;
	} memory;
	struct {
		mach_msg_header_t head;
		mach_msg_type_t fd_type;
		int fd;
		mach_msg_type_long_t type;
		vm_address_t data;
	} write;
	struct {
		mach_msg_header_t head;
		mach_msg_type_t type;
		mach_port_t control;
	} init;
	struct {
		mach_msg_header_t head;
		mach_msg_type_t fd_type;
		int fd;
		mach_msg_type_t size_type;
		unsigned size;
	} read;
	char room[512];
};

static mach_port_t server(void)
{
	mach_port_t port = MACH_PORT_NULL;

	task_get_special_port(mach_task_self(), TASK_BOOTSTRAP_PORT, &port);
	return port;
}

static void let_others_run(void)
{
	for (int n = 0; n < PATIENCE; n++)
		swtch();
}

/* ---------------- Memory that never comes ---------------- */

static mach_port_t silent_pager; /* The last one's port: what is asked of it stays there. */

/* Memory of a pager's that says that it is ready, and then nothing more. */
static vm_address_t silent_memory(memory_object_copy_strategy_t strategy)
{
	mach_port_t self = mach_task_self(), port;
	union message message;
	vm_address_t address = 0;

	if (mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS ||
	    mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND) != KERN_SUCCESS ||
	    vm_map(self, &address, MUCH, 0, TRUE, port, 0, FALSE, VM_PROT_ALL, VM_PROT_ALL,
		   VM_INHERIT_COPY) != KERN_SUCCESS ||
	    mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, port, 0, MACH_PORT_NULL) !=
		    MACH_MSG_SUCCESS ||
	    memory_object_ready(message.init.control, FALSE, strategy) != KERN_SUCCESS)
		return 0;
	silent_pager = port;
	return address;
}

static void send_memory(vm_address_t data)
{
	union message message = {
		.memory = {.type = {.msgtl_header = {.msgt_longform = TRUE},
				    .msgtl_name = MACH_MSG_TYPE_CHAR,
				    .msgtl_size = 8,
				    .msgtl_number = MUCH},
			   .data = data},
	};

	message.head.msgh_bits =
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0) | MACH_MSGH_BITS_COMPLEX;
	message.head.msgh_remote_port = server();
	message.head.msgh_id = ID_BSD_GETPID;
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.memory, 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

static bool server_is_well(void)
{
	mach_port_t reply = mach_reply_port();
	union message message = {.head = {.msgh_size = 0}};

	message.head.msgh_bits =
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	message.head.msgh_remote_port = server();
	message.head.msgh_local_port = reply;
	message.head.msgh_id = ID_BSD_GETPID;
	return mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG | MACH_RCV_TIMEOUT,
			sizeof message.head, sizeof message, reply, TIMEOUT,
			MACH_PORT_NULL) == MACH_MSG_SUCCESS &&
	       message.reply.RetCode == 0;
}

/* The same for a call that uses it. */
static void write_memory(vm_address_t data)
{
	union message message = {
		.write = {.fd_type = DESCRIBE_UNSIGNED(1),
			  .fd = STDOUT_FILENO,
			  .type = {.msgtl_header = {.msgt_longform = TRUE},
				   .msgtl_name = MACH_MSG_TYPE_CHAR,
				   .msgtl_size = 8,
				   .msgtl_number = MUCH},
			  .data = data},
	};

	message.head.msgh_bits =
		MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0) | MACH_MSGH_BITS_COMPLEX;
	message.head.msgh_remote_port = server();
	message.head.msgh_id = ID_BSD_WRITE_LONG;
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.write, 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

static pid_t fork_sender(void (*send)(vm_address_t))
{
	pid_t pid = fork();
	vm_address_t data;

	if (pid != 0)
		return pid;
	data = silent_memory(MEMORY_OBJECT_COPY_DELAY);
	for (int n = 0; n < 3; n++)
		send(data);
	for (;;)
		pause();
}

static void have_senders(void (*send)(vm_address_t))
{
	pid_t pids[N_SENDERS];
	int status;

	for (int n = 0; n < N_SENDERS; n++)
		pids[n] = fork_sender(send);
	let_others_run();
	EXPECT(server_is_well());
	for (int n = 0; n < N_SENDERS; n++) {
		EXPECT_EQ(kill(pids[n], SIGKILL), 0);
		EXPECT_EQ(waitpid(pids[n], &status, 0), pids[n]);
	}
	EXPECT(server_is_well());
}

TEST(data_that_nobody_asked_for)
{
	have_senders(send_memory);
}

TEST(data_that_never_comes)
{
	have_senders(write_memory);
}

TEST(a_fork_that_never_ends)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (silent_memory(MEMORY_OBJECT_COPY_NONE) == 0)
			_exit(1);
		fork();
		_exit(2);
	}
	let_others_run();
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, SIGKILL);
}

TEST(a_handler_s_stack_that_never_comes)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		stack_t stack = {.ss_sp = (void *)silent_memory(MEMORY_OBJECT_COPY_DELAY),
				 .ss_size = MUCH};
		struct sigaction action = {.sa_handler = (void (*)(int))let_others_run,
					   .sa_flags = SA_ONSTACK};

		sigaltstack(&stack, NULL);
		sigaction(SIGUSR1, &action, NULL);
		kill(getpid(), SIGUSR1);
		_exit(2);
	}
	let_others_run();
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, SIGKILL);
	EXPECT(server_is_well());
}

/* Stops the process when the frame of a handler is about to be written, and then ends it. */
static void *stop_at_frame(void *unused)
{
	union message message;

	mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, silent_pager, 0, MACH_PORT_NULL);
	kill(getpid(), SIGSTOP);
	_exit(7);
	return unused;
}

/* Whoever writes the frame waits for a thread that must not stand still for that. */
TEST(a_process_goes_on_though_its_handler_cannot_begin)
{
	int status = -1, ends[2];
	pid_t pid;
	char byte;

	EXPECT_EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		stack_t stack = {.ss_sp = (void *)silent_memory(MEMORY_OBJECT_COPY_DELAY),
				 .ss_size = MUCH};
		struct sigaction action = {.sa_handler = (void (*)(int))let_others_run,
					   .sa_flags = SA_ONSTACK};

		sigaltstack(&stack, NULL);
		sigaction(SIGUSR1, &action, NULL);
		cthread_detach(cthread_fork(stop_at_frame, NULL));
		write(ends[1], "x", 1);
		for (;;)
			swtch();
	}
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	EXPECT_EQ(kill(pid, SIGUSR1), 0);
	EXPECT_EQ(waitpid(pid, &status, WUNTRACED), pid);
	EXPECT(WIFSTOPPED(status));
	EXPECT_EQ(kill(pid, SIGCONT), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, W_EXITCODE(7, 0));
	EXPECT_EQ(close(ends[0]), 0);
	EXPECT_EQ(close(ends[1]), 0);
}

/* ---------------- Calls without end ---------------- */

static const mach_msg_type_t word = DESCRIBE_UNSIGNED(1);

static void send_read(int fd)
{
	union message message = {
		.read = {.fd_type = word, .fd = fd, .size_type = word, .size = 1},
	};

	message.head.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
	message.head.msgh_remote_port = server();
	message.head.msgh_id = ID_BSD_READ;
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.read, 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

/* Its own calls may be refused, so it asks for nothing at the end. */
static pid_t fork_waiter(void)
{
	pid_t pid = fork();
	int ends[2];

	if (pid != 0)
		return pid;
	if (pipe(ends) != 0 || setuid(STUDENT) != 0)
		_exit(1);
	for (int n = 0; n < N_CALLS; n++)
		send_read(ends[0]);
	for (;;)
		swtch();
}

TEST(calls_that_wait_for_ever)
{
	pid_t pids[N_WAITERS];
	int status;

	for (int n = 0; n < N_WAITERS; n++)
		pids[n] = fork_waiter();
	let_others_run();
	EXPECT(server_is_well());
	for (int n = 0; n < N_WAITERS; n++) {
		EXPECT_EQ(kill(pids[n], SIGKILL), 0);
		EXPECT_EQ(waitpid(pids[n], &status, 0), pids[n]);
		EXPECT_EQ(status, SIGKILL);
	}
}
