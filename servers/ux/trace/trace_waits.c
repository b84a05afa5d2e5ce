/* SPDX-License-Identifier: MIT */
/* Streams of waits, and whose they are: see trace_waits.h.  Guarded by the server's lock. */
#include "trace/trace_waits.h"

#include <mach/messages.h>
#include <mach/prof.h>
#include <mach/thread_info.h>

#include "process/process.h"
#include "process/thread.h"
#include "trace/trace.h"
#include "trace/trace_file.h"

#define AGE_MS 2000 /* What is written each second is flushed before. */

/* A message with samples, and room for the trailer that a receiver gets. */
struct samples_message {
	mach_msg_header_t head;
	mach_msg_type_long_t type;
	uint32_t *words;
	char trailer[64];
};

static mach_port_t stream_ports; /* The set of all streams' ports; null: nobody receives yet. */

/* ---------------- Receiving ---------------- */

static const struct prof_record *trace_next_record(const struct trace_batch *batch, uint32_t *at)
{
	const struct prof_record *record = (const void *)(batch->words + *at);

	if (*at >= batch->n || record->words == 0 || record->words > batch->n - *at)
		return NULL;
	*at += record->words;
	return record;
}

uint32_t trace_batch_waits(const struct trace_batch *batch)
{
	const struct prof_record *record;
	uint32_t at = 0, n = 0;

	while ((record = trace_next_record(batch, &at)) != NULL)
		n += record->type == PROF_WAIT;
	return n;
}

/* So many have been sent by now.  Those that came neither before nor now were in a message lost. */
static void trace_stream_count(struct trace_stream *stream, uint64_t delivered, uint32_t came)
{
	stream->dropped += delivered - stream->delivered - came;
	stream->delivered = delivered;
}

/* What a message says of its stream: the records at its end. */
static void trace_stream_hear(struct trace_stream *stream, const struct trace_batch *batch)
{
	const struct prof_record *record;
	uint32_t at = 0;

	while ((record = trace_next_record(batch, &at)) != NULL) {
		const struct prof_stream *counts = (const void *)record;

		if (record->type == PROF_STREAM) {
			trace_stream_count(stream, prof_u64(counts->delivered),
					   trace_batch_waits(batch));
			stream->lost = prof_u64(counts->lost);
		}
		stream->is_ended |= record->type == PROF_END;
	}
}

void trace_batch_free(const struct trace_batch *batch)
{
	ux_free_pages(batch->words, ux_whole_pages(batch->n * sizeof *batch->words));
}

static void trace_stream_take(struct trace_stream *stream, struct trace_batch batch)
{
	trace_stream_hear(stream, &batch);
	if (stream->n_batches < BATCHES_MAX) {
		stream->batches[stream->n_batches++] = batch;
	} else {
		stream->dropped += trace_batch_waits(&batch);
		trace_batch_free(&batch);
	}
	if (stream->n_batches > BATCHES_MAX / 2 || stream->is_ended)
		trace_file_want(stream->file);
	ux_wakeup(stream);
}

static struct trace_stream *trace_stream_of(const struct samples_message *message)
{
	return (struct trace_stream *)message->head.msgh_protected_payload;
}

static void trace_receive(const struct samples_message *message)
{
	struct trace_batch batch = {message->words, message->type.msgtl_number};

	/* From here on it can be touched with the lock. */
	while (!ux_wire((vm_address_t)batch.words, ux_whole_pages(batch.n * sizeof *batch.words)))
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_DEPRESS, 1);
	ux_lock();
	trace_stream_take(trace_stream_of(message), batch);
	ux_unlock();
}

/*
 * A message has come without what it carried, as there was no memory for that.  The next one tells
 * of the stream what this one would have.  If none is there and the kernel does not know the stream
 * any more, it was the last; how many waits were in it is not known, and one is counted.
 */
static void trace_stream_miss(struct trace_stream *stream)
{
	mach_port_t self = mach_task_self_cached();
	mach_port_status_t status = {.mps_msgcount = 1};
	uint64_t delivered;

	if (ux_patiently(task_sample_flush(self, stream->port, &delivered)) !=
	    KERN_INVALID_ARGUMENT)
		return;
	ux_patiently(mach_port_get_receive_status(self, stream->port, &status));
	if (status.mps_msgcount > 0)
		return;
	stream->dropped++;
	stream->is_ended = true;
	trace_file_want(stream->file);
	ux_wakeup(stream);
}

static void trace_receive_for_ever(void *unused)
{
	struct samples_message message;

	(void)unused;
	for (;;) {
		mach_msg_return_t result =
			mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, stream_ports,
				 MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);

		if (message.head.msgh_id != ID_SAMPLES)
			continue;
		if (result == MACH_MSG_SUCCESS) {
			trace_receive(&message);
		} else if ((result & ~MACH_MSG_MASK) == MACH_RCV_BODY_ERROR) {
			ux_lock();
			trace_stream_miss(trace_stream_of(&message));
			ux_unlock();
		}
	}
}

/* Whether there is a thread that receives. */
static bool trace_has_receiver(void)
{
	mach_port_t self = mach_task_self_cached();

	if (stream_ports != MACH_PORT_NULL)
		return true;
	if (syscall_mach_port_allocate(self, MACH_PORT_RIGHT_PORT_SET, &stream_ports) !=
	    KERN_SUCCESS)
		return false;
	if (ux_start_thread(trace_receive_for_ever, NULL))
		return true;
	mach_port_mod_refs(self, stream_ports, MACH_PORT_RIGHT_PORT_SET, -1);
	stream_ports = MACH_PORT_NULL;
	return false;
}

/* ---------------- Streams ---------------- */

static bool trace_stream_start(struct trace_stream *stream, mach_port_t task)
{
	static const sample_options_t options = {.flags = SAMPLE_CHILDREN, .age_ms = AGE_MS};
	mach_port_t self = mach_task_self_cached();

	return mach_port_set_protected_payload(self, stream->port, (unsigned long)stream) ==
		       KERN_SUCCESS &&
	       mach_port_move_member(self, stream->port, stream_ports) == KERN_SUCCESS &&
	       task_sample_start(task, SAMPLED_PC_WAIT, 0, options, stream->port) == KERN_SUCCESS;
}

static void trace_stream_free(struct trace_stream *stream)
{
	mach_port_mod_refs(mach_task_self_cached(), stream->port, MACH_PORT_RIGHT_RECEIVE, -1);
	for (unsigned n = 0; n < stream->n_batches; n++)
		trace_batch_free(&stream->batches[n]);
	list_remove(&stream->link);
	ux_free(stream);
}

static struct trace_stream *trace_stream_new(struct trace_file *file, mach_port_t task)
{
	struct trace_stream *stream = ux_allocate(sizeof *stream);

	if (stream == NULL)
		return NULL;
	list_init(&stream->link);
	stream->file = file;
	stream->references = 1;
	if (!trace_has_receiver() ||
	    syscall_mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_RECEIVE,
				       &stream->port) != KERN_SUCCESS) {
		ux_free(stream);
		return NULL;
	}
	if (trace_stream_start(stream, task))
		return stream;
	trace_stream_free(stream);
	return NULL;
}

/* Who receives a job's samples may end it, whatever has become of its tasks. */
static void trace_stream_release(struct trace_stream *stream)
{
	assert(stream->references > 0);
	if (--stream->references > 0)
		return;
	if (!stream->is_ended)
		ux_patiently(task_sample_stop(mach_task_self_cached(), stream->port));
	trace_file_want(stream->file);
}

/* ---------------- Waiters ---------------- */

void trace_waits_enter(struct thread *thread)
{
	struct process *process = thread->process;
	struct thread_id_info info = {0};
	mach_msg_type_number_t count = THREAD_ID_INFO_COUNT;
	struct trace_waiter *waiter;

	assert(thread->waiter == NULL && process->trace_stream != NULL);
	waiter = ux_allocate(sizeof *waiter);
	if (waiter == NULL) {
		ux_log("ktrace: no memory: waits of process %d are not all recorded", process->pid);
		return;
	}
	thread_info(thread->kernel, THREAD_ID_INFO, (thread_info_t)&info, &count);
	waiter->kernel = info.id;
	waiter->head = (struct ktr_header){
		.ktr_len = sizeof(struct ktr_csw),
		.ktr_type = KTR_CSW,
		.ktr_thread = (uint16_t)thread->id,
		.ktr_pid = process->pid,
	};
	memcpy(waiter->head.ktr_comm, process->command, KTR_COMM_MAX - 1);
	waiter->from = ux_now();
	thread->waiter = waiter;
	list_add_last(&trace_file_waits(process->trace_file)->waiters, &waiter->link);
}

void trace_waits_leave(struct thread *thread)
{
	if (thread->waiter != NULL)
		thread->waiter->until = ux_now();
	thread->waiter = NULL;
}

static bool trace_waiter_was(const struct trace_waiter *waiter, uint32_t kernel, uint64_t begin,
			     uint64_t end)
{
	return waiter->kernel == kernel && end > waiter->from &&
	       (waiter->until == 0 || begin < waiter->until);
}

/* Who waited last often waits again: he comes first then. */
static struct trace_waiter *trace_waiter_find(struct trace_waits *waits, uint32_t kernel,
					      uint64_t begin, uint64_t end)
{
	list_for_each_object (struct trace_waiter, waiter, &waits->waiters, link) {
		if (!trace_waiter_was(waiter, kernel, begin, end))
			continue;
		if (waits->waiters.next != &waiter->link) {
			list_remove(&waiter->link);
			list_add_first(&waits->waiters, &waiter->link);
		}
		return waiter;
	}
	return NULL;
}

const struct trace_waiter *trace_waiter_of(struct trace_waits *waits, uint32_t kernel,
					   uint64_t *begin, uint64_t *end)
{
	const struct trace_waiter *waiter = trace_waiter_find(waits, kernel, *begin, *end);

	if (waiter == NULL)
		return NULL;
	if (*begin < waiter->from)
		*begin = waiter->from;
	if (waiter->until != 0 && *end > waiter->until)
		*end = waiter->until;
	return waiter;
}

/* ---------------- Processes ---------------- */

bool trace_waits_begin(struct process *process)
{
	struct trace_waits *waits;
	struct trace_stream *stream;

	assert(process->trace_stream == NULL && process->trace_file != NULL);
	waits = trace_file_waits(process->trace_file);
	if (waits->merged == NULL)
		waits->merged = ux_allocate_pages(TRACE_MERGED_SIZE);
	if (waits->merged == NULL)
		return false;
	stream = trace_stream_new(process->trace_file, process->task);
	if (stream == NULL)
		return false;
	list_add_last(&waits->streams, &stream->link);
	process->trace_stream = stream;
	list_for_each_object (struct thread, thread, &process->threads, link)
		trace_waits_enter(thread);
	return true;
}

void trace_waits_end(struct process *process)
{
	struct trace_stream *stream = process->trace_stream;

	if (stream == NULL)
		return;
	list_for_each_object (struct thread, thread, &process->threads, link)
		trace_waits_leave(thread);
	process->trace_stream = NULL;
	trace_stream_release(stream);
}

void trace_waits_inherit(struct process *child, const struct process *parent)
{
	child->trace_stream = parent->trace_stream;
	if (child->trace_stream != NULL)
		child->trace_stream->references++;
}

/* ---------------- Files ---------------- */

void trace_waits_init(struct trace_waits *waits)
{
	list_init(&waits->streams);
	list_init(&waits->waiters);
}

static void trace_waits_forget_waiters(struct trace_waits *waits, uint64_t before)
{
	list_for_each_object_removable (struct trace_waiter, waiter, after, &waits->waiters, link) {
		if (waiter->until != 0 && waiter->until <= before) {
			list_remove(&waiter->link);
			ux_free(waiter);
		}
	}
}

void trace_waits_drop(struct trace_waits *waits)
{
	trace_waits_forget_waiters(waits, UINT64_MAX);
}

void trace_waits_free(struct trace_waits *waits)
{
	assert(list_empty(&waits->streams));
	trace_waits_forget_waiters(waits, UINT64_MAX);
	if (waits->merged != NULL)
		ux_free_pages(waits->merged, TRACE_MERGED_SIZE);
	if (waits->events != NULL)
		ux_free_pages(waits->events, waits->events_size);
}

/*
 * The kernel sends what it has while it is asked; it cannot if it has no memory.  Of a stream that
 * has ended it knows nothing any more, as its last message is on the way.
 */
static void trace_stream_gather(struct trace_stream *stream)
{
	uint64_t delivered = UINT64_MAX;
	kern_return_t result;

	if (stream->is_ended)
		return;
	result = ux_patiently(task_sample_flush(mach_task_self_cached(), stream->port, &delivered));
	if (result != KERN_SUCCESS && result != KERN_INVALID_ARGUMENT)
		return;
	while (!stream->is_ended && stream->delivered < delivered)
		ux_sleep(stream, NULL);
}

void trace_waits_gather(struct trace_waits *waits)
{
	list_for_each_object (struct trace_stream, stream, &waits->streams, link)
		trace_stream_gather(stream);
}

void trace_waits_settle(struct trace_waits *waits, uint64_t gathered)
{
	list_for_each_object_removable (struct trace_stream, stream, after, &waits->streams, link) {
		if (stream->is_ended && stream->references == 0 && stream->n_batches == 0)
			trace_stream_free(stream);
	}
	trace_waits_forget_waiters(waits, gathered);
}
