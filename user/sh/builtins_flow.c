/* SPDX-License-Identifier: MIT */
/* Builtins that decide what is executed next. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builtins.h"
#include "expand.h"
#include "parser.h"
#include "sh.h"
#include "source.h"
#include "variables.h"

/* The number that a builtin may be given; others than digits are an error. */
static int number_argument(int count, char **arguments, int otherwise)
{
	char *end;
	long number;

	if (count < 2)
		return otherwise;
	number = strtol(arguments[1], &end, 10);
	if (end == arguments[1] || *end != '\0' || number < 0)
		fail(STATUS_SYNTAX, "%s: %s: not a number", arguments[0], arguments[1]);
	return (int)number;
}

static int leave_loops(int count, char **arguments, enum skip skip)
{
	unsigned loops = (unsigned)number_argument(count, arguments, 1);

	if (loops == 0)
		fail(STATUS_SYNTAX, "%s: 0: not a number of loops", arguments[0]);
	if (shell.loops == 0)
		return 0;
	shell.skip = skip;
	shell.skip_loops = loops < shell.loops ? loops : shell.loops;
	return 0;
}

int builtin_break(int count, char **arguments)
{
	return leave_loops(count, arguments, SKIP_BREAK);
}

int builtin_continue(int count, char **arguments)
{
	return leave_loops(count, arguments, SKIP_CONTINUE);
}

int builtin_return(int count, char **arguments)
{
	int status = number_argument(count, arguments, shell.status);

	shell.skip = SKIP_RETURN;
	return status;
}

int builtin_exit(int count, char **arguments)
{
	shell_exit(number_argument(count, arguments, shell.status));
}

static void enter_call(const char *name)
{
	if (++shell.calls > CALLS_MAX)
		fail(STATUS_SYNTAX, "%s: too many calls in each other", name);
}

int builtin_eval(int count, char **arguments)
{
	struct string text;

	string_start(&text, &scratch);
	for (int i = 1; i < count; i++) {
		if (i > 1)
			string_add(&text, ' ');
		string_add_text(&text, arguments[i]);
	}
	shell.status = 0;
	enter_call("eval");
	run_string(text.bytes, false);
	shell.calls--;
	return shell.status;
}

/* A file without a slash is looked for in PATH; it need not be a program. */
static char *find_script(const char *name)
{
	const char *directories = variable_get("PATH");

	while (strchr(name, '/') == NULL && directories != NULL) {
		size_t length = strcspn(directories, ":");
		struct string path;

		string_start(&path, &scratch);
		string_add_bytes(&path, directories, length);
		string_add(&path, '/');
		string_add_text(&path, name);
		if (length > 0 && access(path.bytes, R_OK) == 0)
			return path.bytes;
		directories += length;
		directories = *directories == ':' ? directories + 1 : NULL;
	}
	return region_copy(&scratch, name, strlen(name));
}

int builtin_dot(int count, char **arguments)
{
	const char *file = shell.file;
	int line = shell.line;
	int descriptor;
	char *path;

	if (count < 2)
		fail(STATUS_SYNTAX, ".: no file");
	path = find_script(arguments[1]);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		fail(STATUS_SYNTAX, ".: cannot open %s: %s", path, strerror(errno));
	enter_call(".");
	shell.file = path;
	shell.status = 0;
	source_push_file(own_descriptor(descriptor), false);
	shell.returnable++;
	run_source(false);
	shell.returnable--;
	source_pop();
	shell.file = file;
	shell.line = line;
	shell.calls--;
	if (shell.skip == SKIP_RETURN)
		shell.skip = SKIP_NOTHING;
	return shell.status;
}

int builtin_exec(int count, char **arguments)
{
	if (count < 2)
		return 0;
	shell.status = exec_program(arguments + 1);
	abandon(shell.status);
}

/* How the shell would take a name: for `type` in a sentence, for `command -v` in a word. */
static int describe(const char *name, bool in_words)
{
	const char *path;

	if (function_find(name) != NULL) {
		printf(in_words ? "%s is a function\n" : "%s\n", name);
	} else if (builtin_find(name) != NULL) {
		printf(in_words ? "%s is a shell builtin\n" : "%s\n", name);
	} else if ((path = find_program(name)) != NULL) {
		if (in_words)
			printf("%s is ", name);
		printf("%s\n", path);
	} else {
		if (in_words)
			printf("%s: not found\n", name);
		return STATUS_NOT_FOUND;
	}
	return 0;
}

int builtin_type(int count, char **arguments)
{
	int status = 0;

	for (int i = 1; i < count; i++)
		if (describe(arguments[i], true) != 0)
			status = STATUS_NOT_FOUND;
	return status;
}

/* Functions are passed over, and errors of special builtins are those of any. */
static int run_without_functions(int count, char **arguments)
{
	const struct builtin *builtin = builtin_find(arguments[0]);
	pid_t pid;

	if (builtin != NULL)
		return builtin->run(count, arguments);
	fflush(stdout);
	pid = fork_child(CHILD_FOREGROUND);
	if (pid == 0)
		_exit(exec_program(arguments));
	return job_wait_foreground(pid);
}

int builtin_command(int count, char **arguments)
{
	int first = 1;
	char mode = 'r';

	for (; first < count && arguments[first][0] == '-' && arguments[first][1] != '\0';
	     first++) {
		if (strcmp(arguments[first], "--") == 0) {
			first++;
			break;
		}
		if (strchr("vVp", arguments[first][1]) == NULL || arguments[first][2] != '\0')
			fail(STATUS_SYNTAX, "command: %s: no such option", arguments[first]);
		mode = arguments[first][1] == 'p' ? mode : arguments[first][1];
	}
	if (first == count)
		return 0;
	if (mode != 'r')
		return describe(arguments[first], mode == 'V');
	return run_without_functions(count - first, arguments + first);
}
