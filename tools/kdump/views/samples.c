/* SPDX-License-Identifier: MIT */
/* Samples beside a timeline.  See samples.h. */
#include "samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gmon.h>

#include "../../gprof/perf_tasks.h"
#include "../../gprof/util.h"

#define NANOSECONDS 1000 /* Of a microsecond. */

/* ---------------- Reading ---------------- */

static void samples_read_profile(struct samples *samples, const char *path)
{
	struct file file = file_read(path);
	const char *error = perf_read(&samples->profile, file.bytes, file.size);

	if (error != NULL)
		fail("%s: %s; `monctl -record FILE` writes such files", path, error);
	if (!profile_knows(&samples->profile, GMON_WALL))
		fail("%s: does not say when its clock began, so nobody knows which call a sample "
		     "was in: record it again, with a monctl that writes that (the word `wall`)",
		     path);
	file_close(&file);
}

int32_t samples_pid_of(const struct samples *samples, uint32_t task)
{
	const struct profile_task *of = view_task(&samples->view, task);

	if (of != NULL && of->pid >= 0)
		return of->pid;
	return (task & PERF_TASK_OF_PID) != 0 ? (int32_t)(task & ~PERF_TASK_OF_PID) : -1;
}

/* ---------------- Rows ---------------- */

/* False if the process is not in the timeline; else its thread there, if that is the only one. */
static bool samples_find_calls(const struct spans *spans, int32_t pid, uint32_t *thread)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < spans->n_threads; i++)
		if (spans->threads[i].pid == pid) {
			*thread = i;
			n++;
		}
	if (n > 1)
		*thread = SPAN_NONE;
	return n > 0;
}

static bool samples_find_row(struct samples *samples, const struct spans *spans,
			     const struct profile_sample *sample, uint32_t *row)
{
	const struct profile_task *task = view_task(&samples->view, sample->task);
	struct sample_row new = {
		.pid = samples_pid_of(samples, sample->task),
		.thread = sample->thread,
		.command = task != NULL && task->name != NULL ? task->name : "",
	};

	for (*row = 0; *row < samples->n_rows; (*row)++)
		if (samples->rows[*row].pid == new.pid && samples->rows[*row].thread == new.thread)
			return true;
	if (!samples_find_calls(spans, new.pid, &new.of_calls))
		return false;
	samples->rows = reallocate(samples->rows, samples->n_rows + 1, sizeof *samples->rows);
	samples->rows[samples->n_rows++] = new;
	return true;
}

void samples_name_row(const struct samples *samples, uint32_t row, char name[SAMPLES_NAME_ROOM])
{
	const struct sample_row *of = &samples->rows[row];
	unsigned n = 0;

	for (uint32_t i = 0; i < samples->n_rows; i++)
		n += samples->rows[i].pid == of->pid &&
		     strcmp(samples->rows[i].command, of->command) == 0;
	if (n == 1)
		snprintf(name, SAMPLES_NAME_ROOM, "%.32s %" PRId32 " samples", of->command,
			 of->pid);
	else
		snprintf(name, SAMPLES_NAME_ROOM, "%.32s %" PRId32 " samples, kernel thread %u",
			 of->command, of->pid, of->thread);
}

/* ---------------- Choosing ---------------- */

int64_t samples_time(const struct samples *samples, const struct spans *spans, uint64_t time)
{
	return (int64_t)((samples->profile.values[GMON_WALL] + time) / NANOSECONDS) - spans->begin;
}

/* What was before the trace's first record, or after its last, is in no call that it has. */
static bool samples_is_within(const struct spans *spans, int64_t time)
{
	return time >= 0 && time <= spans->end;
}

static void samples_choose(struct samples *samples, const struct spans *spans)
{
	const struct view *view = &samples->view;
	size_t room = 0;

	for (size_t i = 0; i < view->n_stacks; i++) {
		const struct view_stack *stack = &view->stacks[i];
		struct sample new = {
			.start = samples_time(samples, spans, stack->sample->time),
			.stack = stack,
		};

		/* Waits are what the trace itself tells of. */
		if (samples_flavor(samples, &new)->is_length ||
		    !samples_is_within(spans, new.start) ||
		    !samples_find_row(samples, spans, stack->sample, &new.row))
			continue;
		samples->items = grow(samples->items, samples->n, &room, sizeof *samples->items);
		samples->items[samples->n++] = new;
	}
}

static int samples_compare(const void *first, const void *second)
{
	const struct sample *one = first, *other = second;

	if (one->row != other->row)
		return one->row < other->row ? -1 : 1;
	if (one->start != other->start)
		return one->start < other->start ? -1 : 1;
	return (one->stack > other->stack) - (one->stack < other->stack);
}

/* From the last to the first: what is behind a clock's sample is another one of the clock's. */
static void samples_find_ends(struct samples *samples, int64_t last)
{
	const struct sample *next = NULL;

	for (uint32_t i = samples->n; i-- > 0;) {
		struct sample *sample = &samples->items[i];
		uint64_t interval = view_interval(samples_flavor(samples, sample));
		int64_t most = next != NULL && next->row == sample->row ? next->start : last;

		sample->end = sample->start + (int64_t)(interval / NANOSECONDS);
		if (sample->end > most)
			sample->end = most;
		if (interval != 0)
			next = sample;
	}
}

void samples_read(struct samples *samples, const struct spans *spans, const char *path,
		  const char *folder)
{
	const struct view_source source = {.profile = &samples->profile};

	util_program = "kdump";
	*samples = (struct samples){0};
	samples_read_profile(samples, path);
	if (folder != NULL)
		programs_open(&samples->programs, &samples->profile, folder);
	if (samples->profile.n_samples > 0) {
		view_begin(&samples->view, &samples->profile, &source);
		samples_choose(samples, spans);
	}
	if (samples->n == 0)
		warn("%s: none of its %zu samples is of the trace's processes and time", path,
		     samples->profile.n_samples);
	else
		sort(samples->items, samples->n, sizeof *samples->items, samples_compare);
	samples_find_ends(samples, spans->end);
}

void samples_free(struct samples *samples)
{
	view_end(&samples->view);
	programs_close(&samples->programs);
	profile_end(&samples->profile);
	free(samples->rows);
	free(samples->items);
}
