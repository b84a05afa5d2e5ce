/* SPDX-License-Identifier: MIT */
/*
 * Messages, calls of the kernel, and tasks and threads made and ended.  What is measured uses the
 * traps themselves, not the library's functions around them.
 *
 * The server of the calls between two tasks is a copy of this program: task_create() gives it the
 * same memory, a thread of its own and the receive right.
 */
#include "measure.h"

#include <mach/messages.h>

#include "mach.h"

#define SERVER_NAME  500 /* What the server's task calls its port. */
#define MESSAGE_ROOM 64

#define BITS_CALL MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE)

struct small_message {
	mach_msg_header_t header;
	char room[MESSAGE_ROOM - sizeof(mach_msg_header_t)];
};

static uint8_t server_stack[16384] __attribute__((aligned(16)));
mach_port_t server_port;

/* ---------------- Traps and calls of the kernel ---------------- */

void bench_task_self(uint32_t n)
{
	measure_calibrate();
	MEASURE(n, mach_task_self());
	report_samples(n, 1);
}

/* A request as the generated stub makes it, without the stub. */
struct type_request {
	mach_msg_header_t header;
	mach_msg_type_t name_type;
	mach_port_t name;
	char room[MESSAGE_ROOM - sizeof(mach_msg_header_t) - 8];
};

static mach_msg_return_t ask_type(struct type_request *request, mach_port_t task, mach_port_t reply)
{
	request->header = (mach_msg_header_t){
		.msgh_bits = BITS_CALL,
		.msgh_remote_port = task,
		.msgh_local_port = reply,
		.msgh_id = ID_MACH_PORT_TYPE,
	};
	request->name_type = (mach_msg_type_t)DESCRIBE_MACH_PORT_NAME_T(1);
	request->name = task;
	return mach_msg_trap(&request->header, MACH_SEND_MSG | MACH_RCV_MSG,
			     sizeof request->header + 8, sizeof *request, reply,
			     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

void bench_port_type(uint32_t n)
{
	mach_port_t task = mach_task_self();
	mach_port_t reply = mach_reply_port();
	struct type_request request;

	must(ask_type(&request, task, reply), "a call of the kernel");
	measure_calibrate();
	MEASURE(n, ask_type(&request, task, reply));
	report_samples(n, 1);
}

/* ---------------- A call of a server ---------------- */

static void serve(void)
{
	struct small_message message;
	mach_msg_option_t option = MACH_RCV_MSG;

	for (;;) {
		if (mach_msg_trap(&message.header, option, sizeof message.header, sizeof message,
				  server_port, MACH_MSG_TIMEOUT_NONE,
				  MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			assay_exit(1);
		message.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0);
		message.header.msgh_local_port = MACH_PORT_NULL;
		option = MACH_SEND_MSG | MACH_RCV_MSG;
	}
}

static mach_msg_return_t call(struct small_message *message, mach_port_t port, mach_port_t reply)
{
	message->header = (mach_msg_header_t){
		.msgh_bits = BITS_CALL,
		.msgh_remote_port = port,
		.msgh_local_port = reply,
		.msgh_id = 1,
	};
	return mach_msg_trap(&message->header, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message->header,
			     sizeof *message, reply, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

/* ---------------- A call with memory ---------------- */

/* A request with one page out of line, copied. */
struct memory_message {
	mach_msg_header_t header;
	mach_msg_type_t type;
	void *data;
	char room[MESSAGE_ROOM - sizeof(mach_msg_header_t) - sizeof(mach_msg_type_t) -
		  sizeof(void *)];
};

_Static_assert(sizeof(struct memory_message) == MESSAGE_ROOM, "as long as the others");

/* Frees what it is given, unread. */
static void serve_memory(void)
{
	struct memory_message message;
	mach_msg_option_t option = MACH_RCV_MSG;
	mach_port_t self = mach_task_self();

	for (;;) {
		if (mach_msg_trap(&message.header, option, sizeof message.header, sizeof message,
				  server_port, MACH_MSG_TIMEOUT_NONE,
				  MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			assay_exit(1);
		syscall_vm_deallocate(self, (vm_address_t)message.data, PAGE_SIZE);
		message.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0);
		message.header.msgh_local_port = MACH_PORT_NULL;
		option = MACH_SEND_MSG | MACH_RCV_MSG;
	}
}

static mach_msg_return_t call_with_memory(struct memory_message *message, mach_port_t port,
					  mach_port_t reply, void *data)
{
	message->header = (mach_msg_header_t){
		.msgh_bits = BITS_CALL | MACH_MSGH_BITS_COMPLEX,
		.msgh_remote_port = port,
		.msgh_local_port = reply,
		.msgh_id = 1,
	};
	message->type = (mach_msg_type_t)DESCRIBE_UNSIGNED(PAGE_SIZE / 4);
	message->type.msgt_inline = false;
	message->data = data;
	return mach_msg_trap(&message->header, MACH_SEND_MSG | MACH_RCV_MSG,
			     offsetof(struct memory_message, room), sizeof *message, reply,
			     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

/* ---------------- Servers ---------------- */

void start_server(mach_port_t task, void (*server)(void))
{
	struct i386_thread_state state;
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
	mach_port_t thread;

	must(thread_create(task, &thread), "a thread");
	must(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count),
	     "its state");
	state.eip = (uint32_t)server;
	state.uesp = (uint32_t)(server_stack + sizeof server_stack - 4);
	must(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state, count),
	     "its start");
	must(thread_resume(thread), "its start");
}

static void measure_calls(uint32_t n, mach_port_t port)
{
	struct small_message message;
	mach_port_t reply = mach_reply_port();

	must(call(&message, port, reply), "a call");
	measure_calibrate();
	MEASURE(n, call(&message, port, reply));
	report_samples(n, 1);
}

mach_port_t make_port(void)
{
	mach_port_t port;

	must(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port), "a port");
	must(mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND),
	     "a right");
	return port;
}

/* To a thread of the same task. */
void bench_call(uint32_t n)
{
	server_port = make_port();
	start_server(mach_task_self(), serve);
	measure_calls(n, server_port);
}

/* A task that is a copy of this one and runs `server`, and a right to call it, in *port. */
static mach_port_t make_server_task(void (*server)(void), mach_port_t *port)
{
	mach_port_t task;

	*port = make_port();
	server_port = SERVER_NAME;
	must(task_create(mach_task_self(), true, &task), "a task");
	must(mach_port_insert_right(task, SERVER_NAME, *port, MACH_MSG_TYPE_MOVE_RECEIVE),
	     "a right");
	start_server(task, server);
	return task;
}

/* To another task. */
void bench_call_task(uint32_t n)
{
	mach_port_t port;
	mach_port_t task = make_server_task(serve, &port);

	measure_calls(n, port);
	must(task_terminate(task), "the end of the task");
}

/* To another task, with a page of memory. */
void bench_call_memory(uint32_t n)
{
	struct memory_message message;
	mach_port_t port;
	mach_port_t task = make_server_task(serve_memory, &port);
	mach_port_t reply = mach_reply_port();
	vm_address_t page;

	must(syscall_vm_allocate(mach_task_self(), &page, PAGE_SIZE, true), "a page");
	*(volatile uint32_t *)page = 1;
	must(call_with_memory(&message, port, reply, (void *)page), "a call");
	measure_calibrate();
	MEASURE(n, call_with_memory(&message, port, reply, (void *)page));
	report_samples(n, 1);
	must(task_terminate(task), "the end of the task");
}

/* ---------------- Tasks and threads ---------------- */

/* Samples `n` turns of making something and ending it; dropping its name is not part of them. */
static void measure_lives(uint32_t n, void (*live)(mach_port_t task, mach_port_t *name))
{
	mach_port_t task = mach_task_self();
	mach_port_t name;

	measure_calibrate();
	for (uint32_t turn = 0; turn < WARM_UP; turn++) {
		live(task, &name);
		must(mach_port_deallocate(task, name), "the end of a name");
	}
	measure_begin();
	for (uint32_t turn = 0; turn < n; turn++) {
		uint32_t before = counter();

		live(task, &name);
		samples[turn] = counter() - before;
		must(mach_port_deallocate(task, name), "the end of a name");
	}
	measure_end();
	report_samples(n, 1);
}

static void thread_life(mach_port_t task, mach_port_t *thread)
{
	must(thread_create(task, thread), "a thread");
	must(thread_terminate(*thread), "its end");
}

static void task_life(mach_port_t parent, mach_port_t *task)
{
	must(task_create(parent, false, task), "a task");
	must(task_terminate(*task), "its end");
}

void bench_thread_life(uint32_t n)
{
	measure_lives(n, thread_life);
}

void bench_task_life(uint32_t n)
{
	measure_lives(n, task_life);
}
