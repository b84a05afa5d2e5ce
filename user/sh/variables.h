/* SPDX-License-Identifier: MIT */
/* Variables: a hash table by name; frames remember what functions and assignments hide. */
#ifndef SH_VARIABLES_H
#define SH_VARIABLES_H

#include <stdbool.h>

enum variable_flag {
	VARIABLE_EXPORTED = 1,
	VARIABLE_READ_ONLY = 2,
};

/* Takes over the environment and sets what every shell has. */
void variables_start(char **environment);

/* NULL if it is not set.  The value is good until the variable changes. */
const char *variable_get(const char *name);

/* Setting or unsetting a read-only one is an error that may end the shell. */
void variable_set(const char *name, const char *value);
void variable_set_number(const char *name, long long value);
void variable_unset(const char *name);
void variable_mark(const char *name, enum variable_flag flag);

/* What a program gets, in scratch. */
char **variables_environment(void);

/* Prints those that have the flags, as commands that would set them again. */
void variables_print(const char *prefix, unsigned flags);

/* Variables made local are as before again when their frame is left. */
void frame_enter(void);
void frame_leave(void);
void frame_leave_all(void);
void variable_make_local(const char *name);

/* IFS, or what it is while unset. */
const char *variable_separators(void);

#endif
