/* SPDX-License-Identifier: MIT */
/*
 * The command line of a boot module, cut into arguments.
 *
 * A word `${...}` stands for something that is known only when the program's task is there; it is
 * an argument as it stands until it is replaced.
 */
#ifndef KERN_COMMAND_H
#define KERN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_SIZE          256
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

/* Whether an argument is to be replaced; `word` is NULL or what it must be besides, such as
 * "${host-port}". */
bool command_is_substitution(const struct command *command, unsigned argument, const char *word);

/* Puts the number in the place of such an argument. */
void command_substitute(struct command *command, unsigned argument, uint32_t number);

#endif
