/* SPDX-License-Identifier: MIT */
/* Reads the command line.  See options.h. */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_PATH "ktrace.out"
#define DECIMAL      10

static _Noreturn void options_end_with_usage(void)
{
	fputs("usage: kdump [-dHlns] [-E | -R | -T] [-f FILE] [-m BYTES] [-p PID] [-t LETTERS]\n"
	      "       kdump --view=perf|speedscope|chrome [--samples=FILE [--programs=FOLDER]]\n"
	      "             [-f FILE] [-p PID] [-t LETTERS]\n",
	      stderr);
	exit(2);
}

static uint64_t options_number(const char *text, const char *what, uint64_t least)
{
	char *end;
	uint64_t number = strtoull(text, &end, DECIMAL);

	if (strspn(text, "0123456789") != strlen(text) || end == text || number < least ||
	    number > INT32_MAX) {
		fprintf(stderr, "kdump: %s: %s is a number from %" PRIu64 " on\n", text, what,
			least);
		options_end_with_usage();
	}
	return number;
}

static void options_set_facilities(struct ktrace_print *print, const char *letters)
{
	if (ktrace_parse_facilities(letters, &print->facilities))
		return;
	fprintf(stderr, "kdump: -t %s: the letters are " KTRACE_LETTERS "\n", letters);
	options_end_with_usage();
}

static void options_set_time(struct ktrace_print *print, enum ktrace_time time)
{
	if (print->time != KTRACE_NO_TIME && print->time != time) {
		fputs("kdump: of -E, -R and -T there can be one\n", stderr);
		options_end_with_usage();
	}
	print->time = time;
}

/* Getopt takes a word that begins with two dashes for the option `-` and its value. */
static void options_set_long(struct options *options, const char *word)
{
	const struct {
		const char *name;
		const char **value;
	} all[] = {
		{"view=", &options->view.name},
		{"samples=", &options->view.samples},
		{"programs=", &options->view.programs},
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (strncmp(word, all[i].name, strlen(all[i].name)) == 0) {
			*all[i].value = word + strlen(all[i].name);
			return;
		}
	fprintf(stderr, "kdump: there is no option --%s\n", word);
	options_end_with_usage();
}

static void options_set(struct options *options, int letter, const char *value)
{
	struct ktrace_print *print = &options->print;

	switch (letter) {
	case 'E':
		options_set_time(print, KTRACE_ELAPSED);
		break;
	case 'R':
		options_set_time(print, KTRACE_RELATIVE);
		break;
	case 'T':
		options_set_time(print, KTRACE_ABSOLUTE);
		break;
	case 'f':
		options->path = value;
		break;
	case 'm':
		print->data_most = options_number(value, "-m", 0);
		break;
	case 'p':
		print->pid = (int32_t)options_number(value, "-p", 1);
		break;
	case 't':
		options_set_facilities(print, value);
		break;
	case '-':
		options_set_long(options, value);
		break;
	default:
		options_end_with_usage();
	}
}

/* Of letters that are switches; NULL for others. */
static bool *options_switch(struct options *options, int letter)
{
	switch (letter) {
	case 'd':
		return &options->print.is_decimal;
	case 'H':
		return &options->print.has_threads;
	case 'l':
		return &options->follows;
	case 'n':
		return &options->print.has_numbers;
	case 's':
		return &options->print.hides_data;
	default:
		return NULL;
	}
}

static void options_check_view(const struct options *options)
{
	const struct timeline_choice *view = &options->view;
	const char *what = NULL;

	if (view->name != NULL && options->follows)
		what = "a view is of a file that is whole: without -l";
	else if (view->name == NULL && view->samples != NULL)
		what = "--samples puts a recording beside a view: which is it to be? --view=chrome";
	else if (view->samples == NULL && view->programs != NULL)
		what = "--programs names the functions of samples: --samples=FILE says which";
	if (what == NULL)
		return;
	fprintf(stderr, "kdump: %s\n", what);
	options_end_with_usage();
}

void options_read(struct options *options, int count, char **words)
{
	int letter;

	*options = (struct options){.path = DEFAULT_PATH};
	ktrace_print_start(&options->print, NULL, stdout);
	while ((letter = getopt(count, words, "dEf:Hlm:np:RsTt:-:")) != -1) {
		bool *which = options_switch(options, letter);

		if (which != NULL)
			*which = true;
		else
			options_set(options, letter, optarg);
	}
	if (optind < count) {
		fprintf(stderr, "kdump: %s: a file is named with -f\n", words[optind]);
		options_end_with_usage();
	}
	options_check_view(options);
}
