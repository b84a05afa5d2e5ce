/* SPDX-License-Identifier: MIT */
/* Command lines of boot modules: see command.h. */
#include "kern/command.h"

#include <stdbool.h>

#include "kern/assert.h"
#include "kern/format.h"
#include "kern/string.h"

static size_t word_length(const char *line)
{
	size_t length = 0;

	while (line[length] != '\0' && line[length] != ' ')
		length++;
	return length;
}

/* $(...) names something that is done with every module. */
static bool is_action(const char *word)
{
	return word[0] == '$' && word[1] == '(';
}

static bool is_substitution(const char *word)
{
	return word[0] == '$' && word[1] == '{';
}

static void strip_folders(const char **word, size_t *length)
{
	for (size_t n = *length; n > 0; n--) {
		if ((*word)[n - 1] == '/') {
			*word += n;
			*length -= n;
			return;
		}
	}
}

static const char *add(struct command *command, const char *word, size_t length)
{
	char *place = command->text + command->length;

	if (command->count == COMMAND_MAX_ARGUMENTS)
		return "too many arguments";
	if (length + 1 > COMMAND_SIZE - command->length)
		return "too long a command line";
	memcpy(place, word, length);
	place[length] = '\0';
	command->arguments[command->count++] = place;
	command->length += length + 1;
	return NULL;
}

const char *command_parse(struct command *command, const char *line)
{
	const char *wrong = NULL;

	command->length = 0;
	command->count = 0;
	while (wrong == NULL) {
		size_t length;

		while (*line == ' ')
			line++;
		length = word_length(line);
		if (length == 0)
			break;
		if (!is_action(line)) {
			const char *word = line;
			size_t rest = length;

			if (command->count == 0)
				strip_folders(&word, &rest);
			wrong = add(command, word, rest);
		}
		line += length;
	}
	if (wrong == NULL && command->count == 0)
		return "a boot module without a name";
	return wrong;
}

bool command_has_action(const char *line, const char *action)
{
	size_t length = strlen(action);

	assert(is_action(action));
	for (; *line != '\0'; line += word_length(line)) {
		while (*line == ' ')
			line++;
		if (word_length(line) == length && strncmp(line, action, length) == 0)
			return true;
	}
	return false;
}

bool command_is_substitution(const struct command *command, unsigned argument, const char *word)
{
	const char *text = command->arguments[argument];

	return is_substitution(text) && (word == NULL || strcmp(text, word) == 0);
}

/* In place: no 32-bit number is longer than the words that stand for one. */
void command_substitute(struct command *command, unsigned argument, uint32_t number)
{
	char *text = command->text + (command->arguments[argument] - command->text);
	size_t room = strlen(text) + 1;

	assert(room > sizeof "4294967295" - 1);
	memset(text, 0, room);
	format_string(text, room, "%u", (unsigned)number);
}
