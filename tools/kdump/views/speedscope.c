/* SPDX-License-Identifier: MIT */
/*
 * The file format of speedscope: a profile for each thread, in which calls and waits open and close
 * in the order of time.  What takes no time, such as a signal, is not in it.
 *
 * A row of samples is a profile of its own, on the same scale: where there is no sample there is an
 * empty stack, which lasts until the next one.
 */
#include <inttypes.h>

#include "timeline.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Functions are behind the names of calls and waits. */
static void speedscope_put_frames(const struct timeline *timeline, FILE *out)
{
	const struct spans *spans = &timeline->spans;
	const struct view *view = &timeline->samples.view;

	fputs("\"shared\":{\"frames\":[", out);
	for (uint32_t i = 0; i < spans->n_names; i++) {
		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", out);
		spans_quote(out, spans->names[i]);
		putc('}', out);
	}
	for (uint32_t i = 0; i < view->n_functions; i++) {
		fputs(i + spans->n_names > 0 ? ",\n{\"name\":" : "\n{\"name\":", out);
		view_quote(out, view_name(view, i));
		fputs(",\"file\":", out);
		view_quote(out, view_object(view, i));
		putc('}', out);
	}
	fputs("]}", out);
}

/* A thread's spans, of which a call may be open while the waits in it come and go. */
struct speedscope_thread {
	FILE *out;
	const char *between;
	const struct span *call;
};

static void speedscope_put_event(struct speedscope_thread *thread, char type,
				 const struct span *span)
{
	fprintf(thread->out, "%s\n{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}",
		thread->between, type, span->name, type == 'O' ? span->start : span->end);
	thread->between = ",";
}

static void speedscope_end_call(struct speedscope_thread *thread)
{
	if (thread->call != NULL)
		speedscope_put_event(thread, 'C', thread->call);
	thread->call = NULL;
}

static void speedscope_put_span(struct speedscope_thread *thread, const struct span *span)
{
	if (span->kind == SPAN_INSTANT)
		return;
	if (thread->call != NULL && span->start >= thread->call->end)
		speedscope_end_call(thread);
	speedscope_put_event(thread, 'O', span);
	if (span->kind == SPAN_CALL)
		thread->call = span;
	else
		speedscope_put_event(thread, 'C', span);
}

/* The beginning of a profile, up to what differs. */
static void speedscope_begin(const char *type, const char *name, int64_t end, FILE *out)
{
	fprintf(out, "\n{\"type\":\"%s\",\"name\":", type);
	view_quote(out, name);
	fprintf(out, ",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":%" PRId64 ",", end);
}

static void speedscope_put_thread(const struct spans *spans, uint32_t number, FILE *out)
{
	const struct span_thread *of = &spans->threads[number];
	struct speedscope_thread thread = {.out = out, .between = ""};
	char name[sizeof of->command + 40];

	snprintf(name, sizeof name, "%s %" PRId32 "/%u", of->command, of->pid, of->thread);
	speedscope_begin("evented", name, spans->end, out);
	fputs("\"events\":[", out);
	for (uint32_t i = 0; i < spans->n; i++)
		if (spans->items[i].thread == number)
			speedscope_put_span(&thread, &spans->items[i]);
	speedscope_end_call(&thread);
	fputs("]}", out);
}

/* ---------------- Samples ---------------- */

static void speedscope_put_stack(const struct timeline *timeline, const struct sample *sample,
				 FILE *out)
{
	const struct view_stack *stack = sample->stack;
	const struct view_frame *frames = &timeline->samples.view.frames[stack->frames];

	fputs(",\n[", out);
	for (uint32_t depth = stack->depth; depth-- > 0;)
		fprintf(out, "%" PRIu32 "%s", timeline->spans.n_names + frames[depth].function,
			depth > 0 ? "," : "");
	putc(']', out);
}

/* Each clock's sample of the row, or the next one from there on; NULL: there is no more. */
static const struct sample *speedscope_next(const struct samples *samples, uint32_t row,
					    uint32_t *at)
{
	for (; *at < samples->n; (*at)++)
		if (samples->items[*at].row == row &&
		    !samples_flavor(samples, &samples->items[*at])->is_event)
			return &samples->items[(*at)++];
	return NULL;
}

/* Before each sample, and behind the last one, is a stack of nothing. */
static void speedscope_put_row(const struct timeline *timeline, uint32_t row, FILE *out)
{
	const struct samples *samples = &timeline->samples;
	const struct sample *sample;
	char name[SAMPLES_NAME_ROOM];
	int64_t reached = 0;
	uint32_t at = 0;

	samples_name_row(samples, row, name);
	speedscope_begin("sampled", name, timeline->spans.end, out);
	fputs("\"samples\":[[]", out);
	while ((sample = speedscope_next(samples, row, &at)) != NULL) {
		speedscope_put_stack(timeline, sample, out);
		fputs(",[]", out);
	}
	fputs("],\n\"weights\":[", out);
	at = 0;
	while ((sample = speedscope_next(samples, row, &at)) != NULL) {
		fprintf(out, "%" PRId64 ",%" PRId64 ",", sample->start - reached,
			sample->end - sample->start);
		reached = sample->end;
	}
	fprintf(out, "%" PRId64 "]}", timeline->spans.end - reached);
}

void timeline_write_speedscope(const struct timeline *timeline, FILE *out)
{
	const char *between = "";

	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"Assay kdump\",", out);
	speedscope_put_frames(timeline, out);
	fputs(",\"profiles\":[", out);
	for (uint32_t i = 0; i < timeline->spans.n_threads; i++) {
		fputs(between, out);
		speedscope_put_thread(&timeline->spans, i, out);
		between = ",";
	}
	for (uint32_t i = 0; i < timeline->samples.n_rows; i++) {
		fputs(between, out);
		speedscope_put_row(timeline, i, out);
		between = ",";
	}
	fputs("]}\n", out);
}
