/* SPDX-License-Identifier: MIT */
/* Simple commands: assignments, functions, builtins and programs. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expand.h"
#include "lexer.h"
#include "report.h"
#include "sh.h"
#include "variables.h"

#define SHELL_PATH "/bin/sh"

extern char **environ;

/* A path of the list that ends in : or nothing; an empty one is the current directory. */
static char *path_in(const char **directories, const char *name)
{
	size_t length = strcspn(*directories, ":");
	struct string path;

	string_start(&path, &scratch);
	string_add_bytes(&path, *directories, length);
	if (length > 0)
		string_add(&path, '/');
	string_add_text(&path, name);
	*directories += length;
	*directories = **directories == ':' ? *directories + 1 : NULL;
	return path.bytes;
}

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *find_program(const char *name)
{
	const char *directories = variable_get("PATH");
	char *path;

	if (strchr(name, '/') != NULL)
		return is_program(name) ? region_copy(&scratch, name, strlen(name)) : NULL;
	while (directories != NULL) {
		path = path_in(&directories, name);
		if (is_program(path))
			return path;
	}
	return NULL;
}

/* A file that the system does not know how to run is a script. */
static void run_script(char *path, char **arguments)
{
	struct list list;

	list_start(&list);
	list_add(&list, "sh");
	list_add(&list, path);
	for (size_t i = 1; arguments[i] != NULL; i++)
		list_add(&list, arguments[i]);
	execve(SHELL_PATH, list.items, environ);
}

static int try_program(char *path, char **arguments)
{
	execve(path, arguments, environ);
	if (errno == ENOEXEC)
		run_script(path, arguments);
	return errno;
}

/* Directories in which there is no such file are passed over; of other errors the first counts. */
static int try_path(char **arguments)
{
	const char *directories = variable_get("PATH");
	int error = ENOENT;

	while (directories != NULL) {
		int tried = try_program(path_in(&directories, arguments[0]), arguments);

		if (error == ENOENT && tried != ENOTDIR)
			error = tried;
	}
	return error;
}

int exec_program(char **arguments)
{
	char **saved = environ;
	int error;

	fflush(stdout);
	environ = variables_environment();
	if (strchr(arguments[0], '/') != NULL)
		error = try_program(arguments[0], arguments);
	else
		error = try_path(arguments);
	environ = saved;
	if (error == ENOENT && strchr(arguments[0], '/') == NULL)
		complain("%s: not found", arguments[0]);
	else
		complain("%s: %s", arguments[0], strerror(error));
	exec_report_failure(error);
	return error == ENOENT || error == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

/* `set -x` shows what is executed. */
static void trace_start(struct string *line)
{
	string_start(line, &scratch);
	string_add_text(line, expand_prompt("PS4"));
}

static void trace_add(struct string *line, const char *name, const char *value)
{
	if (line->used > 0 && line->bytes[line->used - 1] != ' ')
		string_add(line, ' ');
	if (name != NULL) {
		string_add_text(line, name);
		string_add(line, '=');
	}
	string_add_text(line, value);
}

static void trace_show(struct string *line)
{
	string_add(line, '\n');
	if (write(STDERR_FILENO, line->bytes, line->used) < 0)
		line->used = 0;
}

static void assign_all(const struct assignment *assignments, bool exports, struct string *trace)
{
	for (; assignments != NULL; assignments = assignments->next) {
		const char *value = expand_assignment(assignments->word);

		variable_set(assignments->name, value);
		if (exports)
			variable_mark(assignments->name, VARIABLE_EXPORTED);
		if (trace != NULL)
			trace_add(trace, assignments->name, value);
	}
}

static void trace(const struct list *fields)
{
	struct string line;

	trace_start(&line);
	for (size_t i = 0; i < fields->used; i++)
		trace_add(&line, NULL, fields->items[i]);
	trace_show(&line);
}

/* Only assignments and redirections: the status is that of a substitution in them. */
static int execute_nothing(struct node *node)
{
	struct string line;

	if (!redirect(node->redirections)) {
		shell.status = STATUS_SYNTAX;
		return shell.status;
	}
	if (option('x'))
		trace_start(&line);
	assign_all(node->assignments, false, option('x') ? &line : NULL);
	if (option('x') && node->assignments != NULL)
		trace_show(&line);
	redirect_restore();
	shell.status = shell.substitution >= 0 ? shell.substitution : 0;
	return shell.status;
}

/* What a builtin printed goes out before anything else happens. */
static int run_builtin(const struct builtin *builtin, struct list *fields)
{
	int status;

	exec_report_close();
	status = builtin->run((int)fields->used, fields->items);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain("%s: cannot write: %s", builtin->name, strerror(errno));
		clearerr(stdout);
		status = status != 0 ? status : 1;
	}
	return status;
}

/* Assignments before a special builtin stay; before others they are gone afterwards. */
static int execute_builtin(struct node *node, const struct builtin *builtin, struct list *fields)
{
	bool keeps = builtin->is_special;
	bool is_exec = strcmp(builtin->name, "exec") == 0;

	if (!redirect(node->redirections)) {
		if (builtin->is_special)
			abandon(STATUS_SYNTAX);
		return STATUS_SYNTAX;
	}
	if (!keeps) {
		frame_enter();
		for (const struct assignment *a = node->assignments; a != NULL; a = a->next)
			variable_make_local(a->name);
	}
	assign_all(node->assignments, !keeps, NULL);
	shell.status = run_builtin(builtin, fields);
	if (!keeps)
		frame_leave();
	if (is_exec)
		redirect_keep();
	else
		redirect_restore();
	return shell.status;
}

static int execute_function(struct node *node, struct node *definition, struct list *fields)
{
	exec_report_close();
	if (!redirect(node->redirections))
		return STATUS_SYNTAX;
	frame_enter();
	for (const struct assignment *a = node->assignments; a != NULL; a = a->next)
		variable_make_local(a->name);
	assign_all(node->assignments, true, NULL);
	function_call(definition, fields->items);
	frame_leave();
	redirect_restore();
	return shell.status;
}

static _Noreturn void become_program(struct node *node, struct list *fields)
{
	if (!redirect_forever(node->redirections))
		_exit(STATUS_SYNTAX);
	assign_all(node->assignments, true, NULL);
	_exit(exec_program(fields->items));
}

static int execute_program(struct node *node, struct list *fields, bool is_last)
{
	pid_t pid;

	if (is_last && !traps_any())
		become_program(node, fields);
	pid = fork_child(CHILD_FOREGROUND);
	if (pid == 0)
		become_program(node, fields);
	return job_wait_foreground(pid);
}

/* Special builtins come before functions, others after them. */
static int dispatch(struct node *node, struct list *fields, bool is_last)
{
	const struct builtin *builtin = builtin_find(fields->items[0]);
	struct node *function;

	if (builtin != NULL && builtin->is_special)
		return execute_builtin(node, builtin, fields);
	function = function_find(fields->items[0]);
	if (function != NULL)
		return execute_function(node, function, fields);
	if (builtin != NULL)
		return execute_builtin(node, builtin, fields);
	return execute_program(node, fields, is_last);
}

/* Arguments of `export` and its like are expanded as assignments are. */
static void expand_command(const struct word *words, struct list *fields)
{
	const struct builtin *builtin;

	if (words == NULL)
		return;
	if (word_literal(words) != NULL && (builtin = builtin_find(word_literal(words))) != NULL &&
	    builtin->assigns) {
		for (; words != NULL; words = words->next)
			expand_declaration(words, fields);
		return;
	}
	expand_fields(words, fields);
}

int execute_simple(struct node *node, bool is_last)
{
	struct list fields;

	shell.line = node->line;
	shell.substitution = -1;
	list_start(&fields);
	expand_command(node->words, &fields);
	if (fields.used == 0) {
		execute_nothing(node);
	} else {
		if (option('x'))
			trace(&fields);
		shell.status = dispatch(node, &fields, is_last);
	}
	if (shell.skip == SKIP_NOTHING)
		check_failure();
	return shell.status;
}
