/* SPDX-License-Identifier: MIT */
/*
 * Waits for pages, for a server, for a lock and for its turn, each in a function of its own, and
 * says by its own clock how long that was.
 *
 * The parent is the pager and the server, and takes its time for both.  The child waits; threads of
 * its own hold the lock and the CPU.
 *
 *	waiter
 */
#include <assay.h>
#include <cthreads.h>
#include <mach.h>
#include <mach/gnumach.h>
#include <mach/gsync.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES    20u
#define CALLS    15u
#define LOCKS    10u
#define PAGE_MS  8u
#define CALL_MS  6u
#define LOCK_MS  4u
#define TURNS_NS 80000000u

/* Names in the child, and messages of the kernel's to a pager. */
#define OBJECT_NAME  0x7001u
#define SERVER_NAME  0x7003u
#define INIT         2200
#define DATA_REQUEST 2203
#define REQUEST      77
#define LAST         78

#define SHOWN __attribute__((noinline))

/* Behind a type each of the values of a message. */
struct typed_message {
	mach_msg_header_t head;
	struct {
		uint32_t type;
		uint32_t value;
	} parts[32];
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "waiter: cannot %s\n", what);
	exit(1);
}

static uint64_t now(void)
{
	uint64_t ns = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &ns);
	return ns;
}

static void sleep_ms(unsigned ms)
{
	thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, ms);
}

/* ---------------- The parent: a pager and a server ---------------- */

static mach_port_t port_with_send(void)
{
	mach_port_t port = MACH_PORT_NULL;

	if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS ||
	    mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND) !=
		    KERN_SUCCESS)
		fail("make a port");
	return port;
}

SHOWN static void supply_late(mach_port_t control, vm_offset_t offset)
{
	vm_address_t page = 0;

	sleep_ms(PAGE_MS);
	if (vm_allocate(mach_task_self(), &page, PAGE_SIZE, TRUE) != KERN_SUCCESS)
		fail("have a page");
	memory_object_data_supply(control, offset, page, PAGE_SIZE, TRUE, VM_PROT_NONE, FALSE,
				  MACH_PORT_NULL);
}

static void *be_pager(void *port)
{
	struct typed_message message;

	for (;;) {
		if (mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, (mach_port_t)port,
			     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			fail("receive as a pager");
		if (message.head.msgh_id == INIT)
			memory_object_ready(message.parts[0].value, FALSE,
					    MEMORY_OBJECT_COPY_DELAY);
		else if (message.head.msgh_id == DATA_REQUEST)
			supply_late(message.parts[0].value, message.parts[1].value);
	}
}

static void answer(const mach_msg_header_t *request)
{
	mach_msg_header_t reply = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0),
		.msgh_size = sizeof reply,
		.msgh_remote_port = request->msgh_remote_port,
	};

	mach_msg(&reply, MACH_SEND_MSG, sizeof reply, 0, MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE,
		 MACH_PORT_NULL);
}

SHOWN static void serve_slowly(void)
{
	sleep_ms(CALL_MS);
}

static void serve_all(mach_port_t port)
{
	struct typed_message request;

	do {
		if (mach_msg(&request.head, MACH_RCV_MSG, 0, sizeof request, port,
			     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			fail("receive as a server");
		if (request.head.msgh_id == REQUEST)
			serve_slowly();
		answer(&request.head);
	} while (request.head.msgh_id != LAST);
}

/* ---------------- The child: who waits ---------------- */

static vm_address_t memory;
static volatile uint32_t lock;
static volatile int spins;

static void call(mach_msg_id_t id)
{
	mach_msg_header_t message = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE),
		.msgh_size = sizeof message,
		.msgh_remote_port = SERVER_NAME,
		.msgh_local_port = mig_get_reply_port(),
		.msgh_id = id,
	};
	mach_port_t reply = message.msgh_local_port;

	if (mach_msg(&message, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message, sizeof message, reply,
		     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		fail("call the server");
	mig_put_reply_port(reply);
}

SHOWN static void wait_for_pages(void)
{
	for (unsigned n = 0; n < PAGES; n++)
		*(volatile uint32_t *)(memory + n * PAGE_SIZE);
	now(); /* So that it has a frame: a function that calls nobody has none. */
}

SHOWN static void wait_for_server(void)
{
	for (unsigned n = 0; n < CALLS; n++)
		call(REQUEST);
	now();
}

SHOWN static void wait_for_lock(void)
{
	for (uint32_t n = 1; n <= LOCKS; n++)
		while (lock < n)
			gsync_wait(mach_task_self(), (vm_offset_t)&lock, n - 1, 0, 0, 0);
	now();
}

SHOWN static void wait_for_turn(void)
{
	uint64_t begin = now();

	while (now() - begin < TURNS_NS)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_NONE, 0);
}

static void *hold_lock(void *unused)
{
	for (uint32_t n = 1; n <= LOCKS; n++) {
		sleep_ms(LOCK_MS);
		lock = n;
		gsync_wake(mach_task_self(), (vm_offset_t)&lock, 0, 0);
	}
	return unused;
}

static void *hold_cpu(void *unused)
{
	while (spins)
		continue;
	return unused;
}

static void measure(const char *name, void (*wait)(void))
{
	uint64_t begin = now(), length;

	wait();
	length = now() - begin;
	printf("%s %llu\n", name, (unsigned long long)length);
}

static void wait_in_all_ways(void)
{
	cthread_t thread;

	measure("wait_for_pages", wait_for_pages);
	measure("wait_for_server", wait_for_server);
	thread = cthread_fork(hold_lock, NULL);
	measure("wait_for_lock", wait_for_lock);
	cthread_join(thread);
	spins = 1;
	thread = cthread_fork(hold_cpu, NULL);
	measure("wait_for_turn", wait_for_turn);
	spins = 0;
	cthread_join(thread);
}

static _Noreturn void be_child(int begin)
{
	char go;

	if (read(begin, &go, 1) != 1 ||
	    vm_map(mach_task_self(), &memory, PAGES * PAGE_SIZE, 0, TRUE, OBJECT_NAME, 0, FALSE,
		   VM_PROT_READ, VM_PROT_ALL, VM_INHERIT_NONE) != KERN_SUCCESS)
		fail("begin");
	wait_in_all_ways();
	call(LAST);
	exit(0);
}

int main(void)
{
	mach_port_t object = port_with_send(), server = port_with_send(), task;
	int begin[2];
	pid_t pid;

	if (pipe(begin) != 0 || (pid = fork()) < 0)
		fail("start a child");
	if (pid == 0)
		be_child(begin[0]);
	task = task_by_pid(pid);
	if (mach_port_insert_right(task, OBJECT_NAME, object, MACH_MSG_TYPE_MAKE_SEND) !=
		    KERN_SUCCESS ||
	    mach_port_insert_right(task, SERVER_NAME, server, MACH_MSG_TYPE_MAKE_SEND) !=
		    KERN_SUCCESS)
		fail("give the child its rights");
	cthread_detach(cthread_fork(be_pager, (void *)object));
	if (write(begin[1], "", 1) != 1)
		fail("let the child begin");
	serve_all(server);
	wait(NULL);
	return 0;
}
