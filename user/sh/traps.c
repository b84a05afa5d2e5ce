/* SPDX-License-Identifier: MIT */
/*
 * Traps: actions for signals and for the shell's end.
 *
 * A handler only notes that its signal came.  Actions are executed between commands, and `wait`
 * ends early for them.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"
#include "sh.h"
#include "signals.h"

#define TRAP_EXIT 0
#define SIGNALS   65

static char *actions[SIGNALS];    /* NULL: as it was; "": ignored. */
static bool is_known[SIGNALS];    /* It has been asked */
static bool was_ignored[SIGNALS]; /* whether it was ignored when the shell began: then no trap. */
static volatile sig_atomic_t arrived[SIGNALS];
static volatile sig_atomic_t any_arrived; /* So that asking costs little. */
static sigset_t held;

static void note_signal(int signal)
{
	arrived[signal] = 1;
	any_arrived = 1;
}

/* Before the shell does anything to the signal. */
static void ask_ignored(int number)
{
	struct sigaction action;

	if (is_known[number])
		return;
	is_known[number] = true;
	was_ignored[number] = sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* An interactive shell notes interrupts; it is not ended by signals that end its commands. */
static void set_signal(int number)
{
	bool is_prompting = shell.is_interactive && !shell.is_forked;
	struct sigaction action = {.sa_handler = SIG_DFL};

	ask_ignored(number);
	sigemptyset(&action.sa_mask);
	/* Only a prompt is to be interrupted; output of builtins must not be. */
	if (!is_prompting || number == SIGCHLD)
		action.sa_flags = SA_RESTART;
	if (actions[number] != NULL)
		action.sa_handler = *actions[number] != '\0' ? note_signal : SIG_IGN;
	else if (number == SIGCHLD || (is_prompting && number == SIGINT))
		action.sa_handler = note_signal;
	else if ((is_prompting && (number == SIGQUIT || number == SIGTERM)) || was_ignored[number])
		action.sa_handler = SIG_IGN;
	if (number != SIGKILL && number != SIGSTOP && sigaction(number, &action, NULL) != 0)
		complain("trap: signal %d: %s", number, strerror(errno));
}

void traps_start(void)
{
	ask_ignored(SIGINT);
	ask_ignored(SIGQUIT);
	ask_ignored(SIGTERM);
	set_signal(SIGCHLD);
	if (shell.is_interactive) {
		set_signal(SIGINT);
		set_signal(SIGQUIT);
		set_signal(SIGTERM);
	}
}

static void run_action(const char *action)
{
	int status = shell.status;
	enum skip skip = shell.skip;
	char *copy = region_copy(&scratch, action, strlen(action));

	shell.skip = SKIP_NOTHING;
	run_string(copy, false);
	if (shell.skip == SKIP_NOTHING) {
		shell.skip = skip;
		shell.status = status;
	}
}

static void note_again(int number)
{
	arrived[number] = 0;
	if (number == SIGINT && actions[number] == NULL && shell.is_interactive) {
		fputc('\n', stderr);
		shell.skip = SKIP_NOTHING;
		abandon(STATUS_SIGNAL + SIGINT);
	}
	if (actions[number] != NULL && *actions[number] != '\0')
		run_action(actions[number]);
}

void traps_run(void)
{
	if (!any_arrived)
		return;
	any_arrived = 0;
	for (int number = 1; number < SIGNALS; number++)
		if (arrived[number])
			note_again(number);
}

int traps_first_pending(void)
{
	for (int number = 1; number < SIGNALS; number++)
		if (arrived[number] && (actions[number] != NULL || number == SIGINT))
			return number;
	return 0;
}

void traps_note_interrupt(void)
{
	if (shell.is_interactive && !shell.is_forked)
		note_signal(SIGINT);
}

void traps_hold(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &held);
}

void traps_wait_signal(void)
{
	sigsuspend(&held);
}

void traps_let_go(void)
{
	sigprocmask(SIG_SETMASK, &held, NULL);
}

static void forget(int number)
{
	free(actions[number]);
	actions[number] = NULL;
	arrived[number] = 0;
}

/* Ignored stays ignored; what had an action ends a subshell as it ends any program. */
void traps_reset_in_child(enum child kind)
{
	for (int number = 0; number < SIGNALS; number++) {
		bool had_handler = actions[number] != NULL && *actions[number] != '\0';

		if (had_handler)
			forget(number);
		if (number != TRAP_EXIT &&
		    (had_handler || number == SIGINT || number == SIGQUIT || number == SIGTERM))
			set_signal(number);
	}
	if (kind == CHILD_BACKGROUND) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
}

void traps_run_exit(void)
{
	char *action = actions[TRAP_EXIT];

	actions[TRAP_EXIT] = NULL;
	if (action != NULL && *action != '\0')
		run_action(action);
	free(action);
}

bool traps_any(void)
{
	for (int number = 0; number < SIGNALS; number++)
		if (actions[number] != NULL && *actions[number] != '\0')
			return true;
	return false;
}

static void print_trap(int number)
{
	printf("trap -- '");
	for (const char *character = actions[number]; *character != '\0'; character++) {
		if (*character == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*character);
	}
	printf("' %s\n", number == TRAP_EXIT ? "EXIT" : signal_name(number));
}

/* EXIT, a name with or without SIG, or a number; -1 if it is none. */
static int trap_number(const char *name)
{
	return strcmp(name, "EXIT") == 0 || strcmp(name, "0") == 0 ? TRAP_EXIT
								   : signal_number(name);
}

static int set_trap(const char *name, const char *action)
{
	int number = trap_number(name);

	if (number < 0 || number >= SIGNALS) {
		complain("trap: %s: no such signal", name);
		return 1;
	}
	forget(number);
	if (action != NULL)
		actions[number] = heap_copy(action);
	if (number == TRAP_EXIT)
		return 0;
	ask_ignored(number);
	if (was_ignored[number] && !shell.is_interactive)
		forget(number);
	else
		set_signal(number);
	return 0;
}

int builtin_trap(int count, char **arguments)
{
	int first = count > 1 && strcmp(arguments[1], "--") == 0 ? 2 : 1;
	const char *action = NULL;
	int status = 0;

	if (first == count) {
		for (int number = 0; number < SIGNALS; number++)
			if (actions[number] != NULL)
				print_trap(number);
		return 0;
	}
	if (strcmp(arguments[first], "-") == 0)
		first++;
	else if (count - first > 1 &&
		 strspn(arguments[first], "0123456789") != strlen(arguments[first]))
		action = arguments[first++];
	else if (count - first > 1 && *arguments[first] == '\0')
		action = arguments[first++];
	for (; first < count; first++)
		status |= set_trap(arguments[first], action);
	return status;
}
