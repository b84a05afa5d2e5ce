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

#include "ipc/message.h"
#include "kern/assert.h"
#include "kern/thread.h"

struct space;

struct part {
	mach_msg_type_t *type;
	mach_msg_type_name_t name; /* MACH_MSG_TYPE_... */
	uint32_t length;           /* Bytes of data, wherever they are. */
	uint32_t *data;            /* The data, or the word that leads to it. */
	bool rights;               /* The data is rights to ports, one a word. */
	bool in_line;
};

/* Where a walk over a body is. */
struct body_walk {
	char *at;
	char *end;
	unsigned turns;
};

/*
 * What the whole body says of itself, as its descriptors are checked.  MACH_SEND_MSG_TOO_SMALL,
 * MACH_SEND_INVALID_TYPE, MACH_SEND_INVALID_MEMORY.  Changes nothing.
 */
struct body_summary {
	bool rights;           /* There are rights in it, in line or not. */
	bool out_of_line;      /* There is memory beside it. */
	uint32_t n_deallocate; /* Parts whose memory leaves the sender. */
};

mach_msg_return_t body_check(struct message *message, struct body_summary *summary);

/* A walk over a body that has been checked, or that the kernel made. */
static inline void body_begin(struct body_walk *walk, struct message *message)
{
	char *header = (char *)&message->header;

	walk->at = header + sizeof message->header;
	walk->end = header + message->header.msgh_size;
	walk->turns = 0;
	assert(message->magic == MESSAGE_MAGIC);
	assert(message->header.msgh_size <= message->room && message->header.msgh_size % 4 == 0);
}

bool body_next(struct body_walk *walk, struct part *part);

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
 * The steps of a copyin (message_body_copyin.c), in this order; the body has been checked.
 *
 * body_bring_memory() copies all out-of-line data in, and notes in `addresses` where the parts are
 * that move.  When it fails the message has what came before and NULL for the rest.  May block;
 * when it succeeds nothing may wait until body_unmap_moved() or body_forget(), as it may have
 * taken pages that move (copy_move()).
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
mach_msg_return_t body_bring_memory(struct message *message, uint32_t *addresses);
mach_msg_return_t body_check_rights(struct space *space, struct message *message);
bool body_take_rights(struct space *space, struct message *message);
void body_unmap_moved(struct message *message, const uint32_t *addresses);
void body_forget(struct message *message);

/*
 * The way back after a failed copyout: takes what the message, as its receiver would have seen it,
 * has given to the current task's `space`, and destroys it and the message.
 */
void message_take_back(struct space *space, struct message *message);

/* The same for `n` names of rights of one kind; the names are overwritten. */
void names_take_back(struct space *space, uint32_t *names, uint32_t n, mach_msg_type_name_t kind);

#endif
