/* SPDX-License-Identifier: MIT */
/* Helpers for tests of ports, messages, tasks and threads: see ipc.h.  Owns the workers' stacks. */
#include "ipc.h"
#include "check.h"

/* ---------------- Ports ---------------- */

mach_port_t port_new(void)
{
	mach_port_t name = MACH_PORT_NULL;

	EXPECT_EQ(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &name),
		  KERN_SUCCESS);
	return name;
}

mach_port_t port_new_with_send(void)
{
	mach_port_t name = port_new();

	EXPECT_EQ(mach_port_insert_right(mach_task_self(), name, name, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	return name;
}

void port_drop_receive(mach_port_t name)
{
	EXPECT_EQ(mach_port_mod_refs(mach_task_self(), name, MACH_PORT_RIGHT_RECEIVE, -1),
		  KERN_SUCCESS);
}

void port_drop_send(mach_port_t name)
{
	EXPECT_EQ(mach_port_deallocate(mach_task_self(), name), KERN_SUCCESS);
}

void port_destroy(mach_port_t name)
{
	EXPECT_EQ(mach_port_destroy(mach_task_self(), name), KERN_SUCCESS);
}

mach_port_type_t port_type(mach_port_t name)
{
	mach_port_type_t type = 0;

	if (mach_port_type(mach_task_self(), name, &type) != KERN_SUCCESS)
		return 0;
	return type;
}

uint32_t port_refs(mach_port_t name, mach_port_right_t right)
{
	mach_port_urefs_t refs = ~0u;

	EXPECT_EQ(mach_port_get_refs(mach_task_self(), name, right, &refs), KERN_SUCCESS);
	return refs;
}

mach_port_status_t port_status(mach_port_t name)
{
	mach_port_status_t status = {0};

	EXPECT_EQ(mach_port_get_receive_status(mach_task_self(), name, &status), KERN_SUCCESS);
	return status;
}

mach_port_t port_send_once(mach_port_t port)
{
	mach_port_t carrier = port_new();
	mach_port_t once;

	EXPECT_EQ(message_send_port(carrier, port, MACH_MSG_TYPE_MAKE_SEND_ONCE), MACH_MSG_SUCCESS);
	once = message_get_port(carrier);
	port_destroy(carrier);
	return once;
}

/* ---------------- Messages ---------------- */

void message_head(struct message *message, mach_port_t remote, uint32_t remote_kind,
		  mach_port_t local, uint32_t local_kind, mach_msg_id_t id)
{
	memset(&message->head, 0, sizeof message->head);
	message->head.msgh_bits = MACH_MSGH_BITS(remote_kind, local_kind);
	message->head.msgh_remote_port = remote;
	message->head.msgh_local_port = local;
	message->head.msgh_id = id;
}

mach_msg_return_t message_post(struct message *message, uint32_t words)
{
	return mach_msg(&message->head, MACH_SEND_MSG | MACH_SEND_TIMEOUT,
			sizeof message->head + 4 * words, 0, MACH_PORT_NULL, 0, MACH_PORT_NULL);
}

mach_msg_return_t message_send_id(mach_port_t remote, uint32_t kind, mach_msg_id_t id)
{
	struct message message;

	message_head(&message, remote, kind, MACH_PORT_NULL, 0, id);
	return message_post(&message, 0);
}

mach_msg_return_t message_send_port(mach_port_t remote, mach_port_t port, uint32_t kind)
{
	struct message message;

	message_head(&message, remote, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(kind, 32, 1);
	message.body[1] = port;
	return message_post(&message, 2);
}

mach_msg_return_t message_get(struct message *message, mach_port_t name, uint32_t limit)
{
	memset(message, 0, sizeof *message);
	return mach_msg(&message->head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof *message, name,
			limit, MACH_PORT_NULL);
}

mach_port_t message_get_port(mach_port_t name)
{
	struct message message;

	EXPECT_EQ(message_get(&message, name, 0), MACH_MSG_SUCCESS);
	return message.body[1];
}

bool message_none(mach_port_t name)
{
	struct message message;

	return message_get(&message, name, 0) == MACH_RCV_TIMED_OUT;
}

void message_drop_reply(const struct message *message)
{
	if (MACH_PORT_VALID(message->head.msgh_remote_port))
		port_drop_send(message->head.msgh_remote_port);
}

uint32_t message_drain(mach_port_t name)
{
	struct message message;
	uint32_t n = 0;

	while (message_get(&message, name, 0) == MACH_MSG_SUCCESS) {
		message_drop_reply(&message);
		n++;
	}
	return n;
}

/* ---------------- Threads of this task ---------------- */

struct worker {
	void (*run)(void *);
	void *argument;
	volatile mach_port_t port;
	uint32_t id;
};

static struct worker workers[WORKERS];
static uint8_t stacks[WORKERS][4 * PAGE_SIZE] __attribute__((aligned(16)));

static void worker_main(void *worker)
{
	struct worker *self = worker;

	self->port = mach_thread_self();
	self->run(self->argument);
}

void worker_start(uint32_t n, void (*run)(void *), void *argument)
{
	workers[n].run = run;
	workers[n].argument = argument;
	workers[n].port = MACH_PORT_NULL;
	EXPECT_EQ(thread_start(worker_main, &workers[n], stacks[n], sizeof stacks[n],
			       PRIORITY_USUAL, &workers[n].id),
		  KERN_SUCCESS);
}

mach_port_t worker_port(uint32_t n)
{
	for (uint32_t tries = 0; tries < LONG_WAIT && workers[n].port == MACH_PORT_NULL; tries++)
		sleep_ms(1);
	EXPECT(workers[n].port != MACH_PORT_NULL);
	return workers[n].port;
}

bool worker_join(uint32_t n)
{
	bool ended = EXPECT_EQ(assay_thread_join(workers[n].id, LONG_WAIT), KERN_SUCCESS);

	if (workers[n].port != MACH_PORT_NULL)
		port_drop_send(workers[n].port);
	return ended;
}

void sleep_ms(uint32_t milliseconds)
{
	thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, milliseconds);
}

bool wait_for(volatile uint32_t *word, uint32_t value)
{
	for (uint32_t tries = 0; tries < LONG_WAIT && *word != value; tries++)
		sleep_ms(1);
	return *word == value;
}

/* ---------------- Other tasks ---------------- */

static uint8_t child_stacks[CHILD_STACKS][4 * PAGE_SIZE] __attribute__((aligned(16)));

void child_entry(void);
void child_over(void);

/* The function is in ebx, its argument in esi; the names that it inherited are not the task's. */
__asm__(".text\n"
	"child_entry:\n"
	"	pushl %esi\n"
	"	call mach_forget_names\n"
	"	call *%ebx\n"
	"	call child_over");

/* By trap: it needs no reply port. */
void child_over(void)
{
	syscall_task_terminate(mach_task_self());
	for (;;)
		sleep_ms(LONG_WAIT);
}

uint32_t word_in(mach_port_t task, vm_address_t address)
{
	mach_msg_type_number_t size;
	vm_offset_t data;
	uint32_t value;

	if (!EXPECT_EQ(vm_read(task, address, sizeof value, &data, &size), KERN_SUCCESS))
		return 0;
	value = *(uint32_t *)data;
	EXPECT_EQ(vm_deallocate(mach_task_self(), data, size), KERN_SUCCESS);
	return value;
}

mach_port_t child_new(void)
{
	mach_port_t child = MACH_PORT_NULL;

	EXPECT_EQ(task_create(mach_task_self(), TRUE, &child), KERN_SUCCESS);
	return child;
}

/* Sets the thread's registers: run(argument) on a stack of its own. */
static kern_return_t child_aim(mach_port_t thread, uint32_t stack, void (*run)(uint32_t),
			       uint32_t argument)
{
	struct i386_thread_state state;
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
	kern_return_t result;

	result = thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count);
	if (result != KERN_SUCCESS)
		return result;
	state.eip = (uint32_t)child_entry;
	state.uesp = (uint32_t)child_stacks[stack] + sizeof child_stacks[stack] - 12;
	state.ebx = (uint32_t)run;
	state.esi = argument;
	return thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
				i386_THREAD_STATE_COUNT);
}

mach_port_t child_start(mach_port_t child, uint32_t stack, void (*run)(uint32_t), uint32_t argument)
{
	mach_port_t thread = MACH_PORT_NULL;

	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(child_aim(thread, stack, run, argument), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	return thread;
}

bool child_restart(mach_port_t thread, uint32_t stack, void (*run)(uint32_t), uint32_t argument)
{
	return child_aim(thread, stack, run, argument) == KERN_SUCCESS;
}

void child_end(mach_port_t child)
{
	kern_return_t result = task_terminate(child);

	/* It may have ended by itself: then its port is dead. */
	EXPECT(result == KERN_SUCCESS || result == MACH_SEND_INVALID_DEST);
	for (uint32_t tries = 0; tries < 1000 && port_type(child) != MACH_PORT_TYPE_DEAD_NAME;
	     tries++)
		sleep_ms(1);
	EXPECT_EQ(port_type(child), MACH_PORT_TYPE_DEAD_NAME);
	port_destroy(child);
}

void child_give(mach_port_t child, mach_port_t name, mach_port_t port, uint32_t kind)
{
	EXPECT_EQ(mach_port_insert_right(child, name, port, kind), KERN_SUCCESS);
}

/* ---------------- Labels ---------------- */

uint32_t task_id_of(mach_port_t task)
{
	integer_t id = -1;
	mach_msg_type_number_t count = 1;

	EXPECT_EQ(task_info(task, TASK_ID_INFO, &id, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 1);
	return (uint32_t)id;
}

uint32_t task_maker_of(mach_port_t task)
{
	integer_t maker = -1;
	mach_msg_type_number_t count = 1;

	EXPECT_EQ(task_info(task, TASK_MAKER_INFO, &maker, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 1);
	return (uint32_t)maker;
}

uint32_t label_of(mach_port_t thread)
{
	struct thread_id_info info = {0, ~0u};
	mach_msg_type_number_t count = THREAD_ID_INFO_COUNT;

	EXPECT_EQ(thread_info(thread, THREAD_ID_INFO, (thread_info_t)&info, &count), KERN_SUCCESS);
	EXPECT_EQ(count, THREAD_ID_INFO_COUNT);
	return info.label;
}

uint32_t my_label(void)
{
	mach_port_t self = mach_thread_self();
	uint32_t label = label_of(self);

	port_drop_send(self);
	return label;
}
