/* SPDX-License-Identifier: MIT */
/*
 * The file format of speedscope: a profile for each thread, in which calls and waits open and close
 * in the order of time.  What takes no time, such as a signal, is not in it.
 */
#include <inttypes.h>

#include "spans.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void speedscope_put_frames(const struct spans *spans, FILE *out)
{
	fputs("\"shared\":{\"frames\":[", out);
	for (uint32_t i = 0; i < spans->n_names; i++) {
		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", out);
		spans_quote(out, spans->names[i]);
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

static void speedscope_put_profile(const struct spans *spans, uint32_t number, FILE *out)
{
	const struct span_thread *of = &spans->threads[number];
	struct speedscope_thread thread = {.out = out, .between = ""};
	char name[sizeof of->command + 40];

	snprintf(name, sizeof name, "%s %" PRId32 "/%u", of->command, of->pid, of->thread);
	fputs("\n{\"type\":\"evented\",\"name\":", out);
	spans_quote(out, name);
	fprintf(out,
		",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":%" PRId64 ",\"events\":[",
		spans->end);
	for (uint32_t i = 0; i < spans->n; i++)
		if (spans->items[i].thread == number)
			speedscope_put_span(&thread, &spans->items[i]);
	speedscope_end_call(&thread);
	fputs("]}", out);
}

void view_write_speedscope(const struct spans *spans, FILE *out)
{
	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"Assay kdump\",", out);
	speedscope_put_frames(spans, out);
	fputs(",\"profiles\":[", out);
	for (uint32_t i = 0; i < spans->n_threads; i++) {
		fputs(i > 0 ? "," : "", out);
		speedscope_put_profile(spans, i, out);
	}
	fputs("]}\n", out);
}
