/* SPDX-License-Identifier: MIT */
/*
 * perf.data in pipe form: a sample for each span, at the time when it began, with its length in
 * nanoseconds for a period; each call is an event of its own, and so is each thing to wait for.  So
 * `perf script` is the timeline, and `perf report` says how long the calls took together.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../../gprof/perf_format.h"
#include "spans.h"

#define NANOSECONDS 1000u /* Of a microsecond. */
#define ALIGNMENT   8u
#define DUMMY       9u /* The software event that counts nothing. */
#define SAMPLE_TYPE (PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ID | PERF_HAS_PERIOD)

struct perf_record {
	FILE *out;
	size_t used;
	unsigned char bytes[1024]; /* Names are short. */
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

static void perf_put_text(struct perf_record *record, const char *text)
{
	perf_put(record, text, strlen(text) + 1);
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

static void perf_put_event(struct perf_record *record, uint32_t id, const char *name)
{
	static const unsigned char rest[PERF_ATTR_SIZE - PERF_ATTR_USED];
	const struct perf_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE,
		.config = DUMMY,
		.period = 1,
		.sample_type = SAMPLE_TYPE,
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

static void perf_put_command(struct perf_record *record, const struct span_thread *thread,
			     uint32_t tid)
{
	perf_begin(record, PERF_COMM, 0);
	perf_put32(record, (uint32_t)thread->pid);
	perf_put32(record, tid);
	perf_put_text(record, thread->command);
	perf_end(record);
}

static void perf_put_sample(struct perf_record *record, const struct spans *spans,
			    const struct span *span)
{
	int64_t length = span->end - span->start;

	perf_begin(record, PERF_SAMPLE, PERF_MISC_USER);
	perf_put32(record, (uint32_t)spans->threads[span->thread].pid);
	perf_put32(record, perf_tid(span->thread));
	perf_put64(record, (uint64_t)span->start * NANOSECONDS);
	perf_put64(record, span->name + 1);
	perf_put64(record, length > 0 ? (uint64_t)length * NANOSECONDS : 1);
	perf_end(record);
}

static int perf_compare(const void *first, const void *second)
{
	const struct span *one = *(const struct span *const *)first;
	const struct span *other = *(const struct span *const *)second;

	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return (one > other) - (one < other);
}

static void perf_put_samples(struct perf_record *record, const struct spans *spans)
{
	const struct span **by_time = calloc(spans->n + 1, sizeof *by_time);

	if (by_time == NULL) {
		fputs("kdump: out of memory\n", stderr);
		exit(1);
	}
	for (uint32_t i = 0; i < spans->n; i++)
		by_time[i] = &spans->items[i];
	qsort(by_time, spans->n, sizeof *by_time, perf_compare);
	for (uint32_t i = 0; i < spans->n; i++)
		perf_put_sample(record, spans, by_time[i]);
	free(by_time);
}

void view_write_perf(const struct spans *spans, FILE *out)
{
	const uint64_t header[] = {PERF_MAGIC, PERF_PIPE_HEADER};
	struct perf_record record = {.out = out};

	fwrite(header, sizeof header, 1, out);
	for (uint32_t i = 0; i < spans->n_names; i++)
		perf_put_event(&record, i + 1, spans->names[i]);
	for (uint32_t i = 0; i < spans->n_threads; i++) {
		const struct span_thread *thread = &spans->threads[i];

		perf_put_command(&record, thread, (uint32_t)thread->pid);
		perf_put_command(&record, thread, perf_tid(i));
	}
	perf_put_samples(&record, spans);
	perf_begin(&record, PERF_FINISHED_ROUND, 0);
	perf_end(&record);
}
