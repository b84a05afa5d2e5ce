/* SPDX-License-Identifier: MIT */
/*
 * The kernel's command line: words `name` or `name=value`, separated by blanks.
 */
#ifndef BASE_ARGUMENTS_H
#define BASE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Keeps a copy; the first word is the kernel's own name if it has no `=` and is the image's path.
 */
void arguments_init(const char *command_line);

/* Whether the word `name` or `name=...` is there. */
bool argument_present(const char *name);

/* Copies the value of the last `name=value` (empty if absent) and returns whether there is one. */
bool argument_string(const char *name, char *value, size_t size);

/*
 * The number after `name=` (decimal, or hexadecimal with 0x), or `otherwise`; logs what is no
 * number.
 */
uint32_t argument_number(const char *name, uint32_t otherwise);

/* All of it as it came, but for the image's path: what ${kernel-command-line} stands for. */
const char *arguments_line(void);

/* Logs every word that no kernel argument is called: a typing error should not pass in silence. */
void arguments_check(void);

#endif
