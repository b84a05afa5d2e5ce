/* SPDX-License-Identifier: MIT */
/* Names of signals. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/common.h"

#define REAL_TIME   32 /* The first real-time signal, whatever a library keeps for itself, */
#define LAST        64 /* and the last. */
#define FROM_BEFORE 15 /* So many are named after the first, the rest after the last. */

static const char *const names[REAL_TIME] = {
	[SIGHUP] = "HUP",   [SIGINT] = "INT",       [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
	[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",
	[SIGKILL] = "KILL", [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
	[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",     [SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT",
	[SIGCHLD] = "CHLD", [SIGCONT] = "CONT",     [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
	[SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",     [SIGURG] = "URG",   [SIGXCPU] = "XCPU",
	[SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
	[SIGIO] = "IO",     [SIGPWR] = "PWR",       [SIGSYS] = "SYS",
};

/* RTMIN+3, RTMAX-1 and their like; good until the next one. */
static const char *real_time_name(int number)
{
	static char name[sizeof "RTMIN+15"];

	if (number == REAL_TIME)
		return "RTMIN";
	if (number == LAST)
		return "RTMAX";
	if (number <= REAL_TIME + FROM_BEFORE)
		snprintf(name, sizeof name, "RTMIN+%d", number - REAL_TIME);
	else
		snprintf(name, sizeof name, "RTMAX-%d", LAST - number);
	return name;
}

const char *signal_name(int number)
{
	if (number <= 0 || number > LAST)
		return NULL;
	return number < REAL_TIME ? names[number] : real_time_name(number);
}

int signal_number(const char *name)
{
	long long number;

	if (parse_number(name, &number))
		return number >= 0 && number <= LAST ? (int)number : -1;
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (int i = 1; i <= LAST; i++)
		if (strcmp(signal_name(i), name) == 0)
			return i;
	return -1;
}
