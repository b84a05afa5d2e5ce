/* SPDX-License-Identifier: MIT */
/* Records of a trace, type by type, but for calls (trace_call.c).  Guarded by the server's lock. */
#include "trace/trace_record.h"

#include <assay/list.h>
#include <sys/ktrace.h>

#include "process/process.h"
#include "process/thread.h"
#include "trace/trace.h"
#include "trace/trace_clock.h"
#include "trace/trace_file.h"

#define IO_PIECE 4096u /* Bytes of one record. */

void *trace_begin(struct process *process, int thread, int type, size_t size)
{
	struct ktr_header *header;
	struct timeval now;
	uint32_t sequence;

	if ((process->trace_flags & (1u << type)) == 0)
		return NULL;
	header = trace_file_room(process, sizeof *header + size, &sequence);
	if (header == NULL)
		return NULL;
	now = trace_clock_now();
	*header = (struct ktr_header){
		.ktr_len = (int32_t)size,
		.ktr_type = (int16_t)type,
		.ktr_thread = (uint16_t)thread,
		.ktr_pid = process->pid,
		.ktr_time = {now.tv_sec, now.tv_usec},
		.ktr_sequence = sequence,
	};
	__builtin_memcpy(header->ktr_comm, process->command, sizeof header->ktr_comm - 1);
	return header + 1;
}

/* ---------------- Paths ---------------- */

/* Paths are looked up for a process: it is its thread's call that does, if only one has any. */
static int trace_thread_that_calls(const struct process *process)
{
	struct list *link;
	int found = 0;

	list_for_each (link, &process->threads) {
		const struct thread *thread = list_object(link, struct thread, link);

		if (thread->calls == 0)
			continue;
		if (found != 0)
			return 0;
		found = thread->id;
	}
	return found;
}

void trace_path(struct process *process, const char *path)
{
	size_t size;
	char *room;

	if ((process->trace_flags & KTRFAC_NAMEI) == 0)
		return;
	size = strlen(path);
	room = trace_begin(process, trace_thread_that_calls(process), KTR_NAMEI, size);
	if (room != NULL)
		memcpy(room, path, size);
}

/* ---------------- Data ---------------- */

static bool trace_io_piece(const struct thread *thread, struct ktr_genio head, const char *data,
			   size_t size)
{
	struct ktr_genio *record =
		trace_begin(thread->process, thread->id, KTR_GENIO, sizeof *record + size);

	if (record == NULL)
		return false;
	*record = head;
	memcpy(record + 1, data, size);
	return true;
}

void trace_io(const struct thread *thread, int fd, int direction, const char *data, size_t size)
{
	const struct ktr_genio head = {.ktr_fd = fd, .ktr_rw = direction};
	size_t piece;

	do {
		piece = size < IO_PIECE ? size : IO_PIECE;
		if (!trace_io_piece(thread, head, data, piece))
			return;
		data += piece;
		size -= piece;
	} while (size > 0);
}

void trace_words(const struct thread *thread, const char *data, size_t size)
{
	char *room = trace_begin(thread->process, thread->id, KTR_USER, size);

	if (room != NULL)
		memcpy(room, data, size);
}

/* ---------------- Signals ---------------- */

void trace_signal(struct process *process, const struct thread *thread,
		  const struct signal_info *info, uint32_t action, sigset_t mask)
{
	struct ktr_psig *record =
		trace_begin(process, thread != NULL ? thread->id : 0, KTR_PSIG, sizeof *record);

	if (record != NULL)
		*record = (struct ktr_psig){
			.signo = info->signal, .action = action, .code = info->code, .mask = mask};
}
