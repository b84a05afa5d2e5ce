/* SPDX-License-Identifier: MIT */
/*
 * Messages to pagers: see pager_messages.h.  Guarded by the kernel lock.
 *
 * They are made by hand, as the kernel waits for no answer.  A body is words with their
 * descriptors, and in some one out-of-line part.
 */
#include "vm/pager/pager_messages.h"

#include <mach/messages.h>
#include <stddef.h>

#include "base/assert.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "ipc/queue.h"
#include "ipc/right.h"
#include "thread/thread.h"
#include "vm/map/copy.h"
#include "vm/page/page.h"
#include "vm/pager/pager.h"

struct word {
	mach_msg_type_t type;
	uint32_t value;
};

struct words_message {
	mach_msg_header_t header;
	struct word words[5];
};

struct data_message {
	mach_msg_header_t header;
	struct word control;
	struct word offset;
	mach_msg_type_long_t data_type;
	uint32_t data;
	struct word dirty; /* Not in memory_object_data_initialize. */
	struct word kernel_copy;
};

_Static_assert(sizeof(struct words_message) <= PAGER_MESSAGE_SIZE, "room for all messages");
_Static_assert(sizeof(struct data_message) == 72, "a message's layout is an interface");

/* ---------------- Parts ---------------- */

static inline struct word pager_message_word(mach_msg_type_name_t name, uint32_t value)
{
	return (struct word){
		.type = DESCRIBE_MACH_PORT_POLY_T(name, 1),
		.value = value,
	};
}

static inline struct word pager_message_integer(uint32_t value)
{
	return pager_message_word(MACH_MSG_TYPE_INTEGER_32, value);
}

static inline struct word pager_message_boolean(bool value)
{
	return pager_message_word(MACH_MSG_TYPE_BOOLEAN, value);
}

/* A right to a port of the kernel's, or none when that is gone. */
static inline struct word pager_message_send_right(struct port *port)
{
	return pager_message_word(MACH_MSG_TYPE_PORT_SEND,
				  port == NULL ? 0 : (uint32_t)port_make_send(port));
}

/* The receive right of a port of the kernel's, which goes to `destination`. */
static struct word pager_message_receive_right(struct port *port, struct port *destination)
{
	port_give_up(port, destination);
	return pager_message_word(MACH_MSG_TYPE_PORT_RECEIVE, (uint32_t)port);
}

/* The header, for the caller's right `remote`; all bodies but one have rights or memory. */
static inline void pager_message_set_header(struct message *message, mach_msg_id_t id,
					    uint32_t size, struct port *remote,
					    mach_msg_type_name_t kind)
{
	assert(message->room >= size);
	message->header = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS_COMPLEX | MACH_MSGH_BITS(kind, 0),
		.msgh_size = size,
		.msgh_id = id,
	};
	message->label = current_thread()->label;
	message_set_ports(message, remote, PORT_NULL);
}

#define WORDS_SIZE(n) (sizeof(mach_msg_header_t) + (n) * sizeof(struct word))

/*
 * The message is work for whoever the current thread works for; unless the pager has never said
 * that it is one, as anybody can map any port.
 */
static inline void pager_message_count_request(const struct pager *pager, struct message *message)
{
	if (pager->state == PAGER_READY)
		message->header.msgh_bits |= BITS_KERNEL_REQUEST;
}

/* Nobody waits for what the page-out daemon has done, whoever it is for. */
static inline void pager_message_note_later(struct message *message)
{
	if (current_thread()->task == NULL)
		message->header.msgh_bits |= BITS_KERNEL_LATER;
}

/* The header of a message of `n` words to the pager; returns where those go. */
static inline struct word *pager_message_begin(struct pager *pager, struct message *message,
					       mach_msg_id_t id, uint32_t n)
{
	assert(pager->magic == PAGER_MAGIC && pager->state != PAGER_DEAD);
	pager_message_set_header(message, id, WORDS_SIZE(n), port_add_send(pager->port),
				 MACH_MSG_TYPE_PORT_SEND);
	pager_message_count_request(pager, message);
	return ((struct words_message *)&message->header)->words;
}

/* ---------------- The object's life ---------------- */

void pager_send_init(struct pager *pager, struct message *message)
{
	struct word *words = pager_message_begin(pager, message, ID_MEMORY_OBJECT_INIT, 3);

	words[0] = pager_message_send_right(pager->control);
	words[1] = pager_message_send_right(pager->name);
	words[2] = pager_message_integer(PAGE_SIZE);
	message_send_always(message);
}

void pager_send_terminate(struct pager *pager, struct message *message)
{
	struct port *port = pager->port;
	struct word *words = pager_message_begin(pager, message, ID_MEMORY_OBJECT_TERMINATE, 2);

	words[0] = pager_message_receive_right(pager->control, port);
	words[1] = pager_message_receive_right(pager->name, port);
	pager->control = NULL;
	pager->name = NULL;
	pager->port = NULL;
	port_release_send(port);
	message_send_always(message);
}

void pager_send_copy(struct pager *pager, struct message *message, uint32_t index, uint32_t size,
		     struct port *copy)
{
	struct word *words = pager_message_begin(pager, message, ID_MEMORY_OBJECT_COPY, 4);

	words[0] = pager_message_send_right(pager->control);
	words[1] = pager_message_integer(index * PAGE_SIZE);
	words[2] = pager_message_integer(size * PAGE_SIZE);
	words[3] = pager_message_receive_right(copy, pager->port);
	message_send_always(message);
}

/* ---------------- Pages ---------------- */

static inline void pager_message_send_wish(struct pager *pager, struct message *message,
					   mach_msg_id_t id, uint32_t index, uint32_t rights,
					   struct thread **woken)
{
	struct word *words = pager_message_begin(pager, message, id, 4);

	words[0] = pager_message_send_right(pager->control);
	words[1] = pager_message_integer(index * PAGE_SIZE);
	words[2] = pager_message_integer(PAGE_SIZE);
	words[3] = pager_message_integer(rights);
	message_send_before_wait(message, woken);
}

void pager_send_request(struct pager *pager, struct message *message, uint32_t index,
			uint32_t rights, struct thread **woken)
{
	pager_message_send_wish(pager, message, ID_MEMORY_OBJECT_DATA_REQUEST, index, rights,
				woken);
}

void pager_send_unlock(struct pager *pager, struct message *message, uint32_t index,
		       uint32_t rights, struct thread **woken)
{
	pager_message_send_wish(pager, message, ID_MEMORY_OBJECT_DATA_UNLOCK, index, rights, woken);
}

/* The copy tells the pager when it has landed, and so keeps it. */
static void pager_message_send_data(struct pager *pager, struct message *message, mach_msg_id_t id,
				    const struct pager_data *data, uint32_t size)
{
	struct data_message *body = (struct data_message *)&message->header;

	assert(pager->state != PAGER_DEAD && data->copy->pager == NULL);
	pager_message_set_header(message, id, size, port_add_send(pager->port),
				 MACH_MSG_TYPE_PORT_SEND);
	pager_message_count_request(pager, message);
	pager_message_note_later(message);
	body->control = pager_message_send_right(pager->control);
	body->offset = pager_message_integer(data->index * PAGE_SIZE);
	body->data_type = (mach_msg_type_long_t){
		.msgtl_header.msgt_longform = 1,
		.msgtl_name = MACH_MSG_TYPE_BYTE,
		.msgtl_size = 8,
		.msgtl_number = data->copy->size,
	};
	body->data = (uint32_t)data->copy;
	data->copy->pager = pager;
	pager->refs++;
	pager->in_flight++;
	if (pager->is_swap)
		pager_swap_flights++;
	message_send_always(message);
}

void pager_send_return(struct pager *pager, struct message *message, const struct pager_data *data)
{
	struct data_message *body = (struct data_message *)&message->header;

	body->dirty = pager_message_boolean(data->dirty);
	body->kernel_copy = pager_message_boolean(data->kernel_copy);
	pager_message_send_data(pager, message, ID_MEMORY_OBJECT_DATA_RETURN, data, sizeof *body);
}

void pager_send_initialize(struct pager *pager, struct message *message,
			   const struct pager_data *data)
{
	pager_message_send_data(pager, message, ID_MEMORY_OBJECT_DATA_INITIALIZE, data,
				offsetof(struct data_message, dirty));
}

void pager_send_create(struct port *manager, struct message *message, struct pager *pager,
		       uint32_t size)
{
	struct word *words = ((struct words_message *)&message->header)->words;

	pager_message_set_header(message, ID_MEMORY_OBJECT_CREATE, WORDS_SIZE(5),
				 port_add_send(manager), MACH_MSG_TYPE_PORT_SEND);
	message->header.msgh_bits |= BITS_KERNEL_REQUEST;
	pager_message_note_later(message);
	words[0] = pager_message_receive_right(pager->port, manager);
	words[1] = pager_message_integer(size * PAGE_SIZE);
	words[2] = pager_message_send_right(pager->control);
	words[3] = pager_message_send_right(pager->name);
	words[4] = pager_message_integer(PAGE_SIZE);
	message_send_always(message);
}

/* ---------------- Answers ---------------- */

bool pager_reply_is_valid(const struct pager_reply *reply)
{
	return reply->port == PORT_NULL || reply->kind == MACH_MSG_TYPE_PORT_SEND ||
	       reply->kind == MACH_MSG_TYPE_PORT_SEND_ONCE;
}

void pager_reply_limit(struct pager_reply *reply)
{
	if (!port_is_valid(reply->port) || reply->kind != MACH_MSG_TYPE_PORT_SEND ||
	    reply->port->n_messages < PAGER_QUEUED)
		return;
	port_release_send(reply->port);
	reply->port = PORT_NULL;
}

/*
 * A message of `n` words by the reply right, which it takes, on behalf of whom that was made for;
 * NULL if there is no right, or no memory, and the right is gone then.
 */
static struct message *pager_message_begin_reply(const struct pager_reply *reply, mach_msg_id_t id,
						 uint32_t n)
{
	struct message *message;

	if (!port_is_valid(reply->port))
		return NULL;
	message = message_alloc(PAGER_MESSAGE_SIZE);
	if (message == NULL) {
		right_release(reply->port, reply->kind);
		return NULL;
	}
	pager_message_set_header(message, id, WORDS_SIZE(n), reply->port, reply->kind);
	if (reply->kind == MACH_MSG_TYPE_PORT_SEND_ONCE)
		message->label = reply->port->label;
	return message;
}

static struct word *pager_message_words_of(struct message *message)
{
	return ((struct words_message *)&message->header)->words;
}

void pager_reply_locked(const struct pager_reply *reply, struct pager *pager, uint32_t offset,
			uint32_t size)
{
	struct message *message =
		pager_message_begin_reply(reply, ID_MEMORY_OBJECT_LOCK_COMPLETED, 3);

	if (message == NULL)
		return;
	pager_message_words_of(message)[0] = pager_message_send_right(pager->control);
	pager_message_words_of(message)[1] = pager_message_integer(offset);
	pager_message_words_of(message)[2] = pager_message_integer(size);
	message_send_always(message);
}

void pager_reply_supplied(const struct pager_reply *reply, struct pager *pager,
			  const struct pager_supplied *supplied)
{
	struct message *message =
		pager_message_begin_reply(reply, ID_MEMORY_OBJECT_SUPPLY_COMPLETED, 5);

	if (message == NULL)
		return;
	pager_message_words_of(message)[0] = pager_message_send_right(pager->control);
	pager_message_words_of(message)[1] = pager_message_integer(supplied->offset);
	pager_message_words_of(message)[2] = pager_message_integer(supplied->size);
	pager_message_words_of(message)[3] = pager_message_integer((uint32_t)supplied->result);
	pager_message_words_of(message)[4] = pager_message_integer(supplied->error_offset);
	message_send_always(message);
}

void pager_reply_changed(const struct pager_reply *reply, const struct pager *pager)
{
	struct message *message =
		pager_message_begin_reply(reply, ID_MEMORY_OBJECT_CHANGE_COMPLETED, 2);

	if (message == NULL)
		return;
	message->header.msgh_bits &= ~MACH_MSGH_BITS_COMPLEX;
	pager_message_words_of(message)[0] = pager_message_boolean(pager->may_cache);
	pager_message_words_of(message)[1] = pager_message_integer((uint32_t)pager->strategy);
	message_send_always(message);
}
