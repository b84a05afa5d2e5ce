/* SPDX-License-Identifier: MIT */
/*
 * clients calls: two processes have the Unix server work for them, the first three times as much.
 * clients pages: they touch pages of files (/tmp/pages.three, /tmp/pages.one)
 * that were not in memory.
 * clients swap: they have the server read memory of theirs that was paged out, as they have more of
 * it than there is.
 *
 * Printed are the ids of their tasks (`three`, `one`) and of the server's, and when their work
 * began and ended, by the clock that samples have.
 */
#include <assay.h>
#include <fcntl.h>
#include <mach.h>
#include <mach/map_fd.h>
#include <mach/task_info.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS 2
#define CALLS   10000
#define PAGES   500
#define SWAPPED 1500 /* Pages. */

static const struct {
	const char *name;
	int share;
	const char *file;
} clients[CLIENTS] = {{"three", 3, "/tmp/pages.three"}, {"one", 1, "/tmp/pages.one"}};

static int ready[2], go[2], leave[2]; /* Pipes: two from main(), and one to it. */

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "clients: cannot %s\n", what);
	exit(1);
}

static unsigned id_of(mach_port_t task)
{
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	if (task_info(task, TASK_ID_INFO, (task_info_t)&info, &count) != KERN_SUCCESS)
		fail("get the id of a task");
	return info.id;
}

static unsigned long long now(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	return nanos;
}

/* Each call has the server look for the same file. */
static void make_calls(int n)
{
	struct stat status;

	for (int call = 0; call < n * CALLS; call++)
		if (stat("/etc/passwd", &status) != 0)
			fail("look at a file");
}

static void touch_pages(const char *file, int n)
{
	vm_offset_t address = 0;
	int fd = open(file, O_RDONLY);

	if (map_fd(fd, 0, &address, TRUE, n * PAGES * PAGE_SIZE) != KERN_SUCCESS)
		fail("map a file");
	for (int page = 0; page < n * PAGES; page++)
		(void)*(volatile char *)(address + page * PAGE_SIZE);
}

static char *new_pages(int n)
{
	char *memory = malloc(n * SWAPPED * PAGE_SIZE);

	if (memory == NULL)
		fail("have so much memory");
	for (int page = 0; page < n * SWAPPED; page++)
		memory[page * PAGE_SIZE] = 1;
	return memory;
}

/* The server copies it from there. */
static void write_pages(const char *memory, int n)
{
	int fd = open("/dev/null", O_WRONLY);

	for (int part = 0; part < n; part++)
		if (write(fd, memory + part * SWAPPED * PAGE_SIZE, SWAPPED * PAGE_SIZE) < 0)
			fail("write");
}

/*
 * Works, and ends only when both have: what the server does about an exit, and the memory that is
 * left by it, is for nobody.
 */
static _Noreturn void work(int client, const char *what)
{
	bool swaps = strcmp(what, "swap") == 0;
	char *memory = swaps ? new_pages(clients[client].share) : NULL;
	char byte = 0;

	if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
		fail("begin");
	if (strcmp(what, "calls") == 0)
		make_calls(clients[client].share);
	else if (swaps)
		write_pages(memory, clients[client].share);
	else
		touch_pages(clients[client].file, clients[client].share);
	if (write(ready[1], &byte, 1) != 1 || read(leave[0], &byte, 1) != 1)
		fail("end");
	_exit(0);
}

static void wait_for_one(void)
{
	char byte;

	if (read(ready[0], &byte, 1) != 1)
		fail("wait for a client");
}

/*
 * Starts both; they have begun when it returns, but for their work.  The one with more memory comes
 * last, and pages out the other's.
 */
static void start(const char *what)
{
	for (int n = CLIENTS - 1; n >= 0; n--) {
		pid_t pid = fork();

		if (pid == 0)
			work(n, what);
		printf("%s %u\n", clients[n].name, id_of(task_by_pid(pid)));
		wait_for_one();
	}
	fflush(stdout);
}

static void let_both(int pipe)
{
	if (write(pipe, "go", CLIENTS) != CLIENTS)
		fail("let them go on");
}

int main(int argc, char **argv)
{
	int failed = 0, status;
	unsigned long long begin, end;

	if (argc != 2 || pipe(ready) != 0 || pipe(go) != 0 || pipe(leave) != 0)
		return 2;
	printf("server %u\n", id_of(task_by_pid(0)));
	fflush(stdout);
	start(argv[1]);
	begin = now();
	let_both(go[1]);
	for (int n = 0; n < CLIENTS; n++)
		wait_for_one();
	end = now();
	let_both(leave[1]);
	while (wait(&status) > 0)
		failed |= status;
	printf("begin %llu\nend %llu\n", begin, end);
	return failed != 0;
}
