/* SPDX-License-Identifier: MIT */
/* The arguments and the environment of a program, from whoever executes it to the new stack. */
#ifndef UX_ARGUMENTS_H
#define UX_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strings one behind the other, each with its zero: `argc` arguments, then the environment. */
struct arguments {
	const char *strings; /* Somebody else's, */
	char *own;           /* or this one's: a copy of `strings`; null. */
	size_t size;
	unsigned argc;
	unsigned n_strings;
};

/* 0; EINVAL if they are not that; E2BIG. */
int arguments_take(struct arguments *arguments, const char *strings, size_t size, unsigned argc);

/*
 * For a script: the first argument is replaced by the interpreter, its option if it is not null,
 * and the script's path.  0, E2BIG, ENOMEM.
 */
int arguments_put_interpreter(struct arguments *arguments, const char *interpreter,
			      const char *option, const char *script);
void arguments_free(struct arguments *arguments);

/* The bytes that they take on a stack, a multiple of the page's size. */
size_t arguments_room(const struct arguments *arguments);

/*
 * Lays them out as a program finds them, in arguments_room() zero bytes which will lie below `top`:
 * the strings highest.  Returns the program's stack pointer.
 */
uint32_t arguments_lay_out(const struct arguments *arguments, void *room, uint32_t top);

#endif
