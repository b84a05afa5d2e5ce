/* SPDX-License-Identifier: MIT */
/* Reading of scripts: by blocks where that can be taken back, else by characters. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expand.h"
#include "sh.h"
#include "source.h"

#define BLOCK_BYTES 1024

struct source {
	struct source *below;
	const char *text; /* What can be read without asking: a string or the block. */
	size_t length;
	size_t position;
	int descriptor; /* -1 for a string. */
	int line;
	bool prompts;
	bool has_begun_command; /* The next prompt is PS2. */
	bool is_shared;         /* Standard input: programs read it too. */
	bool is_seekable;
	int unread[SOURCE_UNREAD];
	unsigned n_unread;
	char block[BLOCK_BYTES];
};

static struct source *top;

static struct source *push(void)
{
	struct source *source = heap_allocate(sizeof(*source));

	source->below = top;
	source->line = 1;
	top = source;
	return source;
}

void source_push_string(const char *text, int line)
{
	struct source *source = push();

	source->text = text;
	source->length = strlen(text);
	source->descriptor = -1;
	source->line = line;
}

void source_push_file(int descriptor, bool prompts)
{
	struct source *source = push();

	source->text = source->block;
	source->descriptor = descriptor;
	source->prompts = prompts;
	source->is_shared = descriptor == STDIN_FILENO;
	source->is_seekable = lseek(descriptor, 0, SEEK_CUR) >= 0;
}

void source_pop(void)
{
	struct source *source = top;

	assert(source != NULL);
	top = source->below;
	if (source->descriptor > STDIN_FILENO)
		close(source->descriptor);
	free(source);
}

struct source *source_top(void)
{
	return top;
}

void source_pop_to(struct source *wanted)
{
	while (top != wanted)
		source_pop();
}

int source_line(void)
{
	return top != NULL ? top->line : 0;
}

void source_prompt_command(void)
{
	top->has_begun_command = false;
}

static void print_prompt(void)
{
	const char *prompt;

	if (!top->has_begun_command)
		jobs_collect(true);
	prompt = expand_prompt(top->has_begun_command ? "PS2" : "PS1");
	top->has_begun_command = true;
	/* A prompt that cannot be shown is no reason to stop reading. */
	if (write(STDERR_FILENO, prompt, strlen(prompt)) < 0)
		return;
}

/* A terminal gives a line at a time; a pipe would give what a program should read. */
static size_t block_size(void)
{
	return top->is_shared && !top->is_seekable && !top->prompts ? 1 : BLOCK_BYTES;
}

static bool fill(void)
{
	ssize_t got;

	if (top->descriptor < 0)
		return false;
	if (top->prompts)
		print_prompt();
	do {
		/* An interrupt before the call, not in it, is seen with the next line. */
		traps_run();
		got = read(top->descriptor, top->block, block_size());
	} while (got < 0 && errno == EINTR);
	if (top->prompts)
		traps_run();
	if (got < 0)
		fail(STATUS_SYNTAX, "cannot read commands: %s", strerror(errno));
	top->position = 0;
	top->length = (size_t)got;
	if (option('v') && got > 0 && write(STDERR_FILENO, top->block, (size_t)got) < 0)
		complain("cannot show input: %s", strerror(errno));
	return got > 0;
}

int source_read(void)
{
	int character;

	if (top->n_unread > 0) {
		character = top->unread[--top->n_unread];
	} else {
		do {
			if (top->position == top->length && !fill())
				return SOURCE_END;
			character = (unsigned char)top->text[top->position++];
		} while (character == '\0');
	}
	if (character == '\n')
		top->line++;
	return character;
}

void source_unread(int character)
{
	if (character == SOURCE_END)
		return;
	assert(top->n_unread < SOURCE_UNREAD);
	top->unread[top->n_unread++] = character;
	if (character == '\n')
		top->line--;
}

bool source_is_finished(void)
{
	if (top->descriptor >= 0 || top->n_unread > 0)
		return false;
	return strspn(top->text + top->position, " \t\n") == top->length - top->position;
}

void source_synchronize(void)
{
	for (struct source *source = top; source != NULL; source = source->below) {
		size_t left = source->length - source->position;

		if (!source->is_shared || !source->is_seekable || left == 0)
			continue;
		if (lseek(source->descriptor, -(off_t)left, SEEK_CUR) < 0)
			fail(STATUS_SYNTAX, "cannot give back input: %s", strerror(errno));
		source->length = source->position;
	}
}

void source_drop_line(void)
{
	top->n_unread = 0;
	top->position = top->length;
}
