/* SPDX-License-Identifier: MIT */
/*
 * The shell's state and what each of its files does for the others.
 *
 * A process of one thread: nothing is locked.  Signal handlers write only what traps.c owns.
 */
#ifndef SH_SH_H
#define SH_SH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "memory.h"
#include "tree.h"

/* Exit statuses that the shell itself makes. */
#define STATUS_SYNTAX    2
#define STATUS_NOT_RUN   126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNAL    128

/* Descriptors from here on are the shell's own; scripts use those below. */
#define OWN_DESCRIPTORS 10

/* How deep commands may nest in a script, and functions, `.` and eval may call each other. */
#define NESTING_MAX 100
#define CALLS_MAX   400

/* Why the commands that follow are not executed. */
enum skip {
	SKIP_NOTHING,
	SKIP_BREAK,
	SKIP_CONTINUE,
	SKIP_RETURN,
};

struct shell {
	const char *name; /* $0 */
	const char *file; /* For messages: the script, "-c", or NULL for a terminal. */
	int line;         /* Of the command that is being executed. */
	int status;       /* $? */
	int substitution; /* Status of the last command substitution; -1 if there was none. */
	pid_t pid;        /* $$, the same in subshells. */
	pid_t background; /* $!, or 0. */
	bool is_interactive;
	bool is_forked;      /* A subshell: errors end it, even if the shell is interactive. */
	unsigned tested;     /* Depth of commands whose failure is no reason for `set -e`. */
	unsigned loops;      /* That `break` can leave. */
	unsigned calls;      /* Functions, `.` and eval that are under way. */
	unsigned returnable; /* Functions and `.` that `return` can leave. */
	enum skip skip;
	unsigned skip_loops; /* How many loops `break n` still has to leave. */
};

extern struct shell shell;

/* ---- errors.c ---- */

/* Says what is wrong and where. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends a shell that cannot go on at all. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An error that ends a shell that nobody sits in front of; another goes back to its prompt. */
_Noreturn void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void abandon(int status);

/* Runs the trap on EXIT and ends. */
_Noreturn void shell_exit(int status);

/* ---- options.c ---- */

/* An option by its letter, such as 'e'. */
bool option(char letter);
void option_set(char letter, bool on);
bool option_is_known(char letter);

/* Takes leading arguments as `set` does and returns the index of the first that is none. */
int options_read(char **arguments, bool *saw_end);
const char *options_letters(void);

/* ---- main.c ---- */

/* Executes all commands of the source on top until its end. */
void run_source(bool may_exec);

/* The same for a string, as eval, trap and -c need it. */
void run_string(const char *text, bool may_exec);

/* ---- execute.c, simple.c ---- */

/* Executes a command and sets $?.  With `is_last` the process does nothing after it. */
int execute(struct node *node, bool is_last);
int execute_simple(struct node *node, bool is_last);

/* Ends the shell if `set -e` asks for it after a failure. */
void check_failure(void);

/* Replaces the process by a program; reports and returns the status if that cannot be. */
int exec_program(char **arguments);

/* Finds a program in PATH; NULL if there is none.  The result is in scratch. */
char *find_program(const char *name);

/* A child in which commands are executed. */
enum child {
	CHILD_FOREGROUND,
	CHILD_BACKGROUND,
	CHILD_SUBSTITUTION,
};

/* fork(): in the child, 0, with signals, jobs and traps as a subshell has them. */
pid_t fork_child(enum child kind);

/* ---- functions.c ---- */

/* The body, or NULL. */
struct node *function_find(const char *name);
void function_define(struct node *definition);
bool function_remove(const char *name);
int function_call(struct node *definition, char **arguments);

/* After an error: all functions that were under way are left. */
void calls_leave_all(void);

/* ---- redirect.c ---- */

/* Does redirections so that redirect_restore() undoes them; if one fails, none holds. */
bool redirect(const struct redirection *redirections);
void redirect_restore(void);

/* Those of the innermost redirect() hold for good. */
void redirect_keep(void);

/* Does redirections for good, in a child. */
bool redirect_forever(const struct redirection *redirections);

/* All the way back, after an error. */
void redirect_restore_all(void);

/* A descriptor of the shell's own that stands for the given one, which is closed. */
int own_descriptor(int descriptor);

/* ---- jobs.c ---- */

/* Waits for a child in the foreground; its status as $? shows it. */
int job_wait_foreground(pid_t pid);

/* Notes a child that runs by itself; it becomes $!. */
void job_add(pid_t pid, bool is_announced);

/* Forgets all children: they are the parent's. */
void jobs_forget(void);

/* Takes in who has ended, and tells of it when interactive. */
void jobs_collect(bool tell);

/* $? of a process that ended so. */
int status_of(int wait_status);

/* ---- traps.c ---- */

void traps_start(void);

/* Executes the actions of signals that have arrived, and the interrupt of an interactive shell. */
void traps_run(void);
bool traps_pending(void);
void traps_reset_in_child(enum child kind);
void traps_run_exit(void);
bool traps_any(void);

/* An interactive shell was interrupted, or its command. */
void traps_note_interrupt(void);

/* Until a child has changed or a trapped signal came; signals must be blocked by traps_hold(). */
void traps_hold(void);
void traps_wait_signal(void);
void traps_let_go(void);

/* ---- parameters.c ---- */

struct parameters {
	size_t count;
	char **values; /* $1 is the first. */
};

extern struct parameters parameters;

void parameters_set(char **values);
void parameters_shift(size_t count);

/* Copies of the caller's are kept by the caller of these. */
struct parameters parameters_replace(char **values);
void parameters_restore(struct parameters old);

/* ---- builtins.c ---- */

struct builtin {
	const char *name;
	int (*run)(int count, char **arguments);
	bool is_special; /* As POSIX means it: found before functions, errors end the shell. */
	bool assigns;    /* Arguments of the form name=value are expanded as assignments are. */
};

const struct builtin *builtin_find(const char *name);

#endif
