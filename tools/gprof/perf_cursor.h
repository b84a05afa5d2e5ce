/* SPDX-License-Identifier: MIT */
/* Numbers and texts of a perf.data file, one after the other, as far as there are any. */
#ifndef GPROF_PERF_CURSOR_H
#define GPROF_PERF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The rest of a record, or of the file. */
struct cursor {
	const unsigned char *at;
	size_t left;
	bool is_short; /* Something was asked for that it does not have. */
};

static inline const unsigned char *take(struct cursor *cursor, size_t size)
{
	const unsigned char *bytes = cursor->at;

	if (cursor->left < size) {
		cursor->is_short = true;
		return NULL;
	}
	cursor->at += size;
	cursor->left -= size;
	return bytes;
}

static inline uint64_t take_number(struct cursor *cursor, size_t size)
{
	const unsigned char *bytes = take(cursor, size);
	uint64_t number = 0;

	for (size_t i = size; bytes != NULL && i > 0; i--)
		number = number << 8 | bytes[i - 1];
	return number;
}

static inline uint32_t take32(struct cursor *cursor)
{
	return (uint32_t)take_number(cursor, sizeof(uint32_t));
}

static inline uint64_t take64(struct cursor *cursor)
{
	return take_number(cursor, sizeof(uint64_t));
}

/* The text at the end of a record, which ends with a 0; "" if it does not. */
static inline const char *take_text(struct cursor *cursor)
{
	const char *text = (const char *)cursor->at;

	return memchr(text, 0, cursor->left) != NULL ? text : "";
}

#endif
