/* SPDX-License-Identifier: MIT */
/*
 * Has the Unix server do something later, between the markers of tools/hot, and stays until it is
 * done, or does not.  Both of two processes print what labels call them.
 *
 *	later stay	both write a file, the child twice as much, and live on
 *	later go	the child writes and has ended when it is written back
 *	later sync	the child writes, and its parent asks for it to be written back
 *	later timer	the child has a timer expire, and its parent none
 *	later nap	the child waits for a time, by the kernel alone, and its parent does not
 *	later swap	the parent needs the memory that the child has used
 *	later kill	the parent sends the child a signal, for which that has a handler
 */
#include <assay.h>
#include <fcntl.h>
#include <mach.h>
#include <mach/task_info.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK    1024
#define BLOCKS   60
#define TIMES    5 /* That the timer expires, or a signal is sent. */
#define US_EACH  2000
#define PAGES    2048 /* That the child uses, */
#define PAGEOUTS 256  /* and of all that are used so many are to be put away. */
#define SETTLED  3    /* Seconds, after which all that was changed has been written back. */

static volatile sig_atomic_t signals;

static void must(bool success, const char *what)
{
	if (success)
		return;
	perror(what);
	exit(1);
}

static void count_signal(int signal)
{
	(void)signal;
	signals++;
}

static void print_label(const char *who)
{
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	task_info(mach_task_self(), TASK_ID_INFO, (task_info_t)&info, &count);
	printf("%s %u\n", who, info.id);
	fflush(stdout);
}

static void write_blocks(int file, unsigned blocks)
{
	static char block[BLOCK];

	while (blocks-- > 0)
		must(write(file, block, sizeof block) == sizeof block, "write");
}

/* Without asking the server for anything, so that no call of the process's delivers them. */
static void await_signals(void)
{
	while (signals < TIMES)
		continue;
}

static void expire(void)
{
	const struct timeval each = {.tv_usec = US_EACH};
	const struct itimerval timer = {each, each}, stopped = {{0, 0}, {0, 0}};

	must(setitimer(ITIMER_REAL, &timer, NULL) == 0, "setitimer");
	await_signals();
	must(setitimer(ITIMER_REAL, &stopped, NULL) == 0, "setitimer");
}

static unsigned pageouts(void)
{
	struct vm_statistics statistics = {0};

	must(vm_statistics(mach_task_self(), &statistics) == KERN_SUCCESS, "vm_statistics");
	return statistics.pageouts;
}

static void use_memory(unsigned pages)
{
	size_t size = (size_t)getpagesize();
	volatile char *memory = malloc(pages * size);

	must(memory != NULL, "malloc");
	while (pages-- > 0)
		memory[pages * size] = 1;
}

static void use_memory_that_is_used(void)
{
	unsigned enough = pageouts() + PAGEOUTS;

	while (pageouts() < enough)
		use_memory(PAGES / 64);
}

static void nap(void)
{
	for (int n = 0; n < TIMES; n++)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, US_EACH / 1000);
}

/* What the child does of it; `go` is closed when it is to begin. */
static _Noreturn void be_child(const char *mode, int go, int file)
{
	char byte;

	print_label("child");
	if (strcmp(mode, "swap") == 0)
		use_memory(PAGES);
	must(read(go, &byte, 1) == 0, "read");
	if (strcmp(mode, "timer") == 0)
		expire();
	else if (strcmp(mode, "nap") == 0)
		nap();
	else if (strcmp(mode, "kill") == 0)
		await_signals();
	else if (strcmp(mode, "swap") == 0)
		must(close(file) == 0, "close");
	else
		write_blocks(file, 2 * BLOCKS);
	if (strcmp(mode, "stay") == 0 || strcmp(mode, "swap") == 0)
		sleep(SETTLED);
	_exit(0);
}

/* What its parent does meanwhile. */
static void be_parent(const char *mode, pid_t child, int file)
{
	pid_t found = 0;

	if (strcmp(mode, "stay") == 0)
		write_blocks(file, BLOCKS);
	else if (strcmp(mode, "swap") == 0)
		use_memory_that_is_used();
	for (int n = 0; strcmp(mode, "kill") == 0 && n < TIMES; n++) {
		usleep(US_EACH);
		must(kill(child, SIGUSR1) == 0, "kill");
	}
	while (strcmp(mode, "nap") == 0 && (found = waitpid(child, NULL, WNOHANG)) == 0)
		continue;
	if (found == 0)
		found = waitpid(child, NULL, 0);
	must(found == child, "waitpid");
	if (strcmp(mode, "sync") == 0)
		sync();
	else if (strcmp(mode, "go") == 0)
		sleep(SETTLED);
}

int main(int argc, char **argv)
{
	int files[2], go[2];
	pid_t child;

	must(argc == 2, "usage: later stay|go|sync|timer|nap|swap|kill");
	files[0] = open("/tmp/later.parent", O_CREAT | O_WRONLY, 0600);
	files[1] = open("/tmp/later.child", O_CREAT | O_WRONLY, 0600);
	must(files[0] >= 0 && files[1] >= 0 && pipe(go) == 0, "open");
	signal(SIGALRM, count_signal);
	signal(SIGUSR1, count_signal);
	print_label("parent");
	child = fork();
	must(child >= 0, "fork");
	close(go[child == 0]);
	if (child == 0)
		be_child(argv[1], go[0], files[1]);
	sleep(SETTLED);
	hot_start();
	close(go[1]);
	be_parent(argv[1], child, files[0]);
	hot_stop();
	return 0;
}
