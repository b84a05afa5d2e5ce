/* SPDX-License-Identifier: MIT */
/* The table of calls.  See calls.h. */
#include "calls.h"

#include <stddef.h>

#include "names.h"

/* The host has a header of this name for its own calls. */
#include "../../include/sys/syscall.h"

#define NOTHING  KTRACE_NONE
#define NUMBER   KTRACE_NUMBER
#define SIGNED   KTRACE_SIGNED
#define WIDE     KTRACE_WIDE
#define HEX      KTRACE_HEX
#define ID       KTRACE_ID
#define PATH     KTRACE_PATH
#define BYTES    KTRACE_BYTES
#define MODE     KTRACE_MODE
#define SIGNALS  KTRACE_SIGNALS
#define HANDLER  KTRACE_HANDLER
#define MOST     KTRACE_MOST
#define OF(name) KTRACE_KIND_OF(KTRACE_##name)

#define CALL(called, gives, ...) [SYS_##called] = {#called, gives, {__VA_ARGS__}}

static const struct ktrace_call calls[] = {
	CALL(fork, SIGNED, HEX, HEX),
	CALL(execve, NOTHING, PATH, NUMBER, BYTES),
	CALL(exit, NOTHING, NUMBER),
	CALL(wait4, SIGNED, SIGNED, OF(WAIT)),
	CALL(identity, NOTHING, NOTHING),
	CALL(getpid, SIGNED, NOTHING),
	CALL(getgroups, NOTHING, NOTHING),
	CALL(setgroups, NOTHING, BYTES),
	CALL(setuid, NOTHING, ID),
	CALL(setgid, NOTHING, ID),
	CALL(setpgid, NOTHING, SIGNED, SIGNED),
	CALL(getrusage, NOTHING, OF(USAGE)),
	CALL(task_by_pid, HEX, SIGNED),
	CALL(device_port, HEX, NOTHING),
	CALL(processes, NUMBER, NOTHING),
	CALL(reboot, NOTHING, OF(HALT), NUMBER),
	CALL(thread_start, SIGNED, HEX, HEX, HEX),
	CALL(thread_exit, NOTHING, NOTHING),
	CALL(file_object, HEX, NUMBER),
	CALL(kill, NOTHING, SIGNED, OF(SIGNAL)),
	CALL(thread_kill, NOTHING, SIGNED, OF(SIGNAL)),
	CALL(sigaction, HANDLER, OF(SIGNAL), NUMBER, HANDLER, SIGNALS, OF(ACTION), HEX),
	CALL(sigprocmask, HEX, OF(MASKING), SIGNALS),
	CALL(sigpending, HEX, NOTHING),
	CALL(sigsuspend, NOTHING, SIGNALS),
	CALL(sigaltstack, HEX, NUMBER, HEX, NUMBER, NUMBER),
	CALL(sigqueue, NOTHING, SIGNED, OF(SIGNAL), HEX),
	CALL(setitimer, NOTHING, OF(TIMER), NUMBER, BYTES),
	CALL(open, NUMBER, PATH, OF(OPEN), MODE),
	CALL(close, NOTHING, NUMBER),
	CALL(read, NUMBER, NUMBER, NUMBER),
	CALL(read_long, NUMBER, NUMBER, NUMBER),
	CALL(write, NUMBER, NUMBER, BYTES),
	CALL(write_long, NUMBER, NUMBER, BYTES),
	CALL(lseek, NUMBER, NUMBER, WIDE, OF(WHENCE)),
	CALL(stat, NOTHING, PATH, NUMBER),
	CALL(fstat, NOTHING, NUMBER),
	CALL(unlink, NOTHING, PATH),
	CALL(rmdir, NOTHING, PATH),
	CALL(mkdir, NOTHING, PATH, MODE),
	CALL(rename, NOTHING, PATH, PATH),
	CALL(link, NOTHING, PATH, PATH),
	CALL(readdir, NUMBER, NUMBER),
	CALL(chdir, NOTHING, PATH),
	CALL(getcwd, NUMBER, NOTHING),
	CALL(dup, NUMBER, NUMBER, NUMBER, NUMBER),
	CALL(dup2, NUMBER, NUMBER, NUMBER, NUMBER),
	CALL(fcntl, NUMBER, NUMBER, OF(FCNTL), NUMBER),
	CALL(pipe, NUMBER, OF(PIPE)),
	CALL(fsync, NOTHING, NUMBER),
	CALL(sync, NOTHING, NOTHING),
	CALL(chmod, NOTHING, PATH, MODE),
	CALL(fchmod, NOTHING, NUMBER, MODE),
	CALL(chown, NOTHING, PATH, ID, ID),
	CALL(truncate, NOTHING, PATH, WIDE),
	CALL(ftruncate, NOTHING, NUMBER, WIDE),
	CALL(utimes, NOTHING, PATH, SIGNED, SIGNED),
	CALL(access, NOTHING, PATH, OF(ACCESS)),
	CALL(umask, MODE, MODE),
	CALL(gprof_mon_switch, HEX, HEX),
	CALL(gprof_mon_dump, NUMBER, NOTHING),
	CALL(gprof_mon_status, NOTHING, NOTHING),
	CALL(gprof_mon_options, NOTHING, BYTES),
	CALL(gprof_token, NUMBER, SIGNED),
	CALL(executable, NUMBER, SIGNED),
	CALL(set_name_server, NOTHING, HEX),
	CALL(name_server, HEX, NOTHING),
	CALL(stop_at_exec, NOTHING, NOTHING),
	CALL(symlink, NOTHING, BYTES, PATH),
	CALL(readlink, NUMBER, PATH),
	CALL(mkfifo, NOTHING, PATH, MODE),
	CALL(seteuid, NOTHING, ID),
	CALL(setegid, NOTHING, ID),
	CALL(task_program, SIGNED, NUMBER),
	CALL(port_owner, SIGNED, HEX),
	CALL(task_life, NOTHING, NUMBER),
	CALL(name_server_next, HEX, NOTHING),
	CALL(sysctl, NUMBER, BYTES, HEX, NUMBER, BYTES),
	CALL(sysctl_names, NUMBER, NOTHING),
	CALL(getrlimit, MOST, OF(LIMIT)),
	CALL(setrlimit, NOTHING, OF(LIMIT), MOST, MOST),
	CALL(ktrace, NOTHING, PATH, OF(OPERATION), OF(FACILITY), SIGNED),
	CALL(utrace, NOTHING, BYTES),
	CALL(audit, NOTHING, BYTES),
	CALL(auditon, NUMBER, NUMBER, BYTES),
	CALL(auditctl, NOTHING, PATH),
	CALL(getaudit, NOTHING, NOTHING),
	CALL(setaudit, NOTHING, BYTES),
	CALL(shm_open, NUMBER, PATH, OF(OPEN), MODE),
	CALL(shm_unlink, NOTHING, PATH),
	CALL(sem_open, NUMBER, PATH, OF(SEMAPHORE), MODE, NUMBER),
	CALL(sem_unlink, NOTHING, PATH),
	CALL(sem_wait, NOTHING, NUMBER, NUMBER),
	CALL(sem_post, NOTHING, NUMBER),
	CALL(sem_getvalue, NUMBER, NUMBER),
	CALL(sem_timedwait, NOTHING, NUMBER, WIDE),
	CALL(named_next, NOTHING, NUMBER),
};

const struct ktrace_call *ktrace_call(int code)
{
	if (code < 0 || (size_t)code >= sizeof(calls) / sizeof(calls[0]) ||
	    calls[code].name == NULL)
		return NULL;
	return &calls[code];
}
