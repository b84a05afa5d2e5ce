/* SPDX-License-Identifier: MIT */
/* The command line: a table of options, and which of them go together. */
#include <stdlib.h>
#include <string.h>

#include "common/common.h"
#include "monctl.h"

#define THREAD_MAX 0xffffffffll
#define TABLES_MAX 1000000

static const char help_text[] =
	"monctl -pid N -on FLAVOR[,FLAVOR...] [-rate HZ] [-fixed] [-nmi]\n"
	"monctl -pid N [-off] [-monfile FILE] [-format gnu|4.4bsd|bsd] [-status]\n"
	"monctl -pid N -proxy [-execfile FILE] [-on FLAVOR...] [-monfile FILE] [-bg]\n"
	"monctl [-pid N] -record FILE [-stack] [-on FLAVOR...] [-for PID|all] [-bg]\n"
	"monctl [-pid N] -live [TABLES] [-on FLAVOR...] [-for PID|all]\n"
	"monctl [-on FLAVOR...] [-monfile FILE | -record FILE | -live] -run COMMAND [ARGUMENT...]\n"
	"monctl -help";

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
	arguments->flavors = flavors_parse(value);
	if (arguments->flavors != 0)
		return;
	fprintf(stderr, "%s: -on %s: not a list of flavors; these there are:\n", program_name,
		value);
	flavors_list(stderr);
	exit(EXIT_USAGE);
}

static void set_off(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->off = true;
}

static void set_status(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->status = true;
}

static void set_monfile(struct arguments *arguments, const char *value)
{
	arguments->monfile = value;
}

static void set_execfile(struct arguments *arguments, const char *value)
{
	arguments->execfile = value;
}

static void set_record(struct arguments *arguments, const char *value)
{
	arguments->record = value;
}

static void set_host(struct arguments *arguments, const char *value)
{
	arguments->host = value;
}

static void set_proxy(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->proxy = true;
}

static void set_background(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->background = true;
}

static void set_nmi(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->nmi = true;
}

static void set_fixed(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->fixed = true;
}

static void set_stack(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->stack = true;
}

static void set_help(struct arguments *arguments, const char *value)
{
	(void)value;
	arguments->help = true;
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

static void set_for(struct arguments *arguments, const char *value)
{
	if (strcmp(value, "all") == 0) {
		arguments->beneficiary = FOR_ALL;
		return;
	}
	arguments->beneficiary = FOR_PROCESS;
	arguments->for_pid = read_pid("-for", value);
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
	NOTHING,
	A_VALUE,
	A_NUMBER_IF_ANY,
};

static const struct option {
	const char *name;
	enum takes takes;
	void (*set)(struct arguments *arguments, const char *value);
} options[] = {
	{"-pid", A_VALUE, set_pid},
	{"-on", A_VALUE, set_on},
	{"-off", NOTHING, set_off},
	{"-status", NOTHING, set_status},
	{"-monfile", A_VALUE, set_monfile},
	{"-proxy", NOTHING, set_proxy},
	{"-execfile", A_VALUE, set_execfile},
	{"-bg", NOTHING, set_background},
	{"-format", A_VALUE, set_format},
	{"-rate", A_VALUE, set_rate},
	{"-nmi", NOTHING, set_nmi},
	{"-fixed", NOTHING, set_fixed},
	{"-stack", NOTHING, set_stack},
	{"-thread", A_VALUE, set_thread},
	{"-for", A_VALUE, set_for},
	{"-live", A_NUMBER_IF_ANY, set_live},
	{"-record", A_VALUE, set_record},
	{"-host", A_VALUE, set_host},
	{"-help", NOTHING, set_help},
	/* As the note on GPROF types it. */
	{"monfile", A_VALUE, set_monfile},
};

static const struct option *find_option(const char *word)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(word, options[i].name) == 0)
			return &options[i];
	fprintf(stderr, "%s: %s: no such option\nmonctl -help tells which there are.\n",
		program_name, word);
	exit(EXIT_USAGE);
}

static bool is_number(const char *word)
{
	return word != NULL && word[0] != '\0' && strspn(word, "0123456789") == strlen(word);
}

/* Sets what one word and its value say; answers the next word. */
static char **read_option(struct arguments *arguments, char **word)
{
	const struct option *option = find_option(*word++);
	const char *value = NULL;

	if (option->takes == A_VALUE && *word == NULL) {
		fprintf(stderr, "%s: %s: what? a value is missing\n", program_name, option->name);
		exit(EXIT_USAGE);
	}
	if (option->takes == A_VALUE || (option->takes == A_NUMBER_IF_ANY && is_number(*word)))
		value = *word++;
	option->set(arguments, value);
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
		{arguments->stack && arguments->record == NULL,
		 "-stack goes with -record only: gmon.out has no place for call stacks"},
		{arguments->thread != 0 && !samples, "-thread goes with -proxy, -record or -live"},
		{arguments->thread != 0 && arguments->command != NULL,
		 "-thread does not go with -run: the command has no threads yet"},
		{arguments->thread != 0 && arguments->beneficiary != FOR_ANYBODY,
		 "-thread and -for exclude each other"},
		{arguments->beneficiary != FOR_ANYBODY && arguments->command != NULL,
		 "-for does not go with -run"},
		{(arguments->rate != 0 || arguments->fixed || arguments->nmi) && !samples &&
			 arguments->flavors == 0,
		 "-rate, -fixed and -nmi are for sampling that begins: say -on too"},
		{arguments->has_format && arguments->monfile == NULL && !arguments->proxy &&
			 arguments->command == NULL,
		 "-format is that of -monfile"},
		{arguments->has_format && (arguments->live || arguments->record != NULL),
		 "-format is that of -monfile"},
	};

	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++)
		if (conflicts[i].is_true)
			return conflicts[i].message;
	return NULL;
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
}

void arguments_help(void)
{
	printf("usage:\n%s\n\nflavors:\n", help_text);
	flavors_list(stdout);
}

struct gprof_options arguments_options(const struct arguments *arguments)
{
	unsigned flags = 0;

	flags |= arguments->stack ? SAMPLE_STACK : 0;
	flags |= arguments->fixed ? SAMPLE_FIXED : 0;
	flags |= arguments->nmi ? SAMPLE_NMI : 0;
	return (struct gprof_options){
		.rate = arguments->rate,
		.flags = flags,
		.format = arguments->format,
	};
}
