/* SPDX-License-Identifier: MIT */
/*
 * What is audited: see audit.h.
 *
 * At first no event is in a class, and there is no trail: so nothing is recorded, and looking costs
 * a word.  auditd gives the events their classes, and then a trail.
 */
#include "audit/audit.h"

#include <bsm/audit_record.h>
#include <mach/mig_errors.h>
#include <sys/wait.h>

bool audit_is_on;
au_mask_t audit_mask_of_nobody;

/* ---------------- Classes ---------------- */

struct event_class {
	uint32_t event;
	au_class_t class; /* AU_NULL, which is 0, at first. */
};

static struct event_class classes[] = {
	{AUE_EXIT, 0},       {AUE_FORK, 0},    {AUE_LINK, 0},        {AUE_UNLINK, 0},
	{AUE_CHDIR, 0},      {AUE_CHMOD, 0},   {AUE_CHOWN, 0},       {AUE_ACCESS, 0},
	{AUE_KILL, 0},       {AUE_STAT, 0},    {AUE_REBOOT, 0},      {AUE_SYMLINK, 0},
	{AUE_READLINK, 0},   {AUE_EXECVE, 0},  {AUE_SETGROUPS, 0},   {AUE_SETPGRP, 0},
	{AUE_FCNTL, 0},      {AUE_FCHMOD, 0},  {AUE_RENAME, 0},      {AUE_TRUNCATE, 0},
	{AUE_FTRUNCATE, 0},  {AUE_MKDIR, 0},   {AUE_RMDIR, 0},       {AUE_UTIMES, 0},
	{AUE_SETRLIMIT, 0},  {AUE_OPEN_R, 0},  {AUE_OPEN_RC, 0},     {AUE_OPEN_RT, 0},
	{AUE_OPEN_RTC, 0},   {AUE_OPEN_W, 0},  {AUE_OPEN_WC, 0},     {AUE_OPEN_WT, 0},
	{AUE_OPEN_WTC, 0},   {AUE_OPEN_RW, 0}, {AUE_OPEN_RWC, 0},    {AUE_OPEN_RWT, 0},
	{AUE_OPEN_RWTC, 0},  {AUE_CLOSE, 0},   {AUE_GETAUDIT, 0},    {AUE_SETAUDIT, 0},
	{AUE_AUDITON, 0},    {AUE_PIPE, 0},    {AUE_SETUID, 0},      {AUE_SETGID, 0},
	{AUE_DUP2, 0},       {AUE_AUDIT, 0},   {AUE_SETEGID, 0},     {AUE_SETEUID, 0},
	{AUE_UMASK, 0},      {AUE_MKFIFO, 0},  {AUE_SYSCTL, 0},      {AUE_AUDITCTL, 0},
	{AUE_TASKFORPID, 0}, {AUE_KTRACE, 0},  {AUE_DEVICE_PORT, 0}, {AUE_HOST_PORT, 0},
	{AUE_EXCEPTION, 0},  {AUE_SEMOPEN, 0}, {AUE_SEMUNLINK, 0},   {AUE_SHMOPEN, 0},
	{AUE_SHMUNLINK, 0},
};

#define N_CLASSES (sizeof classes / sizeof classes[0])

au_class_t *audit_class_of(uint32_t event)
{
	for (size_t n = 0; n < N_CLASSES; n++) {
		if (classes[n].event == event)
			return &classes[n].class;
	}
	return NULL;
}

/* ---------------- Who ---------------- */

const au_mask_t *audit_mask_of(const struct process *process)
{
	return process->audit.ai_auid == AU_DEFAUDITID ? &audit_mask_of_nobody
						       : &process->audit.ai_mask;
}

/* Which ends of an event of the process's are recorded: AUDIT_SUCCESS, AUDIT_FAILURE. */
static uint32_t audit_select(const struct process *process, au_event_t event)
{
	const au_mask_t *mask = audit_mask_of(process);
	const au_class_t *class = audit_class_of(event);

	if (class == NULL)
		return 0;
	return ((*class & mask->am_success) != 0 ? AUDIT_SUCCESS : 0) |
	       ((*class & mask->am_failure) != 0 ? AUDIT_FAILURE : 0);
}

/* ---------------- Calls ---------------- */

/* The machine's end has no answer: so it is recorded before. */
static bool audit_end_of_machine(struct audit_call *call, const struct process *process)
{
	if (!is_root(process))
		return false;
	if ((call->selected & AUDIT_SUCCESS) != 0) {
		audit_record_end(&call->record, 0, 0);
		audit_commit(call->record.bytes, call->record.size);
	}
	return true;
}

bool audit_begin(struct audit_call *call, struct process *process, const mach_msg_header_t *request)
{
	const struct audited_call *what = audited_call_of(request);
	au_event_t event;

	if (what == NULL)
		return false;
	event = audited_event_of(what, request);
	call->selected = audit_select(process, event);
	if (call->selected == 0)
		return false;
	audit_await_end();
	audit_record_begin(&call->record, event);
	audit_add_process(&call->record, AUT_SUBJECT32, process);
	audited_add_arguments(&call->record, what, process, request);
	return event != AUE_REBOOT || !audit_end_of_machine(call, process);
}

/* A call's result, or 0: the first number of the answer behind the error. */
static uint32_t audit_value_of(const mach_msg_header_t *reply)
{
	struct body_cursor cursor = body_begin(reply, sizeof *reply);
	struct body_part part;
	uint32_t value = 0;

	if (body_next_part(&cursor, &part) && body_next_part(&cursor, &part) && part.is_inline &&
	    part.name == MACH_MSG_TYPE_INTEGER_32 && part.number == 1)
		memcpy(&value, part.data, sizeof value);
	return value;
}

/* Without an answer the call has done what it was to do: the caller is another program, or gone. */
void audit_end(struct audit_call *call, const mach_msg_header_t *reply)
{
	int error = ((const mig_reply_header_t *)(const void *)reply)->RetCode;

	if (error == ERESTARTSYS)
		return; /* Nothing was done: it will be made again. */
	if (error == MIG_NO_REPLY)
		error = 0;
	if ((call->selected & (error == 0 ? AUDIT_SUCCESS : AUDIT_FAILURE)) == 0)
		return;
	audit_record_end(&call->record, error, error == 0 ? audit_value_of(reply) : 0);
	audit_commit(call->record.bytes, call->record.size);
}

/* ---------------- Exceptions ---------------- */

void audit_exception(struct process *process, int signal, uint32_t address)
{
	struct audit_record record;

	if ((audit_select(process, AUE_EXCEPTION) & AUDIT_FAILURE) == 0)
		return;
	audit_await_end();
	audit_record_begin(&record, AUE_EXCEPTION);
	audit_add_process(&record, AUT_SUBJECT32, process);
	audit_add_number(&record, 1, (uint32_t)signal, "signal");
	audit_add_number(&record, 2, address, "address");
	audit_add_text(&record, AUT_TEXT, process->command);
	audit_record_end(&record, EFAULT, 0);
	audit_commit(record.bytes, record.size);
}
