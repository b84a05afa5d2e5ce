/* SPDX-License-Identifier: MIT */
/*
 * The body of a complex message: descriptors, each with its data.
 *
 * For the files that walk it, message*.c, only.  A part is one descriptor and what follows it: the
 * data, or for out-of-line data one word.  That word holds the user's address in a message as the
 * user wrote it, and in the kernel a `struct copy *`, or for rights an array from
 * kernel_memory_alloc(); NULL for no data.  Guarded by the kernel lock.
 */
#ifndef IPC_MESSAGE_BODY_H
#define IPC_MESSAGE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/message.h>

#include "base/assert.h"
#include "ipc/message.h"
#include "thread/thread.h"
#include "vm/page/kernel_memory.h"

struct copy;
struct space;

struct part {
	mach_msg_type_t *type;
	mach_msg_type_name_t name; /* MACH_MSG_TYPE_... */
	uint32_t length;           /* Bytes of data, wherever they are. */
	uint32_t *data;            /* The data, or the word that leads to it. */
	uint32_t address;          /* Out of line, in a copyin: where the sender has it. */
	bool rights;               /* The data is rights to ports, one a word. */
	bool in_line;
};

/* Where a walk over a body is. */
struct body_walk {
	char *at;
	char *end;
	struct part part; /* Where it is. */
};

/* A special part has rights, or is out of line.  All others are data that nobody has to look at. */
static inline bool part_is_special(const struct part *part)
{
	return part->rights || !part->in_line;
}

/* Special parts for which no memory has to be asked. */
#define BODY_FEW 6u

/*
 * What a copyin knows of the body, once its descriptors have been checked: so they are looked at
 * only once.
 */
struct body {
	bool rights;        /* There are rights in it, in line or not, or places for them. */
	bool out_of_line;   /* There is memory beside it. */
	uint32_t n_parts;   /* Its special parts, but for places where there is no right: */
	struct part *parts; /* `few`, or memory for more of them. */
	struct copy *moved; /* The one that copy_move() made, by body_bring_memory(); or NULL. */
	struct part few[BODY_FEW];
};

/*
 * Checks the descriptors, if the message has any.  MACH_SEND_MSG_TOO_SMALL, MACH_SEND_INVALID_TYPE,
 * MACH_SEND_INVALID_MEMORY, MACH_SEND_NO_BUFFER: then nothing is known of the body.  Takes nothing
 * of the sender's.  In any case body_done() is due.
 */
mach_msg_return_t body_check(struct message *message, struct body *body);

/* Whether the body has anything but data for the kernel to pass on. */
static inline bool body_is_special(const struct body *body)
{
	return body->rights || body->out_of_line;
}

static inline void body_done(const struct body *body)
{
	if (body->parts != body->few)
		kernel_memory_free(body->parts, body->n_parts * sizeof *body->parts);
}

/* A walk over a body that has been checked, or that the kernel made. */
static inline void body_begin(struct body_walk *walk, struct message *message)
{
	char *header = (char *)&message->header;

	walk->at = header + sizeof message->header;
	walk->end = header + message->header.msgh_size;
	assert(message->magic == MESSAGE_MAGIC);
	assert(message->header.msgh_size <= message->room && message->header.msgh_size % 4 == 0);
}

/* The next special part, the walk's own until the next step; NULL: there is none. */
struct part *body_next(struct body_walk *walk);

/* Writes another name into the descriptor: the kind of right that is there now. */
void part_set_name(struct part *part, mach_msg_type_name_t name);

/* The rights of a part of a message in the kernel, or its names as long as they are that. */
static inline uint32_t *part_rights(const struct part *part)
{
	return part->in_line ? part->data : (uint32_t *)(uintptr_t)*part->data;
}

/* How many those are: none where the array is missing. */
static inline uint32_t part_n_rights(const struct part *part)
{
	if (!part->rights || part_rights(part) == NULL)
		return 0;
	return part->length / sizeof(uint32_t);
}

/*
 * What the sender is told when its memory could not be read: `result`, or if it was interrupted
 * before the memory came, that it may send the message again.
 */
static inline mach_msg_return_t body_unread(mach_msg_return_t result)
{
	return thread_is_interrupted(current_thread()) ? MACH_SEND_INTERRUPTED : result;
}

/*
 * The steps of a copyin (message_body_copyin.c), in this order; `body` is that of the message.
 *
 * body_bring_memory() copies all out-of-line data in.  When it fails the message has what came
 * before and NULL for the rest.  May block; when it succeeds nothing may wait until
 * body_unmap_moved() or body_forget(), as there may be pages that move (copy_move()).
 *
 * body_check_rights() says whether each right, on its own, can be taken.  Changes nothing.
 *
 * body_take_rights() takes them.  False if one that was there is gone, because the message names
 * it twice: then the message has what came before and PORT_NULL for the rest.
 *
 * body_unmap_moved() removes what moves from the current task's map.
 *
 * body_forget() is the end instead, as long as no right was taken: it disposes of the memory.
 */
mach_msg_return_t body_bring_memory(struct body *body);
mach_msg_return_t body_check_rights(struct space *space, const struct body *body);
bool body_take_rights(struct space *space, struct message *message, struct body *body);
void body_unmap_moved(const struct body *body);
void body_forget(struct message *message, struct body *body);

/*
 * The way back after a failed copyout: takes what the message, as its receiver would have seen it,
 * has given to the current task's `space`, and destroys it and the message.
 */
void message_take_back(struct space *space, struct message *message);

/* As message_take_back(), for `n` names of rights of one kind; the names are overwritten. */
void names_take_back(struct space *space, uint32_t *names, uint32_t n, mach_msg_type_name_t kind);

#endif
