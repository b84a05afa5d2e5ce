/* SPDX-License-Identifier: MIT */
/*
 * Where commands come from: a stack of files and strings, the innermost on top.
 *
 * The shell reads from the top alone and takes it off itself.
 */
#ifndef SH_SOURCE_H
#define SH_SOURCE_H

#include <stdbool.h>

#define SOURCE_END (-1)

/* Characters that end a line too early can be given back, up to this many. */
#define SOURCE_UNREAD 4

struct source;

/* The string must stay until it is popped. */
void source_push_string(const char *text, int line);

/* Takes over the descriptor and closes it when popped, standard input excepted. */
void source_push_file(int descriptor, bool prompts);
void source_pop(void);

/* After an error: pops all but the given one. */
struct source *source_top(void);
void source_pop_to(struct source *top);

/* The next character, or SOURCE_END; zeros are dropped. */
int source_read(void);
void source_unread(int character);
int source_line(void);

/* The next line that is read begins a command, or goes on with one. */
void source_prompt_command(void);

/* Whether nothing but blanks and newlines is left of a string. */
bool source_is_finished(void);

/* Lets a program that is executed read what follows in a file that both read. */
void source_synchronize(void);

/* Drops what is left of the line that was being read. */
void source_drop_line(void);

#endif
