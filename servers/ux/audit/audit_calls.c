/* SPDX-License-Identifier: MIT */
/*
 * Which event a call is.
 *
 * What a request brings is found part by part, as MIG has described it: paths are strings, and
 * numbers have their names here, in the order in which they come; one without a name is left out.
 */
#include <bsm/audit_record.h>
#include <mach/messages.h>
#include <sys/dirent.h>
#include <sys/fcntl.h>

#include "audit/audit.h"
#include "fs/vnode.h"

#define CALL(name) [ID_BSD_##name - ID_BSD_FORK]

static const struct audited_call audited_calls[] = {
	CALL(FORK) = {AUE_FORK, {NULL}},
	CALL(EXECVE) = {AUE_EXECVE, {NULL}},
	CALL(EXIT) = {AUE_EXIT, {"status"}},
	CALL(SETGROUPS) = {AUE_SETGROUPS, {NULL}},
	CALL(SETUID) = {AUE_SETUID, {"uid"}},
	CALL(SETGID) = {AUE_SETGID, {"gid"}},
	CALL(SETPGID) = {AUE_SETPGRP, {"process", "group"}},
	CALL(TASK_BY_PID) = {AUE_TASKFORPID, {"process"}},
	CALL(DEVICE_PORT) = {AUE_DEVICE_PORT, {NULL}},
	CALL(REBOOT) = {AUE_REBOOT, {"how", "status"}},
	CALL(KILL) = {AUE_KILL, {"process", "signal"}},
	CALL(SIGQUEUE) = {AUE_KILL, {"process", "signal"}},
	CALL(OPEN) = {AUE_OPEN_R, {"flags", "mode"}},
	CALL(CLOSE) = {AUE_CLOSE, {"fd"}},
	CALL(STAT) = {AUE_STAT, {NULL}},
	CALL(UNLINK) = {AUE_UNLINK, {NULL}},
	CALL(RMDIR) = {AUE_RMDIR, {NULL}},
	CALL(MKDIR) = {AUE_MKDIR, {"mode"}},
	CALL(RENAME) = {AUE_RENAME, {NULL}},
	CALL(LINK) = {AUE_LINK, {NULL}},
	CALL(CHDIR) = {AUE_CHDIR, {NULL}},
	CALL(DUP2) = {AUE_DUP2, {"fd", "copy"}},
	CALL(FCNTL) = {AUE_FCNTL, {"fd", "command", "argument"}},
	CALL(PIPE) = {AUE_PIPE, {"flags"}},
	CALL(CHMOD) = {AUE_CHMOD, {"mode"}},
	CALL(FCHMOD) = {AUE_FCHMOD, {"fd", "mode"}},
	CALL(CHOWN) = {AUE_CHOWN, {"uid", "gid"}},
	CALL(TRUNCATE) = {AUE_TRUNCATE, {"size"}},
	CALL(FTRUNCATE) = {AUE_FTRUNCATE, {"fd", "size"}},
	CALL(UTIMES) = {AUE_UTIMES, {"accessed", "modified"}},
	CALL(ACCESS) = {AUE_ACCESS, {"mode"}},
	CALL(UMASK) = {AUE_UMASK, {"mask"}},
	CALL(SYMLINK) = {AUE_SYMLINK, {NULL}},
	CALL(READLINK) = {AUE_READLINK, {NULL}},
	CALL(MKFIFO) = {AUE_MKFIFO, {"mode"}},
	CALL(SETEUID) = {AUE_SETEUID, {"uid"}},
	CALL(SETEGID) = {AUE_SETEGID, {"gid"}},
	CALL(SYSCTL) = {AUE_SYSCTL, {NULL}},
	CALL(SETRLIMIT) = {AUE_SETRLIMIT, {"which", "limit", "most"}},
	CALL(KTRACE) = {AUE_KTRACE, {"operation", "facilities", "process"}},
	CALL(AUDIT) = {AUE_AUDIT, {NULL}},
	CALL(AUDITON) = {AUE_AUDITON, {"command"}},
	CALL(AUDITCTL) = {AUE_AUDITCTL, {NULL}},
	CALL(GETAUDIT) = {AUE_GETAUDIT, {NULL}},
	CALL(SETAUDIT) = {AUE_SETAUDIT, {NULL}},
	CALL(SHM_OPEN) = {AUE_SHMOPEN, {"flags", "mode"}},
	CALL(SHM_UNLINK) = {AUE_SHMUNLINK, {NULL}},
	CALL(SEM_OPEN) = {AUE_SEMOPEN, {"flags", "mode", "value"}},
	CALL(SEM_UNLINK) = {AUE_SEMUNLINK, {NULL}},
};

#define N_CALLS (sizeof audited_calls / sizeof audited_calls[0])

const struct audited_call *audited_call_of(const mach_msg_header_t *request)
{
	uint32_t number = (uint32_t)request->msgh_id - ID_BSD_FORK;

	if (number >= N_CALLS || audited_calls[number].event == AUE_NULL)
		return NULL;
	return &audited_calls[number];
}

/* ---------------- Arguments ---------------- */

static bool call_is_number(const struct body_part *part)
{
	return part->is_inline && part->number == 1 &&
	       (part->name == MACH_MSG_TYPE_INTEGER_32 || part->name == MACH_MSG_TYPE_INTEGER_64);
}

static uint64_t call_value_of(const struct body_part *part)
{
	uint32_t low, high = 0;

	memcpy(&low, part->data, sizeof low);
	if (part->bytes == sizeof(uint64_t))
		memcpy(&high, part->data + sizeof low, sizeof high);
	return (uint64_t)high << 32 | low;
}

/* The first number of a request; 0 if there is none. */
static uint32_t call_first_number(const mach_msg_header_t *request)
{
	struct body_cursor cursor = body_begin(request, sizeof *request);
	struct body_part part;

	while (body_next_part(&cursor, &part)) {
		if (call_is_number(&part))
			return (uint32_t)call_value_of(&part);
	}
	return 0;
}

static au_event_t call_event_of_open(uint32_t flags)
{
	unsigned access = flags & O_ACCMODE;

	return AUE_OPEN(access > O_RDWR ? O_RDWR : access, (flags & O_TRUNC) != 0,
			(flags & O_CREAT) != 0);
}

au_event_t audited_event_of(const struct audited_call *call, const mach_msg_header_t *request)
{
	switch (call->event) {
	case AUE_OPEN_R:
		return call_event_of_open(call_first_number(request));
	case AUE_TASKFORPID:
		return (int)call_first_number(request) == PID_HOST ? AUE_HOST_PORT : AUE_TASKFORPID;
	default:
		return call->event;
	}
}

/*
 * A path from the root on: the process may be elsewhere by the time that somebody reads of it.  One
 * that is empty names nothing.  Unlocks.
 */
static void call_add_path(struct audit_record *record, struct process *process, const char *path)
{
	char whole[2 * PATH_MAX];
	size_t length;

	if (path[0] == '/' || path[0] == '\0' ||
	    path_of_directory(process->directory, whole, PATH_MAX) != 0) {
		audit_add_text(record, AUT_PATH, path);
		return;
	}
	length = strlen(whole);
	format(whole + length, sizeof whole - length, length > 1 ? "/%s" : "%s", path);
	audit_add_text(record, AUT_PATH, whole);
}

static void call_add_number(struct audit_record *record, const struct body_part *part,
			    unsigned argument, const char *name)
{
	uint64_t value = call_value_of(part);

	if (part->name == MACH_MSG_TYPE_INTEGER_64)
		audit_add_long_number(record, argument, value, name);
	else
		audit_add_number(record, argument, (uint32_t)value, name);
}

/* What is neither a path nor a number of its own. */
static void call_add_other(struct audit_record *record, const struct body_part *part,
			   uint32_t first)
{
	if (record->event == AUE_EXECVE && !part->is_inline && (audit_policy & AUDIT_ARGV) != 0)
		audit_add_strings(record, part->data, part->bytes, first);
	if (record->event == AUE_SETGROUPS && part->number <= UX_GROUPS_MAX)
		audit_add_numbers(record, (const uint32_t *)(const void *)part->data, part->number);
}

/* The text of a symbolic link comes first, and is no path of the caller's. */
static void call_add_string(struct audit_record *record, struct process *process, const char *text,
			    unsigned argument)
{
	if (record->event == AUE_SYMLINK && argument == 1)
		audit_add_text(record, AUT_TEXT, text);
	else
		call_add_path(record, process, text);
}

void audited_add_arguments(struct audit_record *record, const struct audited_call *call,
			   struct process *process, const mach_msg_header_t *request)
{
	struct body_cursor cursor = body_begin(request, sizeof *request);
	uint32_t first = call_first_number(request);
	unsigned argument = 0, numbers = 0;
	struct body_part part;

	while (body_next_part(&cursor, &part)) {
		argument++;
		if (part.name == MACH_MSG_TYPE_STRING_C)
			call_add_string(record, process, part.data, argument);
		else if (!call_is_number(&part))
			call_add_other(record, &part, first);
		else if (numbers < AUDITED_NUMBERS && call->numbers[numbers++] != NULL)
			call_add_number(record, &part, argument, call->numbers[numbers - 1]);
	}
}
