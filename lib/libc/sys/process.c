/* SPDX-License-Identifier: MIT */
/* Calls on processes: their ends, their ids, what they have used. */
#include <mach.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../internal.h"
#include "call.h"

#define EXIT_TRIES 100 /* A second or two. */

/* Nothing more is to be done by this thread, and nobody sends to the port. */
static void await_end(void)
{
	mach_msg_header_t message;

	mach_msg(&message, MACH_RCV_MSG, 0, sizeof message, mach_reply_port(),
		 MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

/* The call has no answer: it is over when the process is. */
_Noreturn void _exit(int status)
{
	kern_return_t result = bsd_exit(ux_port(), status);

	/* Not for ever: what is out may be what its user may have in messages. */
	for (int tries = 0; tries < EXIT_TRIES && mach_await_memory(result); tries++)
		result = bsd_exit(ux_port(), status);
	if (result == KERN_SUCCESS)
		await_end();
	for (;;) /* There is no server. */
		syscall_task_terminate(mach_task_self_cached());
}

/* ---------------- Children ---------------- */

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	struct rusage unused;
	int ended = 0, how = 0;

	if (is_bad_option(status, sizeof *status) || is_bad_option(usage, sizeof *usage))
		return finish(EFAULT);
	if (usage == NULL)
		usage = &unused;
	if (finish(CALL(bsd_wait4, pid, options, &ended, &how, usage)) != 0)
		return -1;
	if (status != NULL && ended != 0)
		*status = how;
	return ended;
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait4(-1, status, options, usage);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

pid_t wait(int *status)
{
	return wait4(-1, status, 0, NULL);
}

/* ---------------- Ids ---------------- */

static identity_t identity(void)
{
	identity_t identity = {0};

	CALL(bsd_identity, &identity);
	return identity;
}

pid_t getpid(void)
{
	int pid = -1;

	CALL(bsd_getpid, &pid);
	return pid;
}

pid_t getppid(void)
{
	return identity().parent;
}

pid_t getpgrp(void)
{
	return identity().pgrp;
}

uid_t getuid(void)
{
	return identity().uid;
}

uid_t geteuid(void)
{
	return identity().euid;
}

gid_t getgid(void)
{
	return identity().gid;
}

gid_t getegid(void)
{
	return identity().egid;
}

int setuid(uid_t uid)
{
	return finish(CALL(bsd_setuid, uid));
}

int setgid(gid_t gid)
{
	return finish(CALL(bsd_setgid, gid));
}

int seteuid(uid_t uid)
{
	return finish(CALL(bsd_seteuid, uid));
}

int setegid(gid_t gid)
{
	return finish(CALL(bsd_setegid, gid));
}

int setpgid(pid_t pid, pid_t pgrp)
{
	return finish(CALL(bsd_setpgid, pid, pgrp));
}

int getgroups(int room, gid_t groups[])
{
	gid_t all[UX_GROUPS_MAX];
	mach_msg_type_number_t count = UX_GROUPS_MAX;

	if (finish(CALL(bsd_getgroups, all, &count)) != 0)
		return -1;
	if (room == 0)
		return (int)count;
	if (room < (int)count)
		return finish(EINVAL);
	if (is_bad(groups, count * sizeof *groups))
		return finish(EFAULT);
	for (unsigned i = 0; i < count; i++)
		groups[i] = all[i];
	return (int)count;
}

int setgroups(size_t count, const gid_t *groups)
{
	if (count > UX_GROUPS_MAX)
		return finish(EINVAL);
	if (is_bad(groups, count * sizeof *groups))
		return finish(EFAULT);
	return finish(CALL(bsd_setgroups, (gid_t *)(uintptr_t)groups, count));
}

/* ---------------- Times and tasks ---------------- */

int getrusage(int who, struct rusage *usage)
{
	if (is_bad(usage, sizeof *usage))
		return finish(EFAULT);
	return finish(CALL(bsd_getrusage, who, usage));
}

int getrlimit(int which, struct rlimit *limit)
{
	unsigned now = 0, most = 0;

	if (is_bad(limit, sizeof *limit))
		return finish(EFAULT);
	if (finish(CALL(bsd_getrlimit, which, &now, &most)) != 0)
		return -1;
	*limit = (struct rlimit){.rlim_cur = now, .rlim_max = most};
	return 0;
}

int setrlimit(int which, const struct rlimit *limit)
{
	if (is_bad(limit, sizeof *limit))
		return finish(EFAULT);
	return finish(CALL(bsd_setrlimit, which, limit->rlim_cur, limit->rlim_max));
}

mach_port_t task_by_pid(int pid)
{
	mach_port_t task = MACH_PORT_NULL;

	return finish(CALL(bsd_task_by_pid, pid, &task)) == 0 ? task : MACH_PORT_NULL;
}

mach_port_t ux_device_port(void)
{
	mach_port_t port = MACH_PORT_NULL;

	return finish(CALL(bsd_device_port, &port)) == 0 ? port : MACH_PORT_NULL;
}

int ux_processes(struct ux_process_info *info, int room)
{
	mach_msg_type_number_t size = 0;
	char *data = NULL;
	int count;

	if (finish(CALL(bsd_processes, &data, &size)) != 0)
		return -1;
	count = (int)(size / sizeof *info);
	for (int i = 0; i < count && i < room; i++)
		info[i] = ((struct ux_process_info *)(uintptr_t)data)[i];
	syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
	return count;
}

int ux_reboot(int how, int status)
{
	return finish(CALL(bsd_reboot, how, status));
}
