/* SPDX-License-Identifier: MIT */
/*
 * gprof: prints what a profile says, as a flat profile, a call graph and an index, or in other
 * forms.
 *
 * The same source makes the host's program and the guest's /bin/gprof; what only the host has is in
 * host/ and views/.  Its manual is docs/commands/gprof.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gmon.h"
#include "print.h"
#include "read.h"
#include "show.h"
#include "sum.h"
#include "util.h"

/* Histograms and mappings may be rounded to pages. */
#define PAGE_BYTES 4096ull

/* ---------------- Files ---------------- */

static void open_program(struct elfsym *elf, const struct file *file)
{
	const char *error = elfsym_open(elf, file->bytes, file->size);

	if (error == NULL)
		error = elfsym_read_functions(elf);
	if (error != NULL)
		fail("%s: %s", file->name, error);
}

static bool is_in_text(const struct elfsym *elf, uint64_t address)
{
	return address >= elf->text_start && address < elf->text_end;
}

/* Samples and calls of another program lie somewhere else, in whole or in part. */
static bool fits(const struct profile *profile, const struct elfsym *elf)
{
	uint64_t inside = 0;
	uint64_t outside = 0;

	for (size_t i = 0; i < profile->n_arcs; i++)
		if (profile->arcs[i].count > 0 && !is_in_text(elf, profile->arcs[i].self))
			return false;
	for (size_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];
		const struct profile_counts *counts = &flavor->counts[PROFILE_USER];

		for (size_t j = 0; j < flavor->n_bins; j++)
			if (flavor->bins[j].low + PAGE_BYTES <= elf->text_start ||
			    flavor->bins[j].high >= elf->text_end + PAGE_BYTES)
				return false;
		for (size_t j = 0; j < counts->n; j++)
			*(is_in_text(elf, counts->items[j].pc) ? &inside : &outside) +=
				counts->items[j].count;
	}
	return inside > 0 || outside == 0;
}

static bool is_mapped_as(const struct profile_image *image, const struct elfsym *elf)
{
	return image->low / PAGE_BYTES == elf->text_start / PAGE_BYTES &&
	       (image->high - 1) / PAGE_BYTES == (elf->text_end - 1) / PAGE_BYTES;
}

/*
 * Single samples say which program was mapped where.  A profile of one program is of this one if
 * its code lay where this one has it; its name may be another by now.
 */
static bool fits_images(const struct profile *profile, const struct elfsym *elf)
{
	bool is_any = false;

	if (!profile_is_of_one(profile))
		return true;
	for (size_t i = 0; i < profile->n_images; i++) {
		if (!profile->images[i].is_kernel && is_mapped_as(&profile->images[i], elf))
			return true;
		is_any |= !profile->images[i].is_kernel;
	}
	return !is_any;
}

/* Views name other programs, tables have only functions of this one. */
static void check_program(const struct profile *profile, const struct elfsym *elf,
			  const char *program)
{
	if (!fits_images(profile, elf))
		fail("%s: the profile is of another program, whose code lay elsewhere", program);
	if (profile->n_samples > 0 && profile->strangers == profile->n_samples)
		fail("%s: the profile has samples of other programs only", program);
}

static void read_file(struct profile *profile, const struct elfsym *elf, const struct file *program,
		      const char *name, bool ignores_dates)
{
	struct file file = file_read(name);
	unsigned address_bytes = elf != NULL && elf->is_64 ? 8 : 4;
	const char *error = read_profile(profile, file.bytes, file.size, address_bytes);

	if (error != NULL)
		fail("%s: %s", name, error);
	if (elf != NULL && !fits(profile, elf))
		fail("%s: is the profile of another program: it has addresses that %s has not",
		     name, program->name);
	if (program != NULL && !ignores_dates && program->changed > file.changed)
		fail("%s: is newer than %s: it is not what was profiled (--any-date if it is)",
		     program->name, name);
	file_close(&file);
}

/* ---------------- What is shown ---------------- */

static double worth_of(const struct options *options, const struct profile_flavor *flavor)
{
	if (options->counts_events || flavor->is_event)
		return 1;
	if (options->period > 0)
		return options->period;
	return flavor->rate > 0 ? 1 / flavor->rate : SAMPLES_PER_SECOND_UNKNOWN;
}

static void choose(struct choice *choice, const struct options *options,
		   const struct profile_flavor *flavor)
{
	choice->flavors[choice->n] = flavor;
	choice->worth[choice->n] = worth_of(options, flavor);
	choice->is_event[choice->n] = options->counts_events || flavor->is_event;
	choice->n++;
}

static _Noreturn void fail_flavor(const struct profile *profile, const char *name)
{
	char known[PROFILE_FLAVORS * (PROFILE_NAME + 1) + 1] = "";

	for (size_t i = 0; i < profile->n_flavors; i++) {
		strcat(known, " ");
		strcat(known, profile->flavors[i].name);
	}
	fail("--flavor=%s: the profile has no such samples; it has:%s", name, known);
}

static void check_flavor(const struct profile *profile, const char *name)
{
	for (size_t i = 0; name != NULL && i < profile->n_flavors; i++)
		if (strcmp(profile->flavors[i].name, name) == 0)
			return;
	if (name != NULL)
		fail_flavor(profile, name);
}

/* The flavor that was asked for, or all of which there are samples, or the first. */
static struct choice choose_all(const struct profile *profile, const struct options *options)
{
	struct choice choice = {.profile = profile};

	for (size_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];

		if (options->flavor == NULL ? profile_total(flavor) > 0
					    : strcmp(flavor->name, options->flavor) == 0)
			choose(&choice, options, flavor);
	}
	if (choice.n == 0)
		choose(&choice, options, &profile->flavors[0]);
	return choice;
}

static void print_tables(const struct report *report, struct graph *graph)
{
	struct entries entries;

	entries_make(&entries, graph, report->options);
	print_graph(report, &entries);
	print_flat(report);
	print_index(report, &entries);
	free(entries.items);
}

static void print_report(const struct options *options, const struct profile *profile,
			 const struct elfsym *elf)
{
	struct choice choice = choose_all(profile, options);
	struct graph graph;
	struct report report = {&graph, &choice, options};

	graph_make(&graph, elf, &choice, options);
	if (options->routines.n > 0)
		print_exact(&report);
	if (options->shows_lines)
		print_lines_table(&report);
	if (options->annotates)
		print_sources(&report);
	if (options->routines.n == 0 && !options->shows_lines && !options->annotates)
		print_tables(&report, &graph);
	graph_free(&graph);
}

/* Columns take the flavor's place. */
static void split(struct profile *profile, struct options *options)
{
	if (profile->n_samples == 0)
		fail("--for=each: the profile does not say on whose behalf samples were taken");
	profile_split(profile, options->flavor);
	options->flavor = NULL;
}

/*
 * What the profile calls the program: if none of its images has that name, then like the one whose
 * code lay exactly where this one has it.  (The Unix server is loaded as /mach_servers/startup.)
 */
static const char *name_in(const struct profile *profile, const struct elfsym *elf,
			   const char *program)
{
	const char *name = program;

	for (size_t i = 0; i < profile->n_images; i++) {
		const struct profile_image *image = &profile->images[i];

		if (strcmp(file_part(image->path), file_part(program)) == 0)
			return program;
		if (!image->is_kernel && image->low == elf->text_start &&
		    image->high == elf->text_end)
			name = image->path;
	}
	return name;
}

static void read_kernel(struct profile *profile, struct elfsym *elf, struct file *file,
			const char *name)
{
	if (profile->n_samples == 0)
		fail("--kernel: the profile does not say where in the kernel its samples were; "
		     "what monctl -record writes does");
	*file = file_read(name);
	open_program(elf, file);
	if (!profile_set_kernel(profile, elf))
		fail("%s: is not the kernel that ran: there are samples where it has no code",
		     name);
}

int main(int count, char **arguments)
{
	struct options options;
	struct profile profile;
	struct elfsym elf = {0}, kernel_elf = {0};
	struct file program, kernel = {0};

	options_read(&options, count, arguments);
	program = file_read(options.program);
	open_program(&elf, &program);
	profile_begin(&profile);
	for (size_t i = 0; i < options.profiles.n; i++)
		read_file(&profile, &elf, &program, options.profiles.items[i],
			  options.ignores_dates);
	if (options.kernel != NULL)
		read_kernel(&profile, &kernel_elf, &kernel, options.kernel);
	if (options.splits)
		split(&profile, &options);
	if (!profile_finish(&profile, name_in(&profile, &elf, options.program), options.label))
		fail("--for=%" PRIu32 ": there are no samples on behalf of it", *options.label);
	check_flavor(&profile, options.flavor);
	if (options.view == NULL)
		check_program(&profile, &elf, options.program);
	if (options.sums)
		gmon_write(&profile, &elf, "gmon.sum");
	if (options.view != NULL)
		show_view(&options, &profile, &elf);
	else
		print_report(&options, &profile, &elf);
	profile_end(&profile);
	elfsym_close(&elf);
	elfsym_close(&kernel_elf);
	file_close(&program);
	file_close(&kernel);
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("standard output cannot be written");
	return 0;
}
