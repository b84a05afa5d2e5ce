/* SPDX-License-Identifier: MIT */
/*
 * The bodies of messages, part by part, whatever interface they belong to.
 *
 * What a request brought with it is the server's, also if the request makes no sense: rights and
 * memory are found by their descriptors, and given back.
 */
#ifndef UX_BODY_H
#define UX_BODY_H

#include <mach.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/errno.h>

/* A part of a message: what a descriptor describes. */
struct body_part {
	mach_msg_type_name_t name;
	uint32_t number;
	uint32_t bytes; /* Of the data. */
	bool is_inline;
	bool is_moved;    /* Of memory that is sent: it is the message's. */
	const char *data; /* In the message, or elsewhere. */
};

/* A place in a message, from which on its parts come. */
struct body_cursor {
	const char *at;
	const char *end;
};

/* The first part, behind so many bytes. */
struct body_cursor body_begin(const mach_msg_header_t *message, size_t head_size);

/* The next part; false at the end, or where it makes no sense. */
bool body_next_part(struct body_cursor *cursor, struct body_part *part);

/* Whether a part is rights, moved or made. */
bool body_is_right(mach_msg_type_name_t name);

/*
 * Whether generated stubs may read the body: 0, or the error to answer.  Paths are strings of at
 * most PATH_MAX bytes, with their zero.  Out-of-line data is no more than UX_TRANSFER_MAX bytes,
 * since a call that waits keeps it all.
 */
int body_check(const mach_msg_header_t *message);

/*
 * Has all out-of-line data of a message there, so that it can be touched with the lock held: 0, or
 * EFAULT if it could not be had.  Waits, perhaps for ever, for whoever keeps it.
 */
int body_wire(const mach_msg_header_t *message);

/* Whether mach_msg() failed to send: the message is the caller's still, with all that is in it. */
bool body_is_unsent(mach_msg_return_t result);

/* Gives back what a received message brought, or one that could not be sent would have taken. */
void body_release(const mach_msg_header_t *message);

/* Gives back a right under this name. */
void right_release(mach_port_t name, mach_msg_type_name_t type);

#endif
