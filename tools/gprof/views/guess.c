/* SPDX-License-Identifier: MIT */
/*
 * Stacks of a profile that has only counts by address, and calls.
 *
 * How often a function was found is known, and who calls it how often, but not for whom it ran when
 * it was found.  As gprof does, it is assumed that each call takes equally long: a function's
 * samples are dealt out to its callers in proportion to their calls, theirs to their callers, and
 * so on.  Samples are not divided, so that all sums stay exact; a caller that is in the stack
 * already does not come into it again.  Of very many samples as many as make a *unit* stay
 * together: so the stacks are not more than can be of use, however many samples there are.
 *
 * A function may have very many callers, and be in very many stacks.  So calls are summed up along
 * the list of callers: where the next unit goes is looked up, and callers that get none cost
 * nothing.  Whom rounding favours is another each time that a function's samples are dealt out.
 */
#include <stdlib.h>

#include "../util.h"
#include "callers.h"
#include "view.h"

#define DEPTH_MAX 64u

#define PHASE_FIRST (UINT64_C(1) << 63)
#define PHASE_STEP  0x9e3779b97f4a7c15u /* The golden section of 2^64: spreads evenly. */

/* Units that a flavor's samples are dealt in, and addresses that are told apart, at most. */
#define UNITS_MAX  100000u
#define PLACES_MAX 200000u

/* Samples of one address. */
struct item {
	struct view_frame place;
	uint64_t count;
};

struct guess {
	struct view *view;

	struct callers calls;

	struct item *items; /* Of one flavor and mode, by function. */
	size_t n_items;
	size_t items_room;
	size_t next; /* The first of which not all samples have gone into stacks. */

	uint32_t flavor;
	bool is_kernel;
	uint64_t unit; /* Samples that stay together. */

	struct view_frame path[DEPTH_MAX]; /* Behind the innermost frame. */
	uint32_t depth;
	uint32_t leaf;
	bool *is_in_stack; /* By function: the path's and the leaf. */
	uint64_t *phases;  /* By function: of its next deal, less PHASE_FIRST. */
};

/* ---------------- Stacks ---------------- */

/* Takes the next `count` samples of the innermost function, which has that many. */
static void guess_emit(struct guess *guess, uint64_t count)
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

/*
 * Where the samples of the first `calls` of all calls end.  The phase, in parts of 2^64, is how
 * much of a sample is due when the next caller has it.
 */
static uint64_t guess_share_from(uint64_t phase, uint64_t count, uint64_t calls, uint64_t all)
{
	unsigned __int128 due = (unsigned __int128)phase * all >> 64;

	return (uint64_t)(((unsigned __int128)count * calls + due) / all);
}

/* Rounded to the nearest. */
static uint64_t guess_share(uint64_t count, uint64_t part, uint64_t all)
{
	return guess_share_from(PHASE_FIRST, count, part, all);
}

/* ---------------- Callers that are not in the stack yet ---------------- */

struct rows {
	struct row items[DEPTH_MAX + 2];
	unsigned n;
	uint64_t calls;
};

static int guess_compare_rows(const void *first, const void *second)
{
	const struct row *one = first, *other = second;

	return (one->first > other->first) - (one->first < other->first);
}

static uint64_t guess_calls_of(const struct guess *guess, const struct row *row)
{
	return guess->calls.items[row->end].before - guess->calls.items[row->first].before;
}

/* Of few callers each is looked at, */
static unsigned guess_find_taken_of_few(const struct guess *guess, const struct row *all,
					struct row *taken)
{
	unsigned n = 0;

	for (size_t i = all->first; i < all->end; i++)
		if (guess->is_in_stack[guess->calls.items[i].function])
			taken[n++] = (struct row){i, i + 1};
	return n;
}

/* of many those are looked up that are in the stack. */
static unsigned guess_find_taken(const struct guess *guess, const struct row *all,
				 struct row *taken)
{
	unsigned n = 0;

	if (all->end - all->first <= guess->depth + 1u)
		return guess_find_taken_of_few(guess, all, taken);
	for (uint32_t i = 0; i <= guess->depth; i++) {
		uint32_t caller = i == guess->depth ? guess->leaf : guess->path[i].function;
		struct row row = {.first = callers_find(&guess->calls, all, caller)};

		row.end = row.first;
		while (row.end < all->end && guess->calls.items[row.end].function == caller)
			row.end++;
		if (row.end > row.first)
			taken[n++] = row;
	}
	sort(taken, n, sizeof *taken, guess_compare_rows);
	return n;
}

/* All others. */
static void guess_find_rows(const struct guess *guess, uint32_t function, struct rows *rows)
{
	struct row all = {callers_of(&guess->calls, function),
			  callers_of(&guess->calls, function + 1)};
	struct row taken[DEPTH_MAX + 1];
	unsigned n = guess_find_taken(guess, &all, taken);
	size_t at = all.first;

	rows->n = 0;
	rows->calls = 0;
	for (unsigned i = 0; i <= n; i++) {
		struct row row = {at, i < n ? taken[i].first : all.end};

		if (row.end > row.first) {
			rows->items[rows->n++] = row;
			rows->calls += guess_calls_of(guess, &row);
		}
		if (i < n)
			at = taken[i].end;
	}
}

/* What is dealt out at a time. */
struct hand {
	uint64_t units;
	uint64_t dealt; /* Of them. */
	uint64_t calls; /* Of all who get some. */
	uint64_t phase;
};

static uint64_t guess_share_of(const struct hand *hand, uint64_t calls)
{
	return guess_share_from(hand->phase, hand->units, calls, hand->calls);
}

/*
 * The first caller of a row up to which more is due than was dealt; the row's end if there is none.
 * `before` are the calls of the rows before it.
 */
static size_t guess_find_next(const struct guess *guess, const struct row *row, uint64_t before,
			      const struct hand *hand)
{
	size_t low = row->first, high = row->end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t calls = before + guess->calls.items[middle + 1].before -
				 guess->calls.items[row->first].before;

		if (guess_share_of(hand, calls) <= hand->dealt)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---------------- Dealing ---------------- */

static void guess_deal(struct guess *guess, uint32_t function, uint64_t count);

static void guess_deal_to(struct guess *guess, const struct caller *caller, uint64_t count)
{
	if (!caller->is_known) {
		guess_emit(guess, count);
		return;
	}
	guess->path[guess->depth++] = (struct view_frame){
		.function = caller->function,
		.is_return = true,
		.address = caller->site,
	};
	guess->is_in_stack[caller->function] = true;
	guess_deal(guess, caller->function, count);
	guess->is_in_stack[caller->function] = false;
	guess->depth--;
}

/* Deals samples of the function at the path's end out to those who call it. */
static void guess_deal(struct guess *guess, uint32_t function, uint64_t count)
{
	struct hand hand = {
		.units = count / guess->unit + (count < guess->unit),
		.phase = PHASE_FIRST + guess->phases[function],
	};
	uint64_t before = 0;
	struct rows rows;

	guess_find_rows(guess, function, &rows);
	if (rows.n == 0 || guess->depth == DEPTH_MAX) {
		guess_emit(guess, count);
		return;
	}
	hand.calls = rows.calls;
	guess->phases[function] += PHASE_STEP;
	for (unsigned i = 0; i < rows.n; i++) {
		const struct row *row = &rows.items[i];
		size_t next = row->first;

		while ((next = guess_find_next(guess, row, before, &hand)) < row->end) {
			uint64_t until = guess_share_of(
				&hand, before + guess->calls.items[next + 1].before -
					       guess->calls.items[row->first].before);

			guess_deal_to(guess, &guess->calls.items[next],
				      guess_share(count, until, hand.units) -
					      guess_share(count, hand.dealt, hand.units));
			hand.dealt = until;
		}
		before += guess_calls_of(guess, row);
	}
}

/* ---------------- Counts ---------------- */

static int guess_compare_items(const void *first, const void *second)
{
	const struct item *one = first, *other = second;

	if (one->place.function != other->place.function)
		return one->place.function < other->place.function ? -1 : 1;
	return (one->place.address > other->place.address) -
	       (one->place.address < other->place.address);
}

static void guess_add_item(struct guess *guess, uint64_t address, uint64_t count)
{
	if (count == 0)
		return;
	guess->items = grow(guess->items, guess->n_items, &guess->items_room, sizeof *guess->items);
	guess->items[guess->n_items++] =
		(struct item){view_place(guess->view, NULL, false, address, false), count};
}

/* A bin that several functions share is divided as their bytes are. */
static void guess_add_bin(struct guess *guess, uint64_t low, uint64_t high, uint64_t count)
{
	const struct elfsym *program = guess->view->program;
	uint64_t dealt = 0, at = low;

	while (at < high && count > 0) {
		uint64_t end = high, part;

		if (program != NULL)
			elfsym_find(program, at, &end);
		if (end > high || end <= at)
			end = high;
		part = guess_share(count, end - low, high - low) - dealt;
		guess_add_item(guess, at, part);
		dealt += part;
		at = end;
	}
}

static void guess_add_bins(struct guess *guess, const struct profile_bins *bins)
{
	for (uint32_t i = 0; i < bins->n; i++)
		guess_add_bin(guess, profile_bins_start(bins, i), profile_bins_start(bins, i + 1),
			      profile_bins_get(bins, i));
}

/* Of very many addresses the one of each function that has the most samples stands for all. */
static void guess_merge_items(struct guess *guess)
{
	uint64_t most = 0;
	size_t n = 0;

	for (size_t i = 0; i < guess->n_items; i++) {
		struct item item = guess->items[i];
		struct item *last = n > 0 ? &guess->items[n - 1] : NULL;

		if (last == NULL || last->place.function != item.place.function) {
			guess->items[n++] = item;
			most = item.count;
			continue;
		}
		if (item.count > most) {
			most = item.count;
			last->place = item.place;
		}
		last->count += item.count;
	}
	guess->n_items = n;
}

static void guess_find_unit(struct guess *guess)
{
	uint64_t total = 0;

	for (size_t i = 0; i < guess->n_items; i++)
		total += guess->items[i].count;
	guess->unit = total / UNITS_MAX + (total % UNITS_MAX > 0);
}

/* All items of one function at a time. */
static void guess_make_stacks(struct guess *guess)
{
	guess->next = 0;
	sort(guess->items, guess->n_items, sizeof *guess->items, guess_compare_items);
	if (guess->n_items > PLACES_MAX)
		guess_merge_items(guess);
	guess_find_unit(guess);
	guess->is_in_stack = allocate(guess->view->n_functions + 1, sizeof(bool));
	guess->phases = allocate(guess->view->n_functions + 1, sizeof(uint64_t));
	while (guess->next < guess->n_items) {
		uint64_t count = 0;

		guess->leaf = guess->items[guess->next].place.function;
		for (size_t i = guess->next;
		     i < guess->n_items && guess->items[i].place.function == guess->leaf; i++)
			count += guess->items[i].count;
		guess->is_in_stack[guess->leaf] = true;
		guess_deal(guess, guess->leaf, count);
		guess->is_in_stack[guess->leaf] = false;
	}
	free(guess->is_in_stack);
	free(guess->phases);
	guess->n_items = 0;
}

void view_guess(struct view *view)
{
	const struct profile *profile = view->profile;
	struct guess guess = {.view = view};

	callers_read(&guess.calls, view, NULL);
	view->is_guessed = guess.calls.n > 0;
	for (uint32_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];

		guess.flavor = i;
		for (unsigned mode = 0; mode < PROFILE_MODES; mode++) {
			const struct profile_counts *counts = &flavor->counts[mode];

			guess.is_kernel = mode == PROFILE_KERNEL;
			for (size_t k = 0; k < counts->n; k++)
				guess_add_item(&guess, counts->items[k].pc, counts->items[k].count);
			for (size_t k = 0; mode == PROFILE_USER && k < flavor->n_bins; k++)
				guess_add_bins(&guess, &flavor->bins[k]);
			guess_make_stacks(&guess);
		}
	}
	free(guess.calls.items);
	free(guess.items);
}
