/* SPDX-License-Identifier: MIT */
/* Memory, files and messages of gprof. */
#ifndef GPROF_UTIL_H
#define GPROF_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who says what is said here: gprof, but for another program that reads profiles with its parts. */
extern const char *util_program;

/* Prints `gprof: what is wrong` on standard error and exits with status 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same without the end. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory for that many things of a size, or the end; the first is of zeros. */
void *allocate(size_t count, size_t size);
void *reallocate(void *memory, size_t count, size_t size);
char *copy_text(const char *text);

/* The name of a file without its folders. */
const char *file_part(const char *path);

/* For tables: what would move a terminal's cursor becomes a `?`. */
char *copy_printable(const char *text);

/* Makes room for one more thing in an array that grows; `used` and `room` count things. */
void *grow(void *memory, size_t used, size_t *room, size_t size);

/* As qsort(); what is in order already, as in files often, takes one look. */
void sort(void *things, size_t n, size_t size, int (*compare)(const void *, const void *));

struct file {
	const char *name;
	unsigned char *bytes;
	size_t size;
	int64_t changed; /* When: seconds since 1970. */
};

/* The whole file; fails if it cannot be read. */
struct file file_read(const char *name);
void file_close(struct file *file);

/* Of ASCII; all else may be part of a name in some language. */
static inline bool is_control(char character)
{
	return (unsigned char)character < ' ' || character == 127;
}

/* Words of little-endian files, from anywhere. */
static inline uint16_t load_u16(const unsigned char *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t load_u32(const unsigned char *bytes)
{
	return load_u16(bytes) | (uint32_t)load_u16(bytes + 2) << 16;
}

static inline uint64_t load_u64(const unsigned char *bytes)
{
	return load_u32(bytes) | (uint64_t)load_u32(bytes + 4) << 32;
}

#endif
