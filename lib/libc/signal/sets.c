/* SPDX-License-Identifier: MIT */
/* Sets of signals. */
#include <errno.h>
#include <signal.h>

static int is_signal(int signal)
{
	if (signal > 0 && signal < NSIG)
		return 1;
	errno = EINVAL;
	return 0;
}

int sigemptyset(sigset_t *set)
{
	*set = 0;
	return 0;
}

int sigfillset(sigset_t *set)
{
	*set = ~(sigset_t)0;
	return 0;
}

int sigaddset(sigset_t *set, int signal)
{
	if (!is_signal(signal))
		return -1;
	*set |= SIGNAL_BIT(signal);
	return 0;
}

int sigdelset(sigset_t *set, int signal)
{
	if (!is_signal(signal))
		return -1;
	*set &= ~SIGNAL_BIT(signal);
	return 0;
}

int sigismember(const sigset_t *set, int signal)
{
	if (!is_signal(signal))
		return -1;
	return (*set & SIGNAL_BIT(signal)) != 0;
}
