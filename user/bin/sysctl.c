/* SPDX-License-Identifier: MIT */
/* sysctl: prints values of the system by their names, and sets them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/vmmeter.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "sysctl [-n] NAME... | sysctl [-n] -a | sysctl [-n] -w NAME=VALUE..."

#define DATE_ROOM 64

static struct sysctl_name *names;
static size_t n_names;
static bool without_names; /* -n */
static bool all_is_well = true;

static void fail(const char *name, const char *why)
{
	report("%s: %s", name, why);
	all_is_well = false;
}

/* ---------------- Printing ---------------- */

static void print_clocks(const struct clockinfo *clocks)
{
	printf("{ hz = %d, tick = %d, profhz = %d, stathz = %d }\n", clocks->hz, clocks->tick,
	       clocks->profhz, clocks->stathz);
}

static void print_time(const struct timeval *time)
{
	char date[DATE_ROOM] = "";
	struct tm *broken = gmtime(&time->tv_sec);

	if (broken != NULL)
		strftime(date, sizeof(date), "%a %b %e %H:%M:%S UTC %Y", broken);
	printf("{ sec = %lld, usec = %ld } %s\n", (long long)time->tv_sec, (long)time->tv_usec,
	       date);
}

static void print_load(const struct loadavg *load)
{
	printf("{");
	for (int n = 0; n < 3; n++)
		printf(" %.2f", (double)load->ldavg[n] / (double)load->fscale);
	printf(" }\n");
}

static void print_meter(const struct vmtotal *total)
{
	printf("{ running = %d, waiting = %d, pages = %d, of running = %d, in memory = %d, "
	       "of running = %d, free = %d }\n",
	       total->t_rq, total->t_sl, total->t_vm, total->t_avm, total->t_rm, total->t_arm,
	       total->t_free);
}

static bool is_of(const struct sysctl_name *name, int kind, int number)
{
	return name->mib[0] == kind && name->mib[1] == number && name->length == 2;
}

static bool is_processes(const struct sysctl_name *name)
{
	return name->mib[0] == CTL_KERN && name->mib[1] == KERN_PROF &&
	       name->mib[2] == GPROF_PROCESSES && name->length == 3;
}

static bool is_printable(const struct sysctl_name *name)
{
	return (name->type != CTLTYPE_STRUCT && name->type != CTLTYPE_NODE) || is_processes(name) ||
	       is_of(name, CTL_KERN, KERN_CLOCKRATE) || is_of(name, CTL_KERN, KERN_BOOTTIME) ||
	       is_of(name, CTL_VM, VM_LOADAVG) || is_of(name, CTL_VM, VM_METER);
}

/* As they are set. */
static void print_processes(const int *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s%d", i > 0 ? "," : "", pids[i]);
	printf("\n");
}

static void print_value(const struct sysctl_name *name, const void *data, size_t size)
{
	if (!without_names)
		printf("%s = ", name->name);
	if (name->type == CTLTYPE_STRING)
		printf("%s\n", (const char *)data);
	else if (name->type == CTLTYPE_INT)
		printf("%d\n", *(const int *)data);
	else if (is_processes(name))
		print_processes(data, size / sizeof(int));
	else if (is_of(name, CTL_KERN, KERN_CLOCKRATE))
		print_clocks(data);
	else if (is_of(name, CTL_VM, VM_LOADAVG))
		print_load(data);
	else if (is_of(name, CTL_VM, VM_METER))
		print_meter(data);
	else
		print_time(data);
}

/* The value may become longer between the two calls. */
static void *get_value(const struct sysctl_name *name, size_t *size)
{
	const int *mib = (const int *)name->mib;
	void *data = NULL;

	do {
		if (sysctl(mib, name->length, NULL, size, NULL, 0) != 0)
			break;
		data = reallocate(data, *size + 1);
		if (sysctl(mib, name->length, data, size, NULL, 0) == 0)
			return data;
	} while (errno == ENOMEM);
	free(data);
	return NULL;
}

static void print(const struct sysctl_name *name)
{
	size_t size = 0;
	void *data = get_value(name, &size);

	if (data == NULL)
		fail(name->name, strerror(errno));
	else
		print_value(name, data, size);
	free(data);
}

/* ---------------- Finding ---------------- */

static void fail_to_find(const char *text)
{
	if (strchr(text, '=') != NULL)
		fail(text, "to set a value say sysctl -w NAME=VALUE");
	else
		fail(text, "there is no such name: sysctl -a prints all");
}

/* Whether a name is this one, or below it. */
static bool is_below(const char *name, const char *above)
{
	size_t length = strlen(above);

	return strncmp(name, above, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static void print_below(const char *above)
{
	bool is_there = false;

	for (size_t n = 0; n < n_names; n++) {
		if (!is_below(names[n].name, above))
			continue;
		is_there = true;
		if (is_printable(&names[n]))
			print(&names[n]);
		else if (strcmp(names[n].name, above) == 0)
			fail(above, "a table, which programs read: it is not text");
	}
	if (!is_there)
		fail_to_find(above);
}

static void print_all(void)
{
	for (size_t n = 0; n < n_names; n++)
		if (is_printable(&names[n]))
			print(&names[n]);
}

static const struct sysctl_name *find(const char *text)
{
	for (size_t n = 0; n < n_names; n++)
		if (strcmp(names[n].name, text) == 0)
			return &names[n];
	fail_to_find(text);
	return NULL;
}

/* ---------------- Setting ---------------- */

static void explain_refusal(const struct sysctl_name *name)
{
	if (errno == EPERM)
		fail(name->name, "only root may change it");
	else if (errno == EINVAL)
		fail(name->name, "it cannot have this value");
	else if (errno == EBUSY)
		fail(name->name, "the kernel's calls are counted for somebody else: kgmon -h -r "
				 "ends and forgets that");
	else
		fail(name->name, strerror(errno));
}

static bool set_to_bytes(const struct sysctl_name *name, const void *data, size_t size)
{
	return sysctl((const int *)name->mib, name->length, NULL, NULL, data, size) == 0;
}

static bool parse_int(const char *text, int *value)
{
	long long number = 0;

	if (!parse_number(text, &number) || number < INT_MIN || number > INT_MAX) {
		errno = EINVAL;
		return false;
	}
	*value = (int)number;
	return true;
}

/* Numbers with commas between them, or nothing. */
static bool set_processes(const struct sysctl_name *name, char *text)
{
	int pids[GPROF_PROCESSES_MAX + 1];
	char *word, *rest = text[0] != '\0' ? text : NULL;
	size_t n = 0;

	while (n < GPROF_PROCESSES_MAX + 1 && (word = strsep(&rest, ",")) != NULL)
		if (!parse_int(word, &pids[n++]))
			return false;
	return set_to_bytes(name, pids, n * sizeof(pids[0]));
}

static bool set_to(const struct sysctl_name *name, char *text)
{
	int value;

	if (is_processes(name))
		return set_processes(name, text);
	if (name->type == CTLTYPE_STRING)
		return set_to_bytes(name, text, strlen(text));
	return parse_int(text, &value) && set_to_bytes(name, &value, sizeof(value));
}

/* NAME=VALUE: check_settings() has seen to it. */
static void set(char *word)
{
	char *text = strchr(word, '=');
	const struct sysctl_name *name;

	*text++ = '\0';
	name = find(word);
	if (name == NULL)
		return;
	if (!name->is_writable || !is_printable(name))
		fail(word, "it can be read, but not set");
	else if (!set_to(name, text))
		explain_refusal(name);
	else
		print(name);
}

/* ---------------- The command line ---------------- */

/* Before anything is set: a line that is wrong changes nothing. */
static void check_settings(char **words)
{
	for (; *words != NULL; words++)
		if (strchr(*words, '=') == NULL)
			report_exit(2, "%s: which value? -w sets NAME=VALUE", *words);
}

int main(int count, char **arguments)
{
	bool all = false, sets = false;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "anw")) != -1) {
		all |= option == 'a';
		sets |= option == 'w';
		without_names |= option == 'n';
		if (option == '?')
			usage(USAGE);
	}
	if (all ? sets || optind < count : optind == count)
		usage(USAGE);
	if (sets)
		check_settings(arguments + optind);
	names = sysctl_names(&n_names);
	if (names == NULL)
		report_exit(1, "the Unix server does not tell its names: %s", strerror(errno));
	if (all)
		print_all();
	for (; optind < count; optind++)
		if (sets)
			set(arguments[optind]);
		else
			print_below(arguments[optind]);
	return program_end(all_is_well ? 0 : 1);
}
