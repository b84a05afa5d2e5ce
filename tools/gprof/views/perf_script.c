/* SPDX-License-Identifier: MIT */
/*
 * What `perf script` prints, which many programs read: a block of lines for each sample.  As those
 * programs count blocks, so many samples at one place are as many blocks; one that has a length is
 * one block, with that as its period.
 */
#include <inttypes.h>

#include <gmon.h>

#include "view.h"

#define NANOSECONDS  UINT64_C(1000000000)
#define MICROSECONDS UINT64_C(1000)
#define PROGRAM_PID  1

/* Whose sample it is; profiles without samples are of one program. */
struct origin {
	const char *name;
	int32_t pid;
	uint32_t thread;
	unsigned cpu;
	uint64_t time;
};

static void perf_script_put_name(FILE *out, const char *name)
{
	for (; *name != '\0'; name++)
		putc(*name == ' ' ? '_' : *name, out);
}

static struct origin perf_script_origin_of(const struct view *view, const struct view_stack *stack,
					   uint64_t time)
{
	struct origin origin = {"program", PROGRAM_PID, PROGRAM_PID, 0, time};
	const struct profile_sample *sample = stack->sample;
	const struct profile_task *task;

	if (sample == NULL)
		return origin;
	task = view_task(view, sample->task);
	origin = (struct origin){"task", (int32_t)sample->task, sample->thread, sample->cpu,
				 sample->time};
	if (task != NULL && task->pid >= 0)
		origin.pid = task->pid;
	if (task != NULL && task->name != NULL && task->name[0] != '\0')
		origin.name = task->name;
	return origin;
}

static void perf_script_put_head(const struct view *view, const struct view_stack *stack,
				 const struct origin *origin, FILE *out)
{
	const struct profile_flavor *flavor = &view->profile->flavors[stack->flavor];
	uint64_t interval = flavor->is_length ? stack->count : view_interval(flavor);

	perf_script_put_name(out, origin->name);
	fprintf(out, " %" PRId32 "/%" PRIu32 " [%03u] %" PRIu64 ".%06" PRIu64 ": %" PRIu64 " %s:\n",
		origin->pid, origin->thread, origin->cpu, origin->time / NANOSECONDS,
		origin->time % NANOSECONDS / MICROSECONDS, interval != 0 ? interval : 1,
		flavor->name);
}

static void perf_script_put_stack(const struct view *view, const struct view_stack *stack,
				  FILE *out)
{
	for (uint32_t i = 0; i < stack->depth; i++) {
		const struct view_frame *frame = &view->frames[stack->frames + i];
		const struct view_function *function = &view->functions[frame->function];
		const char *object = view_object(view, frame->function);

		fprintf(out, "\t%16" PRIx64 " ", frame->address);
		perf_script_put_name(out, function->name);
		if (function->start != 0)
			fprintf(out, "+0x%" PRIx64, frame->address - function->start);
		fprintf(out, " (%s)\n",
			object[0] != '\0'     ? object
			: function->is_kernel ? "[kernel]"
					      : "program");
	}
	putc('\n', out);
}

static void perf_script_put_values(const struct profile *profile, FILE *out)
{
	char word[VIEW_WORD_ROOM];

	for (unsigned i = 0; i < VIEW_WORDS; i++)
		if (view_word(profile, i, word, sizeof word) != NULL)
			fprintf(out, "# %s\n", word);
}

void view_write_perf_script(const struct view *view, FILE *out)
{
	uint64_t time = 0;

	perf_script_put_values(view->profile, out);
	for (size_t i = 0; i < view->n_stacks; i++) {
		const struct view_stack *stack = &view->stacks[i];
		const struct profile_flavor *flavor = &view->profile->flavors[stack->flavor];
		uint64_t interval = view_interval(flavor);
		uint64_t blocks = flavor->is_length ? 1 : stack->count;

		for (uint64_t n = 0; n < blocks; n++) {
			struct origin origin = perf_script_origin_of(view, stack, time);

			perf_script_put_head(view, stack, &origin, out);
			perf_script_put_stack(view, stack, out);
			time += interval != 0 ? interval : MICROSECONDS;
		}
	}
}
