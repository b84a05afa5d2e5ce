/* SPDX-License-Identifier: MIT */
/*
 * Records and waits of a file in order of time, on their way to it: see trace_waits.h.  Guarded by
 * the server's lock; for the one thread that writes.
 *
 * Records lie in the buffer in the order in which they were made.  Of each wait there are two
 * events: it begins, and it ends.  A stream tells waits by their ends, so events are nearly in
 * order, and sorting them is quick by insertion.
 */
#include <mach/prof.h>

#include "trace/trace_file.h"
#include "trace/trace_waits.h"

#define NANOS_PER_MICRO 1000u
#define LOOKS           3u /* At the clocks, of which the best is taken. */

#define EVENT_RECORD_SIZE (sizeof(struct ktr_header) + sizeof(struct ktr_csw))

/* What is being put together. */
struct merge {
	struct trace_file *file;
	struct trace_waits *waits;
	size_t used;           /* Of waits->merged. */
	size_t n;              /* Events. */
	uint64_t wall;         /* Nanoseconds since 1970 when the kernel started; */
	uint64_t second_begun; /* when that second of the day began, by the kernel's clock. */
	int32_t second;
	uint32_t sequence; /* The number before the first record, without those inserted before. */
	int error;         /* The first one. */
};

static const uint8_t merge_reasons[] = {
	[PROF_WAIT_CPU] = KTR_WAIT_CPU,     [PROF_WAIT_RECEIVE] = KTR_WAIT_PORT,
	[PROF_WAIT_SEND] = KTR_WAIT_PORT,   [PROF_WAIT_PAGE] = KTR_WAIT_PAGE,
	[PROF_WAIT_LOCK] = KTR_WAIT_LOCK,   [PROF_WAIT_TIMER] = KTR_WAIT_TIMER,
	[PROF_WAIT_THREAD] = KTR_WAIT_STOP, [PROF_WAIT_STOP] = KTR_WAIT_STOP,
};

/* ---------------- Events ---------------- */

/* The last event is put where it belongs. */
static void merge_sort_in(struct trace_event *events, size_t n)
{
	struct trace_event last = events[n];

	for (; n > 0 && events[n - 1].time > last.time; n--)
		events[n] = events[n - 1];
	events[n] = last;
}

static void merge_end_event(struct merge *merge)
{
	struct trace_event *events = merge->waits->events;
	size_t n = merge->n++;

	if (n > 0 && events[n - 1].time > events[n].time)
		merge_sort_in(events, n);
}

static uint32_t merge_micros(uint64_t nanoseconds)
{
	if (nanoseconds <= UINT32_MAX)
		return (uint32_t)nanoseconds / NANOS_PER_MICRO;
	divide(&nanoseconds, NANOS_PER_MICRO);
	return nanoseconds <= UINT32_MAX ? (uint32_t)nanoseconds : UINT32_MAX;
}

static void merge_add_wait(struct merge *merge, const struct prof_wait *wait)
{
	uint64_t begin = prof_u64(wait->time), end = begin + prof_u64(wait->length);
	const struct trace_waiter *waiter =
		trace_waiter_of(merge->waits, wait->thread, &begin, &end);
	const bool user = wait->kernel_pc == 0;
	struct trace_event *events = merge->waits->events;
	uint8_t reason;

	if (waiter == NULL || wait->reason >= sizeof merge_reasons / sizeof merge_reasons[0])
		return;
	reason = merge_reasons[wait->reason];
	events[merge->n] = (struct trace_event){begin, waiter, 0, 1, user, reason};
	merge_end_event(merge);
	events[merge->n] =
		(struct trace_event){end, waiter, merge_micros(end - begin), 0, user, reason};
	merge_end_event(merge);
}

static void merge_add_batch(struct merge *merge, const struct trace_batch *batch)
{
	uint32_t at = 0;

	while (at < batch->n) {
		const struct prof_record *record = (const void *)(batch->words + at);

		if (record->type == PROF_WAIT)
			merge_add_wait(merge, (const void *)record);
		at += record->words;
	}
}

/* ---------------- Memory ---------------- */

/* At most so many events come of what is there now. */
static size_t merge_most_events(const struct trace_waits *waits)
{
	size_t words = 0;

	list_for_each_object (struct trace_stream, stream, &waits->streams, link) {
		for (unsigned n = 0; n < stream->n_batches; n++)
			words += stream->batches[n].n;
	}
	return 2 * words / (sizeof(struct prof_wait) / sizeof(uint32_t));
}

static bool merge_make_room(struct trace_waits *waits)
{
	size_t size = ux_whole_pages(merge_most_events(waits) * sizeof *waits->events);

	if (size <= waits->events_size)
		return true;
	if (waits->events != NULL)
		ux_free_pages(waits->events, waits->events_size);
	waits->events = ux_allocate_pages(size);
	waits->events_size = waits->events != NULL ? size : 0;
	return waits->events != NULL;
}

/* ---------------- Writing ---------------- */

static void merge_write_out(struct merge *merge)
{
	if (merge->error == 0 && merge->used > 0)
		merge->error =
			trace_file_append_all(merge->file, merge->waits->merged, merge->used);
	merge->used = 0;
}

static char *merge_room(struct merge *merge, size_t size)
{
	char *room;

	if (size > TRACE_MERGED_SIZE - merge->used)
		merge_write_out(merge);
	room = merge->waits->merged + merge->used;
	merge->used += size;
	return room;
}

static void merge_put_record(struct merge *merge, struct ktr_header *header)
{
	size_t size = sizeof *header + (size_t)header->ktr_len;

	merge->sequence = header->ktr_sequence;
	header->ktr_sequence += merge->waits->inserted;
	memcpy(merge_room(merge, size), header, size);
}

/* The second of the day in which that time is; times come in order. */
static void merge_find_second(struct merge *merge, uint64_t time)
{
	uint64_t wall = merge->wall + time;

	merge->second_begun = time - divide(&wall, NANOS_PER_SECOND);
	merge->second = (int32_t)wall;
}

static void merge_put_event(struct merge *merge, const struct trace_event *event)
{
	struct ktr_header *header = (void *)merge_room(merge, EVENT_RECORD_SIZE);

	if (event->time - merge->second_begun >= NANOS_PER_SECOND)
		merge_find_second(merge, event->time);
	memcpy(header, &event->waiter->head, sizeof *header);
	header->ktr_time.tv_sec = merge->second;
	header->ktr_time.tv_usec =
		(int32_t)((uint32_t)(event->time - merge->second_begun) / NANOS_PER_MICRO);
	header->ktr_sequence = merge->sequence + ++merge->waits->inserted;
	*(struct ktr_csw *)(header + 1) = (struct ktr_csw){
		.out = event->out,
		.user = event->user,
		.reason = event->reason,
		.length = event->length,
	};
}

/* A record's time, on the clock of events; it was cut to microseconds. */
static uint64_t merge_time_of(const struct merge *merge, const struct ktr_header *header)
{
	return (uint64_t)(uint32_t)header->ktr_time.tv_sec * NANOS_PER_SECOND +
	       (uint32_t)header->ktr_time.tv_usec * NANOS_PER_MICRO - merge->wall;
}

/*
 * Whether an event is to be before a record of this time.  Who calls waits from before the call is
 * recorded until after its result is: so much is known within the same microsecond.
 */
static bool merge_is_before(const struct trace_event *event, uint64_t time)
{
	return event->time < time + (event->out == 1 ? NANOS_PER_MICRO : 0);
}

static void merge_put_all(struct merge *merge, char *records, size_t size)
{
	const struct trace_event *event = merge->waits->events;
	const struct trace_event *end = event + merge->n;

	for (size_t at = 0; at < size;) {
		struct ktr_header *header = (void *)(records + at);
		uint64_t time = merge_time_of(merge, header);

		at += sizeof *header + (size_t)header->ktr_len;
		while (event < end && merge_is_before(event, time))
			merge_put_event(merge, event++);
		merge_put_record(merge, header);
	}
	while (event < end)
		merge_put_event(merge, event++);
	merge_write_out(merge);
}

/* ---------------- All together ---------------- */

/* What is lost leaves numbers out, two for a wait: a reader sees where, and how much. */
static void merge_tell_losses(struct trace_waits *waits, struct trace_stream *stream)
{
	uint64_t lost = stream->lost + stream->dropped;

	waits->inserted += 2 * (uint32_t)(lost - stream->told);
	stream->told = lost;
}

static void merge_take_stream(struct merge *merge, struct trace_stream *stream, bool has_room)
{
	for (unsigned n = 0; n < stream->n_batches; n++) {
		const struct trace_batch *batch = &stream->batches[n];

		if (has_room)
			merge_add_batch(merge, batch);
		else
			stream->dropped += trace_batch_waits(batch);
		trace_batch_free(batch);
	}
	stream->n_batches = 0;
	merge_tell_losses(merge->waits, stream);
}

/*
 * The clock of the kernel's beside that of the day, which is read between two looks at it: those
 * that are nearest to each other, as an interrupt may come in between.
 */
static uint64_t merge_wall_of_start(void)
{
	uint64_t least = UINT64_MAX, found = 0;

	for (unsigned n = 0; n < LOOKS; n++) {
		uint64_t before = ux_now(), wall = ux_wall_time(), took = ux_now() - before;

		if (took >= least)
			continue;
		least = took;
		found = wall - (before + took / 2);
	}
	return found;
}

int trace_merge(struct trace_file *file, struct trace_waits *waits, char *records, size_t size,
		uint32_t last)
{
	struct merge merge = {.file = file, .waits = waits, .sequence = last};
	bool has_room = merge_make_room(waits);

	if (size > 0)
		merge.sequence = ((const struct ktr_header *)records)->ktr_sequence - 1;
	merge.wall = merge_wall_of_start();
	merge_find_second(&merge, 0);
	list_for_each_object (struct trace_stream, stream, &waits->streams, link)
		merge_take_stream(&merge, stream, has_room);
	merge_put_all(&merge, records, size);
	return merge.error;
}
