/* SPDX-License-Identifier: MIT */
/* The table of builtins. */
#include <string.h>

#include "builtins.h"
#include "common/common.h"
#include "getopts.h"
#include "jobs.h"
#include "sh.h"
#include "signals.h"

static int builtin_true(int count, char **arguments)
{
	(void)count;
	(void)arguments;
	return 0;
}

static int builtin_false(int count, char **arguments)
{
	(void)count;
	(void)arguments;
	return 1;
}

static const struct builtin builtins[] = {
	{":", builtin_true, true, false},
	{".", builtin_dot, true, false},
	{"[", test_command, false, false},
	{"break", builtin_break, true, false},
	{"cd", builtin_cd, false, false},
	{"command", builtin_command, false, false},
	{"continue", builtin_continue, true, false},
	{"echo", echo_command, false, false},
	{"eval", builtin_eval, true, false},
	{"exec", builtin_exec, true, false},
	{"exit", builtin_exit, true, false},
	{"export", builtin_export, true, true},
	{"false", builtin_false, false, false},
	{"getopts", builtin_getopts, false, false},
	{"local", builtin_local, true, true},
	{"printf", printf_command, false, false},
	{"pwd", builtin_pwd, false, false},
	{"read", builtin_read, false, false},
	{"readonly", builtin_readonly, true, true},
	{"return", builtin_return, true, false},
	{"set", builtin_set, true, false},
	{"shift", builtin_shift, true, false},
	{"test", test_command, false, false},
	{"times", builtin_times, true, false},
	{"trap", builtin_trap, true, false},
	{"true", builtin_true, false, false},
	{"type", builtin_type, false, false},
	{"ulimit", builtin_ulimit, false, false},
	{"umask", builtin_umask, false, false},
	{"unset", builtin_unset, true, false},
	{"wait", builtin_wait, false, false},
};

const struct builtin *builtin_find(const char *name)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		if (strcmp(builtins[i].name, name) == 0)
			return &builtins[i];
	return NULL;
}
