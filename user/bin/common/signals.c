/* SPDX-License-Identifier: MIT */
/* Names of signals. */
#include <signal.h>
#include <string.h>

#include "common/common.h"

#define SIGNALS 32

static const char *const names[SIGNALS] = {
	[SIGHUP] = "HUP",   [SIGINT] = "INT",       [SIGQUIT] = "QUIT",   [SIGILL] = "ILL",
	[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",     [SIGFPE] = "FPE",
	[SIGKILL] = "KILL", [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",   [SIGUSR2] = "USR2",
	[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",     [SIGTERM] = "TERM",   [SIGCHLD] = "CHLD",
	[SIGCONT] = "CONT", [SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",   [SIGTTIN] = "TTIN",
	[SIGTTOU] = "TTOU", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",   [SIGURG] = "URG",
	[SIGIO] = "IO",     [SIGSYS] = "SYS",       [SIGWINCH] = "WINCH", [SIGXCPU] = "XCPU",
	[SIGXFSZ] = "XFSZ",
};

int signal_number(const char *name)
{
	long long number;

	if (parse_number(name, &number))
		return number >= 0 && number < SIGNALS ? (int)number : -1;
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (int i = 1; i < SIGNALS; i++)
		if (names[i] != NULL && strcmp(names[i], name) == 0)
			return i;
	return -1;
}

const char *signal_name(int number)
{
	return number > 0 && number < SIGNALS ? names[number] : NULL;
}
