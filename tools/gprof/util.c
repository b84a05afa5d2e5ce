/* SPDX-License-Identifier: MIT */
/* Memory, files and messages.  See util.h. */
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a table has room for first. */
#define ROOM_FIRST 64u

const char *util_program = "gprof";

static void util_say(const char *format, va_list values)
{
	fprintf(stderr, "%s: ", util_program);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
}

void fail(const char *format, ...)
{
	va_list values;

	fflush(stdout);
	va_start(values, format);
	util_say(format, values);
	va_end(values);
	exit(1);
}

void warn(const char *format, ...)
{
	va_list values;

	fflush(stdout);
	va_start(values, format);
	util_say(format, values);
	va_end(values);
}

void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count == 0 ? 1 : count, size);

	if (memory == NULL)
		fail("out of memory for %zu things of %zu bytes", count, size);
	return memory;
}

void *reallocate(void *memory, size_t count, size_t size)
{
	void *bigger = reallocarray(memory, count == 0 ? 1 : count, size);

	if (bigger == NULL)
		fail("out of memory for %zu things of %zu bytes", count, size);
	return bigger;
}

char *copy_text(const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(allocate(bytes, 1), text, bytes);
}

const char *file_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

char *copy_printable(const char *text)
{
	char *copy = copy_text(text);

	for (char *at = copy; *at != '\0'; at++)
		if (is_control(*at))
			*at = '?';
	return copy;
}

void *grow(void *memory, size_t used, size_t *room, size_t size)
{
	if (used < *room)
		return memory;
	*room = *room < ROOM_FIRST ? ROOM_FIRST : *room + *room / 2;
	return reallocate(memory, *room, size);
}

static bool util_is_sorted(const char *things, size_t n, size_t size,
			   int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < n; i++)
		if (compare(things + (i - 1) * size, things + i * size) > 0)
			return false;
	return true;
}

void sort(void *things, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (!util_is_sorted(things, n, size, compare))
		qsort(things, n, size, compare);
}

static size_t util_read_all(int descriptor, struct file *file)
{
	size_t room = 0;
	size_t used = 0;
	ssize_t got = 1;

	while (got > 0) {
		if (used == room) {
			room = room == 0 ? file->size + 1 : 2 * room;
			file->bytes = reallocate(file->bytes, room, 1);
		}
		got = read(descriptor, file->bytes + used, room - used);
		if (got > 0)
			used += (size_t)got;
	}
	if (got < 0)
		fail("%s: cannot be read: %s", file->name, strerror(errno));
	return used;
}

struct file file_read(const char *name)
{
	struct file file = {.name = name};
	int descriptor = open(name, O_RDONLY);
	struct stat status;

	if (descriptor < 0 || fstat(descriptor, &status) != 0)
		fail("%s: cannot be read: %s", name, strerror(errno));
	file.size = S_ISREG(status.st_mode) && status.st_size > 0 ? (size_t)status.st_size : 0;
	file.changed = status.st_mtime;
	file.size = util_read_all(descriptor, &file);
	close(descriptor);
	return file;
}

void file_close(struct file *file)
{
	free(file->bytes);
	*file = (struct file){0};
}
