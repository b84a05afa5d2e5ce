/* SPDX-License-Identifier: MIT */
/*
 * Records of calls and of their results.  Guarded by the server's lock.
 *
 * A message describes what is in it, so one walk over its parts does for all calls, and for those
 * that there are not yet.  A number counts itself, bytes their length; a right is 0, since its name
 * here means nothing to anybody.
 */
#include <sys/ktrace.h>
#include <sys/syscall.h>

#include "core/body.h"
#include "process/process.h"
#include "process/thread.h"
#include "trace/trace.h"
#include "trace/trace_record.h"

#define ARGUMENTS_MAX 12 /* No call has more. */
#define BITS_PER_BYTE 8

/* -1: it is no call of Unix's. */
static int16_t trace_code_of(const mach_msg_header_t *request)
{
	mach_msg_id_t code = request->msgh_id - SYS_BASE;

	return code >= 0 && code <= INT16_MAX ? (int16_t)code : -1;
}

static bool trace_is_number(const struct body_part *part)
{
	return part->is_inline && part->number == 1 &&
	       (part->name == MACH_MSG_TYPE_INTEGER_32 || part->name == MACH_MSG_TYPE_INTEGER_64);
}

static uint64_t trace_number(const struct body_part *part)
{
	uint64_t wide;

	if (part->name == MACH_MSG_TYPE_INTEGER_32)
		return *(const uint32_t *)(const void *)part->data;
	memcpy(&wide, part->data, sizeof wide);
	return wide;
}

/* As an argument, or as a result; of a string the bytes before its zero. */
static uint64_t trace_value(const struct body_part *part)
{
	if (trace_is_number(part))
		return trace_number(part);
	if (part->name == MACH_MSG_TYPE_STRING_C && part->is_inline)
		return strlen(part->data); /* It ends within the message: body_check(). */
	return body_is_right(part->name) ? 0 : part->bytes;
}

void trace_call(const struct thread *thread, const mach_msg_header_t *request)
{
	struct body_cursor cursor = body_begin(request, sizeof *request);
	uint64_t arguments[ARGUMENTS_MAX];
	struct ktr_syscall *record;
	struct body_part part;
	unsigned n = 0;

	while (n < ARGUMENTS_MAX && body_next_part(&cursor, &part))
		arguments[n++] = trace_value(&part);
	record = trace_begin(thread->process, thread->id, KTR_SYSCALL,
			     sizeof *record + n * sizeof arguments[0]);
	if (record == NULL)
		return;
	record->ktr_code = trace_code_of(request);
	record->ktr_narg = (int16_t)n;
	memcpy(record->ktr_args, arguments, n * sizeof arguments[0]);
}

/* Structures are results beside the one that a call returns, and so are rights. */
static int32_t trace_result_of(const mig_reply_header_t *reply)
{
	struct body_cursor cursor = body_begin(&reply->Head, sizeof *reply);
	struct body_part part;

	if (!body_next_part(&cursor, &part) || body_is_right(part.name))
		return 0;
	if (part.name == MACH_MSG_TYPE_INTEGER_32 && !trace_is_number(&part))
		return 0;
	return (int32_t)trace_value(&part);
}

/* What has no answer: the thread is no more, or goes on as another program. */
static bool trace_comes_back(const struct thread *thread, const mach_msg_header_t *request,
			     const mig_reply_header_t *reply)
{
	if (reply->RetCode != MIG_NO_REPLY)
		return true;
	return trace_code_of(request) == SYS_execve && !thread->process->is_exiting;
}

void trace_return(const struct thread *thread, const mach_msg_header_t *request,
		  const mach_msg_header_t *answer)
{
	const mig_reply_header_t *reply = (const mig_reply_header_t *)answer;
	int error = reply->RetCode != MIG_NO_REPLY ? reply->RetCode : 0;
	int32_t result = reply->RetCode == 0 ? trace_result_of(reply) : 0;
	struct ktr_sysret *record;

	if (!trace_comes_back(thread, request, reply))
		return;
	record = trace_begin(thread->process, thread->id, KTR_SYSRET, sizeof *record);
	if (record != NULL)
		*record = (struct ktr_sysret){.ktr_code = trace_code_of(request),
					      .ktr_error = error,
					      .ktr_retval = result};
}
