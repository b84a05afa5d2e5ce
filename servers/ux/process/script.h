/* SPDX-License-Identifier: MIT */
/* Scripts: programs' files that say in their first line who executes them. */
#ifndef UX_SCRIPT_H
#define UX_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads `#! interpreter [option]` from a file's first `size` bytes, into which it writes zeros; the
 * option is the rest of the line, or null.  False if it is no such line.
 */
bool script_read(char *head, size_t size, const char **interpreter, const char **option);

#endif
