/* SPDX-License-Identifier: MIT */
/* Lines of any length, with any bytes in them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

bool lines_open(struct line_reader *reader, const char *name)
{
	memset(reader, 0, offsetof(struct line_reader, block));
	reader->block_used = reader->block_position = 0;
	reader->failed = false;
	reader->name = strcmp(name, "-") == 0 ? "standard input" : name;
	reader->descriptor = open_input(name);
	return reader->descriptor >= 0;
}

static bool fill(struct line_reader *reader)
{
	ssize_t got;

	do {
		got = read(reader->descriptor, reader->block, sizeof(reader->block));
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		report_errno(reader->name);
		reader->failed = true;
	}
	reader->block_position = 0;
	reader->block_used = got > 0 ? (size_t)got : 0;
	return got > 0;
}

static void add(struct line_reader *reader, const char *bytes, size_t length)
{
	while (reader->room <= reader->length + length) {
		reader->room = reader->room == 0 ? 128 : 2 * reader->room;
		reader->line = reallocate(reader->line, reader->room);
	}
	memcpy(reader->line + reader->length, bytes, length);
	reader->length += length;
	reader->line[reader->length] = '\0';
}

bool lines_next(struct line_reader *reader)
{
	bool any = false;

	reader->length = 0;
	reader->has_newline = false;
	while (!reader->has_newline) {
		const char *start = reader->block + reader->block_position;
		size_t left = reader->block_used - reader->block_position;
		const char *newline = memchr(start, '\n', left);
		size_t length = newline != NULL ? (size_t)(newline - start) : left;

		if (left == 0) {
			if (!fill(reader))
				return any;
			continue;
		}
		any = true;
		reader->has_newline = newline != NULL;
		add(reader, start, length);
		reader->block_position += length + reader->has_newline;
	}
	return true;
}

void lines_close(struct line_reader *reader)
{
	close_input(reader->descriptor);
	free(reader->line);
	reader->line = NULL;
}
