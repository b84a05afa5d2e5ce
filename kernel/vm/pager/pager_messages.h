/* SPDX-License-Identifier: MIT */
/*
 * The messages that pagers get (<mach/memory_object.defs>, <mach/memory_object_default.defs>), for
 * the files of pagers only.
 *
 * Each function fills in `message`, with room for PAGER_MESSAGE_SIZE bytes, and sends it, which
 * takes it.  The pager is not dead.  Offsets and sizes are the user's, in bytes; pages are named by
 * their indexes.  Guarded by the kernel lock; nothing here blocks.
 */
#ifndef VM_PAGER_PAGER_MESSAGES_H
#define VM_PAGER_PAGER_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/message.h>

struct copy;
struct message;
struct pager;
struct port;
struct thread;

#define PAGER_MESSAGE_SIZE 72u

void pager_send_init(struct pager *pager, struct message *message);

/* Takes the receive rights of control and name, and the pager's right to its port. */
void pager_send_terminate(struct pager *pager, struct message *message);

/* Takes the receive right of `copy`, a port of the kernel's. */
void pager_send_copy(struct pager *pager, struct message *message, uint32_t index, uint32_t size,
		     struct port *copy);

/* These ask for one page.  They leave in *woken what message_send_before_wait() leaves there. */
void pager_send_request(struct pager *pager, struct message *message, uint32_t index,
			uint32_t rights, struct thread **woken);
void pager_send_unlock(struct pager *pager, struct message *message, uint32_t index,
		       uint32_t rights, struct thread **woken);

/* Contents of pages from `index` on; takes the copy, which is `in_flight` from now on. */
struct pager_data {
	struct copy *copy;
	uint32_t index;
	bool dirty;
	bool kernel_copy; /* The kernel keeps the pages too. */
};

void pager_send_return(struct pager *pager, struct message *message, const struct pager_data *data);

/* As pager_send_return(), for a default pager that has not seen the pages yet. */
void pager_send_initialize(struct pager *pager, struct message *message,
			   const struct pager_data *data);

/* To the default pager: takes the receive right of the pager's port, the kernel's. */
void pager_send_create(struct port *manager, struct message *message, struct pager *pager,
		       uint32_t size);

/* ---------------- Answers ---------------- */

/* The right to answer by that a pager has sent along. */
struct pager_reply {
	struct port *port; /* Or PORT_NULL or PORT_DEAD_NAME: there is none. */
	mach_msg_type_name_t kind;
};

/* Whether what came in a message's polymorphic place is a right to answer by, or none. */
bool pager_reply_is_valid(const struct pager_reply *reply);

/*
 * Gives the right up if PAGER_QUEUED messages wait at its port: what is asked for is done then, and
 * not answered.  It comes before what the call itself sends, so that an answer which is promised
 * comes behind all that.  A send-once right was made for one message, and brings it in any case.
 */
void pager_reply_limit(struct pager_reply *reply);

/* Each takes the right, and finds a message itself; nobody is told anything if there is none. */
void pager_reply_locked(const struct pager_reply *reply, struct pager *pager, uint32_t offset,
			uint32_t size);
void pager_reply_changed(const struct pager_reply *reply, const struct pager *pager);

struct pager_supplied {
	uint32_t offset;
	uint32_t size;
	kern_return_t result;
	uint32_t error_offset;
};

void pager_reply_supplied(const struct pager_reply *reply, struct pager *pager,
			  const struct pager_supplied *supplied);

#endif
