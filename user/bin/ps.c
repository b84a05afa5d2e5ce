/* SPDX-License-Identifier: MIT */
/* ps: lists processes. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ux.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "ps [-al]"

static bool shows_all, is_long;

static void print_user(uid_t uid)
{
	const struct passwd *entry = getpwuid(uid);

	if (entry != NULL)
		printf("%-8.8s", entry->pw_name);
	else
		printf("%-8lu", (unsigned long)uid);
}

static void print_title(void)
{
	if (is_long)
		puts("USER       PID  PPID  PGRP TASK THR S       TIME    RES   SIZE COMMAND");
	else
		puts("USER       PID  PPID S       TIME COMMAND");
}

static void print_process(const struct ux_process_info *info)
{
	unsigned milliseconds = info->user_ms + info->system_ms;

	print_user(info->uid);
	printf(" %5ld %5ld", (long)info->pid, (long)info->ppid);
	if (is_long)
		printf(" %5ld %4u %3u", (long)info->pgrp, (unsigned)info->task_id,
		       (unsigned)info->threads);
	printf(" %c %6u.%03u", (int)info->state, milliseconds / 1000, milliseconds % 1000);
	if (is_long)
		printf(" %5uK %5uK", (unsigned)info->resident / 1024, (unsigned)info->size / 1024);
	printf(" %.*s\n", (int)sizeof(info->command), info->command);
}

int main(int count, char **arguments)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int option, found;

	program_start(arguments);
	while ((option = getopt(count, arguments, "al")) != -1) {
		if (option == '?')
			usage(USAGE);
		shows_all |= option == 'a';
		is_long |= option == 'l';
	}
	if (optind < count)
		usage(USAGE);
	found = ux_processes(processes, UX_PROCESSES_MAX);
	if (found < 0) {
		report_errno("list of processes");
		return 1;
	}
	print_title();
	for (int i = 0; i < found && i < UX_PROCESSES_MAX; i++)
		if (shows_all || processes[i].uid == geteuid())
			print_process(&processes[i]);
	return program_end(0);
}
