/* SPDX-License-Identifier: MIT */
/* Calls, their arguments and their results.  See print.h. */
#include "print.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "calls.h"
#include "names.h"

#define RESTARTED 512 /* ERESTARTSYS: the call is made again. */

/* ---------------- Bytes ---------------- */

void ktrace_print_byte(unsigned char byte, char text[KTRACE_BYTE_ROOM])
{
	static const char specials[] = "\a\b\f\n\r\t\v\\\"";
	static const char letters[] = "abfnrtv\\\"";
	const char *special = byte != '\0' ? strchr(specials, byte) : NULL;

	if (special != NULL)
		snprintf(text, KTRACE_BYTE_ROOM, "\\%c", letters[special - specials]);
	else if (byte >= ' ' && byte < 127)
		snprintf(text, KTRACE_BYTE_ROOM, "%c", byte);
	else
		snprintf(text, KTRACE_BYTE_ROOM, "\\%03o", byte);
}

void ktrace_print_text(FILE *out, const unsigned char *bytes, size_t length)
{
	char text[KTRACE_BYTE_ROOM];

	for (size_t i = 0; i < length; i++) {
		ktrace_print_byte(bytes[i], text);
		fputs(text, out);
	}
}

/* ---------------- What is in a record ---------------- */

/* Records lie anywhere in the window; that they are long enough has been seen to. */
int ktrace_print_code(const struct ktrace_record *record)
{
	int16_t code;

	memcpy(&code, record->body + offsetof(struct ktr_syscall, ktr_code), sizeof code);
	return code;
}

static int print_load_narg(const struct ktrace_record *record)
{
	int16_t n;

	memcpy(&n, record->body + offsetof(struct ktr_syscall, ktr_narg), sizeof n);
	return n;
}

static uint64_t print_load_argument(const struct ktrace_record *record, size_t i)
{
	uint64_t number;

	memcpy(&number, record->body + sizeof(struct ktr_syscall) + i * sizeof number,
	       sizeof number);
	return number;
}

/* ---------------- Calls ---------------- */

void ktrace_print_name(FILE *out, int code)
{
	const struct ktrace_call *call = ktrace_call(code);

	if (call != NULL)
		fputs(call->name, out);
	else
		fprintf(out, "[%d]", code);
}

static void print_number(const struct ktrace_print *print, int64_t number)
{
	fprintf(print->out, print->is_decimal ? "%" PRId64 : "%#" PRIx64, number);
}

/* Arguments of 32 bits come with their sign or without it. */
static void print_short(const struct ktrace_print *print, uint64_t number)
{
	if (print->is_decimal)
		print_number(print, (int32_t)number);
	else
		print_number(print, (uint32_t)number);
}

static void print_handler(FILE *out, uint32_t handler)
{
	if (handler == 0)
		fputs("SIG_DFL", out);
	else if (handler == 1)
		fputs("SIG_IGN", out);
	else
		fprintf(out, "%#" PRIx32, handler);
}

static bool print_is_path(const struct ktrace_record *record, uint64_t length)
{
	return record->type == KTR_NAMEI && record->length == length;
}

/* A call of which a path is to be printed: the last one was in the record `at`. */
struct print_paths {
	const struct ktrace_record *call;
	struct ktrace_record at;
};

static bool print_is_same(const struct ktrace_record *one, const struct ktrace_record *other)
{
	return one->type == other->type && one->length == other->length &&
	       memcmp(one->body, other->body, one->length) == 0;
}

/*
 * The next record with a path of that length; false if there is none before the call's result.  A
 * path may be looked up twice: the call's second one is another, unless both are the same.
 */
static bool print_find_path(const struct ktrace_file *file, struct print_paths *paths,
			    uint64_t length)
{
	const struct ktrace_record last = paths->at;
	struct ktrace_record next = last;
	bool is_found = false;

	while (ktrace_peek(file, paths->call, &next) && next.type != KTR_SYSRET &&
	       next.type != KTR_SYSCALL) {
		if (!print_is_path(&next, length))
			continue;
		if (!is_found || !print_is_same(&next, &last))
			paths->at = next;
		is_found = true;
		if (!print_is_same(&next, &last))
			break;
	}
	return is_found;
}

static void print_path(struct ktrace_print *print, struct print_paths *paths, uint64_t length)
{
	if (!print_find_path(print->file, paths, length)) {
		print_short(print, length);
		return;
	}
	putc('"', print->out);
	ktrace_print_text(print->out, paths->at.body, paths->at.length);
	putc('"', print->out);
}

/* What is shown of a number if names are wanted. */
static void print_value(struct ktrace_print *print, unsigned kind, uint64_t number)
{
	FILE *out = print->out;

	switch (kind) {
	case KTRACE_SIGNED:
		fprintf(out, "%" PRId32, (int32_t)number);
		break;
	case KTRACE_WIDE:
		print_number(print, (int64_t)number);
		break;
	case KTRACE_HEX:
		fprintf(out, "%#" PRIx32, (uint32_t)number);
		break;
	case KTRACE_ID:
		fprintf(out, "%" PRId64, (uint32_t)number == UINT32_MAX ? -1 : (int64_t)number);
		break;
	case KTRACE_MODE:
		fprintf(out, "%#" PRIo32, (uint32_t)number);
		break;
	case KTRACE_SIGNALS:
		ktrace_put_signals(out, number);
		break;
	case KTRACE_HANDLER:
		print_handler(out, (uint32_t)number);
		break;
	case KTRACE_MOST:
		if ((uint32_t)number == UINT32_MAX)
			fputs("RLIM_INFINITY", out);
		else
			print_short(print, number);
		break;
	default:
		if (kind >= KTRACE_NAMED)
			ktrace_put_name(out, kind - KTRACE_NAMED, number);
		else
			print_short(print, number);
	}
}

static void print_plain(const struct ktrace_print *print, unsigned kind, uint64_t number)
{
	if (kind == KTRACE_WIDE || kind == KTRACE_SIGNALS)
		print_number(print, (int64_t)number);
	else
		print_short(print, number);
}

static void print_argument(struct ktrace_print *print, unsigned kind, uint64_t number,
			   struct print_paths *paths)
{
	if (print->has_numbers)
		print_plain(print, kind, number);
	else if (kind == KTRACE_PATH)
		print_path(print, paths, number);
	else
		print_value(print, kind, number);
}

/* How many arguments are there: not more than the record has room for. */
static size_t print_count(struct ktrace_print *print, const struct ktrace_record *record,
			  int claimed)
{
	size_t room = (record->length - sizeof(struct ktr_syscall)) / sizeof(uint64_t);

	if (claimed >= 0 && (size_t)claimed <= room)
		return (size_t)claimed;
	ktrace_complain(print->file,
			"record %" PRIu32 " has room for %zu arguments, not for the %d it tells of",
			record->sequence, room, claimed);
	return room < KTRACE_ARGUMENTS ? room : KTRACE_ARGUMENTS;
}

void ktrace_print_call(struct ktrace_print *print, const struct ktrace_record *record)
{
	int code = ktrace_print_code(record);
	const struct ktrace_call *call = ktrace_call(code);
	size_t n = print_count(print, record, print_load_narg(record));
	struct print_paths paths = {record, *record};

	ktrace_print_name(print->out, code);
	putc('(', print->out);
	for (size_t i = 0; i < n; i++) {
		unsigned kind =
			call != NULL && i < KTRACE_ARGUMENTS ? call->arguments[i] : KTRACE_NUMBER;

		fputs(i > 0 ? "," : "", print->out);
		print_argument(print, kind, print_load_argument(record, i), &paths);
	}
	putc(')', print->out);
}

bool ktrace_lacks_paths(const struct ktrace_file *file, const struct ktrace_record *record)
{
	const struct ktrace_call *call;
	struct ktrace_record at = *record;

	if (record->type != KTR_SYSCALL || record->length < sizeof(struct ktr_syscall))
		return false;
	call = ktrace_call(ktrace_print_code(record));
	return call != NULL && call->arguments[0] == KTRACE_PATH && !ktrace_peek(file, record, &at);
}

/* As BSD does: what is more than a digit in both bases. */
static void print_returned(struct ktrace_print *print, unsigned kind, int32_t value)
{
	if (kind > KTRACE_NUMBER && !print->has_numbers)
		print_value(print, kind, (uint32_t)value);
	else if (print->is_decimal || (value >= 0 && value <= 9))
		fprintf(print->out, "%" PRId32, value);
	else if (print->has_numbers)
		fprintf(print->out, "%#" PRIx32, (uint32_t)value);
	else
		fprintf(print->out, "%" PRId32 "/%#" PRIx32, value, (uint32_t)value);
}

static void print_failure(struct ktrace_print *print, int32_t error)
{
	const char *name = ktrace_name(KTRACE_ERRNO, error);

	if (print->has_numbers || name == NULL)
		fprintf(print->out, "-1 errno %" PRId32, error);
	else if (error == RESTARTED)
		fputs("RESTART", print->out);
	else
		fprintf(print->out, "-1 %s %s", name, strerror(error));
}

void ktrace_print_result(struct ktrace_print *print, const struct ktrace_record *record)
{
	struct ktr_sysret body;
	const struct ktrace_call *call;

	memcpy(&body, record->body, sizeof body);
	call = ktrace_call(body.ktr_code);
	if (body.ktr_error != 0)
		print_failure(print, body.ktr_error);
	else
		print_returned(print, call != NULL ? call->result : KTRACE_NUMBER, body.ktr_retval);
}
