/* SPDX-License-Identifier: MIT */
/* Records out of a file.  See file.h. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MICROSECONDS 1000000
#define HEADER       sizeof(struct ktr_header)
#define LOST_MOST    1000000u /* Records that a damaged piece may have had. */
#define WINDOW_LEAST (2 * (HEADER + KTRACE_BODY_MAX)) /* What is read ahead, if it is there. */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read as they lie in memory");
_Static_assert(2 * WINDOW_LEAST <= KTRACE_WINDOW, "what was read is moved seldom");

/* ---------------- The window ---------------- */

bool ktrace_attach(struct ktrace_file *file, int descriptor)
{
	file->descriptor = descriptor;
	file->window = malloc(KTRACE_WINDOW);
	if (file->window == NULL)
		errno = ENOMEM;
	return file->window != NULL;
}

bool ktrace_open(struct ktrace_file *file, const char *name)
{
	int descriptor = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);

	file->name = name;
	return descriptor >= 0 && ktrace_attach(file, descriptor);
}

void ktrace_close(struct ktrace_file *file)
{
	free(file->window);
	close(file->descriptor);
}

void ktrace_complain(struct ktrace_file *file, const char *format, ...)
{
	va_list values;

	fflush(stdout);
	fprintf(stderr, "%s: %s: ", file->program, file->name);
	va_start(values, format);
	vfprintf(stderr, format, values);
	va_end(values);
	fputc('\n', stderr);
	file->is_damaged = true;
}

/* Adds to the window as much as it has room for and the file has. */
static void file_read(struct ktrace_file *file)
{
	ssize_t got = 1;

	while (file->used < KTRACE_WINDOW && (got > 0 || errno == EINTR)) {
		got = read(file->descriptor, file->window + file->used, KTRACE_WINDOW - file->used);
		if (got == 0)
			break;
		file->used += got > 0 ? (size_t)got : 0;
	}
	if (got < 0)
		ktrace_complain(file, "cannot be read: %s", strerror(errno));
	file->is_at_end = got <= 0;
}

/* Reads on until there is enough for a record and what it is compared with, if there is that. */
static void file_fill(struct ktrace_file *file)
{
	if (file->is_at_end || file->used - file->at >= WINDOW_LEAST)
		return;
	if (KTRACE_WINDOW - file->used < WINDOW_LEAST) {
		memmove(file->window, file->window + file->at, file->used - file->at);
		file->base += file->at;
		file->used -= file->at;
		file->at = 0;
	}
	file_read(file);
}

/* ---------------- Headers ---------------- */

static bool file_is_command(const char command[KTR_COMM_MAX])
{
	return memchr(command, '\0', KTR_COMM_MAX) != NULL;
}

/* Is that possible?  A type that nobody knows may be one of a later system's. */
static bool file_is_header(const struct ktr_header *header)
{
	return header->ktr_pid > 0 && header->ktr_time.tv_sec >= 0 &&
	       header->ktr_time.tv_usec >= 0 && header->ktr_time.tv_usec < MICROSECONDS &&
	       header->ktr_sequence != 0 && file_is_command(header->ktr_comm);
}

static bool file_load(const struct ktrace_file *file, size_t at, struct ktr_header *header)
{
	if (file->used < at + HEADER)
		return false;
	memcpy(header, file->window + at, HEADER);
	return file_is_header(header);
}

static bool file_has_body(const struct ktrace_file *file, size_t at,
			  const struct ktr_header *header)
{
	return header->ktr_len >= 0 && header->ktr_len <= (int32_t)KTRACE_BODY_MAX &&
	       file->used - at - HEADER >= (size_t)header->ktr_len;
}

/* Of records that lie one behind the other.  Another tracing into the same file begins anew. */
static bool file_follows(const struct ktr_header *header, const struct ktr_header *behind)
{
	return behind->ktr_sequence == header->ktr_sequence + 1 || behind->ktr_sequence == 1;
}

/* Is it whole, and the next one, or the end, right behind it? */
static bool file_is_record(const struct ktrace_file *file, size_t at, struct ktr_header *header)
{
	struct ktr_header behind;
	size_t end;

	if (!file_load(file, at, header) || !file_has_body(file, at, header))
		return false;
	end = at + HEADER + (size_t)header->ktr_len;
	return end == file->used ||
	       (file_load(file, end, &behind) && file_follows(header, &behind));
}

/* Of a command that is anything at all, what a terminal may be shown. */
static void file_copy_command(char *to, const char *from)
{
	for (size_t i = 0; i < KTR_COMM_MAX && from[i] != '\0'; i++)
		*to++ = from[i] > ' ' && from[i] < 127 ? from[i] : '?';
	*to = '\0';
}

static void file_describe(const struct ktrace_file *file, size_t at,
			  const struct ktr_header *header, struct ktrace_record *record)
{
	record->at = file->base + at;
	record->type = (uint16_t)header->ktr_type;
	record->thread = header->ktr_thread;
	record->pid = header->ktr_pid;
	record->sequence = header->ktr_sequence;
	record->time = (int64_t)header->ktr_time.tv_sec * MICROSECONDS + header->ktr_time.tv_usec;
	file_copy_command(record->command, header->ktr_comm);
	record->body = file->window + at + HEADER;
	record->length = (size_t)header->ktr_len;
}

/* ---------------- Damage ---------------- */

/* What could be text, and so the name of a command. */
static bool file_is_word(const char command[KTR_COMM_MAX])
{
	size_t length = 0;

	while (command[length] > ' ' && command[length] < 127)
		length++;
	return length > 0 && command[length] == '\0';
}

/*
 * Where nothing says that a record begins, much looks like one: only what has a known type and a
 * proper name may be one.
 */
static bool file_is_likely(const struct ktrace_file *file, size_t at, struct ktr_header *header)
{
	return file_load(file, at, header) && file_has_body(file, at, header) &&
	       header->ktr_type >= KTR_SYSCALL && header->ktr_type <= KTR_USER &&
	       file_is_word(header->ktr_comm);
}

/* And has a number that may follow: the next but one, if only one record is lost. */
static bool file_is_recovered(const struct ktrace_file *file)
{
	struct ktr_header header;
	uint32_t lost;

	if (!file_is_likely(file, file->at, &header))
		return false;
	lost = header.ktr_sequence - file->sequence - 1;
	return lost == 1 || (lost <= LOST_MOST && file_is_record(file, file->at, &header));
}

/* Goes on behind what is no record: at the next place where one begins, or at the end. */
static void file_skip(struct ktrace_file *file)
{
	uint64_t from = file->base + file->at;
	size_t left;

	do {
		file->at++;
		file_fill(file);
	} while (file->at < file->used && !file_is_recovered(file));
	left = (size_t)(file->base + file->at - from);
	if (from == 0 && file->at == file->used)
		ktrace_complain(file, "no trace, of which `ktrace COMMAND` makes one");
	else if (file->at < file->used)
		ktrace_complain(file, "%zu bytes from byte %" PRIu64 " on are no record: left out",
				left, from);
	else
		ktrace_complain(file, "the last %zu bytes, from byte %" PRIu64 " on, are no record",
				left, from);
}

/*
 * A header, but nothing is right where it says that the record ends: then the length is wrong, if
 * the record with the next number is elsewhere.  False if there is none.
 */
static bool file_mend(struct ktrace_file *file, struct ktr_header *header)
{
	struct ktr_header behind;
	size_t at = file->at + HEADER;

	while (at < file->used && !(file_is_likely(file, at, &behind) &&
				    behind.ktr_sequence == header->ktr_sequence + 1))
		at++;
	if (at >= file->used)
		return false;
	at -= file->at + HEADER;
	ktrace_complain(file,
			"record %" PRIu32 ", at byte %" PRIu64 ", has %zu bytes, not %" PRId32
			" as it says",
			header->ktr_sequence, file->base + file->at, at, header->ktr_len);
	header->ktr_len = (int32_t)at;
	return true;
}

/* The file's last record, of which only the beginning is there. */
static bool file_is_cut(struct ktrace_file *file, struct ktr_header *header)
{
	size_t rest = file->used - file->at - HEADER;

	if (header->ktr_len < 0 || header->ktr_len > (int32_t)KTRACE_BODY_MAX)
		return false;
	ktrace_complain(file,
			"ends within record %" PRIu32 ": %zu of its %" PRId32 " bytes are there",
			header->ktr_sequence, rest, header->ktr_len);
	header->ktr_len = (int32_t)rest;
	return true;
}

/* A file that was begun anew, or appended to by another tracing, has the number 1 again. */
static void file_check_sequence(struct ktrace_file *file, uint32_t sequence)
{
	uint32_t expected = file->sequence + 1;
	uint32_t missing = sequence - expected;

	if (sequence != expected && sequence != 1 && file->sequence != 0) {
		if (sequence > expected)
			ktrace_complain(file, "%" PRIu32 " %s missing before number %" PRIu32,
					missing, missing == 1 ? "record is" : "records are",
					sequence);
		else
			ktrace_complain(file, "number %" PRIu32 " comes after number %" PRIu32,
					sequence, file->sequence);
	}
	file->sequence = sequence;
}

/* ---------------- Records ---------------- */

/* At a header that is possible: is there a record, mended or cut if need be? */
static bool file_accept(struct ktrace_file *file, struct ktr_header *header)
{
	if (file_is_record(file, file->at, header) || file_mend(file, header))
		return true;
	return file_has_body(file, file->at, header) || file_is_cut(file, header);
}

/* What is there is less than a record, and more will come. */
static bool file_must_wait(const struct ktrace_file *file)
{
	struct ktr_header header;

	if (!file->is_growing)
		return false;
	return file->used - file->at < HEADER ||
	       (file_load(file, file->at, &header) && header.ktr_len >= 0 &&
		header.ktr_len <= (int32_t)KTRACE_BODY_MAX &&
		!file_has_body(file, file->at, &header));
}

bool ktrace_next(struct ktrace_file *file, struct ktrace_record *record)
{
	struct ktr_header header;

	file->is_at_end &= !file->is_growing;
	file_fill(file);
	while (file->at < file->used && !file_must_wait(file)) {
		if (file_load(file, file->at, &header) && file_accept(file, &header)) {
			file_describe(file, file->at, &header, record);
			file_check_sequence(file, header.ktr_sequence);
			file->at += HEADER + record->length;
			return true;
		}
		file_skip(file);
	}
	return false;
}

void ktrace_stop_growing(struct ktrace_file *file)
{
	file->is_growing = false;
	file->is_at_end = false;
}

void ktrace_put_back(struct ktrace_file *file, const struct ktrace_record *record)
{
	file->at = (size_t)(record->at - file->base);
	file->sequence = record->sequence - 1;
}

bool ktrace_peek(const struct ktrace_file *file, const struct ktrace_record *call,
		 struct ktrace_record *at)
{
	size_t next = (size_t)(at->body - file->window) + at->length;
	struct ktr_header header;

	while (file_load(file, next, &header) && file_has_body(file, next, &header)) {
		if (header.ktr_pid == call->pid &&
		    (header.ktr_thread == call->thread || header.ktr_thread == 0)) {
			file_describe(file, next, &header, at);
			return true;
		}
		next += HEADER + (size_t)header.ktr_len;
	}
	return false;
}
