/* SPDX-License-Identifier: MIT */
/* The command line of a boot module, cut into arguments. */
#ifndef KERN_COMMAND_H
#define KERN_COMMAND_H

#include <stddef.h>

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

#endif
