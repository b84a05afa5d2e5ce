/* SPDX-License-Identifier: MIT */
/*
 * Reading records.  Whoever wrote the file may lie: no length is believed that goes beyond what is
 * there, and a text is one only if it ends where its length says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsm.h"

#define FILE_TOKEN_SIZE (1 + 4 + 4 + 2) /* Without the name. */

/* ---------------- Numbers and texts ---------------- */

static size_t read_left(const struct bsm_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static bool read_number(struct bsm_cursor *cursor, size_t bytes, uint64_t *number)
{
	if (read_left(cursor) < bytes)
		return bsm_fail("a token ends early");
	*number = 0;
	while (bytes-- > 0)
		*number = *number << 8 | *cursor->at++;
	return true;
}

static bool read_8(struct bsm_cursor *cursor, uint8_t *number)
{
	uint64_t value = 0;
	bool is_there = read_number(cursor, 1, &value);

	if (is_there)
		*number = (uint8_t)value;
	return is_there;
}

static bool read_16(struct bsm_cursor *cursor, uint16_t *number)
{
	uint64_t value = 0;
	bool is_there = read_number(cursor, 2, &value);

	if (is_there)
		*number = (uint16_t)value;
	return is_there;
}

static bool read_32(struct bsm_cursor *cursor, uint32_t *number)
{
	uint64_t value = 0;
	bool is_there = read_number(cursor, 4, &value);

	if (is_there)
		*number = (uint32_t)value;
	return is_there;
}

/* Its length, with a zero that must be its last byte and the only one. */
static bool read_text(struct bsm_cursor *cursor, const char **text)
{
	uint16_t length;

	if (!read_16(cursor, &length))
		return false;
	if (length == 0 || length > read_left(cursor) ||
	    memchr(cursor->at, '\0', length) != cursor->at + length - 1)
		return bsm_fail("a text does not end where it should");
	*text = (const char *)cursor->at;
	cursor->at += length;
	return true;
}

/* ---------------- Tokens ---------------- */

static bool read_header(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_32(cursor, &token->header.size) && read_8(cursor, &token->header.version) &&
	       read_16(cursor, &token->header.event) && read_16(cursor, &token->header.modifier) &&
	       read_32(cursor, &token->header.seconds) &&
	       read_32(cursor, &token->header.milliseconds);
}

static bool read_trailer(struct bsm_cursor *cursor, struct bsm_token *token)
{
	uint16_t magic;

	if (!read_16(cursor, &magic) || !read_32(cursor, &token->number))
		return false;
	return magic == AUT_TRAILER_MAGIC || bsm_fail("a trailer has the magic number %#x", magic);
}

static bool read_file(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_32(cursor, &token->file.seconds) &&
	       read_32(cursor, &token->file.milliseconds) && read_text(cursor, &token->file.name);
}

static bool read_process(struct bsm_cursor *cursor, struct bsm_token *token)
{
	struct bsm_process *process = &token->process;

	return read_32(cursor, &process->auid) && read_32(cursor, &process->euid) &&
	       read_32(cursor, &process->egid) && read_32(cursor, &process->ruid) &&
	       read_32(cursor, &process->rgid) && read_32(cursor, &process->pid) &&
	       read_32(cursor, &process->session) && read_32(cursor, &process->port) &&
	       read_32(cursor, &process->address);
}

static bool read_argument(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_8(cursor, &token->argument.number) &&
	       read_number(cursor, token->type == AUT_ARG64 ? 8 : 4, &token->argument.value) &&
	       read_text(cursor, &token->argument.name);
}

static bool read_return(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_8(cursor, &token->result.error) && read_32(cursor, &token->result.value);
}

static bool read_exit(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_32(cursor, &token->exit.status) && read_32(cursor, &token->exit.value);
}

/* Of the file that the path before it named. */
static bool read_attribute(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_32(cursor, &token->attribute.mode) && read_32(cursor, &token->attribute.uid) &&
	       read_32(cursor, &token->attribute.gid) &&
	       read_32(cursor, &token->attribute.file_system) &&
	       read_number(cursor, 8, &token->attribute.inode) &&
	       read_32(cursor, &token->attribute.device);
}

static bool read_strings(struct bsm_cursor *cursor, struct bsm_token *token)
{
	if (!read_32(cursor, &token->list.count))
		return false;
	token->list.texts = (const char *)cursor->at;
	for (uint32_t n = 0; n < token->list.count; n++) {
		const uint8_t *end = memchr(cursor->at, '\0', read_left(cursor));

		if (end == NULL)
			return bsm_fail("of %u arguments %u are there", token->list.count, n);
		cursor->at = end + 1;
	}
	return true;
}

static bool read_groups(struct bsm_cursor *cursor, struct bsm_token *token)
{
	uint16_t count;

	if (!read_16(cursor, &count))
		return false;
	if (read_left(cursor) / 4 < count)
		return bsm_fail("%u groups are not all there", count);
	token->list.count = count;
	token->list.numbers = cursor->at;
	cursor->at += 4 * (size_t)count;
	return true;
}

static bool read_opaque(struct bsm_cursor *cursor, struct bsm_token *token)
{
	uint16_t length;

	if (!read_16(cursor, &length))
		return false;
	if (length > read_left(cursor))
		return bsm_fail("%u bytes are not all there", length);
	token->opaque.bytes = cursor->at;
	token->opaque.size = length;
	cursor->at += length;
	return true;
}

/* What no other token has a place for. */
static bool read_data(struct bsm_cursor *cursor, struct bsm_token *token)
{
	uint8_t unit;

	if (!read_8(cursor, &token->data.how) || !read_8(cursor, &unit) ||
	    !read_8(cursor, &token->data.count))
		return false;
	if (token->data.how > AUP_STRING || unit > AUR_INT64)
		return bsm_fail("data of the unknown kind %u, in units of the kind %u",
				token->data.how, unit);
	token->data.size = (uint8_t)(1u << unit);
	if (read_left(cursor) / token->data.size < token->data.count)
		return bsm_fail("%u units of data are not all there", token->data.count);
	token->data.units = cursor->at;
	cursor->at += (size_t)token->data.size * token->data.count;
	return true;
}

static bool read_only_text(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_text(cursor, &token->text);
}

static bool read_sequence(struct bsm_cursor *cursor, struct bsm_token *token)
{
	return read_32(cursor, &token->number);
}

static const struct {
	uint8_t type;
	bool (*read)(struct bsm_cursor *cursor, struct bsm_token *token);
} readers[] = {
	{AUT_HEADER32, read_header},   {AUT_TRAILER, read_trailer},   {AUT_OTHER_FILE32, read_file},
	{AUT_SUBJECT32, read_process}, {AUT_PROCESS32, read_process}, {AUT_ARG32, read_argument},
	{AUT_ARG64, read_argument},    {AUT_RETURN32, read_return},   {AUT_TEXT, read_only_text},
	{AUT_PATH, read_only_text},    {AUT_EXEC_ARGS, read_strings}, {AUT_NEWGROUPS, read_groups},
	{AUT_OPAQUE, read_opaque},     {AUT_SEQ, read_sequence},      {AUT_EXIT, read_exit},
	{AUT_ATTR32, read_attribute},  {AUT_DATA, read_data},
};

bool bsm_next_token(struct bsm_cursor *cursor, struct bsm_token *token)
{
	bsm_error[0] = '\0';
	if (cursor->at == cursor->end)
		return false;
	*token = (struct bsm_token){.type = *cursor->at++};
	for (size_t n = 0; n < sizeof readers / sizeof readers[0]; n++) {
		if (readers[n].type == token->type)
			return readers[n].read(cursor, token);
	}
	return bsm_fail("there is a token of the unknown type %#x", token->type);
}

/* ---------------- Records ---------------- */

static bool record_make_room(struct bsm_record *record, size_t size)
{
	uint8_t *larger;

	if (size <= record->room)
		return true;
	larger = realloc(record->bytes, size);
	if (larger == NULL)
		return bsm_fail("no memory");
	record->bytes = larger;
	record->room = size;
	return true;
}

/* So many bytes of the file, behind those that are there. */
static bool record_get(FILE *file, struct bsm_record *record, size_t from, size_t size)
{
	if (!record_make_room(record, from + size))
		return false;
	if (fread(record->bytes + from, 1, size, file) == size)
		return true;
	return ferror(file) ? bsm_fail("cannot be read: %s", strerror(errno))
			    : bsm_fail("a record ends early");
}

static uint32_t record_size_of(const uint8_t *bytes)
{
	struct bsm_cursor cursor = {bytes, bytes + 4};
	uint32_t size = 0;

	read_32(&cursor, &size);
	return size;
}

/* How many bytes follow those of the smallest file token, or header, that are there. */
static bool record_measure(const struct bsm_record *record, size_t *size)
{
	const uint8_t *bytes = record->bytes;

	if (bytes[0] == AUT_OTHER_FILE32) {
		*size = FILE_TOKEN_SIZE + ((size_t)bytes[9] << 8 | bytes[10]);
		return true;
	}
	*size = record_size_of(bytes + 1);
	if (bytes[0] != AUT_HEADER32)
		return bsm_fail("there is no record, but a byte %#x", bytes[0]);
	if (*size < AUDIT_HEADER_SIZE + AUDIT_TRAILER_SIZE || *size > MAX_AUDIT_RECORD * 16)
		return bsm_fail("a record says that it is %zu bytes long", *size);
	return true;
}

/* The trailer stands where it should, and says so. */
static bool record_check(const struct bsm_record *record, size_t size)
{
	const uint8_t *trailer = record->bytes + size - AUDIT_TRAILER_SIZE;

	if (record->bytes[0] != AUT_HEADER32)
		return true;
	if (trailer[0] == AUT_TRAILER && record_size_of(trailer + 3) == size)
		return true;
	return bsm_fail("a record does not end where it should");
}

int bsm_next_record(FILE *file, struct bsm_record *record)
{
	size_t size;
	int first = getc(file);

	bsm_error[0] = '\0';
	record->offset += (uint64_t)(record->tokens.end - record->bytes);
	record->tokens = (struct bsm_cursor){record->bytes, record->bytes};
	if (first == EOF && ferror(file)) {
		bsm_fail("cannot be read: %s", strerror(errno));
		return -1;
	}
	if (first == EOF)
		return 0;
	ungetc(first, file);
	if (!record_get(file, record, 0, FILE_TOKEN_SIZE) || !record_measure(record, &size))
		return -1;
	if (!record_get(file, record, FILE_TOKEN_SIZE, size - FILE_TOKEN_SIZE) ||
	    !record_check(record, size))
		return -1;
	record->tokens = (struct bsm_cursor){record->bytes, record->bytes + size};
	return 1;
}
