/* SPDX-License-Identifier: MIT */
/* Streams: buffers, filled and emptied (file.h). */
#include "file.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without memory a stream is unbuffered, and works. */
static void have_buffer(FILE *file)
{
	if (file->buffer != NULL)
		return;
	if (file->flags & FILE_ASKS && isatty(file->descriptor))
		file->flags |= FILE_BY_LINE;
	file->flags &= ~(unsigned)FILE_ASKS;
	if (!(file->flags & FILE_UNBUFFERED)) {
		file->buffer = malloc(BUFSIZ);
		file->size = BUFSIZ;
	}
	if (file->buffer != NULL) {
		file->flags |= FILE_OWNS_BUFFER;
	} else {
		file->buffer = &file->single;
		file->size = 1;
	}
}

static bool fail(FILE *file, int error)
{
	file->flags |= FILE_FAILED;
	errno = error;
	return false;
}

bool __file_begin_read(FILE *file)
{
	if (!(file->flags & FILE_READABLE))
		return fail(file, EBADF);
	if (file->flags & FILE_READING)
		return true;
	if (file->flags & FILE_WRITING && !__file_flush(file))
		return false;
	have_buffer(file);
	file->flags = (file->flags & ~(unsigned)FILE_WRITING) | FILE_READING;
	file->next = file->used = 0;
	return true;
}

bool __file_begin_write(FILE *file)
{
	if (!(file->flags & FILE_WRITABLE))
		return fail(file, EBADF);
	if (file->flags & FILE_WRITING)
		return true;
	if (file->flags & FILE_READING)
		__file_give_back(file);
	have_buffer(file);
	file->flags = (file->flags & ~(unsigned)(FILE_READING | FILE_AT_END)) | FILE_WRITING;
	file->next = file->used = 0;
	return true;
}

size_t __file_ahead(const FILE *file)
{
	if (!(file->flags & FILE_READING))
		return 0;
	return file->used - file->next + file->unread_count;
}

/* A pipe or a terminal cannot take anything back; what it gave is then forgotten. */
void __file_give_back(FILE *file)
{
	int error = errno;
	size_t ahead = file->used - file->next;

	assert(file->flags & FILE_READING);
	if (ahead > 0)
		lseek(file->descriptor, -(off_t)ahead, SEEK_CUR);
	file->next = file->used = file->unread_count = 0;
	errno = error;
}

/* One call of read, into the buffer or where the caller wants it; 0 at the end or for an error. */
static size_t read_some(FILE *file, unsigned char *to, size_t size)
{
	ssize_t count;

	if (file->flags & FILE_AT_END)
		return 0;
	count = read(file->descriptor, to, size);
	if (count < 0)
		file->flags |= FILE_FAILED;
	else if (count == 0)
		file->flags |= FILE_AT_END;
	return count > 0 ? (size_t)count : 0;
}

bool __file_fill(FILE *file)
{
	assert(file->flags & FILE_READING && file->next == file->used);
	__file_flush_prompt(file);
	file->next = 0;
	file->used = read_some(file, file->buffer, file->size);
	return file->used > 0;
}

int __file_get(FILE *file)
{
	if (!__file_begin_read(file))
		return EOF;
	if (file->unread_count > 0)
		return file->unread[--file->unread_count];
	if (file->next == file->used && !__file_fill(file))
		return EOF;
	return file->buffer[file->next++];
}

/* Mostly it is what was read last, and the buffer has it still. */
bool __file_unget(FILE *file, int character)
{
	if (character == EOF || !__file_begin_read(file))
		return false;
	if (file->unread_count == 0 && file->next > 0 &&
	    file->buffer[file->next - 1] == (unsigned char)character)
		file->next--;
	else if (file->unread_count < FILE_UNREAD)
		file->unread[file->unread_count++] = (unsigned char)character;
	else
		return false;
	file->flags &= ~(unsigned)FILE_AT_END;
	return true;
}

static size_t take_from_buffer(FILE *file, unsigned char *to, size_t size)
{
	size_t there = file->used - file->next;
	size_t taken = there < size ? there : size;

	memcpy(to, file->buffer + file->next, taken);
	file->next += taken;
	return taken;
}

/* What is larger than the buffer goes past it. */
size_t __file_read(FILE *file, unsigned char *to, size_t size)
{
	size_t done = 0;

	if (!__file_begin_read(file))
		return 0;
	while (done < size && file->unread_count > 0)
		to[done++] = file->unread[--file->unread_count];
	for (;;) {
		size_t count;

		done += take_from_buffer(file, to + done, size - done);
		if (done == size)
			return done;
		if (size - done < file->size) {
			if (!__file_fill(file))
				return done;
			continue;
		}
		__file_flush_prompt(file);
		count = read_some(file, to + done, size - done);
		if (count == 0)
			return done;
		done += count;
	}
}

/* Writes on after a short write; how much was written. */
static size_t write_through(FILE *file, const unsigned char *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t count = write(file->descriptor, from + done, size - done);

		if (count <= 0) {
			file->flags |= FILE_FAILED;
			break;
		}
		done += (size_t)count;
	}
	return done;
}

bool __file_flush(FILE *file)
{
	size_t done;

	assert(file->flags & FILE_WRITING);
	done = write_through(file, file->buffer, file->used);
	if (done == file->used) {
		file->used = 0;
		return true;
	}
	memmove(file->buffer, file->buffer + done, file->used - done);
	file->used -= done;
	return false;
}

static size_t put_into_buffer(FILE *file, const unsigned char *from, size_t size)
{
	size_t room = file->size - file->used;
	size_t put = room < size ? room : size;

	memcpy(file->buffer + file->used, from, put);
	file->used += put;
	return put;
}

/* A buffer that is full is written when more comes: a full one at the end may yet be sought in. */
size_t __file_write(FILE *file, const unsigned char *from, size_t size)
{
	size_t done = 0;
	bool line = file->flags & FILE_BY_LINE && memrchr(from, '\n', size) != NULL;

	if (!__file_begin_write(file))
		return 0;
	while (done < size) {
		if (file->used == file->size && !__file_flush(file))
			return done;
		if (file->used == 0 && size - done >= file->size)
			return done + write_through(file, from + done, size - done);
		done += put_into_buffer(file, from + done, size - done);
	}
	if (line && !__file_flush(file))
		return 0;
	return done;
}

/*
 * A program that asks on standard output and waits for the answer expects the question to be seen,
 * though no line ends behind it.
 */
void __file_flush_prompt(const FILE *reader)
{
	int error = errno;

	if (reader == stdout || !(reader->flags & (FILE_BY_LINE | FILE_UNBUFFERED)) ||
	    !(stdout->flags & FILE_BY_LINE) || stdout->used == 0)
		return;
	flockfile(stdout);
	if (stdout->flags & FILE_WRITING)
		__file_flush(stdout);
	funlockfile(stdout);
	errno = error;
}
