/* SPDX-License-Identifier: MIT */
/* A trace as a timeline.  See spans.h. */
#define _GNU_SOURCE
#include "spans.h"

#include <stdlib.h>
#include <string.h>

#include "ktrace/names.h"

#define ROOM_FIRST 64u
#define LABEL_MOST 64u /* Bytes of what a program says. */

static void *spans_memory(void *memory)
{
	if (memory != NULL)
		return memory;
	fputs("kdump: out of memory\n", stderr);
	exit(1);
}

/* An array of so many things, of which there is room for a power of two. */
static void *spans_grow(void *items, uint32_t n, size_t size)
{
	if (n != 0 && (n < ROOM_FIRST || (n & (n - 1)) != 0))
		return items;
	return spans_memory(reallocarray(items, n == 0 ? ROOM_FIRST : 2 * (size_t)n, size));
}

/* ---------------- Words ---------------- */

/* What a function prints, without the end of the line. */
static char *spans_text(struct ktrace_print *print, const struct ktrace_record *record,
			void (*print_it)(struct ktrace_print *, const struct ktrace_record *))
{
	struct ktrace_print to_memory = *print;
	char *text = NULL;
	size_t length;

	to_memory.out = spans_memory(open_memstream(&text, &length));
	to_memory.data_most = 0;
	print_it(&to_memory, record);
	fclose(to_memory.out);
	spans_memory(text);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void spans_print_call_name(struct ktrace_print *print, const struct ktrace_record *record)
{
	ktrace_print_name(print->out, ktrace_print_code(record));
}

static struct ktr_csw spans_load_csw(const struct ktrace_record *record)
{
	struct ktr_csw body;

	memcpy(&body, record->body, sizeof body);
	return body;
}

static void spans_print_wait(struct ktrace_print *print, const struct ktrace_record *record)
{
	fputs("wait:", print->out);
	ktrace_put_name(print->out, KTRACE_REASON, spans_load_csw(record).reason);
}

static void spans_print_type(struct ktrace_print *print, const struct ktrace_record *record)
{
	const char *type = ktrace_name(KTRACE_TYPE, record->type);

	fprintf(print->out, "%.*s", (int)strcspn(type, " "), type);
}

/* What a program says by utrace() is a mark of its own; a signal has its name, a path itself. */
static void spans_print_label(struct ktrace_print *print, const struct ktrace_record *record)
{
	int32_t signal;

	if (record->type == KTR_USER || record->type == KTR_NAMEI) {
		ktrace_print_text(print->out, record->body,
				  record->length < LABEL_MOST ? record->length : LABEL_MOST);
	} else if (record->type == KTR_PSIG) {
		memcpy(&signal, record->body, sizeof signal);
		ktrace_put_name(print->out, KTRACE_SIGNAL, (uint32_t)signal);
	} else {
		ktrace_print_body(print, record);
	}
}

/* The index of the name that a function prints: there are not many. */
static uint32_t spans_name(struct spans *spans, struct ktrace_print *print,
			   const struct ktrace_record *record,
			   void (*print_it)(struct ktrace_print *, const struct ktrace_record *))
{
	char *name = spans_text(print, record, print_it);
	uint32_t i = 0;

	while (i < spans->n_names && strcmp(spans->names[i], name) != 0)
		i++;
	if (i < spans->n_names) {
		free(name);
		return i;
	}
	spans->names = spans_grow(spans->names, i, sizeof *spans->names);
	spans->names[spans->n_names++] = name;
	return i;
}

/* ---------------- Spans ---------------- */

static uint32_t spans_thread_of(struct spans *spans, const struct ktrace_record *record)
{
	struct span_thread *thread;
	uint32_t i = 0;

	while (i < spans->n_threads &&
	       (spans->threads[i].pid != record->pid || spans->threads[i].thread != record->thread))
		i++;
	if (i == spans->n_threads) {
		spans->threads = spans_grow(spans->threads, i, sizeof *spans->threads);
		spans->threads[spans->n_threads++] = (struct span_thread){.pid = record->pid,
									  .thread = record->thread,
									  .call = SPAN_NONE,
									  .last_call = SPAN_NONE};
	}
	thread = &spans->threads[i];
	strcpy(thread->command, record->command);
	thread->last = record->time - spans->begin;
	return i;
}

static struct span *spans_add(struct spans *spans, uint32_t thread,
			      const struct ktrace_record *record)
{
	struct span *span;

	spans->items = spans_grow(spans->items, spans->n, sizeof *spans->items);
	span = &spans->items[spans->n++];
	*span = (struct span){
		.order = spans->n,
		.kind = SPAN_INSTANT,
		.type = record->type,
		.thread = thread,
		.start = record->time - spans->begin,
		.end = record->time - spans->begin,
		.outer = spans->threads[thread].call,
	};
	return span;
}

/* The thread's call ends, whether or not it has returned. */
static struct span *spans_end_call(struct spans *spans, uint32_t thread, int64_t when)
{
	uint32_t call = spans->threads[thread].call;

	spans->threads[thread].call = SPAN_NONE;
	if (call == SPAN_NONE)
		return NULL;
	if (when > spans->items[call].start)
		spans->items[call].end = when;
	return &spans->items[call];
}

static void spans_add_call(struct spans *spans, struct ktrace_print *print,
			   const struct ktrace_record *record)
{
	uint32_t thread = spans_thread_of(spans, record);
	struct span *span;

	spans_end_call(spans, thread, record->time - spans->begin);
	span = spans_add(spans, thread, record);
	span->kind = SPAN_CALL;
	span->name = spans_name(spans, print, record, spans_print_call_name);
	span->detail = spans_text(print, record, ktrace_print_body);
	spans->threads[thread].call = spans->threads[thread].last_call = spans->n - 1;
}

static void spans_add_result(struct spans *spans, struct ktrace_print *print,
			     const struct ktrace_record *record)
{
	uint32_t thread = spans_thread_of(spans, record);
	struct span *span = spans_end_call(spans, thread, record->time - spans->begin);

	if (span != NULL)
		span->result = spans_text(print, record, ktrace_print_result);
}

/* A wait for an answer goes on until the call has returned: it is that call's. */
static uint32_t spans_call_of_wait(const struct spans *spans, uint32_t thread, int64_t start)
{
	const struct span_thread *who = &spans->threads[thread];

	if (who->call != SPAN_NONE || who->last_call == SPAN_NONE ||
	    spans->items[who->last_call].end <= start)
		return who->call;
	return who->last_call;
}

/* That it stopped is known when it has gone on. */
static void spans_add_wait(struct spans *spans, struct ktrace_print *print,
			   const struct ktrace_record *record)
{
	uint32_t thread = spans_thread_of(spans, record);
	struct ktr_csw body = spans_load_csw(record);
	struct span *span;

	if (body.out == 1)
		return;
	span = spans_add(spans, thread, record);
	span->kind = SPAN_WAIT;
	span->start -= body.length;
	span->outer = spans_call_of_wait(spans, thread, span->start);
	span->name = spans_name(spans, print, record, spans_print_wait);
	span->detail = spans_text(print, record, ktrace_print_body);
}

static void spans_add_instant(struct spans *spans, struct ktrace_print *print,
			      const struct ktrace_record *record)
{
	struct span *span = spans_add(spans, spans_thread_of(spans, record), record);

	span->name = spans_name(spans, print, record, spans_print_type);
	span->label = spans_text(print, record, spans_print_label);
	span->detail = spans_text(print, record, ktrace_print_body);
}

static void spans_add_record(struct spans *spans, struct ktrace_print *print,
			     const struct ktrace_record *record)
{
	if (!ktrace_is_chosen(print, record) || !ktrace_is_sound(print->file, record))
		return;
	switch (record->type) {
	case KTR_SYSCALL:
		spans_add_call(spans, print, record);
		break;
	case KTR_SYSRET:
		spans_add_result(spans, print, record);
		break;
	case KTR_CSW:
		spans_add_wait(spans, print, record);
		break;
	default:
		spans_add_instant(spans, print, record);
	}
}

/* ---------------- Order ---------------- */

static int spans_compare(const void *first, const void *second)
{
	const struct span *one = first, *other = second;

	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return (one->order > other->order) - (one->order < other->order);
}

static int64_t spans_within(int64_t time, int64_t least, int64_t most)
{
	if (time < least)
		return least;
	return time > most ? most : time;
}

/* A wait that began before its call, or ended behind it, is the call's as far as it lies within. */
static void spans_fit(struct spans *spans)
{
	for (uint32_t i = 0; i < spans->n; i++) {
		struct span *span = &spans->items[i];
		const struct span *call =
			span->outer != SPAN_NONE ? &spans->items[span->outer] : NULL;
		int64_t least = call != NULL ? call->start : 0;
		int64_t most = call != NULL ? call->end : spans->end;

		span->start = spans_within(span->start, least, most);
		span->end = spans_within(span->end, span->start, most);
	}
}

/* How far a thread's spans reach: those of the outer level, those within a call, and the call. */
struct spans_reach {
	int64_t outer, inner, call;
};

static void spans_separate_one(struct span *span, struct spans_reach *reach)
{
	if (span->kind == SPAN_WAIT && span->start < reach->call) {
		span->start = spans_within(span->start, reach->inner, reach->call);
		span->end = spans_within(span->end, span->start, reach->call);
		reach->inner = span->end;
		return;
	}
	span->start = spans_within(span->start, reach->outer, INT64_MAX);
	span->end = spans_within(span->end, span->start, INT64_MAX);
	reach->outer = span->end;
	if (span->kind == SPAN_CALL) {
		reach->inner = span->start;
		reach->call = span->end;
	}
}

/* What is beside another one begins when that has ended, whatever clocks and roundings say. */
static void spans_separate(struct spans *spans)
{
	struct spans_reach reach = {0};

	for (uint32_t i = 0; i < spans->n; i++) {
		struct span *span = &spans->items[i];

		if (i > 0 && span->thread != spans->items[i - 1].thread)
			reach = (struct spans_reach){0};
		if (span->kind != SPAN_INSTANT)
			spans_separate_one(span, &reach);
	}
}

void spans_read(struct spans *spans, struct ktrace_print *print)
{
	struct ktrace_record record;
	bool has_begun = false;

	*spans = (struct spans){0};
	while (ktrace_next(print->file, &record)) {
		if (!has_begun)
			spans->begin = record.time;
		has_begun = true;
		spans->end = spans_within(spans->end, record.time - spans->begin, INT64_MAX);
		spans_add_record(spans, print, &record);
	}
	for (uint32_t i = 0; i < spans->n_threads; i++)
		spans_end_call(spans, i, spans->threads[i].last);
	spans_fit(spans);
	if (spans->n > 0)
		qsort(spans->items, spans->n, sizeof *spans->items, spans_compare);
	spans_separate(spans);
}

void spans_free(struct spans *spans)
{
	for (uint32_t i = 0; i < spans->n; i++) {
		free(spans->items[i].label);
		free(spans->items[i].detail);
		free(spans->items[i].result);
	}
	for (uint32_t i = 0; i < spans->n_names; i++)
		free(spans->names[i]);
	free(spans->items);
	free(spans->threads);
	free(spans->names);
}

void spans_quote(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}
