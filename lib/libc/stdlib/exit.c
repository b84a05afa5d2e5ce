/* SPDX-License-Identifier: MIT */
/*
 * The end of a program: functions that are to be called, then the streams, then a profile if one is
 * made of it, then the system's exit.
 *
 * `lock` guards the two lists.  It is not held while a function runs: that may register another,
 * which is then the next.
 */
#include <signal.h>
#include <stdlib.h>

#include "../internal.h"

#define AT_ONCE 32 /* Functions in one block; the first is there without malloc. */

struct exit_block {
	struct exit_block *older;
	unsigned count;
	void (*functions[AT_ONCE])(void);
};

struct exit_list {
	struct exit_block first;
	struct exit_block *newest; /* NULL stands for the first. */
};

static libc_lock_t lock = LIBC_LOCK_INITIALIZER;
static struct exit_list at_exit;
static struct exit_list at_quick;

/* The block with room for another function; NULL if there is no memory.  The lock is held. */
static struct exit_block *block_with_room(struct exit_list *list)
{
	struct exit_block *block = list->newest != NULL ? list->newest : &list->first;

	if (block->count < AT_ONCE)
		return block;
	block = calloc(1, sizeof(*block));
	if (block == NULL)
		return NULL;
	block->older = list->newest != NULL ? list->newest : &list->first;
	list->newest = block;
	return block;
}

static int add(struct exit_list *list, void (*function)(void))
{
	struct exit_block *block;

	__lock(&lock);
	block = block_with_room(list);
	if (block != NULL)
		block->functions[block->count++] = function;
	__unlock(&lock);
	return block != NULL ? 0 : -1;
}

/* Takes the function that was added last; NULL if there is none any more. */
static void (*take(struct exit_list *list))(void)
{
	void (*function)(void) = NULL;
	struct exit_block *block;

	__lock(&lock);
	block = list->newest != NULL ? list->newest : &list->first;
	while (block->count == 0 && block->older != NULL)
		block = list->newest = block->older;
	if (block->count > 0)
		function = block->functions[--block->count];
	__unlock(&lock);
	return function;
}

static void run(struct exit_list *list)
{
	void (*function)(void);

	while ((function = take(list)) != NULL)
		function();
}

int atexit(void (*function)(void))
{
	return add(&at_exit, function);
}

int at_quick_exit(void (*function)(void))
{
	return add(&at_quick, function);
}

void __run_atexit(void)
{
	run(&at_exit);
}

void exit(int status)
{
	__run_atexit();
	__stdio_exit();
	if (__profile_exit != NULL)
		__profile_exit();
	_exit(status);
}

void quick_exit(int status)
{
	run(&at_quick);
	_exit(status);
}

void _Exit(int status)
{
	_exit(status);
}

/* A handler of SIGABRT may run, and may not come back; if it does, the default ends the program. */
void abort(void)
{
	sigset_t set;
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigemptyset(&set);
	sigaddset(&set, SIGABRT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGABRT);
	sigaction(SIGABRT, &action, NULL);
	raise(SIGABRT);
	_exit(127);
}
