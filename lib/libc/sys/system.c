/* SPDX-License-Identifier: MIT */
/* What the system is like: names and limits. */
#include <limits.h>
#include <mach.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../internal.h"
#include "call.h"

#define TICKS_PER_SECOND 100

bool swtch(void);

/* A name that does not fit is cut. */
static int ask(int number, char *to)
{
	const int mib[] = {CTL_KERN, number};
	size_t room = _UTSNAME_SIZE - 1;

	return sysctl(mib, 2, to, &room, NULL, 0) == 0 || errno == ENOMEM ? 0 : -1;
}

int uname(struct utsname *names)
{
	if (is_bad(names, sizeof *names))
		return finish(EFAULT);
	*names = (struct utsname){.machine = "i386"};
	if (ask(KERN_OSTYPE, names->sysname) != 0 || ask(KERN_HOSTNAME, names->nodename) != 0 ||
	    ask(KERN_OSRELEASE, names->release) != 0 || ask(KERN_VERSION, names->version) != 0)
		return -1;
	return 0;
}

/* Processors of the machine; those that are there are also used. */
static long processors(void)
{
	struct host_basic_info info = {0};
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;
	mach_port_t host = mach_host_self();
	kern_return_t result = host_info(host, HOST_BASIC_INFO, (host_info_t)&info, &count);

	syscall_mach_port_deallocate(mach_task_self_cached(), host);
	return result == KERN_SUCCESS ? info.avail_cpus : 1;
}

long sysconf(int what)
{
	switch (what) {
	case _SC_CLK_TCK:
		return TICKS_PER_SECOND;
	case _SC_OPEN_MAX:
		return UX_OPEN_MAX;
	case _SC_PAGESIZE:
		return LIBC_PAGE;
	case _SC_ARG_MAX:
		return UX_ARGUMENTS_MAX;
	case _SC_CHILD_MAX:
		return UX_PROCESSES_MAX;
	case _SC_NGROUPS_MAX:
		return UX_GROUPS_MAX;
	case _SC_HOST_NAME_MAX:
		return _UTSNAME_SIZE;
	case _SC_NPROCESSORS_CONF:
	case _SC_NPROCESSORS_ONLN:
		return processors();
	default:
		return finish(EINVAL);
	}
}

int getpagesize(void)
{
	return LIBC_PAGE;
}

/* To threads of the same priority; swtch_pri() would wait until none of it wants the CPU. */
int sched_yield(void)
{
	swtch();
	return 0;
}

/* There is one terminal. */
char *ttyname(int fd)
{
	static char console[] = "/dev/console";

	return isatty(fd) ? console : NULL;
}
