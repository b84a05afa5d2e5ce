/* SPDX-License-Identifier: MIT */
/*
 * -x: each address of a routine that was sampled, with count, share, instruction and source line.
 *
 * Where the file has a histogram only, an address stands for all that its bin covers; a bin at the
 * routine's edge is divided.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "print.h"
#include "util.h"

/* Of the instruction, as far as its length is not known. */
#define BYTES_SHOWN 8u

/* What is shown: a function of the program, or of the kernel. */
struct routine {
	const struct elfsym_function *function;
	const struct elfsym *elf;
	const char *path;
	bool is_kernel;
};

struct place {
	uint64_t address;
	bool is_kernel;
	double counts[PROFILE_FLAVORS];
};

struct places {
	struct place *items;
	size_t n;
	size_t room;
	double totals[PROFILE_FLAVORS];
};

/* ---------------- Gathering ---------------- */

static void exact_add(struct places *places, uint64_t address, bool is_kernel, unsigned flavor,
		      double count)
{
	struct place *place;

	places->items = grow(places->items, places->n, &places->room, sizeof(*places->items));
	place = &places->items[places->n++];
	*place = (struct place){.address = address, .is_kernel = is_kernel};
	place->counts[flavor] = count;
	places->totals[flavor] += count;
}

static void exact_add_counts(struct places *places, const struct profile_counts *counts,
			     bool is_kernel, unsigned flavor,
			     const struct elfsym_function *function)
{
	for (size_t i = 0; i < counts->n; i++) {
		const struct profile_count *item = &counts->items[i];

		if (item->pc >= function->start && item->pc < function->end)
			exact_add(places, item->pc, is_kernel, flavor, (double)item->count);
	}
}

static void exact_add_bins(struct places *places, const struct profile_bins *bins, unsigned flavor,
			   const struct elfsym_function *function)
{
	for (uint32_t i = 0; i < bins->n; i++) {
		uint64_t count = profile_bins_get(bins, i);
		uint64_t low = profile_bins_start(bins, i);
		uint64_t high = profile_bins_start(bins, i + 1);
		uint64_t from = low < function->start ? function->start : low;
		uint64_t to = high > function->end ? function->end : high;

		if (count > 0 && from < to)
			exact_add(places, from, false, flavor,
				  (double)count * (double)(to - from) / (double)(high - low));
	}
}

/* Of a function of the kernel: the samples' other address. */
static void exact_add_in_kernel(struct places *places, const struct choice *choice, unsigned flavor,
				const struct elfsym_function *function)
{
	const struct profile *profile = choice->profile;

	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->is_kernel && !sample->is_strange &&
		    sample->kernel_pc >= function->start && sample->kernel_pc < function->end &&
		    choice->flavors[flavor] == &profile->flavors[sample->flavor])
			exact_add(places, sample->kernel_pc, false, flavor, sample->weight);
	}
}

static void exact_add_in_program(struct places *places, const struct profile_flavor *flavor,
				 unsigned index, const struct elfsym_function *function)
{
	exact_add_counts(places, &flavor->counts[PROFILE_USER], false, index, function);
	exact_add_counts(places, &flavor->counts[PROFILE_KERNEL], true, index, function);
	for (size_t i = 0; i < flavor->n_bins; i++)
		exact_add_bins(places, &flavor->bins[i], index, function);
}

static int exact_compare(const void *first, const void *second)
{
	const struct place *one = first;
	const struct place *other = second;

	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return one->is_kernel - other->is_kernel;
}

static void exact_sum(struct places *places)
{
	size_t n = 0;

	sort(places->items, places->n, sizeof(*places->items), exact_compare);
	for (size_t i = 0; i < places->n; i++) {
		if (n == 0 || exact_compare(&places->items[n - 1], &places->items[i]) != 0) {
			places->items[n++] = places->items[i];
			continue;
		}
		for (unsigned flavor = 0; flavor < PROFILE_FLAVORS; flavor++)
			places->items[n - 1].counts[flavor] += places->items[i].counts[flavor];
	}
	places->n = n;
}

static struct places exact_gather(const struct choice *choice, const struct routine *routine)
{
	struct places places = {0};

	for (unsigned i = 0; i < choice->n; i++) {
		if (routine->is_kernel)
			exact_add_in_kernel(&places, choice, i, routine->function);
		else
			exact_add_in_program(&places, choice->flavors[i], i, routine->function);
	}
	exact_sum(&places);
	return places;
}

/* ---------------- Printing ---------------- */

static void exact_print_count(double count)
{
	if (count == (double)(uint64_t)count)
		printf(" %9.0f", count);
	else
		printf(" %9.2f", count);
}

static void exact_print_bytes(const struct elfsym *elf, const struct elfsym_function *function,
			      uint64_t address)
{
	uint64_t n = function->end - address;
	const unsigned char *bytes;

	n = n < BYTES_SHOWN ? n : BYTES_SHOWN;
	bytes = elfsym_bytes(elf, address, n);
	for (uint64_t i = 0; i < BYTES_SHOWN; i++) {
		if (bytes != NULL && i < n)
			printf(" %02x", bytes[i]);
		else
			printf("   ");
	}
}

static void exact_print_place(const struct report *report, const struct routine *routine,
			      const struct places *places, const struct place *place,
			      const struct debug_code *code, const struct debug_line *line)
{
	const struct elfsym *elf = routine->elf;
	const struct elfsym_function *function = routine->function;
	const char *instruction = debug_instruction_at(code, place->address);

	printf("%0*" PRIx64 " %+6" PRIi64, elf->is_64 ? 16 : 8, place->address,
	       (int64_t)(place->address - function->start));
	for (unsigned i = 0; i < report->choice->n; i++) {
		double total = places->totals[i];

		exact_print_count(place->counts[i]);
		printf(" %6.2f", total > 0 ? 100 * place->counts[i] / total : 0);
	}
	printf("  %-8s", place->is_kernel ? "<kernel>" : "");
	if (instruction != NULL)
		printf(" %-40s", instruction);
	else
		exact_print_bytes(elf, function, place->address);
	if (line->file != NULL)
		printf("  %s:%u", line->file, line->line);
	printf("\n");
}

static void exact_print_head(const struct report *report, const struct routine *routine,
			     const struct places *places)
{
	const struct elfsym_function *function = routine->function;
	const struct elfsym *elf = routine->elf;

	printf("%s%s: %#" PRIx64 " to %#" PRIx64 "\n", routine->is_kernel ? KERNEL_NAME : "",
	       function->name, function->start, function->end);
	for (unsigned i = 0; i < report->choice->n; i++) {
		double total = report->graph->total[i];

		printf("%s: %.0f of %.0f samples (%.2f%%)\n", report->choice->flavors[i]->name,
		       places->totals[i], total, total > 0 ? 100 * places->totals[i] / total : 0);
	}
	printf("\n%-*s %6s", elf->is_64 ? 16 : 8, "address", "offset");
	for (unsigned i = 0; i < report->choice->n; i++)
		printf(" %9.9s %6s", report->choice->flavors[i]->name, "%");
	printf("           %s\n", debug_is_here() ? "instruction" : "bytes");
}

static void exact_print_routine(const struct report *report, const struct routine *routine)
{
	const struct elfsym_function *function = routine->function;
	struct places places = exact_gather(report->choice, routine);
	struct debug_code code = debug_code(routine->path, function->start, function->end);
	uint64_t *addresses = allocate(places.n, sizeof(*addresses));
	struct debug_line *lines;

	for (size_t i = 0; i < places.n; i++)
		addresses[i] = places.items[i].address;
	lines = debug_lines(routine->path, addresses, places.n);
	exact_print_head(report, routine, &places);
	for (size_t i = 0; i < places.n; i++)
		exact_print_place(report, routine, &places, &places.items[i], &code, &lines[i]);
	printf("\n");
	debug_lines_free(lines, places.n);
	debug_code_free(&code);
	free(addresses);
	free(places.items);
}

/* The first of that name. */
static struct routine exact_routine_of(const struct report *report, const char *name)
{
	size_t prefix = strlen(KERNEL_NAME);
	bool is_kernel =
		report->graph->kernel_elf != NULL && strncmp(name, KERNEL_NAME, prefix) == 0;
	const char *own_name = is_kernel ? name + prefix : name;
	struct routine routine = {
		.elf = is_kernel ? report->graph->kernel_elf : report->graph->elf,
		.path = is_kernel ? report->options->kernel : report->options->program,
		.is_kernel = is_kernel,
	};

	routine.function = elfsym_find_name(routine.elf, own_name);
	if (routine.function == NULL)
		fail("-x %s: %s has no function of that name", name, routine.path);
	return routine;
}

/* Static functions may have one name in several files; each is shown. */
static void exact_print_named(const struct report *report, const char *name)
{
	struct routine routine = exact_routine_of(report, name);
	const struct elfsym_function *end = routine.elf->functions + routine.elf->n_functions;
	const char *own_name = routine.function->name;

	for (; routine.function < end; routine.function++)
		if (strcmp(routine.function->name, own_name) == 0)
			exact_print_routine(report, &routine);
}

void print_exact(const struct report *report)
{
	const struct names *names = &report->options->routines;

	for (size_t i = 0; i < names->n; i++)
		exact_routine_of(report, names->items[i]);
	print_summary(report);
	for (size_t i = 0; i < names->n; i++)
		exact_print_named(report, names->items[i]);
}
