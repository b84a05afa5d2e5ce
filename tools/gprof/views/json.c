/* SPDX-License-Identifier: MIT */
/*
 * The profile as JSON, for scripts: counts of the recording, flavors, functions with their own
 * samples by flavor, stacks (innermost function first), calls.  docs/views.md describes it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../util.h"
#include "view.h"

#define JSON_VERSION 1

static void json_put_counts(const struct profile *profile, FILE *out)
{
	const char *comma = "";

	fputs("\"counts\":{", out);
	for (unsigned i = 0; i < PROFILE_VALUES; i++) {
		char word[64];
		int name = 0;

		if (view_value(profile, i, word, sizeof word) == NULL)
			continue;
		while (word[name] != '=')
			name++;
		fprintf(out, "%s\"%.*s\":%s", comma, name, word, word + name + 1);
		comma = ",";
	}
	fputs("},\n", out);
}

static void json_put_cpu(const uint64_t *values, FILE *out)
{
	for (unsigned i = 0; i < VIEW_CPU_VALUES; i++)
		fprintf(out, "%c\"%s\":%" PRIu64, i == 0 ? '{' : ',',
			view_value_name(view_cpu_values[i]), values[view_cpu_values[i]]);
	putc('}', out);
}

static void json_put_cpus(const struct profile *profile, FILE *out)
{
	fputs("\"cpus\":[", out);
	for (unsigned cpu = 0; cpu < profile_cpus(profile); cpu++) {
		fputs(cpu > 0 ? ",\n" : "\n", out);
		json_put_cpu(profile->cpus[cpu], out);
	}
	fputs("],\n", out);
}

static void json_put_flavors(const struct view *view, FILE *out)
{
	fputs("\"flavors\":[", out);
	for (size_t i = 0; i < view->profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &view->profile->flavors[i];

		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", out);
		view_quote(out, flavor->name);
		fprintf(out, ",\"is_event\":%s,\"interval_ns\":%" PRIu64 ",\"total\":%" PRIu64 "}",
			flavor->is_event ? "true" : "false", view_interval(flavor),
			view_total(view, i));
	}
	fputs("],\n", out);
}

/* Each function's own samples: a row of as many numbers as there are flavors. */
static uint64_t *json_own_samples(const struct view *view)
{
	size_t columns = view->profile->n_flavors;
	uint64_t *own = allocate(view->n_functions * columns + 1, sizeof *own);

	for (size_t i = 0; i < view->n_stacks; i++) {
		const struct view_stack *stack = &view->stacks[i];

		own[view->frames[stack->frames].function * columns + stack->flavor] += stack->count;
	}
	return own;
}

static void json_put_functions(const struct view *view, FILE *out)
{
	size_t columns = view->profile->n_flavors;
	uint64_t *own = json_own_samples(view);

	fputs("\"functions\":[", out);
	for (uint32_t i = 0; i < view->n_functions; i++) {
		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", out);
		view_quote(out, view_name(view, i));
		fputs(",\"object\":", out);
		view_quote(out, view_object(view, i));
		fprintf(out, ",\"address\":%" PRIu64 ",\"self\":[", view->functions[i].start);
		for (size_t k = 0; k < columns; k++)
			fprintf(out, "%s%" PRIu64, k > 0 ? "," : "", own[i * columns + k]);
		fputs("]}", out);
	}
	fputs("],\n", out);
	free(own);
}

static void json_put_stack(const struct view *view, const struct view_stack *stack, FILE *out)
{
	const struct view_frame *frames = view->frames + stack->frames;
	const struct profile_sample *sample = stack->sample;

	fprintf(out, "{\"flavor\":%" PRIu32 ",\"count\":%" PRIu64 ",\"functions\":[", stack->flavor,
		stack->count);
	for (uint32_t i = 0; i < stack->depth; i++)
		fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", frames[i].function);
	fputs("],\"addresses\":[", out);
	for (uint32_t i = 0; i < stack->depth; i++)
		fprintf(out, "%s%" PRIu64, i > 0 ? "," : "", frames[i].address);
	putc(']', out);
	if (sample != NULL)
		fprintf(out,
			",\"time_ns\":%" PRIu64 ",\"task\":%" PRIu32 ",\"thread\":%" PRIu32
			",\"label\":%" PRIu32 ",\"cpu\":%u",
			sample->time, sample->task, sample->thread, sample->label, sample->cpu);
	putc('}', out);
}

static void json_put_tasks(const struct view *view, FILE *out)
{
	fputs("\"tasks\":[", out);
	for (size_t i = 0; i < view->profile->n_tasks; i++) {
		const struct profile_task *task = &view->profile->tasks[i];

		fprintf(out,
			"%s{\"id\":%" PRIu32 ",\"pid\":%" PRId32 ",\"name\":", i > 0 ? ",\n" : "",
			task->id, task->pid);
		view_quote(out, task->name != NULL ? task->name : "");
		putc('}', out);
	}
	fputs("],\n", out);
}

/* By function, as was counted. */
static void json_put_calls(const struct view *view, FILE *out)
{
	fputs("\"calls\":[", out);
	for (size_t i = 0; i < view->n_calls; i++) {
		const struct view_call *call = &view->calls[i];

		fprintf(out,
			"%s{\"caller\":%" PRIu32 ",\"callee\":%" PRIu32 ",\"count\":%" PRIu64 "}",
			i > 0 ? ",\n" : "", call->caller, call->callee, call->count);
	}
	fputs("]}\n", out);
}

void view_write_json(const struct view *view, FILE *out)
{
	fprintf(out, "{\"format\":\"assay-profile\",\"version\":%d,\"callers_guessed\":%s,\n",
		JSON_VERSION, view->is_guessed ? "true" : "false");
	json_put_counts(view->profile, out);
	json_put_cpus(view->profile, out);
	json_put_flavors(view, out);
	json_put_tasks(view, out);
	json_put_functions(view, out);
	fputs("\"stacks\":[", out);
	for (size_t i = 0; i < view->n_stacks; i++) {
		fputs(i > 0 ? ",\n" : "\n", out);
		json_put_stack(view, &view->stacks[i], out);
	}
	fputs("],\n", out);
	json_put_calls(view, out);
}
