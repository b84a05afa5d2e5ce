/* SPDX-License-Identifier: MIT */
/* The terminal's width, as it says itself. */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../tree.h"

unsigned terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
