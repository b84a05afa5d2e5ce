/* SPDX-License-Identifier: MIT */
/*
 * perf.data in pipe form: a sample for each span, at the time when it began, with its length in
 * nanoseconds for a period; each call is an event of its own, and so is each thing to wait for.  So
 * `perf script` is the timeline, and `perf report` says how long the calls took together.
 *
 * A recording's samples are between them, with addresses and call stacks, which calls have not: all
 * events of a file have samples of the same parts, so a call's are 0 and empty.  A process may have
 * executed another program meanwhile: so of what was mapped it is told when.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../../gprof/perf_format.h"
#include "../../gprof/util.h"
#include "timeline.h"

#define NANOSECONDS 1000u /* Of a microsecond. */
#define ALIGNMENT   8u
#define CPU_CLOCK   0u /* Software events: that of a clock, */
#define DUMMY       9u /* and the one that counts nothing. */
#define NO_PROCESS  UINT32_MAX
#define OTHER_ID    0x10000u /* Of events that are no flavor of ours: and their index. */
#define SAMPLE_TYPE                                                                      \
	(PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_CALLCHAIN | PERF_HAS_ID | \
	 PERF_HAS_PERIOD)

struct perf_record {
	FILE *out;
	size_t used;
	unsigned char bytes[PERF_RECORD_MAX];
};

static void perf_put(struct perf_record *record, const void *bytes, size_t size)
{
	if (size > sizeof record->bytes - record->used)
		size = sizeof record->bytes - record->used;
	memcpy(record->bytes + record->used, bytes, size);
	record->used += size;
}

static void perf_put32(struct perf_record *record, uint32_t number)
{
	perf_put(record, &number, sizeof number);
}

static void perf_put64(struct perf_record *record, uint64_t number)
{
	perf_put(record, &number, sizeof number);
}

/* A text that ends the record; one that is too long is cut. */
static void perf_put_text(struct perf_record *record, const char *text)
{
	size_t length = strlen(text), room = sizeof record->bytes - record->used - ALIGNMENT;

	perf_put(record, text, length < room ? length : room);
	perf_put(record, "", 1);
	while (record->used % ALIGNMENT != 0)
		perf_put(record, "", 1);
}

static void perf_begin(struct perf_record *record, enum perf_type type, uint16_t misc)
{
	const struct perf_header header = {.type = type, .misc = misc};

	record->used = 0;
	perf_put(record, &header, sizeof header);
}

static void perf_end(struct perf_record *record)
{
	uint16_t size = (uint16_t)record->used;

	memcpy(record->bytes + offsetof(struct perf_header, size), &size, sizeof size);
	fwrite(record->bytes, record->used, 1, record->out);
}

/* With a period of 0 its samples have their own. */
static void perf_put_event(struct perf_record *record, uint32_t id, const char *name,
			   uint64_t period)
{
	static const unsigned char rest[PERF_ATTR_SIZE - PERF_ATTR_USED];
	const struct perf_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE,
		.config = period != 0 ? CPU_CLOCK : DUMMY,
		.period = period != 0 ? period : 1,
		.sample_type = SAMPLE_TYPE,
		.flags = PERF_FLAG_SAMPLE_ID_ALL,
	};

	perf_begin(record, PERF_ATTR, 0);
	perf_put(record, &attr, sizeof attr);
	perf_put(record, rest, sizeof rest);
	perf_put64(record, id);
	perf_end(record);
	perf_begin(record, PERF_EVENT_UPDATE, 0);
	perf_put64(record, PERF_UPDATE_NAME);
	perf_put64(record, id);
	perf_put_text(record, name);
	perf_end(record);
}

/* To perf a thread's number is no process's but its own. */
static uint32_t perf_tid(uint32_t thread)
{
	return PERF_THREADS + thread;
}

/* A row is its process's only thread, if it has but that; else one behind those of the calls. */
static uint32_t perf_tid_of_row(const struct timeline *timeline, uint32_t row)
{
	uint32_t of_calls = timeline->samples.rows[row].of_calls;

	return perf_tid(of_calls != SPAN_NONE ? of_calls : timeline->spans.n_threads + row);
}

/* What a record that is no sample ends with: whom it is about, when it was, and of no event. */
static void perf_put_id(struct perf_record *record, uint32_t pid, uint32_t tid, int64_t time)
{
	perf_put32(record, pid);
	perf_put32(record, tid);
	perf_put64(record, time > 0 ? (uint64_t)time * NANOSECONDS : 0);
	perf_put64(record, 0);
}

static void perf_put_command(struct perf_record *record, int32_t pid, uint32_t tid,
			     const char *command)
{
	perf_begin(record, PERF_COMM, 0);
	perf_put32(record, (uint32_t)pid);
	perf_put32(record, tid);
	perf_put_text(record, command);
	perf_put_id(record, (uint32_t)pid, tid, 0);
	perf_end(record);
}

/* ---------------- What is described ---------------- */

static uint32_t perf_id_of_flavor(const struct timeline *timeline, uint32_t flavor)
{
	unsigned bit = timeline->samples.profile.flavors[flavor].bit;

	return bit != 0 ? bit : OTHER_ID + timeline->spans.n_names + flavor;
}

static void perf_put_events(struct perf_record *record, const struct timeline *timeline)
{
	const struct spans *spans = &timeline->spans;
	const struct profile *profile = &timeline->samples.profile;

	for (uint32_t i = 0; i < spans->n_names; i++)
		perf_put_event(record, OTHER_ID + i, spans->names[i], 0);
	for (uint32_t i = 0; i < profile->n_flavors; i++)
		perf_put_event(record, perf_id_of_flavor(timeline, i), profile->flavors[i].name,
			       view_interval(&profile->flavors[i]));
}

static void perf_put_commands(struct perf_record *record, const struct timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->spans.n_threads; i++) {
		const struct span_thread *thread = &timeline->spans.threads[i];

		perf_put_command(record, thread->pid, (uint32_t)thread->pid, thread->command);
		perf_put_command(record, thread->pid, perf_tid(i), thread->command);
	}
	for (uint32_t i = 0; i < timeline->samples.n_rows; i++) {
		const struct sample_row *row = &timeline->samples.rows[i];

		if (row->of_calls == SPAN_NONE)
			perf_put_command(record, row->pid, perf_tid_of_row(timeline, i),
					 row->command);
	}
}

/* By the file on this host, if that is at hand: perf would look for the guest's in vain. */
static void perf_put_map(struct perf_record *record, uint32_t pid,
			 const struct profile_image *image, int64_t time)
{
	perf_begin(record, PERF_MMAP, image->is_kernel ? PERF_MISC_KERNEL : PERF_MISC_USER);
	perf_put32(record, pid);
	perf_put32(record, image->is_kernel ? 0 : pid);
	perf_put64(record, image->low);
	perf_put64(record, image->high - image->low);
	perf_put64(record, image->offset);
	perf_put_text(record, image->file != NULL ? image->file : image->path);
	perf_put_id(record, pid, pid, time);
	perf_end(record);
}

static void perf_put_maps(struct perf_record *record, const struct timeline *timeline)
{
	const struct samples *samples = &timeline->samples;

	for (size_t i = 0; i < samples->profile.n_images; i++) {
		const struct profile_image *image = &samples->profile.images[i];
		int32_t pid = samples_pid_of(samples, image->task);
		int64_t time = samples_time(samples, &timeline->spans, image->time);

		if (image->is_kernel)
			perf_put_map(record, NO_PROCESS, image, time);
		else if (pid >= 0)
			perf_put_map(record, (uint32_t)pid, image, time);
	}
}

/* ---------------- Samples ---------------- */

static void perf_put_span(struct perf_record *record, const struct spans *spans,
			  const struct span *span)
{
	int64_t length = span->end - span->start;

	perf_begin(record, PERF_SAMPLE, PERF_MISC_USER);
	perf_put64(record, 0);
	perf_put32(record, (uint32_t)spans->threads[span->thread].pid);
	perf_put32(record, perf_tid(span->thread));
	perf_put64(record, (uint64_t)span->start * NANOSECONDS);
	perf_put64(record, OTHER_ID + span->name);
	perf_put64(record, length > 0 ? (uint64_t)length * NANOSECONDS : 1);
	perf_put64(record, 0);
	perf_end(record);
}

/* Each address with a mark before it where the mode is another one than before. */
static void perf_put_chain(struct perf_record *record, const struct view *view,
			   const struct view_stack *stack)
{
	const struct view_frame *frames = view->frames + stack->frames;
	size_t count = record->used;
	uint64_t n = 0;

	perf_put64(record, n);
	for (uint32_t i = 0; i < stack->depth; i++) {
		bool in_kernel = view->functions[frames[i].function].is_kernel;

		if (i == 0 || in_kernel != view->functions[frames[i - 1].function].is_kernel) {
			perf_put64(record, in_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
			n++;
		}
		perf_put64(record, frames[i].address);
		n++;
	}
	memcpy(record->bytes + count, &n, sizeof n);
}

static void perf_put_sample(struct perf_record *record, const struct timeline *timeline,
			    const struct sample *sample)
{
	const struct samples *samples = &timeline->samples;
	const struct profile_sample *of = sample->stack->sample;
	uint64_t interval = view_interval(samples_flavor(samples, sample));

	perf_begin(record, PERF_SAMPLE, of->is_kernel ? PERF_MISC_KERNEL : PERF_MISC_USER);
	perf_put64(record, of->is_kernel ? of->kernel_pc : of->pc);
	perf_put32(record, (uint32_t)samples->rows[sample->row].pid);
	perf_put32(record, perf_tid_of_row(timeline, sample->row));
	perf_put64(record, (uint64_t)sample->start * NANOSECONDS);
	perf_put64(record, perf_id_of_flavor(timeline, sample->stack->flavor));
	perf_put64(record, interval != 0 ? interval : 1);
	perf_put_chain(record, &samples->view, sample->stack);
	perf_end(record);
}

/* ---------------- In the order of time ---------------- */

struct perf_item {
	int64_t start;
	uint32_t order;
	const struct span *span;
	const struct sample *sample; /* One of the two. */
};

static int perf_compare(const void *first, const void *second)
{
	const struct perf_item *one = first, *other = second;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return (one->order > other->order) - (one->order < other->order);
}

static void perf_put_items(struct perf_record *record, const struct timeline *timeline)
{
	uint32_t n = 0;
	struct perf_item *items =
		allocate((size_t)timeline->spans.n + timeline->samples.n, sizeof *items);

	for (uint32_t i = 0; i < timeline->spans.n; i++, n++)
		items[n] = (struct perf_item){.start = timeline->spans.items[i].start,
					      .order = n,
					      .span = &timeline->spans.items[i]};
	for (uint32_t i = 0; i < timeline->samples.n; i++, n++)
		items[n] = (struct perf_item){.start = timeline->samples.items[i].start,
					      .order = n,
					      .sample = &timeline->samples.items[i]};
	sort(items, n, sizeof *items, perf_compare);
	for (uint32_t i = 0; i < n; i++)
		if (items[i].span != NULL)
			perf_put_span(record, &timeline->spans, items[i].span);
		else
			perf_put_sample(record, timeline, items[i].sample);
	free(items);
}

void timeline_write_perf(const struct timeline *timeline, FILE *out)
{
	const uint64_t header[] = {PERF_MAGIC, PERF_PIPE_HEADER};
	struct perf_record *record = allocate(1, sizeof *record);

	record->out = out;
	fwrite(header, sizeof header, 1, out);
	perf_put_events(record, timeline);
	perf_put_commands(record, timeline);
	perf_put_maps(record, timeline);
	perf_put_items(record, timeline);
	perf_begin(record, PERF_FINISHED_ROUND, 0);
	perf_end(record);
	free(record);
}
