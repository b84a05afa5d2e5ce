/* SPDX-License-Identifier: MIT */
/* A stream's place, buffer and errors. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

/* Reading from another place: nothing is there yet that was read. */
static void forget_input(FILE *file)
{
	file->next = file->used = file->unread_count = 0;
	file->flags &= ~(unsigned)(FILE_READING | FILE_AT_END);
}

/* Output is written first, so that only the file knows where it ends. */
static bool seek(FILE *file, off_t offset, int whence)
{
	if (file->flags & FILE_WRITING && !__file_flush(file))
		return false;
	if (whence == SEEK_CUR)
		offset -= (off_t)__file_ahead(file);
	if (lseek(file->descriptor, offset, whence) < 0)
		return false;
	forget_input(file);
	return true;
}

int fseeko(FILE *file, off_t offset, int whence)
{
	bool done;

	flockfile(file);
	done = seek(file, offset, whence);
	funlockfile(file);
	return done ? 0 : -1;
}

int fseek(FILE *file, long offset, int whence)
{
	return fseeko(file, offset, whence);
}

/* What is appended goes to the end, wherever the descriptor was before. */
static off_t tell(FILE *file)
{
	bool writing = file->flags & FILE_WRITING;
	off_t offset;

	if (writing && file->flags & FILE_APPENDS && file->used > 0 && !__file_flush(file))
		return -1;
	offset = lseek(file->descriptor, 0, SEEK_CUR);
	if (offset < 0)
		return -1;
	return writing ? offset + (off_t)file->used : offset - (off_t)__file_ahead(file);
}

off_t ftello(FILE *file)
{
	off_t offset;

	flockfile(file);
	offset = tell(file);
	funlockfile(file);
	return offset;
}

long ftell(FILE *file)
{
	off_t offset = ftello(file);

	if (offset > LONG_MAX) {
		errno = EOVERFLOW;
		return -1;
	}
	return (long)offset;
}

void rewind(FILE *file)
{
	flockfile(file);
	seek(file, 0, SEEK_SET);
	file->flags &= ~(unsigned)FILE_FAILED;
	funlockfile(file);
}

int fgetpos(FILE *file, fpos_t *position)
{
	*position = ftello(file);
	return *position < 0 ? -1 : 0;
}

int fsetpos(FILE *file, const fpos_t *position)
{
	return fseeko(file, *position, SEEK_SET);
}

/* Of one stream what is in its buffer is written, or given back; of none, all output is written. */
int fflush(FILE *file)
{
	bool done = true;

	if (file == NULL) {
		__stdio_flush_all();
		return 0;
	}
	flockfile(file);
	if (file->flags & FILE_WRITING)
		done = __file_flush(file);
	else if (file->flags & FILE_READING)
		__file_give_back(file);
	funlockfile(file);
	return done ? 0 : EOF;
}

/* The old buffer, if it is ours, goes; the new one is the caller's, or made at the next use. */
static void change_buffer(FILE *file, char *buffer, int mode, size_t size)
{
	if (file->flags & FILE_OWNS_BUFFER)
		free(file->buffer);
	file->flags &= ~(unsigned)(FILE_OWNS_BUFFER | FILE_BY_LINE | FILE_UNBUFFERED | FILE_ASKS |
				   FILE_READING | FILE_WRITING);
	file->flags |= mode == _IONBF ? FILE_UNBUFFERED : mode == _IOLBF ? FILE_BY_LINE : 0;
	file->buffer = NULL;
	if (mode != _IONBF && buffer != NULL && size > 0) {
		file->buffer = (unsigned char *)buffer;
		file->size = size;
	}
}

int setvbuf(FILE *file, char *buffer, int mode, size_t size)
{
	bool done = true;

	if (mode != _IOFBF && mode != _IOLBF && mode != _IONBF) {
		errno = EINVAL;
		return -1;
	}
	flockfile(file);
	if (file->flags & FILE_WRITING)
		done = __file_flush(file);
	else if (file->flags & FILE_READING)
		__file_give_back(file);
	if (done)
		change_buffer(file, buffer, mode, size);
	funlockfile(file);
	return done ? 0 : -1;
}

void setbuf(FILE *file, char *buffer)
{
	setvbuf(file, buffer, buffer != NULL ? _IOFBF : _IONBF, BUFSIZ);
}

void setlinebuf(FILE *file)
{
	setvbuf(file, NULL, _IOLBF, 0);
}

static bool has_flag(FILE *file, unsigned flag)
{
	bool has;

	flockfile(file);
	has = file->flags & flag;
	funlockfile(file);
	return has;
}

int feof(FILE *file)
{
	return has_flag(file, FILE_AT_END);
}

int ferror(FILE *file)
{
	return has_flag(file, FILE_FAILED);
}

void clearerr(FILE *file)
{
	flockfile(file);
	file->flags &= ~(unsigned)(FILE_FAILED | FILE_AT_END);
	funlockfile(file);
}

int fileno(FILE *file)
{
	if (file->descriptor < 0)
		errno = EBADF;
	return file->descriptor;
}

void perror(const char *what)
{
	const char *message = strerror(errno);

	if (what != NULL && *what != '\0')
		fprintf(stderr, "%s: %s\n", what, message);
	else
		fprintf(stderr, "%s\n", message);
}
