/* SPDX-License-Identifier: MIT */
/* Lines and instructions on the host, by addr2line and objdump.  See debug.h. */
#define _GNU_SOURCE
#include "../debug.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../util.h"

bool debug_is_here(void)
{
	return true;
}

/* ---------------- Running a program ---------------- */

/* A program that runs, and what it prints. */
struct child {
	const char *name;
	pid_t pid;
	FILE *output;
};

/* Input comes from a file and not from a pipe, which could fill while nobody reads the output. */
static struct child debug_run(char *const *words, FILE *input)
{
	struct child child = {.name = words[0]};
	int ends[2];

	fflush(stdout);
	if (pipe(ends) != 0 || (child.pid = fork()) < 0)
		fail("%s cannot be run: %s", words[0], strerror(errno));
	if (child.pid == 0) {
		if (input != NULL)
			dup2(fileno(input), STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execvp(words[0], words);
		_exit(127);
	}
	close(ends[1]);
	child.output = fdopen(ends[0], "r");
	if (child.output == NULL)
		fail("%s cannot be run: %s", words[0], strerror(errno));
	return child;
}

static void debug_finish(struct child *child)
{
	int status;

	fclose(child->output);
	if (waitpid(child->pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail("%s failed; it is part of binutils, which ./setup installs", child->name);
}

/* ---------------- Lines ---------------- */

/* `file:line`, perhaps with a remark behind it; `??:0` where nothing is known. */
static struct debug_line debug_parse_line(char *text)
{
	char *colon;
	unsigned long line;

	text[strcspn(text, "\n")] = '\0';
	colon = strrchr(text, ':');
	if (colon == NULL)
		return (struct debug_line){0};
	line = strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	if (line == 0 || strcmp(text, "??") == 0)
		return (struct debug_line){0};
	return (struct debug_line){copy_text(text), (unsigned)line};
}

static FILE *debug_list(const uint64_t *addresses, size_t n)
{
	FILE *file = tmpfile();

	if (file == NULL)
		fail("a temporary file cannot be made: %s", strerror(errno));
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%#" PRIx64 "\n", addresses[i]);
	rewind(file);
	return file;
}

/*
 * What is printed is each address, and then its lines from the innermost inlined function to the
 * one that has all that: of which the first is wanted, or the last.
 */
static void debug_read_lines(struct debug_line *lines, size_t n, FILE *output, bool wants_last)
{
	char *text = NULL;
	size_t room = 0, at = 0; /* Of the address's line, from 1. */
	bool is_first = true;

	while (getline(&text, &room, output) > 0) {
		if (strncmp(text, "0x", 2) == 0) {
			is_first = true;
			at++;
		} else if (at > 0 && at <= n && (is_first || wants_last)) {
			free(lines[at - 1].file);
			lines[at - 1] = debug_parse_line(text);
			is_first = false;
		}
	}
	free(text);
}

static struct debug_line *debug_find_lines(const char *program, const uint64_t *addresses, size_t n,
					   bool wants_last)
{
	char *words[] = {"addr2line", "-a", "-i", "-e", (char *)program, NULL};
	struct debug_line *lines = allocate(n, sizeof(*lines));
	FILE *input = debug_list(addresses, n);
	struct child child = debug_run(words, input);

	debug_read_lines(lines, n, child.output, wants_last);
	debug_finish(&child);
	fclose(input);
	return lines;
}

struct debug_line *debug_lines(const char *program, const uint64_t *addresses, size_t n)
{
	return debug_find_lines(program, addresses, n, false);
}

struct debug_line *debug_own_lines(const char *program, const uint64_t *addresses, size_t n)
{
	return debug_find_lines(program, addresses, n, true);
}

void debug_lines_free(struct debug_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(lines[i].file);
	free(lines);
}

/* ---------------- Instructions ---------------- */

/* `  ADDRESS:<tab>INSTRUCTION`; other lines are headings. */
static void debug_add_instruction(struct debug_code *code, char *text)
{
	char *end;
	uint64_t address = strtoull(text, &end, 16);

	if (end == text || end[0] != ':' || end[1] != '\t')
		return;
	end[strcspn(end, "\n")] = '\0';
	code->items = grow(code->items, code->n, &code->room, sizeof(*code->items));
	code->items[code->n++] = (struct debug_instruction){address, copy_text(end + 2)};
}

struct debug_code debug_code(const char *program, uint64_t start, uint64_t end)
{
	char from[40];
	char to[40];
	char *words[] = {"objdump", "-d", "--no-show-raw-insn", from, to, (char *)program, NULL};
	struct debug_code code = {0};
	struct child child;
	char *text = NULL;
	size_t room = 0;

	snprintf(from, sizeof(from), "--start-address=%#" PRIx64, start);
	snprintf(to, sizeof(to), "--stop-address=%#" PRIx64, end);
	child = debug_run(words, NULL);
	while (getline(&text, &room, child.output) > 0)
		debug_add_instruction(&code, text);
	debug_finish(&child);
	free(text);
	return code;
}

void debug_code_free(struct debug_code *code)
{
	for (size_t i = 0; i < code->n; i++)
		free(code->items[i].text);
	free(code->items);
	*code = (struct debug_code){0};
}
