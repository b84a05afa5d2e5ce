/* SPDX-License-Identifier: MIT */
/* auditreduce: chooses records of audit trails. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bsm.h>

#include "common/common.h"

#define USAGE                                                                            \
	"auditreduce [-v] [-a TIME] [-b TIME] [-d DAY] [-c FLAGS] [-e USER] [-f GROUP] " \
	"[-g GROUP] [-j PID] [-m EVENT] [-o file=PATH] [-r USER] [-u USER] [FILE...]"
#define DAY_SECONDS 86400

static struct bsm_choice wanted;

/* ---------------- Files ---------------- */

/* Whole records go on; false if the file does not end with one, or could not be written. */
static bool reduce_file(FILE *file, const char *name)
{
	struct bsm_record record = {0};
	int found;

	while ((found = bsm_next_record(file, &record)) > 0) {
		size_t size = (size_t)(record.tokens.end - record.tokens.at);

		if (bsm_is_chosen(&wanted, &record))
			fwrite(record.bytes, 1, size, stdout);
	}
	if (found < 0)
		report("%s: behind byte %llu: %s", name, (unsigned long long)record.offset,
		       bsm_error);
	free(record.bytes);
	return found == 0;
}

static bool reduce_path(const char *path)
{
	FILE *file = fopen(path, "r");
	bool is_whole;

	if (file == NULL) {
		report_errno(path);
		return false;
	}
	is_whole = reduce_file(file, path);
	fclose(file);
	return is_whole;
}

/* ---------------- Options ---------------- */

/* YYYYMMDD[HH[MM[SS]]], or an offset behind -a's time: +3d, +2h, +10m, +30s. */
static bool read_date(const char *text, time_t *when)
{
	int parts[6] = {0, 0, 0, 0, 0, 0};
	static const unsigned widths[6] = {4, 2, 2, 2, 2, 2};
	unsigned n = 0;
	struct tm date = {0};

	while (*text != '\0' && n < 6) {
		for (unsigned digit = 0; digit < widths[n]; digit++, text++) {
			if (*text < '0' || *text > '9')
				return false;
			parts[n] = parts[n] * 10 + (*text - '0');
		}
		n++;
	}
	date.tm_year = parts[0] - 1900;
	date.tm_mon = parts[1] - 1;
	date.tm_mday = parts[2];
	date.tm_hour = parts[3];
	date.tm_min = parts[4];
	date.tm_sec = parts[5];
	*when = timegm(&date);
	return n >= 3 && *text == '\0' && parts[1] >= 1 && parts[1] <= 12 && parts[2] >= 1 &&
	       parts[2] <= 31;
}

static bool read_offset(const char *text, time_t *when)
{
	static const struct {
		char unit;
		time_t worth;
	} units[] = {{'d', DAY_SECONDS}, {'h', 3600}, {'m', 60}, {'s', 1}};
	char *end;
	long number;

	if (*text != '+' || !wanted.has_after)
		return false;
	number = strtol(text + 1, &end, 10);
	for (unsigned n = 0; n < 4; n++) {
		if (end != text + 1 && end[0] == units[n].unit && end[1] == '\0') {
			*when = wanted.after + number * units[n].worth;
			return true;
		}
	}
	return false;
}

static time_t time_option(const char *text)
{
	time_t when;

	if (!read_date(text, &when) && !read_offset(text, &when))
		report_exit(2,
			    "%s is no time: write YYYYMMDD[HH[MM[SS]]], or behind -a +3d, +2h, "
			    "+10m, +30s",
			    text);
	return when;
}

static uint32_t number_option(const char *text, const char *what)
{
	long long number;

	if (!parse_number(text, &number) || number < 0 || number > UINT32_MAX)
		report_exit(2, "%s is no %s", text, what);
	return (uint32_t)number;
}

static uint32_t user_option(const char *text)
{
	const struct passwd *user = getpwnam(text);

	return user != NULL ? user->pw_uid : number_option(text, "user, nor a user's number");
}

static uint32_t group_option(const char *text)
{
	const struct group *group = getgrnam(text);

	return group != NULL ? group->gr_gid : number_option(text, "group, nor a group's number");
}

static void add_event(const char *text)
{
	const struct bsm_event *event = bsm_event_by_name(text);

	if (wanted.n_events == BSM_EVENTS_CHOSEN)
		report_exit(2, "no more than %d events can be asked for at once",
			    BSM_EVENTS_CHOSEN);
	wanted.events[wanted.n_events++] =
		(uint16_t)(event != NULL
				   ? event->number
				   : number_option(text, "event; /etc/security/audit_event has "
							 "those there are"));
}

static void add_flags(const char *text)
{
	if (!bsm_flags(text, &wanted.flags))
		report_exit(2, "%s", bsm_error);
	wanted.has_flags = true;
}

static void add_object(const char *text)
{
	if (strncmp(text, "file=", 5) != 0 || text[5] != '/')
		report_exit(2, "%s: only file=PATH can be asked for, with a path from the root on",
			    text);
	wanted.path = text + 5;
}

static void set_day(const char *text)
{
	wanted.after = time_option(text);
	wanted.before = wanted.after + DAY_SECONDS;
	wanted.has_after = wanted.has_before = true;
}

static void read_option(int option, const char *text)
{
	switch (option) {
	case 'v':
		wanted.is_inverted = true;
		break;
	case 'a':
		wanted.after = time_option(text);
		wanted.has_after = true;
		break;
	case 'b':
		wanted.before = time_option(text);
		wanted.has_before = true;
		break;
	case 'd':
		set_day(text);
		break;
	case 'c':
		add_flags(text);
		break;
	case 'e':
		wanted.euid = user_option(text);
		wanted.has_euid = true;
		break;
	case 'f':
		wanted.egid = group_option(text);
		wanted.has_egid = true;
		break;
	case 'g':
		wanted.rgid = group_option(text);
		wanted.has_rgid = true;
		break;
	case 'j':
		wanted.pid = number_option(text, "process's number");
		wanted.has_pid = true;
		break;
	case 'm':
		add_event(text);
		break;
	case 'o':
		add_object(text);
		break;
	case 'r':
		wanted.ruid = user_option(text);
		wanted.has_ruid = true;
		break;
	case 'u':
		wanted.auid = user_option(text);
		wanted.has_auid = true;
		break;
	default:
		usage(USAGE);
	}
}

int main(int count, char **arguments)
{
	bool is_whole = true;
	int option;

	program_start(arguments);
	if (!bsm_load())
		report_exit(1, "%s", bsm_error);
	while ((option = getopt(count, arguments, "va:b:d:c:e:f:g:j:m:o:r:u:")) != -1)
		read_option(option, optarg);
	if (optind == count && isatty(STDIN_FILENO))
		report_exit(2, "which trail? name a file, such as /var/audit/current");
	if (optind == count)
		is_whole = reduce_file(stdin, "standard input");
	for (int n = optind; n < count; n++)
		is_whole = reduce_path(arguments[n]) && is_whole;
	return program_end(is_whole ? 0 : 1);
}
