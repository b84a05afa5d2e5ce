/* SPDX-License-Identifier: MIT */
/* Protocol buffers, in memory; and gzip's form of a file. */
#ifndef GPROF_BUFFER_H
#define GPROF_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buffer {
	unsigned char *bytes;
	size_t used;
	size_t room;
};

void buffer_free(struct buffer *buffer);
void buffer_append(struct buffer *buffer, const void *bytes, size_t size);

/*
 * Fields of a message: a number; bytes, as of a string or of packed numbers.  And one more of
 * those packed numbers.
 */
void buffer_number(struct buffer *buffer, unsigned field, uint64_t number);
void buffer_bytes(struct buffer *buffer, unsigned field, const void *bytes, size_t size);
void buffer_packed(struct buffer *buffer, uint64_t number);

/* Adds the message as a field of another one, and empties it. */
void buffer_message(struct buffer *buffer, unsigned field, struct buffer *message);

/* Not compressed: so is said in the format's own words. */
void buffer_write_gzip(const struct buffer *buffer, FILE *out);

#endif
