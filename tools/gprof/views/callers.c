/* SPDX-License-Identifier: MIT */
/* The calls that a profile counted, as a list by who was called.  See callers.h. */
#include "callers.h"

#include "../util.h"

static int callers_compare_callers(const void *first, const void *second)
{
	const struct caller *one = first, *other = second;

	if (one->callee != other->callee)
		return one->callee < other->callee ? -1 : 1;
	if (one->function != other->function)
		return one->function < other->function ? -1 : 1;
	return (one->site > other->site) - (one->site < other->site);
}

static void callers_read_calls(struct callers *callers, struct view *view,
			       const struct profile_sample *sample)
{
	const struct profile *profile = view->profile;

	callers->items = allocate(profile->n_arcs + 2, sizeof *callers->items);
	for (size_t i = 0; i < profile->n_arcs; i++) {
		const struct profile_arc *arc = &profile->arcs[i];
		struct view_frame from = view_place(view, sample, false, arc->from, true);
		struct view_frame to = view_place(view, sample, false, arc->self, false);

		if (arc->count == 0)
			continue;
		callers->items[callers->n++] = (struct caller){
			.callee = to.function,
			.function = from.function,
			.site = arc->from,
			.calls = arc->count,
			.is_known = view->functions[from.function].start != 0,
		};
	}
	sort(callers->items, callers->n, sizeof *callers->items, callers_compare_callers);
	for (size_t i = 0; i < callers->n; i++)
		callers->items[i + 1].before = callers->items[i].before + callers->items[i].calls;
}

static int callers_compare_calls(const void *first, const void *second)
{
	const struct view_call *one = first, *other = second;

	if (one->caller != other->caller)
		return one->caller < other->caller ? -1 : 1;
	return (one->callee > other->callee) - (one->callee < other->callee);
}

/* The same for those who write them down, with and without where they were made. */
static void callers_sum_calls(const struct callers *callers, struct view *view)
{
	size_t n = 0;

	view->calls = allocate(callers->n + 1, sizeof *view->calls);
	view->sites = allocate(callers->n + 1, sizeof *view->sites);
	view->n_sites = callers->n;
	for (size_t i = 0; i < callers->n; i++) {
		const struct caller *from = &callers->items[i];

		view->calls[i] = (struct view_call){from->function, from->callee, from->calls};
		view->sites[i] =
			(struct view_site){from->function, from->callee, from->site, from->calls};
	}
	sort(view->calls, callers->n, sizeof *view->calls, callers_compare_calls);
	for (size_t i = 0; i < callers->n; i++) {
		if (n > 0 && callers_compare_calls(&view->calls[n - 1], &view->calls[i]) == 0)
			view->calls[n - 1].count += view->calls[i].count;
		else
			view->calls[n++] = view->calls[i];
	}
	view->n_calls = n;
}

void callers_read(struct callers *callers, struct view *view, const struct profile_sample *sample)
{
	*callers = (struct callers){0};
	callers_read_calls(callers, view, sample);
	callers_sum_calls(callers, view);
}

/* In a row, the first calls that are not before those of one function by another. */
static size_t callers_search(const struct callers *callers, struct row row, uint32_t callee,
			     uint32_t function)
{
	size_t low = row.first, high = row.end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct caller *at = &callers->items[middle];

		if (at->callee < callee || (at->callee == callee && at->function < function))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t callers_of(const struct callers *callers, uint32_t callee)
{
	return callers_search(callers, (struct row){0, callers->n}, callee, 0);
}

size_t callers_find(const struct callers *callers, const struct row *all, uint32_t function)
{
	return callers_search(callers, *all, callers->items[all->first].callee, function);
}
