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

#include "beside.h"
#include "diff.h"
#include "fits.h"
#include "gmon.h"
#include "print.h"
#include "read.h"
#include "show.h"
#include "sum.h"
#include "tree.h"
#include "util.h"
#include "wall.h"

/* Of the guest's addresses: programs are below. */
#define KERNEL_START 0xc0000000u

/* ---------------- Files ---------------- */

static void main_open_program(struct elfsym *elf, const struct file *file, bool ignores_labels)
{
	const char *error = elfsym_open(elf, file->bytes, file->size);

	elf->ignores_labels = ignores_labels;
	if (error == NULL)
		error = elfsym_read_functions(elf);
	if (error != NULL)
		fail("%s: %s", file->name, error);
}

/* Of a program that is not in the profile, views show the others; tables have nothing to show. */
static void main_check_program(const struct profile *profile, const struct elfsym *elf,
			       const struct options *options)
{
	bool is_above = options->view != NULL && elf->text_start >= KERNEL_START;
	enum profile_fit fit = profile_fits_images(profile, elf, options->program);

	if (fit != PROFILE_MAY_FIT && !is_above)
		fail("%s: the profile is of another program, whose code %s", options->program,
		     fit == PROFILE_OTHER_CODE ? "is another" : "lay elsewhere");
	if (options->view == NULL && profile->n_samples > 0 &&
	    profile->strangers == profile->n_samples)
		fail("%s: the profile has samples of other programs only", options->program);
}

static const char *const misfits[] = {
	[PROFILE_OTHER_CODE] = "its code is another",
	[PROFILE_OTHER_PLACES] = "there are addresses that it has not",
	[PROFILE_OTHER_CALLS] = "calls were counted where it counts none",
};

/*
 * Clocks that are set back, and file systems that keep every other second only, blur dates by so
 * many seconds: a program that is newer by no more may well have been there first.
 */
enum {
	DATE_BLUR = 2
};

/* No option overrides what the profile itself proves. */
static void main_check_file(const struct file *program, const struct file *file,
			    enum profile_fit fit, bool ignores_dates)
{
	bool is_newer = program->changed > file->changed + DATE_BLUR;

	if (misfits[fit] != NULL && is_newer)
		fail("%s: was made anew after %s was written, and is another program now: %s; "
		     "profile it again",
		     program->name, file->name, misfits[fit]);
	if (misfits[fit] != NULL)
		fail("%s: is the profile of another program than %s: %s", file->name, program->name,
		     misfits[fit]);
	if (!is_newer || ignores_dates)
		return;
	if (fit == PROFILE_SAME_CODE)
		fail("%s: is newer than %s, though its code is the same: --any-date if that will "
		     "do",
		     program->name, file->name);
	fail("%s: is newer than %s: it is not what was profiled (--any-date if it is)",
	     program->name, file->name);
}

/* Files do not say how wide their addresses are: a program's are taken for granted. */
static bool main_is_of_width(const struct file *file, unsigned address_bytes)
{
	struct profile profile;
	bool is_read;

	profile_begin(&profile);
	is_read = read_profile(&profile, file->bytes, file->size, address_bytes) == NULL;
	profile_end(&profile);
	return is_read;
}

/* Of whom the profiles are to be. */
struct subject {
	const struct elfsym *elf;
	const struct file *program;
	const struct options *options;
};

static void main_add_file(struct profile *profile, const struct subject *subject,
			  const struct file *file)
{
	unsigned bytes = subject->elf->is_64 ? 8 : 4, others = 12 - bytes;
	struct profile_mark mark;
	const char *error;

	profile_mark(profile, &mark);
	error = read_profile(profile, file->bytes, file->size, bytes);
	if (error != NULL && !main_is_of_width(file, bytes) && main_is_of_width(file, others))
		fail("%s: is the profile of a program of %u bits, and %s has %u", file->name,
		     8 * others, subject->program->name, 8 * bytes);
	if (error != NULL)
		fail("%s: %s", file->name, error);
	main_check_file(subject->program, file, profile_fits(profile, &mark, subject->elf),
			subject->options->ignores_dates);
}

/* A gmon.out beside recordings, which all were read. */
static void main_add_beside(struct profile *profile, const struct subject *subject,
			    const struct file *file)
{
	struct profile counted;

	profile_begin(&counted);
	main_add_file(&counted, subject, file);
	switch (beside_what(profile, &counted)) {
	case BESIDE_ADDS:
		main_add_file(profile, subject, file);
		break;
	case BESIDE_CALLS:
		beside_take_calls(profile, &counted);
		break;
	case BESIDE_NOTHING:
		fail("%s: is of process %" PRIu64 ", task %" PRIu64 ", which was not recorded: "
		     "samples with call stacks and samples without do not add up; give the "
		     "gmon.out of the run that was recorded, or main_show each alone",
		     file->name, counted.values[GMON_PID], counted.values[GMON_TASK]);
	}
	profile_end(&counted);
}

/* Recordings come first, whatever their order: what else there is adds to them or stands alone. */
static void main_read_files(struct profile *profile, const struct subject *subject,
			    const struct names *names)
{
	struct file *files = allocate(names->n, sizeof(*files));
	bool has_recordings = false;

	for (size_t i = 0; i < names->n; i++) {
		files[i] = file_read(names->items[i]);
		if (!read_is_recording(files[i].bytes, files[i].size))
			continue;
		main_add_file(profile, subject, &files[i]);
		has_recordings = true;
	}
	for (size_t i = 0; i < names->n; i++) {
		if (read_is_recording(files[i].bytes, files[i].size))
			;
		else if (has_recordings)
			main_add_beside(profile, subject, &files[i]);
		else
			main_add_file(profile, subject, &files[i]);
		if (subject->options->describes_files)
			print_file_info(&files[i], subject->elf->is_64 ? 8 : 4);
		file_close(&files[i]);
	}
	free(files);
}

/* ---------------- What is shown ---------------- */

static double main_worth_of(const struct options *options, const struct profile_flavor *flavor)
{
	if (options->counts_events || flavor->is_event)
		return 1;
	if (options->period > 0)
		return options->period;
	return flavor->rate > 0 ? 1 / flavor->rate : SAMPLES_PER_SECOND_UNKNOWN;
}

static void main_choose(struct choice *choice, const struct options *options,
			const struct profile_flavor *flavor)
{
	choice->flavors[choice->n] = flavor;
	choice->worth[choice->n] = main_worth_of(options, flavor);
	choice->is_event[choice->n] = options->counts_events || flavor->is_event;
	choice->n++;
}

static _Noreturn void main_fail_flavor(const struct profile *profile, const char *name)
{
	char known[PROFILE_FLAVORS * (PROFILE_NAME + 1) + 1] = "";

	for (size_t i = 0; i < profile->n_flavors; i++) {
		strcat(known, " ");
		strcat(known, profile->flavors[i].name);
	}
	fail("--flavor=%s: the profile has no such samples; it has:%s", name, known);
}

static void main_check_flavor(const struct profile *profile, const char *name)
{
	for (size_t i = 0; name != NULL && i < profile->n_flavors; i++)
		if (strcmp(profile->flavors[i].name, name) == 0)
			return;
	if (name != NULL)
		main_fail_flavor(profile, name);
}

/* The flavor that was asked for, or all of which there are samples, or the first. */
static struct choice main_choose_all(const struct profile *profile, const struct options *options)
{
	struct choice choice = {.profile = profile};

	for (size_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];

		if (options->flavor == NULL ? profile_total(flavor) > 0
					    : strcmp(flavor->name, options->flavor) == 0)
			main_choose(&choice, options, flavor);
	}
	if (choice.n == 0)
		main_choose(&choice, options, &profile->flavors[0]);
	return choice;
}

static void main_print_tables(const struct report *report, struct graph *graph)
{
	bool has_graph = options_print(report->options, &report->options->graph);
	struct entries entries;

	entries_make(&entries, graph, report->options);
	if (has_graph)
		print_graph(report, &entries);
	if (options_print(report->options, &report->options->flat))
		print_flat(report);
	if (has_graph)
		print_index(report, &entries);
	free(entries.items);
}

static void main_print_report(const struct options *options, const struct profile *profile,
			      const struct elfsym *elf)
{
	struct choice choice = main_choose_all(profile, options);
	struct graph graph;
	struct text text = {0};
	struct report report = {&graph, &choice, options, &text};

	graph_make(&graph, elf, &choice, options);
	if (options->routines.n > 0)
		print_exact(&report);
	if (options->shows_lines)
		print_lines_table(&report);
	if (options->sources.is_asked)
		print_sources(&report);
	if (options->counts.is_asked)
		print_counts(&report);
	if (options->tree_depth > 0)
		print_tree(&report);
	main_print_tables(&report, &graph);
	text_free(&text);
	graph_free(&graph);
}

static void main_check_labels(const struct profile *profile)
{
	if (profile->n_samples == 0 && profile->n_labels > 0)
		fail("--for: the profile has only sums of on whose behalf the kernel ran, not of "
		     "which function; what monctl -for all -record writes has both");
}

/* Columns take the flavor's place. */
static void main_split(struct profile *profile, struct options *options)
{
	if (profile->n_samples == 0)
		fail("--for=each: the profile does not say on whose behalf samples were taken");
	profile_split(profile, options->flavor);
	options->flavor = NULL;
}

static void main_read_kernel(struct profile *profile, struct elfsym *elf, struct file *file,
			     const char *name)
{
	if (profile->n_samples == 0)
		fail("--kernel: the profile does not say where in the kernel its samples were; "
		     "what monctl -record writes does");
	*file = file_read(name);
	main_open_program(elf, file, false);
	if (!profile_set_kernel(profile, elf))
		fail("%s: is not the kernel that ran: there are samples where it has no code",
		     name);
}

/* A program, its profiles added up, and the kernel that ran. */
struct measured {
	struct elfsym elf;
	struct elfsym kernel_elf;
	struct file program;
	struct file kernel;
	struct profile profile;
};

/* Time as it passed is no flavor of the file's, but made of those that are. */
static void main_add_wall(struct profile *profile, const struct options *options)
{
	if (options->flavor != NULL && strcmp(options->flavor, WALL) == 0 &&
	    !profile_add_wall(profile))
		fail("--flavor=" WALL
		     ": the profile has no waits; monctl -on periodic,wait -record "
		     "has them");
}

static void main_measured_read(struct measured *measured, struct options *options)
{
	struct profile *profile = &measured->profile;
	struct elfsym *elf = &measured->elf;

	*measured = (struct measured){.program = file_read(options->program)};
	main_open_program(elf, &measured->program, options->ignores_labels);
	profile_begin(profile);
	main_read_files(profile, &(struct subject){elf, &measured->program, options},
			&options->profiles);
	if (options->kernel != NULL)
		main_read_kernel(profile, &measured->kernel_elf, &measured->kernel,
				 options->kernel);
	main_add_wall(profile, options);
	if (options->splits || options->served != NULL)
		main_check_labels(profile);
	if (options->splits)
		main_split(profile, options);
	if (!profile_finish(profile, profile_name_of(profile, elf, options->program),
			    options->served))
		fail("--for=%s: there are no samples on behalf of it; --by=process shows who has "
		     "some",
		     options->served);
	main_check_flavor(profile, options->flavor);
	main_check_program(profile, elf, options);
}

static void main_measured_free(struct measured *measured)
{
	profile_end(&measured->profile);
	elfsym_close(&measured->elf);
	elfsym_close(&measured->kernel_elf);
	file_close(&measured->program);
	file_close(&measured->kernel);
}

static void main_compare(const struct options *options)
{
	struct diff_sides sides = diff_sides_of(options);
	struct measured before, after;
	struct choice old, new;
	struct graph old_graph, new_graph;
	struct text text = {0};

	main_measured_read(&before, &sides.before);
	main_measured_read(&after, &sides.after);
	old = main_choose_all(&before.profile, &sides.before);
	new = main_choose_all(&after.profile, &sides.after);
	graph_make(&old_graph, &before.elf, &old, &sides.before);
	graph_make(&new_graph, &after.elf, &new, &sides.after);
	print_differences(&(struct report){&old_graph, &old, &sides.before, &text},
			  &(struct report){&new_graph, &new, &sides.after, &text});
	text_free(&text);
	graph_free(&old_graph);
	graph_free(&new_graph);
	main_measured_free(&before);
	main_measured_free(&after);
}

static void main_show(struct options *options)
{
	struct measured measured;

	main_measured_read(&measured, options);
	if (options->sums)
		gmon_write(&measured.profile, &measured.elf, "gmon.sum");
	if (options->view != NULL)
		show_view(options, &measured.profile, &measured.elf);
	else if (!options->only_sums && !options->describes_files)
		main_print_report(options, &measured.profile, &measured.elf);
	main_measured_free(&measured);
}

/* Of all programs, whichever is given. */
static void main_add_up(const struct options *options)
{
	struct elfsym elf = {0};
	struct file program = file_read(options->program);
	struct profile profile;

	main_open_program(&elf, &program, options->ignores_labels);
	profile_begin(&profile);
	main_read_files(&profile, &(struct subject){&elf, &program, options}, &options->profiles);
	main_add_wall(&profile, options);
	main_check_flavor(&profile, options->flavor);
	print_by(&profile, options);
	profile_end(&profile);
	elfsym_close(&elf);
	file_close(&program);
}

int main(int count, char **arguments)
{
	struct options options;

	options_read(&options, count, arguments);
	if (options.by != BY_NOTHING)
		main_add_up(&options);
	else if (options.diffs)
		main_compare(&options);
	else
		main_show(&options);
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("standard output cannot be written");
	return 0;
}
