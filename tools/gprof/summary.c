/* SPDX-License-Identifier: MIT */
/*
 * The lines above each table: what was sampled, how finely, and what is missing.
 *
 * A profile that does not say what it lost is not believed to have lost nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gmon.h"
#include "print.h"
#include "util.h"

#define RANGE_SLACK 16u   /* Ends are rounded, */
#define PAGE_BYTES  4096u /* some of them to pages. */
#define LABELS_MOST 8u
#define LABEL_NAME  64u

struct scale scale_of(const struct choice *choice, unsigned flavor)
{
	double worth = choice->worth[flavor];

	if (choice->is_event[flavor] || worth >= 0.0099)
		return (struct scale){worth, 2};
	return (struct scale){worth, worth >= 0.00099 ? 3 : 4};
}

const char *unit_of(const struct choice *choice, unsigned flavor)
{
	return choice->is_event[flavor] ? "samples" : "seconds";
}

/* Bytes of code that one count of a histogram covers; 0: all counts are of exact addresses. */
static double summary_bytes_of_bin(const struct profile_flavor *flavor)
{
	double widest = 0;

	for (size_t i = 0; i < flavor->n_bins; i++) {
		const struct profile_bins *bins = &flavor->bins[i];
		double bytes = (double)(bins->high - bins->low) / bins->n;

		if (bytes > widest)
			widest = bytes;
	}
	return widest;
}

static void summary_print_granularity(const struct report *report, unsigned index)
{
	const struct profile_flavor *flavor = report->choice->flavors[index];
	double bytes = summary_bytes_of_bin(flavor);
	double total = report->graph->total[index];
	double worth = report->choice->worth[index];

	printf("%s: ", flavor->name);
	if (flavor->is_length) {
		printf("each sample is a time of its own; together %.*f seconds\n",
		       scale_of(report->choice, index).decimals, total * worth);
		return;
	}
	if (bytes > 0)
		printf("each sample hit covers %g byte(s)", bytes);
	else
		printf("each sample hit is of one address");
	if (total > 0)
		printf(", for %.2f%% of ", 100 / total);
	else
		printf(", of ");
	if (report->choice->is_event[index])
		printf("%.0f samples\n", total);
	else
		printf("%.*f seconds; a sample is %g ms\n",
		       scale_of(report->choice, index).decimals, total * worth, worth * 1000);
}

/* Whoever chose what to sample means it; but so ends another, smaller program, too. */
static void summary_print_end(const struct elfsym *elf, uint64_t high)
{
	if (high != 0 && high + RANGE_SLACK < elf->code_end)
		printf("the histogram ends at %#" PRIx64 " and the program's code at %#" PRIx64
		       ": is it of this program?\n",
		       high, elf->code_end);
}

/* A larger program of which only the beginning ran has nothing behind it either. */
static void summary_print_excess(const struct elfsym *elf, uint64_t low, uint64_t high)
{
	if (high > elf->text_end + PAGE_BYTES || low + PAGE_BYTES < elf->image_start)
		printf("the histogram covers %#" PRIx64 " to %#" PRIx64
		       ", more than the program, with nothing there: is it of this program?\n",
		       low, high);
}

static void summary_print_range(const struct report *report)
{
	const struct elfsym *elf = report->graph->elf;
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned i = 0; i < report->choice->n; i++)
		for (size_t j = 0; j < report->choice->flavors[i]->n_bins; j++) {
			const struct profile_bins *bins = &report->choice->flavors[i]->bins[j];

			low = bins->low < low ? bins->low : low;
			high = bins->high > high ? bins->high : high;
		}
	summary_print_end(elf, high);
	if (high != 0)
		summary_print_excess(elf, low, high);
}

static void summary_print_missing(const struct profile *profile)
{
	uint64_t missed = profile->values[GMON_MISSED];
	uint64_t due = profile->values[GMON_DUE] - profile->values[GMON_PARKED];

	if (!profile_knows(profile, GMON_LOST)) {
		printf("lost and missed samples: the profile does not say\n");
		return;
	}
	printf("lost: %" PRIu64 "; missed by the clock: %" PRIu64, profile->values[GMON_LOST],
	       missed);
	if (due > 0)
		printf(" of %" PRIu64 " due (%.2f%%)", due, 100 * (double)missed / (double)due);
	if (profile->values[GMON_OTHERS] > 0)
		printf("; of others: %" PRIu64, profile->values[GMON_OTHERS]);
	if (profile->values[GMON_PROFILER] > 0)
		printf("; the profiler's own: %" PRIu64, profile->values[GMON_PROFILER]);
	if (profile->values[GMON_BUFFERED] > 0)
		printf("; not yet delivered: %" PRIu64, profile->values[GMON_BUFFERED]);
	if (profile->values[GMON_ARCS_LOST] > 0)
		printf("; calls not counted: %" PRIu64, profile->values[GMON_ARCS_LOST]);
	printf("\n");
}

static void summary_print_sum(const struct profile *profile, const char *text, unsigned whole,
			      const unsigned *parts, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += profile->values[parts[i]];
	if (profile_knows(profile, whole) && profile->values[whole] != sum)
		printf("the profile does not add up: %s: %" PRIu64 " and %" PRIu64 "\n", text,
		       profile->values[whole], sum);
}

static int summary_compare_labels(const void *first, const void *second)
{
	const struct profile_label *one = first;
	const struct profile_label *other = second;

	if (one->samples != other->samples)
		return one->samples > other->samples ? -1 : 1;
	return (one->task > other->task) - (one->task < other->task);
}

/* Without its tasks that had ended when the others were named; so many are left. */
static size_t summary_take_labels(const struct profile *profile, struct profile_label *labels,
				  uint64_t *ended)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_labels; i++) {
		uint32_t task = profile->labels[i].task;

		if (profile->n_tasks > 0 && task != 0 &&
		    map_get(&profile->task_places, task) == MAP_NONE)
			*ended += profile->labels[i].samples;
		else
			labels[n++] = profile->labels[i];
	}
	sort(labels, n, sizeof(*labels), summary_compare_labels);
	return n;
}

/* Of files that say it in sums: those with the most samples, and the rest together. */
static void summary_print_labels(const struct profile *profile)
{
	struct profile_label *labels = allocate(profile->n_labels + 1, sizeof(*labels));
	uint64_t ended = 0, rest = 0;
	size_t n = summary_take_labels(profile, labels, &ended);
	const char *before = "on behalf of: ";

	for (size_t i = 0; i < n; i++) {
		char name[LABEL_NAME];

		if (i >= LABELS_MOST) {
			rest += labels[i].samples;
			continue;
		}
		profile_label_name(profile, labels[i].task, name, sizeof(name));
		printf("%s%s %" PRIu64, before, name, labels[i].samples);
		before = ", ";
	}
	if (rest > 0)
		printf(", others %" PRIu64, rest);
	if (ended > 0)
		printf("%swhat has ended %" PRIu64, before, ended);
	if (profile->n_labels > 0)
		printf("\n");
	free(labels);
}

/* Each count was made where it happened, so that these are no tautologies. */
static void summary_print_conservation(const struct profile *profile)
{
	static const unsigned due[] = {GMON_FIRED, GMON_MISSED, GMON_PARKED};
	static const unsigned fired[] = {GMON_IDLE, GMON_ELSEWHERE, GMON_TAKEN};
	static const unsigned taken[] = {GMON_DELIVERED, GMON_LOST, GMON_BUFFERED};

	summary_print_sum(profile, "due, and fired + missed + parked", GMON_DUE, due, 3);
	summary_print_sum(profile, "fired, and idle + elsewhere + taken", GMON_FIRED, fired, 3);
	summary_print_sum(profile, "taken, and delivered + lost + buffered", GMON_ALL_TAKEN, taken,
			  3);
}

/* ---------------- Each CPU ---------------- */

static const struct {
	const char *name;
	unsigned value;
} cpu_columns[] = {
	{"due", GMON_DUE},       {"fired", GMON_FIRED}, {"missed", GMON_MISSED},
	{"parked", GMON_PARKED}, {"idle", GMON_IDLE},   {"elsewhere", GMON_ELSEWHERE},
	{"taken", GMON_TAKEN},
};

#define CPU_COLUMNS (sizeof(cpu_columns) / sizeof(*cpu_columns))

static void summary_print_cpu(unsigned cpu, const uint64_t *values)
{
	bool adds_up = values[GMON_DUE] ==
			       values[GMON_FIRED] + values[GMON_MISSED] + values[GMON_PARKED] &&
		       values[GMON_FIRED] ==
			       values[GMON_IDLE] + values[GMON_ELSEWHERE] + values[GMON_TAKEN];

	printf("%5u", cpu);
	for (size_t i = 0; i < CPU_COLUMNS; i++)
		printf(" %9" PRIu64, values[cpu_columns[i].value]);
	printf("%s\n", adds_up ? "" : "  does not add up");
}

/* Of a profile of several CPUs: what became of each one's due times.  Of one the sums say it. */
static void summary_print_cpus(const struct profile *profile)
{
	unsigned n = profile_cpus(profile);

	if (n == 0)
		return;
	printf("  cpu");
	for (size_t i = 0; i < CPU_COLUMNS; i++)
		printf(" %9s", cpu_columns[i].name);
	printf("\n");
	for (unsigned cpu = 0; cpu < n; cpu++)
		summary_print_cpu(cpu, profile->cpus[cpu]);
}

/* ---------------- All lines ---------------- */

/* Of what each is, where a recording and a gmon.out are shown together. */
static void summary_print_beside(const struct profile *profile)
{
	if (!profile->is_beside)
		return;
	printf("samples: the recording's; counts of calls: of %s; its %" PRIu64
	       " samples are not added\n",
	       profile->is_of_any_run ? "a gmon.out that does not say which run it is of"
				      : "the same run's gmon.out",
	       profile->set_aside);
}

void print_callers_of(const struct report *report)
{
	const struct graph *graph = report->graph;
	double divided = 0, all = 0;

	for (unsigned i = 0; i < graph->n_flavors; i++) {
		divided += graph->divided[i];
		all += graph->graph_total[i];
	}
	if (graph->stacks != NULL)
		printf("callers are from the samples' stacks: nothing is divided by calls\n\n");
	else if (divided > 0)
		printf("callers are estimated for %.0f of %.0f samples: where `called' is not "
		       "`total', time is divided\n"
		       "by counts of calls, as if each took equally long; stacks measure it: "
		       "monctl -record FILE -stack\n\n",
		       divided, all);
	else if (report->choice->profile->n_arcs > 0)
		printf("callers: no sample had to be divided among several\n\n");
}

void print_summary(const struct report *report)
{
	const struct profile *profile = report->choice->profile;

	for (unsigned i = 0; i < report->choice->n; i++)
		summary_print_granularity(report, i);
	summary_print_range(report);
	summary_print_beside(profile);
	summary_print_missing(profile);
	summary_print_labels(profile);
	summary_print_conservation(profile);
	if ((profile->values[GMON_OPTIONS] & GMON_CLOCK_IS_BLOCK) != 0)
		printf("the emulator interrupted between blocks only: see samples as of blocks\n");
	if ((profile->values[GMON_OPTIONS] & GMON_CPUS_IN_TURN) != 0)
		printf("the emulator ran the CPUs in turn: each due time is that of the one that "
		       "had the turn; parked: %" PRIu64 "\n",
		       profile->values[GMON_PARKED]);
	summary_print_cpus(profile);
	if (profile->strangers > 0)
		printf("samples of other programs, not shown: %" PRIu64 "\n", profile->strangers);
	if (report->graph->unknown_calls > 0)
		printf("calls of addresses in no function: %" PRIu64 "\n",
		       report->graph->unknown_calls);
	printf("\n");
}
