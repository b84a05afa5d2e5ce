/* SPDX-License-Identifier: MIT */
/* The shell's beginning: its arguments, and the loop over complete commands. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lexer.h"
#include "parser.h"
#include "prompt.h"
#include "sh.h"
#include "source.h"
#include "variables.h"

struct shell shell;

extern char **environ;

/* Trees that are being executed, the innermost first, so that an error can drop them. */
static struct region *running;

static void push_region(struct region *region)
{
	region->outer = running;
	running = region;
}

static void pop_region(void)
{
	struct region *region = running;

	running = region->outer;
	region_drop(region);
}

void run_source(bool may_exec)
{
	struct lexer saved = lexer;
	enum parsed parsed;

	do {
		struct node *command;

		push_region(region_create());
		lexer_reset();
		parsed = parse_command_line(&command, running);
		if (parsed == PARSED_COMMAND)
			execute(command, may_exec && source_is_finished());
		pop_region();
		lexer = saved;
	} while (parsed != PARSED_END && shell.skip == SKIP_NOTHING);
}

void run_string(const char *text, bool may_exec)
{
	source_push_string(text, 1);
	run_source(may_exec);
	source_pop();
}

/* Back to the prompt, wherever the error was. */
static void clean_up(struct source *input)
{
	redirect_restore_all();
	calls_leave_all();
	frame_leave_all();
	while (running != NULL)
		pop_region();
	source_pop_to(input);
	source_drop_line();
	lexer_reset();
	region_release(&scratch, 0);
	shell.skip = SKIP_NOTHING;
	shell.tested = shell.loops = shell.calls = shell.returnable = 0;
	fflush(stdout);
}

/* Commands from somebody who reads the answers. */
static void run_interactive(void)
{
	static struct source *input;

	source_push_file(STDIN_FILENO, true);
	input = source_top();
	if (setjmp(prompt_jump) != 0)
		clean_up(input);
	prompt_is_set = true;
	do {
		shell.skip = SKIP_NOTHING;
		run_source(false);
	} while (shell.skip != SKIP_NOTHING);
	fputc('\n', stderr);
}

static void run_file(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);

	if (descriptor < 0) {
		int status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;

		fail(status, "cannot open %s: %s", path, strerror(errno));
	}
	shell.file = path;
	source_push_file(own_descriptor(descriptor), false);
	run_source(false);
	source_pop();
}

/* What a login shell reads first, if it is there. */
static void run_profile(const char *directory, const char *name)
{
	struct string path;
	int descriptor;

	string_start(&path, &scratch);
	string_add_text(&path, directory);
	string_add_text(&path, name);
	descriptor = open(path.bytes, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return;
	source_push_file(own_descriptor(descriptor), false);
	run_source(false);
	source_pop();
	shell.skip = SKIP_NOTHING;
}

static void run_profiles(void)
{
	const char *home = variable_get("HOME");

	run_profile("/etc", "/profile");
	if (home != NULL)
		run_profile(home, "/.profile");
}

/* Where commands come from, as the arguments say; the rest become $0, $1 and so on. */
static void run(char **arguments)
{
	const char *command = NULL;
	const char *script = NULL;

	if (option('c')) {
		command = *arguments++;
		if (command == NULL)
			fail(STATUS_SYNTAX, "-c: no command");
		if (*arguments != NULL)
			shell.name = *arguments++;
	} else if (!option('s') && *arguments != NULL) {
		script = shell.name = *arguments++;
	} else if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
		option_set('i', true);
	}
	parameters_set(arguments);
	shell.is_interactive = option('i');
	traps_start();
	if (*shell.name == '-')
		run_profiles();
	shell.file = command != NULL ? "-c" : shell.is_interactive ? NULL : "stdin";
	if (command != NULL) {
		run_string(command, true);
	} else if (script != NULL) {
		run_file(script);
	} else if (shell.is_interactive) {
		run_interactive();
	} else {
		source_push_file(STDIN_FILENO, false);
		run_source(false);
	}
}

int main(int count, char **arguments)
{
	bool saw_end;
	int first;

	shell.name = count > 0 ? arguments[0] : "sh";
	shell.pid = getpid();
	variables_start(environ);
	first = count > 0 ? 1 + options_read(arguments + 1, &saw_end) : 0;
	run(arguments + first);
	shell_exit(shell.status);
}
