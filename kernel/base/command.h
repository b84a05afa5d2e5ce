/* SPDX-License-Identifier: MIT */
/*
 * The command line of a boot module, cut into arguments.
 *
 * `${...}` in a word stands for something that is known only when the program's task is there; it
 * is part of the argument as it stands until it is replaced.
 */
#ifndef BASE_COMMAND_H
#define BASE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_SIZE          1536 /* The kernel's own command line can be in it. */
#define COMMAND_MAX_ARGUMENTS 32

struct command {
	char text[COMMAND_SIZE]; /* The arguments one after another, each with its zero. */
	size_t length;
	unsigned count;
	const char *arguments[COMMAND_MAX_ARGUMENTS]; /* Into `text`. */
};

/*
 * Cuts `line` at blanks.  The first word loses the folders before its name.  NULL on success, else
 * what is wrong in a sentence.
 */
const char *command_parse(struct command *command, const char *line);

/* Whether `action`, such as "$(ramdisk-create)", is a word of `line`. */
bool command_has_action(const char *line, const char *action);

/*
 * The next `${...}` of an argument, at or behind `from` in it: where it begins, or NULL; its length
 * is left in *length.
 */
const char *command_substitution(const struct command *command, unsigned argument, size_t from,
				 size_t *length);

/*
 * Puts `text` in the place of `length` bytes at `place`, which are in an argument.  NULL on
 * success, else what is wrong in a sentence.
 */
const char *command_replace(struct command *command, const char *place, size_t length,
			    const char *text);

#endif
