/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace format, which speedscope, Perfetto and chrome://tracing open: an event for each
 * span, with the call's line and what it came to as its arguments.
 *
 * The format has an event for samples, too (`P`), but speedscope passes it over, and Perfetto takes
 * it for one of V8's.  All show what lasts: so a clock's sample is its call stack, each function
 * within its caller, in a row of its own.  It begins when it was taken; how long it is shown is for
 * the eye only.
 */
#include <inttypes.h>

#include "../../gprof/perf_format.h"
#include "timeline.h"

static const char *const categories[] = {
	[SPAN_CALL] = "call", [SPAN_WAIT] = "wait", [SPAN_INSTANT] = "event"};

/* Between events, but before the first. */
struct chrome {
	FILE *out;
	const char *between;
};

/* What all events begin with, up to their name. */
static void chrome_begin(struct chrome *chrome, const char *phase, int32_t pid, uint32_t tid)
{
	fprintf(chrome->out, "%s{\"ph\":\"%s\",\"pid\":%" PRId32 ",\"tid\":%" PRIu32 ",\"name\":",
		chrome->between, phase, pid, tid);
	chrome->between = ",\n";
}

static void chrome_put_name(struct chrome *chrome, const char *what, int32_t pid, uint32_t tid,
			    const char *name)
{
	chrome_begin(chrome, "M", pid, tid);
	fprintf(chrome->out, "\"%s\",\"args\":{\"name\":", what);
	spans_quote(chrome->out, name);
	fputs("}}", chrome->out);
}

/* ---------------- Calls ---------------- */

static void chrome_put_span(struct chrome *chrome, const struct spans *spans,
			    const struct span *span)
{
	const struct span_thread *thread = &spans->threads[span->thread];
	FILE *out = chrome->out;

	chrome_begin(chrome, span->kind == SPAN_INSTANT ? "i" : "X", thread->pid, thread->thread);
	spans_quote(out, span->label != NULL ? span->label : spans->names[span->name]);
	fprintf(out, ",\"cat\":\"%s\",\"ts\":%" PRId64, categories[span->kind], span->start);
	if (span->kind == SPAN_INSTANT)
		fputs(",\"s\":\"t\"", out);
	else
		fprintf(out, ",\"dur\":%" PRId64, span->end - span->start);
	fputs(",\"args\":{\"line\":", out);
	spans_quote(out, span->detail);
	if (span->result != NULL) {
		fputs(",\"result\":", out);
		spans_quote(out, span->result);
	}
	fputs("}}", out);
}

static void chrome_put_spans(struct chrome *chrome, const struct spans *spans)
{
	for (uint32_t i = 0; i < spans->n_threads; i++) {
		const struct span_thread *thread = &spans->threads[i];

		chrome_put_name(chrome, "process_name", thread->pid, 0, thread->command);
		chrome_put_name(chrome, "thread_name", thread->pid, thread->thread,
				thread->command);
	}
	for (uint32_t i = 0; i < spans->n; i++)
		chrome_put_span(chrome, spans, &spans->items[i]);
}

/* ---------------- Samples ---------------- */

/* As the recording has it: no thread of the trace has such a number. */
static uint32_t chrome_tid_of(const struct sample_row *row)
{
	return PERF_THREADS + row->thread;
}

static void chrome_put_address(FILE *out, const struct view_frame *frame, const char *end)
{
	fprintf(out, "\"address\":\"%#" PRIx64 "\"%s", frame->address, end);
}

static void chrome_put_frame(struct chrome *chrome, const struct samples *samples,
			     const struct sample *sample, const struct view_frame *frame)
{
	const struct sample_row *row = &samples->rows[sample->row];

	chrome_begin(chrome, "X", row->pid, chrome_tid_of(row));
	view_quote(chrome->out, view_name(&samples->view, frame->function));
	fprintf(chrome->out,
		",\"cat\":\"sample\",\"ts\":%" PRId64 ",\"dur\":%" PRId64 ",\"args\":{",
		sample->start, sample->end - sample->start);
	chrome_put_address(chrome->out, frame, "}}");
}

/* What is no time, such as a page fault, is a mark. */
static void chrome_put_mark(struct chrome *chrome, const struct samples *samples,
			    const struct sample *sample)
{
	const struct sample_row *row = &samples->rows[sample->row];
	const struct view_frame *frame = &samples->view.frames[sample->stack->frames];

	chrome_begin(chrome, "i", row->pid, chrome_tid_of(row));
	view_quote(chrome->out, samples_flavor(samples, sample)->name);
	fprintf(chrome->out, ",\"cat\":\"sample\",\"ts\":%" PRId64 ",\"s\":\"t\",\"args\":{\"in\":",
		sample->start);
	view_quote(chrome->out, view_name(&samples->view, frame->function));
	putc(',', chrome->out);
	chrome_put_address(chrome->out, frame, "}}");
}

static void chrome_put_sample(struct chrome *chrome, const struct samples *samples,
			      const struct sample *sample)
{
	const struct view_frame *frames = &samples->view.frames[sample->stack->frames];

	if (samples_flavor(samples, sample)->is_event)
		chrome_put_mark(chrome, samples, sample);
	else
		for (uint32_t depth = sample->stack->depth; depth-- > 0;)
			chrome_put_frame(chrome, samples, sample, &frames[depth]);
}

static void chrome_put_samples(struct chrome *chrome, const struct samples *samples)
{
	char name[SAMPLES_NAME_ROOM];

	for (uint32_t i = 0; i < samples->n_rows; i++) {
		samples_name_row(samples, i, name);
		chrome_put_name(chrome, "thread_name", samples->rows[i].pid,
				chrome_tid_of(&samples->rows[i]), name);
	}
	for (uint32_t i = 0; i < samples->n; i++)
		chrome_put_sample(chrome, samples, &samples->items[i]);
}

void timeline_write_chrome(const struct timeline *timeline, FILE *out)
{
	struct chrome chrome = {.out = out, .between = "\n"};

	fprintf(out,
		"{\"displayTimeUnit\":\"ms\",\"otherData\":{\"begin_us\":%" PRId64 "},"
		"\"traceEvents\":[",
		timeline->spans.begin);
	chrome_put_spans(&chrome, &timeline->spans);
	chrome_put_samples(&chrome, &timeline->samples);
	fputs("\n]}\n", out);
}
