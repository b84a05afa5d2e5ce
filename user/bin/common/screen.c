/* SPDX-License-Identifier: MIT */
/* A screen, if there is one: see screen.h. */
#include "common/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From the escape character on: the cursor goes to the corner, and all below it is blank. */
#define CLEAR_SCREEN "\033[H\033[J"

/*
 * The console is a terminal, but commands that run with nobody there write to it, too: only who has
 * logged in has a TERM.
 */
static bool is_screen(void)
{
	const char *kind = getenv("TERM");

	return kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0 &&
	       isatty(STDOUT_FILENO);
}

void screen_next_table(bool is_first)
{
	if (is_screen())
		fputs(CLEAR_SCREEN, stdout);
	else if (!is_first)
		putchar('\n');
}
