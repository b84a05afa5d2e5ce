/* SPDX-License-Identifier: MIT */
/* ktrace: has calls, paths, data and signals of processes recorded. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ktrace.h>
#include <unistd.h>

#include "common/common.h"
#include "ktrace.h"
#include "lib/ktrace/print.h"

#define DEFAULT_PATH   "ktrace.out"
#define ALL_FACILITIES ((int)(KTRACE_DEFAULT | KTRFAC_CSW))
#define INIT_PID       1
#define USAGE                                                                    \
	"ktrace [-ai] [-f FILE] [-t LETTERS] [-o LINES] COMMAND [ARGUMENT...]\n" \
	"       ktrace [-acdi] [-f FILE] [-t LETTERS] -p PID | -g GROUP\n"       \
	"       ktrace -C [-f FILE]"

enum clearing {
	CLEARS_NOTHING,
	CLEARS_GIVEN,
	CLEARS_ALL,
};

static enum clearing clearing;

static pid_t read_pid(const char *text, const char *what)
{
	long long number;

	if (parse_number(text, &number) && number > 0 && number <= INT32_MAX)
		return (pid_t)number;
	report("%s: not the number of a %s: `ps -al` lists them", text, what);
	usage(USAGE);
}

static void set_facilities(struct tracing *tracing, const char *letters)
{
	unsigned facilities;

	if (!ktrace_parse_facilities(letters, &facilities)) {
		report("-t %s: the letters are " KTRACE_LETTERS, letters);
		usage(USAGE);
	}
	tracing->facilities = (tracing->facilities & (int)KTRFAC_INHERIT) | (int)facilities;
	tracing->has_facilities = true;
}

static void set_option(struct tracing *tracing, int option)
{
	switch (option) {
	case 'a':
		tracing->appends = true;
		break;
	case 'C':
		clearing = CLEARS_ALL;
		break;
	case 'c':
		clearing = CLEARS_GIVEN;
		break;
	case 'd':
		tracing->flags |= KTRFLAG_DESCEND;
		break;
	case 'f':
		tracing->path = optarg;
		tracing->has_path = true;
		break;
	case 'g':
		tracing->pid = -read_pid(optarg, "process group");
		break;
	case 'i':
		tracing->facilities |= (int)KTRFAC_INHERIT;
		break;
	case 'o':
		tracing->lines = optarg;
		break;
	case 'p':
		tracing->pid = read_pid(optarg, "process");
		break;
	case 't':
		set_facilities(tracing, optarg);
		break;
	default:
		usage(USAGE);
	}
}

/* What is traced is one thing, and what is printed is a command's. */
static void check(const struct tracing *tracing)
{
	bool has_command = tracing->command[0] != NULL;

	if (clearing == CLEARS_ALL && (has_command || tracing->pid != 0))
		report("-C ends the tracing of all: it goes with -f only");
	else if (clearing == CLEARS_GIVEN && tracing->pid == 0)
		report("-c: whose tracing is to end? name it with -p or -g; -C ends all");
	else if (has_command && tracing->pid != 0)
		report("%s: either a command or a process is traced", tracing->command[0]);
	else if (!has_command && tracing->lines != NULL)
		report("-o prints what a command does: name one; a process has `kdump -l`");
	else if (!has_command && tracing->pid == 0 && clearing == CLEARS_NOTHING)
		report("what is to be traced? name a command, -p PID or -g GROUP");
	else
		return;
	usage(USAGE);
}

/* Tracing into the named file, or tracing of all that may be ended. */
static bool clear_all(const struct tracing *tracing)
{
	struct tracing all = *tracing;

	if (tracing->has_path)
		return tracing_call(tracing, KTROP_CLEARFILE, 0);
	all.facilities = ALL_FACILITIES;
	all.flags = KTRFLAG_DESCEND;
	return tracing_call(&all, KTROP_CLEAR, INIT_PID);
}

static bool clear_given(struct tracing *tracing)
{
	if (!tracing->has_facilities)
		tracing->facilities |= ALL_FACILITIES;
	return tracing_call(tracing, KTROP_CLEAR, tracing->pid);
}

int main(int count, char **arguments)
{
	struct tracing tracing = {.path = DEFAULT_PATH, .facilities = (int)KTRACE_DEFAULT};
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "+aCcdf:g:io:p:t:")) != -1)
		set_option(&tracing, option);
	tracing.command = arguments + optind;
	check(&tracing);
	if (clearing == CLEARS_ALL)
		return clear_all(&tracing) ? 0 : 1;
	if (clearing == CLEARS_GIVEN)
		return clear_given(&tracing) ? 0 : 1;
	if (tracing.lines != NULL)
		return program_end(tracing_show(&tracing));
	tracing_make_file(&tracing);
	if (tracing.command[0] != NULL)
		tracing_become(&tracing);
	return tracing_call(&tracing, KTROP_SET, tracing.pid) ? 0 : 1;
}
