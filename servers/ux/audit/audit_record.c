/* SPDX-License-Identifier: MIT */
/* Records of the trail, token by token: <bsm/audit_record.h>.  Each is whole, or not there. */
#include <bsm/audit_record.h>
#include <sys/time.h>

#include "audit/audit.h"

#define VALUES_OF_PROCESS 9 /* Words of a subject. */

/* Every record has them: how it ended, and where it ends. */
#define RETURN_SIZE (1 + 1 + 4)
#define ENDS_SIZE   (RETURN_SIZE + AUDIT_TRAILER_SIZE)

/* ---------------- Bytes ---------------- */

static bool record_has_room(const struct audit_record *record, size_t size)
{
	return size <= sizeof record->bytes - ENDS_SIZE - record->size;
}

static void record_add_8(struct audit_record *record, uint32_t value)
{
	record->bytes[record->size++] = (uint8_t)value;
}

static void record_add_16(struct audit_record *record, uint32_t value)
{
	record_add_8(record, value >> 8);
	record_add_8(record, value);
}

static void record_add_32(struct audit_record *record, uint32_t value)
{
	record_add_16(record, value >> 16);
	record_add_16(record, value);
}

static void record_add_bytes(struct audit_record *record, const char *bytes, size_t size)
{
	memcpy(record->bytes + record->size, bytes, size);
	record->size += size;
}

/* With its length before it and a zero behind it. */
static void record_add_string(struct audit_record *record, const char *text, size_t length)
{
	record_add_16(record, length + 1);
	record_add_bytes(record, text, length);
	record_add_8(record, 0);
}

/* ---------------- Tokens ---------------- */

void audit_record_begin(struct audit_record *record, au_event_t event)
{
	record->event = event;
	record->is_anyones = false;
	record->size = AUDIT_HEADER_SIZE; /* Written when all is known. */
}

void audit_add_number(struct audit_record *record, unsigned argument, uint32_t value,
		      const char *name)
{
	size_t length = strlen(name);

	if (!record_has_room(record, 1 + 1 + 4 + 2 + length + 1))
		return;
	record_add_8(record, AUT_ARG32);
	record_add_8(record, argument);
	record_add_32(record, value);
	record_add_string(record, name, length);
}

void audit_add_long_number(struct audit_record *record, unsigned argument, uint64_t value,
			   const char *name)
{
	size_t length = strlen(name);

	if (!record_has_room(record, 1 + 1 + 8 + 2 + length + 1))
		return;
	record_add_8(record, AUT_ARG64);
	record_add_8(record, argument);
	record_add_32(record, (uint32_t)(value >> 32));
	record_add_32(record, (uint32_t)value);
	record_add_string(record, name, length);
}

void audit_add_text(struct audit_record *record, uint8_t token, const char *text)
{
	size_t length = strlen(text);

	if (!record_has_room(record, 1 + 2 + length + 1))
		return;
	record_add_8(record, token);
	record_add_string(record, text, length);
}

/* Behind the zero of a string that begins at `begin`; 0 if it does not end within `size`. */
static size_t record_string_end(const char *strings, size_t begin, size_t size)
{
	while (begin < size && strings[begin] != '\0')
		begin++;
	return begin < size ? begin + 1 : 0;
}

/* As many whole strings as there are and there is room for. */
void audit_add_strings(struct audit_record *record, const char *strings, size_t size,
		       uint32_t count)
{
	size_t used = 0;
	uint32_t taken = 0;

	while (taken < count) {
		size_t end = record_string_end(strings, used, size);

		if (end == 0 || !record_has_room(record, 1 + 4 + end))
			break;
		used = end;
		taken++;
	}
	if (taken == 0)
		return;
	record_add_8(record, AUT_EXEC_ARGS);
	record_add_32(record, taken);
	record_add_bytes(record, strings, used);
}

void audit_add_numbers(struct audit_record *record, const uint32_t *numbers, uint32_t count)
{
	if (!record_has_room(record, 1 + 2 + 4 * (size_t)count))
		return;
	record_add_8(record, AUT_NEWGROUPS);
	record_add_16(record, count);
	for (uint32_t n = 0; n < count; n++)
		record_add_32(record, numbers[n]);
}

void audit_add_process(struct audit_record *record, uint8_t token, const struct process *process)
{
	const struct credentials *who = &process->credentials;
	const auditinfo_t *audit = &process->audit;
	const uint32_t values[VALUES_OF_PROCESS] = {audit->ai_auid,
						    who->euid,
						    who->egid,
						    who->uid,
						    who->gid,
						    (uint32_t)process->pid,
						    audit->ai_asid,
						    audit->ai_termid.port,
						    audit->ai_termid.machine};

	if (!record_has_room(record, 1 + sizeof values))
		return;
	record_add_8(record, token);
	for (unsigned n = 0; n < VALUES_OF_PROCESS; n++)
		record_add_32(record, values[n]);
	if (token == AUT_SUBJECT32)
		record->is_anyones = audit->ai_auid == AU_DEFAUDITID;
}

/* ---------------- The end ---------------- */

static void record_write_header(struct audit_record *record, bool is_failure)
{
	uint32_t end = record->size, nanoseconds;
	uint64_t now = ux_wall_time();

	nanoseconds = divide(&now, NANOS_PER_SECOND);
	record->size = 0;
	record_add_8(record, AUT_HEADER32);
	record_add_32(record, end);
	record_add_8(record, AUDIT_HEADER_VERSION);
	record_add_16(record, record->event);
	record_add_16(record,
		      (is_failure ? PAD_FAILURE : 0u) | (record->is_anyones ? PAD_NOTATTR : 0u));
	record_add_32(record, (uint32_t)now);
	record_add_32(record, nanoseconds / (NANOS_PER_SECOND / 1000));
	assert(record->size == AUDIT_HEADER_SIZE);
	record->size = end;
}

void audit_record_end(struct audit_record *record, int error, uint32_t value)
{
	record_add_8(record, AUT_RETURN32);
	record_add_8(record, (uint32_t)error);
	record_add_32(record, value);
	record_add_8(record, AUT_TRAILER);
	record_add_16(record, AUT_TRAILER_MAGIC);
	record_add_32(record, record->size + 4);
	record_write_header(record, error != 0);
}
