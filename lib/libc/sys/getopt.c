/* SPDX-License-Identifier: MIT */
/* Options of a command line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *optarg;
int optind = 1, opterr = 1, optopt;

static int place; /* Within the word of options that is being read; 0: at its beginning. */

static int complain(char *const argv[], const char *options, const char *what)
{
	if (opterr && *options != ':')
		fprintf(stderr, "%s: %s -- %c\n", argv[0], what, optopt);
	return '?';
}

static void next_word(void)
{
	optind++;
	place = 0;
}

/* The argument of an option: what is left of its word, or the next word. */
static int take_argument(int argc, char *const argv[], const char *options)
{
	if (argv[optind][place] != '\0') {
		optarg = &argv[optind][place];
		next_word();
		return optopt;
	}
	next_word();
	if (optind < argc) {
		optarg = argv[optind++];
		return optopt;
	}
	complain(argv, options, "option requires an argument");
	return *options == ':' ? ':' : '?';
}

int getopt(int argc, char *const argv[], const char *options)
{
	const char *found;

	if (optind == 0) {
		optind = 1; /* Begun anew. */
		place = 0;
	}
	if (*options == '+')
		options++; /* Words are never reordered here. */
	optarg = NULL;
	if (place == 0) {
		if (optind >= argc || argv[optind][0] != '-' || argv[optind][1] == '\0')
			return -1;
		if (strcmp(argv[optind], "--") == 0) {
			optind++;
			return -1;
		}
		place = 1;
	}
	optopt = argv[optind][place++];
	found = optopt == ':' ? NULL : strchr(options, optopt);
	if (found != NULL && found[1] == ':')
		return take_argument(argc, argv, options);
	if (argv[optind][place] == '\0')
		next_word();
	return found != NULL ? optopt : complain(argv, options, "illegal option");
}
