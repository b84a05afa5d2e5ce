/* SPDX-License-Identifier: MIT */
/* The builtins, by the file that they are in. */
#ifndef SH_BUILTINS_H
#define SH_BUILTINS_H

/* builtins_flow.c: what is executed next. */
int builtin_break(int count, char **arguments);
int builtin_continue(int count, char **arguments);
int builtin_return(int count, char **arguments);
int builtin_exit(int count, char **arguments);
int builtin_eval(int count, char **arguments);
int builtin_dot(int count, char **arguments);
int builtin_exec(int count, char **arguments);
int builtin_command(int count, char **arguments);
int builtin_type(int count, char **arguments);

/* builtins_variables.c */
int builtin_set(int count, char **arguments);
int builtin_unset(int count, char **arguments);
int builtin_export(int count, char **arguments);
int builtin_readonly(int count, char **arguments);
int builtin_local(int count, char **arguments);
int builtin_shift(int count, char **arguments);

/* builtins_system.c: the process that the shell is. */
int builtin_cd(int count, char **arguments);
int builtin_pwd(int count, char **arguments);
int builtin_ulimit(int count, char **arguments);
int builtin_umask(int count, char **arguments);
int builtin_times(int count, char **arguments);

/* read.c */
int builtin_read(int count, char **arguments);

#endif
