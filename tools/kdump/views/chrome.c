/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace format, which speedscope, Perfetto and chrome://tracing open: an event for each
 * span, with the call's line and what it came to as its arguments.
 */
#include <inttypes.h>

#include "spans.h"

static const char *const categories[] = {
	[SPAN_CALL] = "call", [SPAN_WAIT] = "wait", [SPAN_INSTANT] = "event"};

static void chrome_put_name(FILE *out, const char *what, const struct span_thread *thread,
			    unsigned number)
{
	fprintf(out,
		"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRId32 ",\"tid\":%u,\"args\":{\"name\":",
		what, thread->pid, number);
	spans_quote(out, thread->command);
	fputs("}}", out);
}

static void chrome_put_span(FILE *out, const struct spans *spans, const struct span *span)
{
	const struct span_thread *thread = &spans->threads[span->thread];

	fputs("{\"ph\":", out);
	if (span->kind == SPAN_INSTANT)
		fputs("\"i\",\"s\":\"t\"", out);
	else
		fprintf(out, "\"X\",\"dur\":%" PRId64, span->end - span->start);
	fprintf(out, ",\"cat\":\"%s\",\"pid\":%" PRId32 ",\"tid\":%u,\"ts\":%" PRId64 ",\"name\":",
		categories[span->kind], thread->pid, thread->thread, span->start);
	spans_quote(out, span->label != NULL ? span->label : spans->names[span->name]);
	fputs(",\"args\":{\"line\":", out);
	spans_quote(out, span->detail);
	if (span->result != NULL) {
		fputs(",\"result\":", out);
		spans_quote(out, span->result);
	}
	fputs("}}", out);
}

void view_write_chrome(const struct spans *spans, FILE *out)
{
	const char *between = "\n";

	fprintf(out,
		"{\"displayTimeUnit\":\"ms\",\"otherData\":{\"begin_us\":%" PRId64 "},"
		"\"traceEvents\":[",
		spans->begin);
	for (uint32_t i = 0; i < spans->n_threads; i++) {
		fputs(between, out);
		chrome_put_name(out, "process_name", &spans->threads[i], 0);
		fputs(",\n", out);
		chrome_put_name(out, "thread_name", &spans->threads[i], spans->threads[i].thread);
		between = ",\n";
	}
	for (uint32_t i = 0; i < spans->n; i++) {
		fputs(between, out);
		chrome_put_span(out, spans, &spans->items[i]);
		between = ",\n";
	}
	fputs("\n]}\n", out);
}
