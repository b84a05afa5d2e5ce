/* SPDX-License-Identifier: MIT */
/* Protocol buffers and gzip: see buffer.h. */
#include "buffer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../util.h"

#define VARINT         0u
#define BYTES          2u
#define VARINT_MORE    0x80u
#define STORED_MAX     0xffffu
#define CRC_POLYNOMIAL 0xedb88320u

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
	if (size > buffer->room - buffer->used) {
		buffer->room = 2 * (buffer->room + size);
		buffer->bytes = reallocate(buffer->bytes, buffer->room, 1);
	}
	if (size > 0)
		memcpy(buffer->bytes + buffer->used, bytes, size);
	buffer->used += size;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

void buffer_packed(struct buffer *buffer, uint64_t number)
{
	unsigned char bytes[10];
	size_t n = 0;

	while (number >= VARINT_MORE) {
		bytes[n++] = (unsigned char)(number | VARINT_MORE);
		number >>= 7;
	}
	bytes[n++] = (unsigned char)number;
	buffer_append(buffer, bytes, n);
}

void buffer_number(struct buffer *buffer, unsigned field, uint64_t number)
{
	buffer_packed(buffer, field << 3 | VARINT);
	buffer_packed(buffer, number);
}

void buffer_bytes(struct buffer *buffer, unsigned field, const void *bytes, size_t size)
{
	buffer_packed(buffer, field << 3 | BYTES);
	buffer_packed(buffer, size);
	buffer_append(buffer, bytes, size);
}

void buffer_message(struct buffer *buffer, unsigned field, struct buffer *message)
{
	buffer_bytes(buffer, field, message->bytes, message->used);
	message->used = 0;
}

/* ---------------- gzip ---------------- */

static uint32_t buffer_crc(const unsigned char *bytes, size_t size)
{
	uint32_t table[256], value = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (unsigned bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? CRC_POLYNOMIAL : 0);
	}
	for (size_t i = 0; i < size; i++)
		value = value >> 8 ^ table[(value ^ bytes[i]) & 0xff];
	return ~value;
}

static void buffer_put_number(FILE *out, uint32_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		putc((int)(number >> 8 * i & 0xff), out);
}

void buffer_write_gzip(const struct buffer *buffer, FILE *out)
{
	static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
	size_t at = 0;
	bool is_last;

	fwrite(header, sizeof header, 1, out);
	do {
		size_t size = buffer->used - at;

		if (size > STORED_MAX)
			size = STORED_MAX;
		is_last = at + size == buffer->used;
		putc(is_last, out);
		buffer_put_number(out, (uint32_t)size, 2);
		buffer_put_number(out, ~(uint32_t)size, 2);
		fwrite(buffer->bytes + at, 1, size, out);
		at += size;
	} while (!is_last);
	buffer_put_number(out, buffer_crc(buffer->bytes, buffer->used), 4);
	buffer_put_number(out, (uint32_t)buffer->used, 4);
}
