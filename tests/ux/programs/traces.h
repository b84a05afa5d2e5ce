/* SPDX-License-Identifier: MIT */
/*
 * Traces read back: the records of a file, as lines that say all that is in them.
 *
 *     call 36 3 0 0          the call's number and its arguments
 *     ret 36 error 9         or `ret 36 0`: its result
 *     path /tmp/x
 *     read 3 hello           descriptor and bytes; of many, how many there are
 *     signal 10 by 804a120 code 0 mask 0
 *     words hello
 */
#ifndef TRACES_H
#define TRACES_H

#include <signal.h>
#include <sys/ktrace.h>
#include <sys/syscall.h>

#include "help.h"

#define TRACE      "/tmp/trace.out"
#define TRACE_ROOM (4 << 20)
#define LINE_MAX   1200
#define SHOWN_MAX  64 /* Bytes of data that are shown as they are. */
#define ALL \
	(KTRFAC_SYSCALL | KTRFAC_SYSRET | KTRFAC_NAMEI | KTRFAC_GENIO | KTRFAC_PSIG | KTRFAC_USER)

struct trace {
	char *bytes;
	size_t size, at;
};

static inline bool trace_make_file(void)
{
	return make_file(TRACE, "", 0, 0600);
}

/* The file from its beginning. */
static inline struct trace trace_read(void)
{
	struct trace trace = {.bytes = malloc(TRACE_ROOM)};
	int fd = open(TRACE, O_RDONLY);
	ssize_t n;

	while (trace.size < TRACE_ROOM &&
	       (n = read(fd, trace.bytes + trace.size, TRACE_ROOM - trace.size)) > 0)
		trace.size += (size_t)n;
	close(fd);
	return trace;
}

/* Null: the end.  A record that is not all there is a failure. */
static inline const struct ktr_header *trace_next(struct trace *trace)
{
	const struct ktr_header *header = (const void *)(trace->bytes + trace->at);
	size_t left = trace->size - trace->at;

	if (left == 0)
		return NULL;
	if (left < sizeof *header || header->ktr_len < 0 ||
	    left - sizeof *header < (size_t)header->ktr_len) {
		check_fail("a record at %u is cut off", (unsigned)trace->at);
		return NULL;
	}
	trace->at += sizeof *header + (size_t)header->ktr_len;
	return header;
}

/* ---------------- Lines ---------------- */

static inline void trace_show_call(const void *body, char *line)
{
	const struct ktr_syscall *call = body;
	int at = snprintf(line, LINE_MAX, "call %d", call->ktr_code);

	for (int n = 0; n < call->ktr_narg; n++)
		at += snprintf(line + at, LINE_MAX - (size_t)at, " %lld",
			       (long long)call->ktr_args[n]);
}

static inline void trace_show_return(const void *body, char *line)
{
	const struct ktr_sysret *result = body;

	if (result->ktr_error != 0)
		snprintf(line, LINE_MAX, "ret %d error %d", result->ktr_code, result->ktr_error);
	else
		snprintf(line, LINE_MAX, "ret %d %d", result->ktr_code, result->ktr_retval);
}

static inline void trace_show_io(const void *body, size_t size, char *line)
{
	const struct ktr_genio *io = body;
	const char *word = io->ktr_rw == KTR_READ ? "read" : "write";

	size -= sizeof *io;
	if (size > SHOWN_MAX)
		snprintf(line, LINE_MAX, "%s %d %u bytes", word, io->ktr_fd, (unsigned)size);
	else
		snprintf(line, LINE_MAX, "%s %d %.*s", word, io->ktr_fd, (int)size,
			 (const char *)(io + 1));
}

static inline void trace_show_signal(const void *body, char *line)
{
	const struct ktr_psig *signal = body;

	snprintf(line, LINE_MAX, "signal %d by %x code %d mask %llx", signal->signo, signal->action,
		 signal->code, (unsigned long long)signal->mask);
}

static inline void trace_show(const struct ktr_header *header, char *line)
{
	const void *body = header + 1;
	size_t size = (size_t)header->ktr_len;

	switch (header->ktr_type) {
	case KTR_SYSCALL:
		trace_show_call(body, line);
		break;
	case KTR_SYSRET:
		trace_show_return(body, line);
		break;
	case KTR_NAMEI:
		snprintf(line, LINE_MAX, "path %.*s", (int)size, (const char *)body);
		break;
	case KTR_GENIO:
		trace_show_io(body, size, line);
		break;
	case KTR_PSIG:
		trace_show_signal(body, line);
		break;
	case KTR_USER:
		snprintf(line, LINE_MAX, "words %.*s", (int)size, (const char *)body);
		break;
	default:
		snprintf(line, LINE_MAX, "type %d", header->ktr_type);
	}
}

/* ---------------- What is expected ---------------- */

/* The records of the file are these, numbered from 1 on, all of one process if pid is not 0. */
static inline void trace_expect(const char *const *lines, size_t count, pid_t pid)
{
	struct trace trace = trace_read();
	const struct ktr_header *header;
	char line[LINE_MAX];
	size_t n = 0;

	while ((header = trace_next(&trace)) != NULL) {
		trace_show(header, line);
		if (n >= count)
			check_fail("record %u is too many: %s", (unsigned)n + 1, line);
		else if (strcmp(line, lines[n]) != 0)
			check_fail("record %u is `%s`, not `%s`", (unsigned)n + 1, line, lines[n]);
		EXPECT_EQ(header->ktr_sequence, ++n);
		EXPECT(pid == 0 || header->ktr_pid == pid);
	}
	EXPECT_EQ(n, count);
	free(trace.bytes);
}

#define EXPECT_TRACE(lines, pid) trace_expect(lines, sizeof(lines) / sizeof(lines)[0], pid)

/* How many records there are of a type; each has the next number. */
static inline unsigned trace_count(int type)
{
	struct trace trace = trace_read();
	const struct ktr_header *header;
	unsigned count = 0, all = 0;

	while ((header = trace_next(&trace)) != NULL) {
		EXPECT_EQ(header->ktr_sequence, ++all);
		count += header->ktr_type == type;
	}
	free(trace.bytes);
	return count;
}

static inline char *trace_line(const char *text, ...)
{
	char *line = malloc(LINE_MAX);
	va_list arguments;

	va_start(arguments, text);
	vsnprintf(line, LINE_MAX, text, arguments);
	va_end(arguments);
	return line;
}

#endif
