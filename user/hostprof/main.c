/* SPDX-License-Identifier: MIT */
/* hostprof: what the command line asks for, in an order that makes sense of all of it at once. */
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <mach/prof.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>
#include <unistd.h>

#include <servers/gprof.h>

#include "common/common.h"
#include "common/name_server.h"
#include "hostprof.h"

#define OUTPUT "gmon.out"

static const char usage_text[] = "hostprof [-b [-n|-i] | -B [-n|-i] | -h] [-p [-l HOW]] [-r]";

static struct {
	bool begins;       /* -b, -B */
	bool halts;        /* -h */
	bool dumps;        /* -p */
	bool resets;       /* -r */
	bool by_nmi;       /* -n, which is what happens without it too. */
	bool by_interrupt; /* -i */
	bool lists;        /* -l */
	unsigned rate;
	enum rollup_by by; /* -l; of -p. */
} wanted = {.by = BY_PROCESS};

static mach_port_t collector; /* MACH_PORT_NULL: there is none. */
static pid_t collector_pid;

/* ---------------- Calls ---------------- */

static bool succeeded(const char *what, kern_return_t result)
{
	if (result == KERN_SUCCESS)
		return true;
	if (result == GPROF_NO_SAMPLING)
		report("%s: the kernel samples no more: too many are being sampled; end one", what);
	else if (result == GPROF_NO_MEMORY)
		report("%s: the collector has no memory left; halt and try again", what);
	else if (result == MACH_SEND_INVALID_DEST || result == MIG_SERVER_DIED)
		report("%s: the collector has ended meanwhile; begin again: hostprof -b", what);
	else
		report("%s: the collector answers error %d", what, result);
	return false;
}

static bool get_status(gprof_status_t *status)
{
	*status = (gprof_status_t){0};
	return collector == MACH_PORT_NULL ||
	       succeeded("the state", gprof_mon_status(collector, status));
}

/* Of the options rate, flags and resume count. */
static bool switch_to(sampled_pc_flavor_t flavors, gprof_options_t options)
{
	kern_return_t result = gprof_mon_options(collector, options);

	if (result == KERN_SUCCESS)
		result = gprof_mon_switch(collector, &flavors);
	return succeeded(flavors != 0 ? "-b" : "-h", result);
}

/* ---------------- What is asked for ---------------- */

static bool halt(void)
{
	return collector == MACH_PORT_NULL || switch_to(0, (gprof_options_t){.rate = 0});
}

static bool write_file(const char *data, size_t size)
{
	bool done = replace_file(OUTPUT, data, size);

	if (!done)
		report("%s: %s; nothing is lost, the collector still has it", OUTPUT,
		       strerror(errno));
	return done;
}

static bool dump(void)
{
	mach_msg_type_number_t got = 0;
	char *data = NULL, *file;
	size_t size;
	bool done;

	if (collector == MACH_PORT_NULL) {
		report("-p: nothing was collected; begin by: hostprof -b");
		return false;
	}
	if (!succeeded("-p", gprof_mon_dump(collector, &data, &got)))
		return false;
	size = got;
	labels_read(data, size);
	file = labels_add(data, &size);
	done = write_file(file, size);
	if (done)
		labels_print(wanted.by);
	free(file);
	vm_deallocate(mach_task_self_cached(), (vm_address_t)data, got);
	return done;
}

/* A collector that neither samples nor has anything is of no use. */
static bool reset(void)
{
	gprof_status_t status;

	if (collector == MACH_PORT_NULL)
		return true;
	if (!get_status(&status))
		return false;
	status.options.resume = 0;
	if (status.flavors != 0)
		return switch_to(status.flavors, status.options);
	if (kill(collector_pid, SIGTERM) != 0)
		report_errno("the collector cannot be ended");
	collector = MACH_PORT_NULL;
	return true;
}

static bool begin(void)
{
	const unsigned flags = wanted.by_interrupt ? 0 : SAMPLE_NMI;
	gprof_status_t status;

	if (collector == MACH_PORT_NULL && collector_start())
		collector = collector_find(&collector_pid);
	if (collector == MACH_PORT_NULL || !get_status(&status))
		return false;
	if (status.flavors != 0 && status.rate == wanted.rate && status.options.flags == flags)
		return true;
	return switch_to(SAMPLED_PC_PERIODIC,
			 (gprof_options_t){.rate = wanted.rate, .flags = flags, .resume = true});
}

static unsigned long long number(const unsigned words[2])
{
	return prof_u64((const uint32_t *)words);
}

static bool tell(void)
{
	gprof_status_t status;

	if (!get_status(&status))
		return false;
	printf("host profiling is %s\n", status.flavors != 0 ? "running" : "off");
	if (collector != MACH_PORT_NULL)
		printf("%llu samples, %llu lost, at %u Hz\n", number(status.taken),
		       number(status.lost), status.rate);
	return true;
}

/* ---------------- The command line ---------------- */

static void read_options(int count, char **words)
{
	int option;

	while ((option = getopt(count, words, "bBhil:npr")) != -1) {
		wanted.begins |= option == 'b' || option == 'B';
		wanted.halts |= option == 'h';
		wanted.dumps |= option == 'p';
		wanted.resets |= option == 'r';
		wanted.by_nmi |= option == 'n';
		wanted.by_interrupt |= option == 'i';
		if (option == 'l') {
			wanted.by = rollup_way(optarg);
			wanted.lists = true;
		}
		if (option == 'b' || option == 'B')
			wanted.rate = option == 'b' ? SAMPLE_RATE_DEFAULT : SAMPLE_RATE_MAX;
		if (option == '?')
			usage(usage_text);
	}
	if (words[optind] != NULL || (wanted.begins && wanted.halts) ||
	    (wanted.by_nmi && wanted.by_interrupt) || (wanted.lists && !wanted.dumps) ||
	    ((wanted.by_nmi || wanted.by_interrupt) && !wanted.begins))
		usage(usage_text);
	if (wanted.by == BY_NOTHING)
		report_exit(EXIT_USAGE, "-l: it is by process, command, job or user");
}

/* What could not be written is not reset. */
static bool act(void)
{
	return (!wanted.halts || halt()) && (!wanted.dumps || dump()) &&
	       (!wanted.resets || reset()) && (!wanted.begins || begin()) && tell();
}

int main(int count, char **words)
{
	program_start(words);
	read_options(count, words);
	if (host_find() == MACH_PORT_NULL || name_server_find() == MACH_PORT_NULL)
		return EXIT_FAILED;
	collector = collector_find(&collector_pid);
	return program_end(act() ? EXIT_DONE : EXIT_FAILED);
}
