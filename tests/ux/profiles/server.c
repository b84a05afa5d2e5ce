/* SPDX-License-Identifier: MIT */
/*
 * Profiles the Unix server while it works for this program:
 *
 *     server FLAVORS FILE calls|swap
 *
 * The profile is in FILE; printed is what the status said.  Exit status 3: the server has no
 * profiling; 4: not for this user.
 */
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <mach/task_info.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ux/bsd.h>

enum {
	RATE = 10000,
	CALLS = 3000,
	MEGABYTES = 20,
	MEGABYTE = 1 << 20
};

static int fail(const char *what, kern_return_t result)
{
	printf("%s: %d\n", what, result);
	return result == ENOTSUP ? 3 : result == EPERM ? 4 : 1;
}

/* So many calls of one kind that a profile with call counts can be checked to the one. */
static void make_calls(void)
{
	struct stat status;

	for (int n = 0; n < CALLS; n++)
		stat("/home/student/../../etc/passwd", &status);
}

/* More than there is memory: when it is written, what comes first is not there any more. */
static void write_what_was_swapped(void)
{
	char *memory = malloc(MEGABYTES * MEGABYTE);
	int null = open("/dev/null", O_WRONLY);

	if (memory == NULL || null < 0)
		exit(1);
	for (size_t at = 0; at < (size_t)MEGABYTES * MEGABYTE; at += 4096)
		memory[at] = (char)(at >> 12 | 1);
	for (size_t at = 0; at < (size_t)MEGABYTES * MEGABYTE; at += MEGABYTE / 2) {
		if (write(null, memory + at, MEGABYTE / 2) != MEGABYTE / 2)
			exit(1);
	}
	if (system("/bin/ls -l / | /bin/wc -l") != 0)
		exit(1);
}

/* Page-ins of the server's task, as the kernel counts them. */
static unsigned pageins(void)
{
	struct task_events_info events = {0};
	mach_msg_type_number_t count = TASK_EVENTS_INFO_COUNT;
	mach_port_t task = task_by_pid(0);

	task_info(task, TASK_EVENTS_INFO, (task_info_t)&events, &count);
	mach_port_deallocate(mach_task_self(), task);
	return (unsigned)events.pageins;
}

static int save(const char *path)
{
	mach_msg_type_number_t size = 0;
	char *data = NULL;
	kern_return_t result = bsd_gprof_mon_dump(ux_server_port(), &data, &size);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (result != KERN_SUCCESS)
		return fail("dump", result);
	if (file < 0 || write(file, data, size) != (ssize_t)size || close(file) != 0)
		return fail(path, errno);
	return 0;
}

static int end(const char *path, unsigned before)
{
	struct gprof_status status;
	unsigned flavors = 0, counted = pageins() - before;
	kern_return_t result = bsd_gprof_mon_switch(ux_server_port(), &flavors);

	if (result != KERN_SUCCESS)
		return fail("off", result);
	result = bsd_gprof_mon_status(ux_server_port(), &status);
	if (result != KERN_SUCCESS)
		return fail("status", result);
	printf("were %u are %u arcs %u task %u lost %u taken %u pageins %u\n", flavors,
	       status.flavors, status.arcs, status.task, status.lost[0], status.taken[0], counted);
	return save(path);
}

int main(int argc, char **argv)
{
	struct gprof_options options = {.rate = RATE};
	unsigned flavors, before;
	kern_return_t result;

	if (argc != 4)
		return 2;
	flavors = (unsigned)strtoul(argv[1], NULL, 0);
	result = bsd_gprof_mon_options(ux_server_port(), options);
	if (result != KERN_SUCCESS)
		return fail("options", result);
	before = pageins();
	result = bsd_gprof_mon_switch(ux_server_port(), &flavors);
	if (result != KERN_SUCCESS)
		return fail("on", result);
	if (strcmp(argv[3], "calls") == 0)
		make_calls();
	else
		write_what_was_swapped();
	return end(argv[2], before);
}
