/* SPDX-License-Identifier: MIT */
/* Records that programs make: some are open at a time, each with the tokens that it has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define RECORDS_MAX 8
#define TOKEN_ROOM  (2 * 1024)

struct au_token {
	size_t size;
	uint8_t bytes[TOKEN_ROOM];
};

static struct record {
	bool is_open;
	size_t size; /* With the header, which is written at the end. */
	uint8_t bytes[MAX_AUDIT_RECORD];
} records[RECORDS_MAX];

/* ---------------- Tokens ---------------- */

static uint8_t *write_16(uint8_t *to, uint32_t value)
{
	*to++ = (uint8_t)(value >> 8);
	*to++ = (uint8_t)value;
	return to;
}

static uint8_t *write_32(uint8_t *to, uint32_t value)
{
	return write_16(write_16(to, value >> 16), value);
}

static token_t *token_new(uint8_t type)
{
	token_t *token = malloc(sizeof *token);

	if (token == NULL)
		return NULL;
	token->bytes[0] = type;
	token->size = 1;
	return token;
}

/* Null stays null: the caller looks once. */
static token_t *token_add_32(token_t *token, uint32_t value)
{
	if (token != NULL)
		token->size = (size_t)(write_32(token->bytes + token->size, value) - token->bytes);
	return token;
}

static token_t *token_add_8(token_t *token, int value)
{
	if (token != NULL)
		token->bytes[token->size++] = (uint8_t)value;
	return token;
}

/* A text that is too long ends early. */
static token_t *token_add_text(token_t *token, const char *text)
{
	size_t length = strlen(text);

	if (token == NULL)
		return NULL;
	if (length > TOKEN_ROOM - token->size - 3)
		length = TOKEN_ROOM - token->size - 3;
	write_16(token->bytes + token->size, length + 1);
	memcpy(token->bytes + token->size + 2, text, length);
	token->bytes[token->size + 2 + length] = '\0';
	token->size += 2 + length + 1;
	return token;
}

token_t *au_to_text(const char *text)
{
	return token_add_text(token_new(AUT_TEXT), text);
}

token_t *au_to_path(const char *path)
{
	return token_add_text(token_new(AUT_PATH), path);
}

token_t *au_to_arg32(int argument, const char *name, uint32_t value)
{
	token_t *token = token_add_8(token_new(AUT_ARG32), argument);

	return token_add_text(token_add_32(token, value), name);
}

token_t *au_to_return32(int error, uint32_t value)
{
	return token_add_32(token_add_8(token_new(AUT_RETURN32), error), value);
}

token_t *au_to_me(void)
{
	auditinfo_t info = {.ai_auid = AU_DEFAUDITID};
	token_t *token = token_new(AUT_SUBJECT32);

	getaudit(&info);
	token_add_32(token, info.ai_auid);
	token_add_32(token, geteuid());
	token_add_32(token, getegid());
	token_add_32(token, getuid());
	token_add_32(token, getgid());
	token_add_32(token, (uint32_t)getpid());
	token_add_32(token, info.ai_asid);
	token_add_32(token, info.ai_termid.port);
	return token_add_32(token, info.ai_termid.machine);
}

/* ---------------- Records ---------------- */

int au_open(void)
{
	for (int n = 0; n < RECORDS_MAX; n++) {
		if (!records[n].is_open) {
			records[n].is_open = true;
			records[n].size = AUDIT_HEADER_SIZE;
			return n;
		}
	}
	errno = ENOMEM;
	return -1;
}

static struct record *record_of(int number)
{
	if (number >= 0 && number < RECORDS_MAX && records[number].is_open)
		return &records[number];
	errno = EINVAL;
	return NULL;
}

int au_write(int number, token_t *token)
{
	struct record *record = record_of(number);
	bool fits = record != NULL && token != NULL &&
		    token->size <= sizeof record->bytes - AUDIT_TRAILER_SIZE - record->size;

	if (fits) {
		memcpy(record->bytes + record->size, token->bytes, token->size);
		record->size += token->size;
	}
	free(token);
	return fits ? 0 : -1;
}

static void record_finish(struct record *record, int event)
{
	size_t size = record->size + AUDIT_TRAILER_SIZE;
	uint8_t *at = record->bytes + record->size;
	struct timespec now;

	*at++ = AUT_TRAILER;
	at = write_16(at, AUT_TRAILER_MAGIC);
	write_32(at, size);
	clock_gettime(CLOCK_REALTIME, &now);
	at = record->bytes;
	*at++ = AUT_HEADER32;
	at = write_32(at, size);
	*at++ = AUDIT_HEADER_VERSION;
	at = write_16(write_16(at, (uint32_t)event), 0);
	write_32(write_32(at, (uint32_t)now.tv_sec), (uint32_t)now.tv_nsec / 1000000);
	record->size = size;
}

int au_close(int number, int keep, int event)
{
	struct record *record = record_of(number);

	if (record == NULL)
		return -1;
	record->is_open = false;
	if (!keep)
		return 0;
	record_finish(record, event);
	return audit(record->bytes, (int)record->size);
}
