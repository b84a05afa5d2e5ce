/* SPDX-License-Identifier: MIT */
/*
 * Stacks of a profile that has only counts by address, and calls.
 *
 * How often a function was found is known, and who calls it how often, but not for whom it ran when
 * it was found.  As gprof does, it is assumed that each call takes equally long: a function's
 * samples are dealt out to its callers in proportion to their calls, theirs to their callers, and
 * so on.  Samples are not divided, so that all sums stay exact; a caller that is in the stack
 * already does not come into it again.
 */
#include <stdlib.h>

#include "../util.h"
#include "view.h"

#define DEPTH_MAX 64u

/* Calls of one function by another one, and from where one of them comes. */
struct caller {
	uint32_t callee;
	uint32_t function;
	uint64_t site;
	uint64_t calls;
	bool is_known; /* Else nobody knows who called. */
};

/* Samples of one address. */
struct item {
	struct view_frame place;
	uint64_t count;
};

struct guess {
	struct view *view;

	struct caller *callers; /* By callee. */
	size_t n_callers;

	struct item *items; /* Of one flavor and mode, by function. */
	size_t n_items;
	size_t items_room;
	size_t next; /* The first of which not all samples have gone into stacks. */

	uint32_t flavor;
	bool is_kernel;

	struct view_frame path[DEPTH_MAX]; /* Behind the innermost frame. */
	uint32_t depth;
	uint32_t leaf;
};

/* ---------------- Calls ---------------- */

static int compare_callers(const void *first, const void *second)
{
	const struct caller *one = first, *other = second;

	if (one->callee != other->callee)
		return one->callee < other->callee ? -1 : 1;
	return (one->site > other->site) - (one->site < other->site);
}

static void read_calls(struct guess *guess)
{
	const struct profile *profile = guess->view->profile;

	guess->callers = allocate(profile->n_arcs + 1, sizeof *guess->callers);
	for (size_t i = 0; i < profile->n_arcs; i++) {
		const struct profile_arc *arc = &profile->arcs[i];
		struct view_frame from = view_place(guess->view, 0, false, arc->from, true);
		struct view_frame to = view_place(guess->view, 0, false, arc->self, false);

		if (arc->count == 0)
			continue;
		guess->callers[guess->n_callers++] = (struct caller){
			.callee = to.function,
			.function = from.function,
			.site = arc->from,
			.calls = arc->count,
			.is_known = guess->view->functions[from.function].start != 0,
		};
	}
	if (guess->n_callers > 0)
		qsort(guess->callers, guess->n_callers, sizeof *guess->callers, compare_callers);
}

static int compare_calls(const void *first, const void *second)
{
	const struct view_call *one = first, *other = second;

	if (one->caller != other->caller)
		return one->caller < other->caller ? -1 : 1;
	return (one->callee > other->callee) - (one->callee < other->callee);
}

/* The same for those who write them down, without where they were made. */
static void sum_calls(const struct guess *guess)
{
	struct view *view = guess->view;
	size_t n = 0;

	view->calls = allocate(guess->n_callers + 1, sizeof *view->calls);
	for (size_t i = 0; i < guess->n_callers; i++)
		view->calls[i] =
			(struct view_call){guess->callers[i].function, guess->callers[i].callee,
					   guess->callers[i].calls};
	if (guess->n_callers > 0)
		qsort(view->calls, guess->n_callers, sizeof *view->calls, compare_calls);
	for (size_t i = 0; i < guess->n_callers; i++) {
		if (n > 0 && compare_calls(&view->calls[n - 1], &view->calls[i]) == 0)
			view->calls[n - 1].count += view->calls[i].count;
		else
			view->calls[n++] = view->calls[i];
	}
	view->n_calls = n;
}

/* The first caller of a function, or of one behind it. */
static const struct caller *callers_of(const struct guess *guess, uint32_t function)
{
	size_t low = 0, high = guess->n_callers;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (guess->callers[middle].callee < function)
			low = middle + 1;
		else
			high = middle;
	}
	return &guess->callers[low];
}

/* ---------------- Stacks ---------------- */

/* Takes the next `count` samples of the innermost function, which has that many. */
static void emit(struct guess *guess, uint64_t count)
{
	struct view *view = guess->view;

	while (count > 0) {
		struct item *item = &guess->items[guess->next];
		uint64_t n = item->count < count ? item->count : count;
		size_t first = view->n_frames;

		if (guess->is_kernel)
			view_add_frame(view, view_kernel(view));
		view_add_frame(view, item->place);
		for (uint32_t i = 0; i < guess->depth; i++)
			view_add_frame(view, guess->path[i]);
		view_add_stack(view, first, guess->flavor, n, NULL);
		item->count -= n;
		count -= n;
		guess->next += item->count == 0;
	}
}

static bool is_in_path(const struct guess *guess, uint32_t function)
{
	if (function == guess->leaf)
		return true;
	for (uint32_t i = 0; i < guess->depth; i++)
		if (guess->path[i].function == function)
			return true;
	return false;
}

/* Where the samples of the first `calls` of all calls end. */
static uint64_t share(uint64_t count, uint64_t calls, uint64_t all)
{
	return (uint64_t)(((unsigned __int128)count * calls + all / 2) / all);
}

/* Deals samples of the function at the path's end out to those who call it. */
static void deal(struct guess *guess, uint32_t function, uint64_t count)
{
	const struct caller *first = callers_of(guess, function);
	const struct caller *end = guess->callers + guess->n_callers;
	uint64_t all = 0, calls = 0, dealt = 0;

	for (const struct caller *caller = first; caller < end && caller->callee == function;
	     caller++)
		all += is_in_path(guess, caller->function) ? 0 : caller->calls;
	if (all == 0 || guess->depth == DEPTH_MAX) {
		emit(guess, count);
		return;
	}
	for (const struct caller *caller = first; caller < end && caller->callee == function;
	     caller++) {
		uint64_t part;

		if (is_in_path(guess, caller->function))
			continue;
		calls += caller->calls;
		part = share(count, calls, all) - dealt;
		dealt += part;
		if (part == 0)
			continue;
		if (!caller->is_known) {
			emit(guess, part);
			continue;
		}
		guess->path[guess->depth++] = (struct view_frame){caller->function, caller->site};
		deal(guess, caller->function, part);
		guess->depth--;
	}
}

/* ---------------- Counts ---------------- */

static int compare_items(const void *first, const void *second)
{
	const struct item *one = first, *other = second;

	if (one->place.function != other->place.function)
		return one->place.function < other->place.function ? -1 : 1;
	return (one->place.address > other->place.address) -
	       (one->place.address < other->place.address);
}

static void add_item(struct guess *guess, uint64_t address, uint64_t count)
{
	if (count == 0)
		return;
	guess->items = grow(guess->items, guess->n_items, &guess->items_room, sizeof *guess->items);
	guess->items[guess->n_items++] =
		(struct item){view_place(guess->view, 0, false, address, false), count};
}

/* A bin that several functions share is divided as their bytes are. */
static void add_bin(struct guess *guess, uint64_t low, uint64_t high, uint64_t count)
{
	const struct elfsym *program = guess->view->program;
	uint64_t dealt = 0, at = low;

	while (at < high && count > 0) {
		uint64_t end = high, part;

		if (program != NULL)
			elfsym_find(program, at, &end);
		if (end > high || end <= at)
			end = high;
		part = share(count, end - low, high - low) - dealt;
		add_item(guess, at, part);
		dealt += part;
		at = end;
	}
}

static void add_bins(struct guess *guess, const struct profile_bins *bins)
{
	for (uint32_t i = 0; i < bins->n; i++)
		add_bin(guess, profile_bins_start(bins, i), profile_bins_start(bins, i + 1),
			profile_bins_get(bins, i));
}

/* All items of one function at a time. */
static void make_stacks(struct guess *guess)
{
	guess->next = 0;
	if (guess->n_items > 0)
		qsort(guess->items, guess->n_items, sizeof *guess->items, compare_items);
	while (guess->next < guess->n_items) {
		uint64_t count = 0;

		guess->leaf = guess->items[guess->next].place.function;
		for (size_t i = guess->next;
		     i < guess->n_items && guess->items[i].place.function == guess->leaf; i++)
			count += guess->items[i].count;
		deal(guess, guess->leaf, count);
	}
	guess->n_items = 0;
}

void view_guess(struct view *view)
{
	const struct profile *profile = view->profile;
	struct guess guess = {.view = view};

	read_calls(&guess);
	sum_calls(&guess);
	view->is_guessed = guess.n_callers > 0;
	for (uint32_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];

		guess.flavor = i;
		for (unsigned mode = 0; mode < PROFILE_MODES; mode++) {
			const struct profile_counts *counts = &flavor->counts[mode];

			guess.is_kernel = mode == PROFILE_KERNEL;
			for (size_t k = 0; k < counts->n; k++)
				add_item(&guess, counts->items[k].pc, counts->items[k].count);
			for (size_t k = 0; mode == PROFILE_USER && k < flavor->n_bins; k++)
				add_bins(&guess, &flavor->bins[k]);
			make_stacks(&guess);
		}
	}
	free(guess.callers);
	free(guess.items);
}
