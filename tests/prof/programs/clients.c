/* SPDX-License-Identifier: MIT */
/*
 * clients calls: two processes have the Unix server work for them, the first three times as much.
 * clients pages: they touch pages of files (/tmp/pages.three, /tmp/pages.one)
 * that were not in memory.
 *
 * Printed are the ids of their tasks (`three`, `one`) and of the server's, and when they began and
 * ended, by the clock that samples have.
 */
#include <assay.h>
#include <fcntl.h>
#include <mach.h>
#include <mach/map_fd.h>
#include <mach/task_info.h>
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

static const struct {
	const char *name;
	int share;
	const char *file;
} clients[CLIENTS] = {{"three", 3, "/tmp/pages.three"}, {"one", 1, "/tmp/pages.one"}};

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

static pid_t start(int client, int go, const char *what)
{
	pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	if (read(go, &byte, 1) != 1)
		fail("begin");
	if (strcmp(what, "calls") == 0)
		make_calls(clients[client].share);
	else
		touch_pages(clients[client].file, clients[client].share);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long long begin;
	int go[2], failed = 0, status;

	if (argc != 2 || pipe(go) != 0)
		return 2;
	printf("server %u\n", id_of(task_by_pid(0)));
	for (int n = 0; n < CLIENTS; n++)
		printf("%s %u\n", clients[n].name, id_of(task_by_pid(start(n, go[0], argv[1]))));
	fflush(stdout);
	begin = now();
	if (write(go[1], "go", CLIENTS) != CLIENTS)
		fail("let them begin");
	while (wait(&status) > 0)
		failed |= status;
	printf("begin %llu\nend %llu\n", begin, now());
	return failed != 0;
}
