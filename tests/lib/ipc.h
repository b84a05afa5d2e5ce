/* SPDX-License-Identifier: MIT */
/*
 * What the tests of ports, messages, tasks and threads share: messages built and taken apart in one
 * line, threads that are waited for, and tasks that run a function of the test program.
 *
 * A function that cannot do its work says so with check_fail(); the test goes on and fails.
 */
#ifndef TEST_IPC_H
#define TEST_IPC_H

#include <assay.h>
#include <mach.h>

#define BODY_WORDS 256
#define SHORT_WAIT 30   /* Milliseconds in which what should not happen would. */
#define LONG_WAIT  5000 /* What should happen does so within these. */

/* A message with room for a small body. */
struct message {
	mach_msg_header_t head;
	uint32_t body[BODY_WORDS];
};

/* A type descriptor, short form, as one word; LONG_FORM is followed by two more. */
#define TYPE(name, bits, number, is_inline, deallocate)                        \
	((uint32_t)(name) | (uint32_t)(bits) << 8 | (uint32_t)(number) << 16 | \
	 (uint32_t)(is_inline) << 28 | (uint32_t)(deallocate) << 30)
#define TYPE_INLINE(name, bits, number) TYPE(name, bits, number, 1, 0)
#define TYPE_FAR(name, bits, number)    TYPE(name, bits, number, 0, 0)
#define TYPE_MOVED(name, bits, number)  TYPE(name, bits, number, 0, 1)
#define TYPE_LONG                       (1u << 29)
#define TYPE_IS_INLINE                  (1u << 28)
#define TYPE_IS_MOVED                   (1u << 30)

/* ---------------- Ports ---------------- */

/* New receive right of the caller's, alone or with one send right under the same name. */
mach_port_t port_new(void);
mach_port_t port_new_with_send(void);

void port_drop_receive(mach_port_t name); /* Its receive right alone. */
void port_drop_send(mach_port_t name);    /* One user reference. */
void port_destroy(mach_port_t name);      /* The name with all that it stands for. */

mach_port_type_t port_type(mach_port_t name); /* 0 if there is no such name. */
uint32_t port_refs(mach_port_t name, mach_port_right_t right);
mach_port_status_t port_status(mach_port_t name);

/* A new name for a send-once right to `port`, whose receive right the caller has. */
mach_port_t port_send_once(mach_port_t port);

/* ---------------- Messages ---------------- */

/* Fills in a header without a body.  A kind is a disposition, 0 for no reply port. */
void message_head(struct message *message, mach_port_t remote, uint32_t remote_kind,
		  mach_port_t local, uint32_t local_kind, mach_msg_id_t id);

/* Sends the message with `words` words of body; never waits (MACH_SEND_TIMED_OUT). */
mach_msg_return_t message_post(struct message *message, uint32_t words);

/* A header alone, to `remote`, without reply port. */
mach_msg_return_t message_send_id(mach_port_t remote, uint32_t kind, mach_msg_id_t id);

/* Sends one port right to `remote`, of whose receive right the caller makes a send right. */
mach_msg_return_t message_send_port(mach_port_t remote, mach_port_t port, uint32_t kind);

/* Receives with a limit in milliseconds; the body is cleared before. */
mach_msg_return_t message_get(struct message *message, mach_port_t name, uint32_t limit);

/* Receives a message of message_send_port(): the name of what it carried. */
mach_port_t message_get_port(mach_port_t name);

/* Expects that nothing is to be received from `name` at once. */
bool message_none(mach_port_t name);

/* Receives until there is nothing more, destroys what the messages carried; how many they were. */
uint32_t message_drain(mach_port_t name);

/* Destroys all rights that a received message has brought in its header. */
void message_drop_reply(const struct message *message);

/* ---------------- Threads of this task ---------------- */

#define WORKERS 8

/* Starts run(argument) as worker `n`; worker_join() waits for its end and forgets its port. */
void worker_start(uint32_t n, void (*run)(void *), void *argument);
mach_port_t worker_port(uint32_t n);
bool worker_join(uint32_t n);

void sleep_ms(uint32_t milliseconds);

/* Waits until the word is `value`, at most LONG_WAIT. */
bool wait_for(volatile uint32_t *word, uint32_t value);

/* ---------------- Other tasks ---------------- */

/* The word that a task has at an address; 0, and the test fails, if there is none. */
uint32_t word_in(mach_port_t task, vm_address_t address);

/* A task with a copy of this one's memory and no names. */
mach_port_t child_new(void);

/* A thread of `child` that starts in run(argument), with a stack of its own among CHILD_STACKS. */
#define CHILD_STACKS 4
mach_port_t child_start(mach_port_t child, uint32_t stack, void (*run)(uint32_t),
			uint32_t argument);

/*
 * A thread of child_start() that waits in an exception goes on in run(argument) when it is resumed
 * or the exception is answered.  False if it cannot: it may be about to end.
 */
bool child_restart(mach_port_t thread, uint32_t stack, void (*run)(uint32_t), uint32_t argument);

/* Ends the task, waits until its port is dead and drops the name. */
void child_end(mach_port_t child);

/* Gives the child a right under a name; `kind` is a disposition of the caller's right. */
void child_give(mach_port_t child, mach_port_t name, mach_port_t port, uint32_t kind);

/* ---------------- Labels ---------------- */

uint32_t task_id_of(mach_port_t task);
uint32_t task_maker_of(mach_port_t task);
uint32_t label_of(mach_port_t thread);
uint32_t my_label(void);

#endif
