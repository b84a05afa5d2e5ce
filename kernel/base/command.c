/* SPDX-License-Identifier: MIT */
/* Command lines of boot modules: see command.h. */
#include "base/command.h"

#include "base/assert.h"
#include "base/string.h"

static size_t command_word_length(const char *line)
{
	size_t length = 0;

	while (line[length] != '\0' && line[length] != ' ')
		length++;
	return length;
}

/* $(...) names something that is done with every module. */
static bool command_is_action(const char *word)
{
	return word[0] == '$' && word[1] == '(';
}

static void command_strip_folders(const char **word, size_t *length)
{
	for (size_t n = *length; n > 0; n--) {
		if ((*word)[n - 1] == '/') {
			*word += n;
			*length -= n;
			return;
		}
	}
}

static const char *command_add(struct command *command, const char *word, size_t length)
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
		length = command_word_length(line);
		if (length == 0)
			break;
		if (!command_is_action(line)) {
			const char *word = line;
			size_t rest = length;

			if (command->count == 0)
				command_strip_folders(&word, &rest);
			wrong = command_add(command, word, rest);
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

	assert(command_is_action(action));
	for (; *line != '\0'; line += command_word_length(line)) {
		while (*line == ' ')
			line++;
		if (command_word_length(line) == length && strncmp(line, action, length) == 0)
			return true;
	}
	return false;
}

const char *command_substitution(const struct command *command, unsigned argument, size_t from,
				 size_t *length)
{
	const char *place = command->arguments[argument] + from;

	for (; *place != '\0'; place++) {
		const char *end;

		if (place[0] != '$' || place[1] != '{')
			continue;
		end = strchr(place, '}');
		*length = end == NULL ? strlen(place) : (size_t)(end - place) + 1;
		return place;
	}
	return NULL;
}

/* What lies behind the place moves, and with it the arguments that begin there. */
const char *command_replace(struct command *command, const char *place, size_t length,
			    const char *text)
{
	size_t start = (size_t)(place - command->text);
	size_t size = strlen(text);

	assert(start < command->length && length < command->length - start);
	if (size > length && size - length > COMMAND_SIZE - command->length)
		return "has too long a command line";
	memmove(command->text + start + size, place + length, command->length - start - length);
	memcpy(command->text + start, text, size);
	command->length += size - length;
	for (unsigned n = 0; n < command->count; n++)
		if (command->arguments[n] > place)
			command->arguments[n] += size - length;
	return NULL;
}
