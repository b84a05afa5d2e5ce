/* SPDX-License-Identifier: MIT */
/*
 * The collector: a process in the background that receives the host's samples and keeps those of
 * the kernel, by the kernel's own program counters (<prof/collector.h>).
 *
 * It ends by a signal, and what it has with it.  The kernel then ends the stream, since nobody
 * receives it any more, and the name server forgets the name.
 */
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <unistd.h>

#include "lib/elfsym/elfsym.h"
#include <prof/collector.h>
#include <servers/netname.h>

#include "common/common.h"
#include "common/name_server.h"
#include "hostprof.h"

/* The context of its collector. */
struct kernel_profile {
	struct prof_collector *collector;
	mach_port_t host;
	mach_port_t news_port; /* In the collector's set: that there is another name server. */
};

static kern_return_t begin_host(void *context, uint32_t flavors, uint32_t rate,
				sample_options_t options, mach_port_t reply)
{
	const struct kernel_profile *profile = context;

	return host_sample_start(profile->host, 0, flavors, rate, options, reply);
}

static kern_return_t end_host(void *context, mach_port_t reply)
{
	const struct kernel_profile *profile = context;

	return host_sample_stop(profile->host, reply);
}

static kern_return_t flush_host(void *context, mach_port_t reply, uint64_t *delivered)
{
	const struct kernel_profile *profile = context;

	return host_sample_flush(profile->host, reply, delivered);
}

/* ---------------- Where the kernel's text is ---------------- */

static bool find_text(struct prof_collector_target *target)
{
	struct elfsym elf;
	const char *wrong = elfsym_open(&elf, target->image, target->image_size);

	if (wrong != NULL) {
		report("%s: %s; put the kernel that runs there", KERNEL_FILE, wrong);
		return false;
	}
	target->low = (uint32_t)elf.text_start;
	target->high = (uint32_t)elf.text_end;
	elfsym_close(&elf);
	return true;
}

/* The file stays in memory, for whoever prepares the target. */
static bool read_kernel(struct prof_collector_target *target)
{
	int descriptor = open_input(KERNEL_FILE);
	struct stat status = {0};
	void *image;
	bool done;

	if (descriptor < 0)
		return false;
	fstat(descriptor, &status);
	image = allocate((size_t)status.st_size + 1);
	done = read_bytes(descriptor, image, (size_t)status.st_size);
	if (!done)
		report_errno(KERNEL_FILE);
	close_input(descriptor);
	target->image = image;
	target->image_size = (size_t)status.st_size;
	return done && find_text(target);
}

/* ---------------- The process ---------------- */

/* Says nothing: it is in the background. */
static kern_return_t check_in(const struct kernel_profile *profile)
{
	kern_return_t result;
	mach_port_t server;

	netname_watch(ux_server_port(), profile->news_port, &server);
	result = netname_check_in(server, KERNEL_NAME, ux_server_port(),
				  prof_collector_public_port(profile->collector));
	if (MACH_PORT_VALID(server))
		mach_port_deallocate(mach_task_self_cached(), server);
	return result;
}

static void hear(void *context, mach_msg_header_t *message)
{
	if (netname_is_next(message))
		check_in(context);
	else
		mach_msg_destroy(message);
}

static bool prepare(struct kernel_profile *profile)
{
	struct prof_collector_target target = {
		.pid = PID_KERNEL,
		.proxy = (uint32_t)getpid(),
		.of_kernel = true,
		.owner_only = true,
		.context = profile,
		.begin = begin_host,
		.end = end_host,
		.flush = flush_host,
		.other = hear,
	};

	profile->host = host_find();
	if (profile->host == MACH_PORT_NULL || !read_kernel(&target))
		return false;
	if (ux_gprof_token(0, target.token) != 0) {
		report_errno("the token that only root is to know");
		return false;
	}
	if (prof_collector_make(&target, &profile->collector) == KERN_SUCCESS &&
	    prof_collector_add_port(profile->collector, &profile->news_port) == KERN_SUCCESS)
		return true;
	report("no memory left to sample with");
	return false;
}

static bool become_known(const struct kernel_profile *profile)
{
	kern_return_t result;

	if (name_server_find() == MACH_PORT_NULL)
		return false;
	result = check_in(profile);
	if (result == NETNAME_NOT_YOURS)
		report("the name %s is another process's: end that one first", KERNEL_NAME);
	else if (result != NETNAME_SUCCESS)
		report("the name server refuses %s: error %d", KERNEL_NAME, result);
	return result == NETNAME_SUCCESS;
}

/* It is nobody's job, and nobody waits for what it might print. */
static void go_to_background(void)
{
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	signal(SIGHUP, SIG_IGN);
	for (int descriptor = 0; null >= 0 && descriptor <= STDERR_FILENO; descriptor++)
		dup2(null, descriptor);
	if (null > STDERR_FILENO)
		close(null);
}

static _Noreturn void run(int ready_end)
{
	struct kernel_profile profile = {0};

	if (!prepare(&profile) || !become_known(&profile))
		exit(EXIT_FAILED);
	go_to_background();
	write_all(ready_end, ".", 1);
	close(ready_end);
	while (prof_collector_serve(profile.collector, MACH_MSG_TIMEOUT_NONE) == KERN_SUCCESS)
		continue;
	exit(EXIT_FAILED);
}

bool collector_start(void)
{
	char byte;
	int ends[2];
	pid_t pid;
	bool done;

	if (pipe(ends) != 0 || (pid = fork()) < 0) {
		report_errno("the collector cannot be started");
		return false;
	}
	if (pid == 0) {
		close(ends[0]);
		run(ends[1]);
	}
	close(ends[1]);
	done = read(ends[0], &byte, 1) == 1;
	close(ends[0]);
	return done;
}
