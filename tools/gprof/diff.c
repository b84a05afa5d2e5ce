/* SPDX-License-Identifier: MIT */
/*
 * --diff: what two profiles say of each function, how far they differ, and how sure that is.
 *
 * Functions are paired by name; static ones of one name also by their source.  Of n samples the
 * standard error is the root of n + 1, so that none is not taken for surely none.  Calls, and
 * events, are counted and have no error.
 *
 * A difference is marked if it is larger than chance would make any of so many functions in one
 * comparison of twenty.  What a profile lost may have been anybody's: each difference is taken at
 * the least that it can be then.
 */
#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gmon.h"
#include "util.h"

#define CHANCE 0.05 /* That any function is marked if none differs. */

/* Of a function in one of the profiles. */
struct side {
	bool is_there;
	double samples;
	uint64_t calls;
};

struct row {
	const char *name;
	const char *file; /* Of a static function, "" of another. */
	struct side before;
	struct side after;
	double difference;
	double error;
	double sureness; /* What is left without losses, in standard errors. */
	bool is_marked;
};

struct rows {
	struct row *items;
	size_t n;
	size_t room;
};

/* What is true of all of a profile's functions. */
struct scope {
	const struct report *report;
	unsigned flavor;
	double worth;
	double total; /* Samples. */
	double lost;
	bool is_exact; /* Events were counted, all of them. */
};

struct comparison {
	struct scope before;
	struct scope after;
	bool is_of_shares;
};

/* ---------------- Pairing ---------------- */

static void diff_add_rows(struct rows *rows, const struct report *report, unsigned flavor,
			  bool is_after)
{
	const struct graph *graph = report->graph;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct node *node = &graph->nodes[i];
		struct side side = {
			.is_there = true,
			.samples = graph->self[(size_t)i * graph->n_flavors + flavor],
			.calls = node->calls + node->self_calls,
		};
		struct row row = {.name = node->name, .file = ""};

		if (node->kind == NODE_SPONTANEOUS || (side.samples <= 0 && side.calls == 0))
			continue;
		if (node->function != NULL && node->function->file != NULL)
			row.file = node->function->file;
		*(is_after ? &row.after : &row.before) = side;
		rows->items = grow(rows->items, rows->n, &rows->room, sizeof(*rows->items));
		rows->items[rows->n++] = row;
	}
}

static int diff_compare_names(const void *first, const void *second)
{
	const struct row *one = first;
	const struct row *other = second;
	int order = strcmp(one->name, other->name);

	return order != 0 ? order : strcmp(one->file, other->file);
}

static void diff_add_side(struct side *sum, const struct side *side)
{
	sum->is_there |= side->is_there;
	sum->samples += side->samples;
	sum->calls += side->calls;
}

/* Rows of one name: one of each profile are a pair, wherever the function is now. */
static size_t diff_merge_name(struct row *rows, size_t n, struct row *to)
{
	size_t before = 0, used = 0;

	for (size_t i = 0; i < n; i++)
		before += rows[i].before.is_there;
	for (size_t i = 0; i < n; i++) {
		bool is_pair = before <= 1 && n - before <= 1;

		if (used > 0 && (is_pair || strcmp(to[used - 1].file, rows[i].file) == 0)) {
			diff_add_side(&to[used - 1].before, &rows[i].before);
			diff_add_side(&to[used - 1].after, &rows[i].after);
		} else {
			to[used++] = rows[i];
		}
	}
	return used;
}

static void diff_merge(struct rows *rows)
{
	size_t used = 0;

	sort(rows->items, rows->n, sizeof(*rows->items), diff_compare_names);
	for (size_t i = 0, end; i < rows->n; i = end) {
		for (end = i;
		     end < rows->n && strcmp(rows->items[end].name, rows->items[i].name) == 0;)
			end++;
		used += diff_merge_name(&rows->items[i], end - i, &rows->items[used]);
	}
	rows->n = used;
}

/* ---------------- Comparing ---------------- */

static double diff_part(double samples, double total)
{
	return total > 0 ? samples / total : 0;
}

/* Seconds or samples; or percent. */
static double diff_amount_of(const struct comparison *comparison, const struct scope *scope,
			     double samples)
{
	if (comparison->is_of_shares)
		return 100 * diff_part(samples, scope->total);
	return samples * scope->worth;
}

/* If all that was lost had been this function's; or all another one's. */
static double diff_most_of(const struct comparison *comparison, const struct scope *scope,
			   double samples)
{
	if (comparison->is_of_shares)
		return 100 * diff_part(samples + scope->lost, scope->total + scope->lost);
	return (samples + scope->lost) * scope->worth;
}

static double diff_least_of(const struct comparison *comparison, const struct scope *scope,
			    double samples)
{
	if (comparison->is_of_shares)
		return 100 * diff_part(samples, scope->total + scope->lost);
	return samples * scope->worth;
}

static double diff_variance_of(const struct comparison *comparison, const struct scope *scope,
			       double samples)
{
	double share = (samples + 1) / (scope->total + 2);

	if (scope->is_exact)
		return 0;
	if (comparison->is_of_shares)
		return 1e4 * share * (1 - share) / (scope->total > 0 ? scope->total : 1);
	return (samples + 1) * scope->worth * scope->worth;
}

static void diff_compare_row(const struct comparison *comparison, struct row *row)
{
	const struct scope *before = &comparison->before, *after = &comparison->after;
	double old = row->before.samples, new = row->after.samples;
	double rest;

	row->difference =
		diff_amount_of(comparison, after, new) - diff_amount_of(comparison, before, old);
	row->error = sqrt(diff_variance_of(comparison, before, old) +
			  diff_variance_of(comparison, after, new));
	if (row->difference > 0)
		rest = diff_least_of(comparison, after, new) -
		       diff_most_of(comparison, before, old);
	else
		rest = diff_least_of(comparison, before, old) -
		       diff_most_of(comparison, after, new);
	if (rest > 0)
		row->sureness = row->error > 0 ? rest / row->error : HUGE_VAL;
}

static bool diff_is_sampled(const struct row *row)
{
	return row->before.samples + row->after.samples > 0;
}

/* Returns how many functions were compared. */
static size_t diff_compare_all(const struct comparison *comparison, struct rows *rows)
{
	size_t compared = 0;

	for (size_t i = 0; i < rows->n; i++)
		compared += diff_is_sampled(&rows->items[i]);
	for (size_t i = 0; i < rows->n; i++) {
		struct row *row = &rows->items[i];

		diff_compare_row(comparison, row);
		row->is_marked = diff_is_sampled(row) &&
				 erfc(row->sureness / sqrt(2)) * (double)compared < CHANCE;
	}
	return compared;
}

static int diff_compare_rows(const void *first, const void *second)
{
	const struct row *one = first;
	const struct row *other = second;
	double size = fabs(one->difference), other_size = fabs(other->difference);

	if (one->sureness != other->sureness)
		return one->sureness > other->sureness ? -1 : 1;
	if (size != other_size)
		return size > other_size ? -1 : 1;
	return diff_compare_names(first, second);
}

/* ---------------- Printing ---------------- */

static void diff_print_side(const struct scope *scope, const char *when)
{
	const struct report *report = scope->report;
	const struct profile *profile = report->choice->profile;

	printf("%s: %s, %s", when, report->options->program, report->options->profiles.items[0]);
	if (report->options->profiles.n > 1)
		printf(" and %zu more", report->options->profiles.n - 1);
	printf(": %.0f samples", scope->total);
	if (!report->choice->is_event[scope->flavor])
		printf(" of %g ms", scope->worth * 1000);
	if (profile_knows(profile, GMON_LOST))
		printf("; lost and missed: %.0f", scope->lost);
	else
		printf("; lost and missed: the profile does not say");
	if (report->graph->unknown_calls > 0)
		printf("; calls of addresses in no function: %" PRIu64,
		       report->graph->unknown_calls);
	printf("\n");
}

static void diff_print_head(const struct comparison *comparison)
{
	const char *unit = unit_of(comparison->after.report->choice, comparison->after.flavor);

	printf("%26s %33s %27s\n", "before         ", "after                      ",
	       "calls        ");
	printf("%9s %6s %9s %6s %11s %9s %7s %10s %10s   name\n", unit, "%", unit, "%",
	       comparison->is_of_shares ? "% more" : "more", "+-", "sure", "before", "after");
}

static void diff_print_amount(struct text *text, const struct scope *scope, const struct side *side)
{
	if (!side->is_there) {
		text_right(text, "-", 9);
		text_right(text, "-", 8);
	} else {
		text_fixed(text, side->samples * scope->worth,
			   scale_of(scope->report->choice, scope->flavor).decimals, 9);
		text_fixed(text, 100 * diff_part(side->samples, scope->total), 1, 8);
	}
	text_blank(text, 1);
}

static void diff_print_calls(struct text *text, const struct side *side)
{
	text_blank(text, 1);
	if (side->is_there && side->calls > 0)
		text_count(text, side->calls, 10);
	else
		text_right(text, "-", 10);
}

static void diff_print_sureness(struct text *text, const struct row *row)
{
	text_blank(text, 1);
	if (row->sureness == HUGE_VAL)
		text_right(text, "exact", 6);
	else
		text_fixed(text, row->sureness, 1, 6);
	text_string(text, row->is_marked ? "*" : " ");
}

static void diff_print_row(const struct comparison *comparison, const struct row *row)
{
	struct text *text = comparison->after.report->text;
	int decimals =
		scale_of(comparison->after.report->choice, comparison->after.flavor).decimals;
	char difference[32];

	decimals = comparison->is_of_shares ? 2 : decimals;
	snprintf(difference, sizeof(difference), "%+.*f", decimals, row->difference);
	diff_print_amount(text, &comparison->before, &row->before);
	diff_print_amount(text, &comparison->after, &row->after);
	text_right(text, difference, 9);
	text_blank(text, 1);
	text_fixed(text, row->error, decimals, 9);
	diff_print_sureness(text, row);
	diff_print_calls(text, &row->before);
	diff_print_calls(text, &row->after);
	text_string(text, row->before.calls != row->after.calls ? " ! " : "   ");
	text_string(text, row->name);
	text_end_line(text);
}

static void diff_print_blurb(size_t compared)
{
	printf("* more than chance makes of any of %zu functions in one comparison of 20, even if "
	       "all that\n  was lost or missed had been that function's; +- is one standard error, "
	       "`sure' how many the\n  difference is.  ! other calls; these are counted and have "
	       "no error.\n\n",
	       compared);
}

static struct scope diff_scope_of(const struct report *report, unsigned flavor)
{
	const struct profile_flavor *of = report->choice->flavors[flavor];
	const uint64_t *values = report->choice->profile->values;

	return (struct scope){
		.report = report,
		.flavor = flavor,
		.worth = report->choice->worth[flavor],
		.total = report->graph->total[flavor],
		.lost = (double)(values[GMON_LOST] + values[GMON_MISSED] + values[GMON_BUFFERED]),
		.is_exact = of->is_event,
	};
}

static void diff_print_flavor(const struct comparison *comparison)
{
	const struct report *report = comparison->after.report;
	struct rows rows = {0};
	size_t compared;

	diff_add_rows(&rows, comparison->before.report, comparison->before.flavor, false);
	diff_add_rows(&rows, report, comparison->after.flavor, true);
	diff_merge(&rows);
	compared = diff_compare_all(comparison, &rows);
	sort(rows.items, rows.n, sizeof(*rows.items), diff_compare_rows);
	printf("Differences: %s\n\n", report->choice->flavors[comparison->after.flavor]->name);
	diff_print_side(&comparison->before, "before");
	diff_print_side(&comparison->after, "after");
	printf("\n");
	diff_print_head(comparison);
	for (size_t i = 0; i < rows.n; i++)
		diff_print_row(comparison, &rows.items[i]);
	text_end_line(report->text);
	text_write(report->text);
	if (!report->options->is_brief)
		diff_print_blurb(compared);
	free(rows.items);
}

/* ---------------- Flavors ---------------- */

/* Times of clocks that are not known cannot be set against others. */
static void diff_check_rates(const struct report *before, unsigned old, const struct report *after,
			     unsigned new)
{
	const struct profile_flavor *one = before->choice->flavors[old];
	const struct profile_flavor *other = after->choice->flavors[new];
	const struct options *options = after->options;
	bool is_asked = options->period > 0 || options->diffs_shares;

	if (one->is_event || other->is_event || is_asked)
		return;
	if ((one->rate > 0) != (other->rate > 0))
		fail("--diff: one of the profiles does not say how often it was sampled: -r if it "
		     "was as often as the other, or --diff=shares");
	if (options->counts_events && fabs(one->rate - other->rate) > one->rate / 1e6)
		fail("--diff: %g and %g samples a second: without -N times are compared, with "
		     "--diff=shares shares",
		     one->rate, other->rate);
}

static unsigned diff_find_flavor(const struct choice *choice, const char *name)
{
	unsigned i = 0;

	while (i < choice->n && strcmp(choice->flavors[i]->name, name) != 0)
		i++;
	return i;
}

static void diff_print_alone(const struct choice *choice, const struct choice *other,
			     const char *when)
{
	for (unsigned i = 0; i < choice->n; i++)
		if (diff_find_flavor(other, choice->flavors[i]->name) == other->n)
			printf("%s: there are samples %s only\n\n", choice->flavors[i]->name, when);
}

void print_differences(const struct report *before, const struct report *after)
{
	for (unsigned i = 0; i < before->choice->n; i++) {
		unsigned other = diff_find_flavor(after->choice, before->choice->flavors[i]->name);
		struct comparison comparison = {.is_of_shares = after->options->diffs_shares};

		if (other == after->choice->n)
			continue;
		diff_check_rates(before, i, after, other);
		comparison.before = diff_scope_of(before, i);
		comparison.after = diff_scope_of(after, other);
		diff_print_flavor(&comparison);
	}
	diff_print_alone(before->choice, after->choice, "before");
	diff_print_alone(after->choice, before->choice, "after");
}
