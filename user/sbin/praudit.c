/* SPDX-License-Identifier: MIT */
/* praudit: prints audit trails. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsm.h>

#include "common/common.h"

#define USAGE "praudit [-lnrsx] [-d DELIMITER] [FILE...]"

/* All whole records; false, and it is said where, if the rest is none. */
static bool print_file(const struct bsm_style *style, FILE *file, const char *name)
{
	struct bsm_record record = {0};
	int found;

	while ((found = bsm_next_record(file, &record)) > 0) {
		bsm_print_record(style, &record, stdout);
		if (bsm_error[0] != '\0')
			report("%s: the record at %llu: %s", name,
			       (unsigned long long)record.offset, bsm_error);
	}
	if (found < 0)
		report("%s: behind byte %llu: %s", name, (unsigned long long)record.offset,
		       bsm_error);
	free(record.bytes);
	return found == 0;
}

static bool print_path(const struct bsm_style *style, const char *path)
{
	FILE *file = fopen(path, "r");
	bool is_whole;

	if (file == NULL) {
		report_errno(path);
		return false;
	}
	is_whole = print_file(style, file, path);
	fclose(file);
	return is_whole;
}

static void read_options(int count, char **arguments, struct bsm_style *style)
{
	int option;

	while ((option = getopt(count, arguments, "d:lnrsx")) != -1) {
		switch (option) {
		case 'd':
			style->delimiter = optarg;
			break;
		case 'l':
			style->one_line = true;
			break;
		case 'n':
			style->numeric_ids = true;
			break;
		case 'r':
			style->raw = true;
			break;
		case 's':
			style->short_names = true;
			break;
		case 'x':
			style->xml = true;
			break;
		default:
			usage(USAGE);
		}
	}
	if (style->raw && style->short_names)
		report_exit(2, "-r and -s: numbers, or short names?  Leave one out");
}

int main(int count, char **arguments)
{
	struct bsm_style style = {.delimiter = ","};
	bool is_whole = true;

	program_start(arguments);
	read_options(count, arguments, &style);
	if (!style.raw && !bsm_load())
		report("%s: events are shown by their numbers", bsm_error);
	bsm_print_begin(&style, stdout);
	if (optind == count && isatty(STDIN_FILENO))
		report_exit(2, "which trail? name a file, such as /var/audit/current");
	if (optind == count)
		is_whole = print_file(&style, stdin, "standard input");
	for (int n = optind; n < count; n++)
		is_whole = print_path(&style, arguments[n]) && is_whole;
	bsm_print_end(&style, stdout);
	return program_end(is_whole ? 0 : 1);
}
