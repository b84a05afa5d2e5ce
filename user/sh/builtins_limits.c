/* SPDX-License-Identifier: MIT */
/* The builtin ulimit: what the shell and its children may have. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "builtins.h"
#include "sh.h"

#define KIBIBYTE 1024ul
#define USAGE    "ulimit [-HS] [-a | -c | -n | -u | -v] [NUMBER | unlimited]"

/* Those that the system keeps. */
static const struct limit {
	char option;
	int which;
	rlim_t unit;
	const char *what;
} limits[] = {
	{'c', RLIMIT_CORE, 1, "core file (bytes; there are none)"},
	{'n', RLIMIT_NOFILE, 1, "descriptors"},
	{'u', RLIMIT_NPROC, 1, "processes of the user"},
	{'v', RLIMIT_AS, KIBIBYTE, "memory (KiB)"},
};

#define N_LIMITS (sizeof limits / sizeof limits[0])

static const struct limit *limit_of_option(char option)
{
	for (size_t i = 0; i < N_LIMITS; i++)
		if (limits[i].option == option)
			return &limits[i];
	return NULL;
}

static void print_limit(const struct limit *limit, bool is_hard)
{
	struct rlimit now = {0, 0};
	rlim_t value;

	getrlimit(limit->which, &now);
	value = is_hard ? now.rlim_max : now.rlim_cur;
	if (value == RLIM_INFINITY)
		puts("unlimited");
	else
		printf("%lu\n", value / limit->unit);
}

static int print_all(bool is_hard)
{
	for (size_t i = 0; i < N_LIMITS; i++) {
		printf("-%c  %-34s ", limits[i].option, limits[i].what);
		print_limit(&limits[i], is_hard);
	}
	return 0;
}

/* A number of the limit's units, or `unlimited`; false with a complaint. */
static bool read_limit(const struct limit *limit, const char *text, rlim_t *value)
{
	char *end;

	*value = RLIM_INFINITY;
	if (strcmp(text, "unlimited") == 0)
		return true;
	errno = 0;
	*value = strtoul(text, &end, 10);
	if (*end != '\0' || *text < '0' || *text > '9') {
		complain("ulimit: %s: neither a number nor `unlimited`", text);
		return false;
	}
	if (errno != 0 || *value > RLIM_INFINITY / limit->unit) {
		complain("ulimit: %s: no limit is as large: say `unlimited`", text);
		return false;
	}
	*value *= limit->unit;
	return true;
}

static void complain_of_refusal(const char *text, bool is_less)
{
	if (errno == EPERM)
		complain("ulimit: %s: only root may have more than the hard limit, which -H shows",
			 text);
	else if (errno == EINVAL && is_less)
		complain("ulimit: %s: less than the limit in force, which -S shows", text);
	else if (errno == EINVAL)
		complain("ulimit: %s: more than the hard limit, which -H shows", text);
	else
		complain("ulimit: %s: %s", text, strerror(errno));
}

static int change_limit(const struct limit *limit, bool hard, bool soft, const char *text)
{
	struct rlimit now = {0, 0};
	rlim_t value;

	if (!read_limit(limit, text, &value))
		return STATUS_SYNTAX;
	getrlimit(limit->which, &now);
	if (soft)
		now.rlim_cur = value;
	if (hard)
		now.rlim_max = value;
	if (setrlimit(limit->which, &now) == 0)
		return 0;
	complain_of_refusal(text, hard && value < now.rlim_cur);
	return 1;
}

/* ulimit [-HS] [-a | -c | -n | -u | -v] [NUMBER | unlimited]; of processes without a letter. */
int builtin_ulimit(int count, char **arguments)
{
	const struct limit *limit = limit_of_option('u');
	bool hard = false, soft = false, all = false;
	int n = 1;

	for (; n < count && arguments[n][0] == '-' && arguments[n][1] != '\0'; n++)
		for (const char *option = arguments[n] + 1; *option != '\0'; option++) {
			hard |= *option == 'H';
			soft |= *option == 'S';
			all |= *option == 'a';
			if (limit_of_option(*option) != NULL)
				limit = limit_of_option(*option);
			else if (strchr("HSa", *option) == NULL)
				n = count;
			if (n == count)
				break;
		}
	if (n > count || (n < count - 1) || (all && n < count)) {
		complain("ulimit: usage: " USAGE);
		return STATUS_SYNTAX;
	}
	if (all)
		return print_all(hard);
	if (n < count)
		return change_limit(limit, hard || !soft, soft || !hard, arguments[n]);
	print_limit(limit, hard);
	return 0;
}
