/* SPDX-License-Identifier: MIT */
/* Execution of everything but simple commands. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expand.h"
#include "report.h"
#include "sh.h"
#include "source.h"
#include "variables.h"

pid_t fork_child(enum child kind)
{
	pid_t pid;

	source_synchronize();
	pid = fork();
	if (pid < 0)
		fail(STATUS_SYNTAX, "cannot fork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	exec_report_close();
	shell.is_forked = true;
	jobs_forget();
	traps_reset_in_child(kind);
	if (kind != CHILD_FOREGROUND)
		shell.tested = 0;
	return 0;
}

void check_failure(void)
{
	if (shell.status != 0 && shell.tested == 0 && option('e'))
		shell_exit(shell.status);
}

static int execute_tested(struct node *node)
{
	int status;

	shell.tested++;
	status = execute(node, false);
	shell.tested--;
	return status;
}

/* A background command that reads nothing in particular reads nothing. */
static void read_from_null(void)
{
	int descriptor = open("/dev/null", O_RDONLY);

	if (descriptor < 0)
		die("cannot open /dev/null: %s", strerror(errno));
	if (descriptor != STDIN_FILENO && dup2(descriptor, STDIN_FILENO) < 0)
		die("cannot read from /dev/null: %s", strerror(errno));
	if (descriptor != STDIN_FILENO)
		close(descriptor);
}

/* What stands between the commands of a pipeline while it is made. */
struct pipeline {
	int input; /* The next one's, or -1. */
	int ends[2];
	bool is_background;
	pid_t *children;
	size_t n_children;
};

static void connect_end(int from, int to)
{
	if (from < 0)
		return;
	if (from != to && dup2(from, to) < 0)
		die("cannot connect a pipe: %s", strerror(errno));
	if (from != to)
		close(from);
}

static _Noreturn void run_element(struct pipeline *pipeline, struct node *node)
{
	int input = pipeline->input;
	int output = pipeline->ends[1];

	if (pipeline->ends[0] >= 0)
		close(pipeline->ends[0]);
	/* The ends may have the numbers that the other needs. */
	if (output == STDIN_FILENO)
		output = own_descriptor(output);
	connect_end(input, STDIN_FILENO);
	connect_end(output, STDOUT_FILENO);
	if (input < 0 && pipeline->is_background)
		read_from_null();
	shell_exit(execute(node, true));
}

/* For a simple command in the background the shell goes on when the program has begun. */
static void start_element(struct pipeline *pipeline, struct node *node)
{
	bool reports = pipeline->is_background && node->kind == NODE_SIMPLE;
	int report[2];
	pid_t pid;

	if (reports && !exec_report_open(report))
		fail(STATUS_SYNTAX, "cannot make a pipe: %s", strerror(errno));
	pid = fork_child(pipeline->is_background ? CHILD_BACKGROUND : CHILD_FOREGROUND);
	if (pid == 0) {
		if (reports)
			exec_report_take(report);
		run_element(pipeline, node);
	}
	if (pipeline->input >= 0)
		close(pipeline->input);
	if (pipeline->ends[1] >= 0)
		close(pipeline->ends[1]);
	pipeline->input = pipeline->ends[0];
	pipeline->children[pipeline->n_children++] = pid;
	if (reports)
		exec_report_wait(report);
}

static size_t count_elements(const struct node *first)
{
	size_t count = 0;

	for (; first != NULL; first = first->next)
		count++;
	return count;
}

/* Starts all elements, or one that is no pipeline; `last` is where they end. */
static struct pipeline start_pipeline(struct node *first, const struct node *end,
				      bool is_background)
{
	struct pipeline pipeline = {.input = -1, .is_background = is_background};

	pipeline.children =
		region_allocate(&scratch, count_elements(first) * sizeof(*pipeline.children));
	for (struct node *node = first; node != end; node = node->next) {
		bool is_last = node->next == end;

		pipeline.ends[0] = pipeline.ends[1] = -1;
		if (!is_last && pipe2(pipeline.ends, O_CLOEXEC) != 0)
			fail(STATUS_SYNTAX, "cannot make a pipe: %s", strerror(errno));
		start_element(&pipeline, node);
	}
	return pipeline;
}

static int execute_pipeline(struct node *node)
{
	struct pipeline pipeline;

	if (node->first->next == NULL) {
		assert(node->is_explicit);
		shell.status = execute_tested(node->first);
	} else {
		pipeline = start_pipeline(node->first, NULL, false);
		for (size_t i = 0; i < pipeline.n_children; i++)
			shell.status = job_wait_foreground(pipeline.children[i]);
	}
	if (node->is_negated)
		shell.status = shell.status == 0;
	if (!node->is_explicit)
		check_failure();
	return shell.status;
}

/* `$!` is the last command of a pipeline. */
static void execute_background(struct node *node)
{
	struct pipeline pipeline;

	if (node->kind == NODE_PIPELINE && !node->is_explicit)
		pipeline = start_pipeline(node->first, NULL, true);
	else
		pipeline = start_pipeline(node, node->next, true);
	for (size_t i = 0; i < pipeline.n_children; i++)
		job_add(pipeline.children[i],
			i + 1 == pipeline.n_children && shell.is_interactive && !shell.is_forked);
	shell.status = 0;
}

static int execute_list(struct node *list, bool is_last)
{
	for (struct node *node = list->first; node != NULL; node = node->next) {
		unsigned long mark = region_mark(&scratch);

		if (node->is_background)
			execute_background(node);
		else
			execute(node, is_last && node->next == NULL);
		region_release(&scratch, mark);
		if (shell.skip != SKIP_NOTHING)
			break;
	}
	return shell.status;
}

static int execute_and_or(struct node *list, bool is_last)
{
	for (struct node *node = list->first; node != NULL; node = node->next) {
		if (node->connector == CONNECT_AND && shell.status != 0)
			continue;
		if (node->connector == CONNECT_OR && shell.status == 0)
			continue;
		if (node->next == NULL)
			execute(node, is_last);
		else
			execute_tested(node);
		if (shell.skip != SKIP_NOTHING)
			break;
	}
	return shell.status;
}

/* A process that ends afterwards needs no child. */
static int execute_subshell(struct node *node, bool is_last)
{
	pid_t pid;

	if (is_last && !traps_any()) {
		shell.is_forked = true;
		shell_exit(execute(node->body, true));
	}
	pid = fork_child(CHILD_FOREGROUND);
	if (pid == 0)
		shell_exit(execute(node->body, true));
	shell.status = job_wait_foreground(pid);
	check_failure();
	return shell.status;
}

static int execute_if(struct node *node, bool is_last)
{
	int status = execute_tested(node->condition);

	if (shell.skip != SKIP_NOTHING)
		return shell.status;
	if (status == 0)
		return execute(node->body, is_last);
	if (node->otherwise != NULL)
		return execute(node->otherwise, is_last);
	shell.status = 0;
	return 0;
}

/* After the body of a loop: whether the loop goes on. */
static bool loop_goes_on(void)
{
	if (shell.skip == SKIP_BREAK || shell.skip == SKIP_CONTINUE) {
		bool is_continue = shell.skip == SKIP_CONTINUE;

		assert(shell.skip_loops > 0);
		if (--shell.skip_loops > 0)
			return false;
		shell.skip = SKIP_NOTHING;
		return is_continue;
	}
	return shell.skip == SKIP_NOTHING;
}

static int execute_while(struct node *node)
{
	int status = 0;

	shell.loops++;
	for (;;) {
		unsigned long mark = region_mark(&scratch);
		bool holds = (execute_tested(node->condition) == 0) != node->is_negated;

		if (shell.skip != SKIP_NOTHING) {
			if (loop_goes_on())
				continue;
			status = shell.status;
			break;
		}
		if (!holds)
			break;
		status = execute(node->body, false);
		region_release(&scratch, mark);
		if (!loop_goes_on())
			break;
	}
	shell.loops--;
	shell.status = status;
	return status;
}

static int execute_for(struct node *node)
{
	struct list fields;

	list_start(&fields);
	if (node->is_explicit)
		expand_fields(node->words, &fields);
	else
		for (size_t i = 0; i < parameters.count; i++)
			list_add(&fields, region_copy(&scratch, parameters.values[i],
						      strlen(parameters.values[i])));
	shell.status = 0;
	shell.loops++;
	for (size_t i = 0; i < fields.used; i++) {
		variable_set(node->name, fields.items[i]);
		execute(node->body, false);
		if (!loop_goes_on())
			break;
	}
	shell.loops--;
	return shell.status;
}

static bool item_matches(const struct case_item *item, const char *subject)
{
	for (const struct word *word = item->patterns; word != NULL; word = word->next) {
		struct text pattern = expand_pattern(word);

		if (pattern_matches(&pattern, subject, strlen(subject)))
			return true;
	}
	return false;
}

static int execute_case(struct node *node, bool is_last)
{
	const char *subject = expand_string(node->words);

	shell.status = 0;
	for (struct case_item *item = node->items; item != NULL; item = item->next)
		if (item_matches(item, subject))
			return item->body != NULL ? execute(item->body, is_last) : 0;
	return 0;
}

static int execute_kind(struct node *node, bool is_last)
{
	switch (node->kind) {
	case NODE_SIMPLE:
		return execute_simple(node, is_last);
	case NODE_PIPELINE:
		return execute_pipeline(node);
	case NODE_AND_OR:
		return execute_and_or(node, is_last);
	case NODE_LIST:
		return execute_list(node, is_last);
	case NODE_SUBSHELL:
		return execute_subshell(node, is_last);
	case NODE_GROUP:
		return execute(node->body, is_last);
	case NODE_IF:
		return execute_if(node, is_last);
	case NODE_WHILE:
		return execute_while(node);
	case NODE_FOR:
		return execute_for(node);
	case NODE_CASE:
		return execute_case(node, is_last);
	case NODE_FUNCTION:
		function_define(node);
		shell.status = 0;
		return 0;
	}
	abort();
}

/* Redirections of a compound command hold while it is executed. */
static int execute_redirected(struct node *node)
{
	shell.line = node->line;
	if (!redirect(node->redirections)) {
		shell.status = STATUS_SYNTAX;
		check_failure();
		return shell.status;
	}
	execute_kind(node, false);
	redirect_restore();
	return shell.status;
}

int execute(struct node *node, bool is_last)
{
	unsigned long mark = region_mark(&scratch);

	if (node == NULL || option('n'))
		return shell.status;
	traps_run();
	if (node->kind != NODE_SIMPLE && node->redirections != NULL)
		execute_redirected(node);
	else
		execute_kind(node, is_last);
	region_release(&scratch, mark);
	traps_run();
	return shell.status;
}
