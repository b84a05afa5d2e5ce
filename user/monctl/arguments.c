/* SPDX-License-Identifier: MIT */
/* The command line: a table of options, and which of them go together. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/common.h"
#include "meant.h"
#include "monctl.h"
#include "target.h"

#define THREAD_MAX 0xffffffffll
#define TABLES_MAX 1000000
#define JOB_PREFIX "job:"

static const char help_text[] =
	"monctl -pid N -on FLAVOR[,FLAVOR...] [-rate HZ] [-fixed] [-nmi]\n"
	"monctl -pid N [-off] [-monfile FILE] [-format gnu|4.4bsd|bsd] [-status]\n"
	"monctl -pid N -proxy [-execfile FILE] [-on FLAVOR...] [-monfile FILE] [-children] [-bg]\n"
	"       [-open]\n"
	"monctl [-pid N] -record FILE [-stack | -clients] [-on FLAVOR...]\n"
	"       [-for WHOM | -children] [-bg]\n"
	"monctl [-pid N] -live [TABLES] [-by HOW] [-on FLAVOR...] [-for WHOM | -children]\n"
	"monctl [-on FLAVOR...] [-monfile FILE | -record FILE | -live] [-children]\n"
	"       [-open] -run COMMAND [ARGUMENT...]\n"
	"monctl -help\n"
	"WHOM is all, a process PID or its name, or job:PID for it and its descendants\n"
	"HOW is process, command, job or user";

static _Noreturn void refuse(const char *what)
{
	fprintf(stderr, "%s: %s\nmonctl -help tells how it is used.\n", program_name, what);
	exit(EXIT_USAGE);
}

static _Noreturn void refuse_value(const char *option, const char *value, const char *wanted)
{
	fprintf(stderr, "%s: %s %s: %s\n", program_name, option, value, wanted);
	exit(EXIT_USAGE);
}

static long long read_number(const char *option, const char *value, long long low, long long high,
			     const char *wanted)
{
	long long number;

	if (!parse_number(value, &number) || number < low || number > high)
		refuse_value(option, value, wanted);
	return number;
}

/* ---------------- Options ---------------- */

static int read_pid(const char *option, const char *value)
{
	return (int)read_number(option, value, 0, INT32_MAX,
				"not the number of a process; ps -a lists them");
}

static void set_pid(struct arguments *arguments, const char *value)
{
	arguments->pid = read_pid("-pid", value);
}

static void set_on(struct arguments *arguments, const char *value)
{
	sampled_pc_flavor_t flavors = flavors_parse(value);

	arguments->flavors |= flavors;
	if (flavors != 0)
		return;
	fprintf(stderr, "%s: -on %s: not a list of flavors; these there are:\n", program_name,
		value);
	flavors_list(stderr);
	exit(EXIT_USAGE);
}

/* The number may be left out. */
static void set_live(struct arguments *arguments, const char *value)
{
	arguments->live = true;
	if (value != NULL)
		arguments->tables = (unsigned)read_number("-live", value, 1, TABLES_MAX,
							  "not a number of tables");
}

static void set_rate(struct arguments *arguments, const char *value)
{
	arguments->rate = (unsigned)read_number("-rate", value, 1, SAMPLE_RATE_MAX,
						"the rate is from 1 to 10000 Hz");
}

static void set_thread(struct arguments *arguments, const char *value)
{
	arguments->thread = (unsigned)read_number("-thread", value, 1, THREAD_MAX,
						  "not the number of a thread");
}

/* By its number, or by its name if no other process has that. */
static int read_beneficiary(const char *value)
{
	char others[PIDS_ROOM];
	long long number;
	int pid;

	if (parse_number(value, &number))
		return read_pid("-for", value);
	pid = process_named(value, others);
	if (pid != NO_PID)
		return pid;
	if (others[0] == '\0')
		refuse_value("-for", value, "no process is called so; ps -a lists them");
	fprintf(stderr, "%s: -for %s: several processes are called so:%s; say the number of one\n",
		program_name, value, others);
	exit(EXIT_USAGE);
}

static void set_for(struct arguments *arguments, const char *value)
{
	if (strcmp(value, "all") == 0) {
		arguments->beneficiary = FOR_ALL;
		return;
	}
	if (strncmp(value, JOB_PREFIX, strlen(JOB_PREFIX)) == 0) {
		arguments->beneficiary = FOR_JOB;
		value += strlen(JOB_PREFIX);
	} else {
		arguments->beneficiary = FOR_PROCESS;
	}
	arguments->for_pid = read_beneficiary(value);
}

static void set_by(struct arguments *arguments, const char *value)
{
	arguments->by = rollup_way(value);
	if (arguments->by == BY_NOTHING)
		refuse_value("-by", value, "it is by process, command, job or user");
}

static void set_format(struct arguments *arguments, const char *value)
{
	static const char *const formats[] = {
		[GPROF_GNU] = "gnu", [GPROF_44BSD] = "4.4bsd", [GPROF_BSD] = "bsd"};

	arguments->has_format = true;
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(value, formats[i]) == 0) {
			arguments->format = (enum gprof_format)i;
			return;
		}
	refuse_value("-format", value, "the formats are gnu, 4.4bsd and bsd");
}

enum takes {
	NOTHING, /* A flag is set. */
	A_TEXT,  /* It is kept as it is. */
	A_VALUE, /* It is read by a function. */
	A_NUMBER_IF_ANY,
};

/* What a line of the table has besides its name: a place in struct arguments, or a function. */
#define FLAG(field) NOTHING, offsetof(struct arguments, field), NULL
#define TEXT(field) A_TEXT, offsetof(struct arguments, field), NULL
#define VALUE(set)  A_VALUE, 0, set
#define MAYBE(set)  A_NUMBER_IF_ANY, 0, set

static const struct option {
	const char *name;
	enum takes takes;
	size_t place;
	void (*set)(struct arguments *arguments, const char *value);
} options[] = {
	{"-pid", VALUE(set_pid)},
	{"-on", VALUE(set_on)},
	{"-off", FLAG(off)},
	{"-status", FLAG(status)},
	{"-monfile", TEXT(monfile)},
	{"-proxy", FLAG(proxy)},
	{"-open", FLAG(open)},
	{"-execfile", TEXT(execfile)},
	{"-bg", FLAG(background)},
	{"-format", VALUE(set_format)},
	{"-rate", VALUE(set_rate)},
	{"-nmi", FLAG(nmi)},
	{"-fixed", FLAG(fixed)},
	{"-stack", FLAG(stack)},
	{"-clients", FLAG(clients)},
	{"-children", FLAG(children)},
	{"-thread", VALUE(set_thread)},
	{"-for", VALUE(set_for)},
	{"-live", MAYBE(set_live)},
	{"-by", VALUE(set_by)},
	{"-record", TEXT(record)},
	{"-host", TEXT(host)},
	{"-help", FLAG(help)},
	{"--help", FLAG(help)},
	/* As the note on GPROF types it. */
	{"monfile", TEXT(monfile)},
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

static const struct option *look_up(const char *word)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (strcmp(word, options[i].name) == 0)
			return &options[i];
	return NULL;
}

/* -run takes all that follows, and so is in no table. */
static _Noreturn void refuse_word(const char *word)
{
	struct word words[OPTIONS + 1];

	for (size_t i = 0; i < OPTIONS; i++)
		words[i] = (struct word){options[i].name, options[i].takes != NOTHING};
	words[OPTIONS] = (struct word){"-run", true};
	meant_report(word, words, OPTIONS + 1);
	fprintf(stderr, "monctl -help tells which there are.\n");
	exit(EXIT_USAGE);
}

static const struct option *find_option(const char *word)
{
	const struct option *option = look_up(word);

	if (option == NULL)
		refuse_word(word);
	return option;
}

static bool is_number(const char *word)
{
	return word != NULL && word[0] != '\0' && strspn(word, "0123456789") == strlen(word);
}

static void set(struct arguments *arguments, const struct option *option, const char *value)
{
	char *place = (char *)arguments + option->place;

	if (option->takes == NOTHING)
		*(bool *)place = true;
	else if (option->takes == A_TEXT)
		*(const char **)place = value;
	else
		option->set(arguments, value);
}

/* The values of options that had one, lest one of two be passed over in silence. */
static const char *said[OPTIONS];

static void note_value(const struct option *option, const char *value)
{
	const char **before = &said[option - options];

	if (*before != NULL && option->set != set_on && strcmp(*before, value) != 0) {
		fprintf(stderr, "%s: %s %s and %s %s: only one can be; %s\n", program_name,
			option->name, *before, option->name, value,
			option->set == set_pid ? "a monctl for each process has both"
					       : "leave one out");
		exit(EXIT_USAGE);
	}
	*before = value;
}

/* Sets what one word and its value say; answers the next word. */
static char **read_option(struct arguments *arguments, char **word)
{
	const struct option *option = find_option(*word++);
	bool must_have = option->takes == A_TEXT || option->takes == A_VALUE;
	const char *value = NULL;

	if (must_have && *word == NULL) {
		fprintf(stderr, "%s: %s: what? a value is missing\n", program_name, option->name);
		exit(EXIT_USAGE);
	}
	if (must_have || (option->takes == A_NUMBER_IF_ANY && is_number(*word)))
		value = *word++;
	if (value != NULL)
		note_value(option, value);
	set(arguments, option, value);
	return word;
}

/* ---------------- What goes together ---------------- */

/* What is true of a command line that cannot be done. */
static const char *find_conflict(const struct arguments *arguments)
{
	bool samples = arguments->proxy || arguments->live || arguments->record != NULL ||
		       arguments->command != NULL;
	bool has_target = arguments->pid != NO_PID || arguments->command != NULL ||
			  arguments->beneficiary != FOR_ANYBODY;
	bool writes_profile =
		arguments->monfile != NULL || arguments->proxy || arguments->command != NULL;
	bool is_proxy = arguments->proxy || (arguments->command != NULL && !arguments->live &&
					     arguments->record == NULL);
	bool controls = arguments->flavors != 0 || arguments->off || arguments->status ||
			arguments->monfile != NULL;

	const struct {
		bool is_true;
		const char *message;
	} conflicts[] = {
		{!has_target, "which process? say -pid N (ps lists them), or -run COMMAND"},
		{!samples && arguments->pid == NO_PID, "-for goes with -record, -live or -proxy"},
		{!samples && !controls, "what is to be done? -on, -off, -status, -monfile, -proxy,"
					" -record, -live or -run"},
		{arguments->proxy + arguments->live + (arguments->record != NULL) > 1,
		 "-proxy, -live and -record exclude one another"},
		{arguments->command != NULL && arguments->proxy,
		 "-run needs no -proxy: it samples the command by itself"},
		{arguments->command != NULL && arguments->pid != NO_PID,
		 "-run starts a process of its own; -pid does not go with it"},
		{arguments->proxy && arguments->pid == NO_PID,
		 "-proxy for which process? say -pid N"},
		{arguments->off && arguments->flavors != 0, "-on and -off exclude each other"},
		{samples && (arguments->off || arguments->status),
		 "-off and -status go with no -proxy, -record, -live or -run"},
		{!samples && arguments->flavors != 0 && arguments->monfile != NULL,
		 "-on zeroes what was collected: extract it by a command of its own before"},
		{arguments->monfile != NULL && (arguments->live || arguments->record != NULL),
		 "-monfile does not go with -live or -record"},
		{arguments->execfile != NULL && !arguments->proxy,
		 "-execfile goes with -proxy only"},
		{arguments->background && !arguments->proxy && arguments->record == NULL,
		 "-bg goes with -proxy or -record"},
		{arguments->background && arguments->command != NULL,
		 "-bg does not go with -run: put & behind the command"},
		{arguments->open && !is_proxy,
		 "-open goes with -proxy or -run, which others may ask: it says that all may"},
		{arguments->stack && arguments->record == NULL,
		 "-stack goes with -record only: gmon.out has no place for call stacks"},
		{(arguments->flavors & SAMPLED_PC_WAIT) != 0 && arguments->record == NULL,
		 "-on wait goes with -record only: other profiles have no place for lengths"},
		{arguments->clients && arguments->record == NULL,
		 "-clients goes with -record only: gmon.out has no place for call stacks"},
		{arguments->clients && arguments->beneficiary == FOR_ANYBODY,
		 "-clients goes with -for: it is what servers do for it that has clients"},
		{arguments->thread != 0 && !samples, "-thread goes with -proxy, -record or -live"},
		{arguments->thread != 0 && arguments->command != NULL,
		 "-thread does not go with -run: the command has no threads yet"},
		{arguments->thread != 0 && arguments->beneficiary != FOR_ANYBODY,
		 "-thread and -for exclude each other"},
		{arguments->children && !samples,
		 "-children goes with -run, -proxy, -record or -live"},
		{arguments->children && arguments->beneficiary != FOR_ANYBODY,
		 "-children is what a job does, -for job:PID what is done for it: one of them"},
		{arguments->children && arguments->thread != 0,
		 "-children and -thread exclude each other"},
		{arguments->by != BY_NOTHING && !arguments->live, "-by goes with -live"},
		{arguments->beneficiary == FOR_JOB && !arguments->live && arguments->record == NULL,
		 "-for job:PID goes with -record or -live"},
		{arguments->beneficiary != FOR_ANYBODY && arguments->command != NULL,
		 "-for does not go with -run"},
		{(arguments->rate != 0 || arguments->fixed || arguments->nmi) && !samples &&
			 arguments->flavors == 0,
		 "-rate, -fixed and -nmi are for sampling that begins: say -on too"},
		{arguments->has_format &&
			 (!writes_profile || arguments->live || arguments->record != NULL),
		 "-format is that of -monfile"},
	};

	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++)
		if (conflicts[i].is_true)
			return conflicts[i].message;
	return NULL;
}

/* What is behind -run's command is the command's, whoever may have been meant. */
static void note_behind(char **command)
{
	for (char **word = command + 1; command[0] != NULL && *word != NULL; word++) {
		const struct option *option = look_up(*word);

		if (option == NULL || option->place == offsetof(struct arguments, help) ||
		    option->name[0] != '-')
			continue;
		report("%s is behind the command, and so an argument of %s; monctl's options go "
		       "before -run",
		       *word, command[0]);
		return;
	}
}

void arguments_read(struct arguments *arguments, char **words)
{
	const char *conflict;

	*arguments = (struct arguments){.pid = NO_PID};
	if (*words == NULL)
		refuse("nothing to do");
	while (*words != NULL) {
		if (strcmp(*words, "-run") == 0) {
			arguments->command = words + 1;
			break;
		}
		words = read_option(arguments, words);
	}
	if (arguments->help)
		return;
	if (arguments->command != NULL && arguments->command[0] == NULL)
		refuse("-run: what? a command is missing");
	conflict = find_conflict(arguments);
	if (conflict != NULL)
		refuse(conflict);
	if (arguments->command != NULL)
		note_behind(arguments->command);
}

void arguments_help(void)
{
	printf("usage:\n%s\n\nflavors:\n", help_text);
	flavors_list(stdout);
}

bool arguments_of_many(const struct arguments *arguments)
{
	return arguments->beneficiary != FOR_ANYBODY || arguments->children;
}

struct gprof_options arguments_options(const struct arguments *arguments)
{
	unsigned flags = 0;

	flags |= arguments->stack || arguments->clients ? SAMPLE_STACK : 0;
	flags |= arguments->clients ? SAMPLE_CLIENTS : 0;
	flags |= arguments->fixed ? SAMPLE_FIXED : 0;
	flags |= arguments->nmi ? SAMPLE_NMI : 0;
	return (struct gprof_options){
		.rate = arguments->rate,
		.flags = flags,
		.format = arguments->format,
	};
}
