/* SPDX-License-Identifier: MIT */
/*
 * Which options there are, and what each sets.
 *
 * Not read with getopt(): -k takes two words as BSD's does, or one as GNU's, and options may stand
 * between files.  Letters are 4.2BSD's and CMU's, and GNU's where those have none; long names mean
 * what they mean to GNU's gprof, if it has them.
 */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"
#include "util.h"
#include "words.h"

#define NUMBER_MOST   1e9
#define SHARE_LEAST   1.0 /* Percent. */
#define TOP_LINES     10u
#define SPELL_BYTES   32u
#define GPROF_VERSION "gprof of Assay 0.3"

static void options_names_add(struct names *names, const char *name)
{
	names->items = reallocate(names->items, names->n + 1, sizeof(*names->items));
	names->items[names->n++] = name;
}

bool names_contain(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* ---------------- Setting ---------------- */

static void *options_place_of(struct options *options, const struct option *option)
{
	return (char *)options + option->at;
}

static void options_set_switch(struct options *options, const struct option *option,
			       const char *value, struct words *words)
{
	bool *which = options_place_of(options, option);

	(void)value;
	(void)words;
	*which = true;
}

static void options_set_nothing(struct options *options, const struct option *option,
				const char *value, struct words *words)
{
	(void)options;
	(void)option;
	(void)value;
	(void)words;
}

static void options_set_text(struct options *options, const struct option *option,
			     const char *value, struct words *words)
{
	const char **text = options_place_of(options, option);

	(void)words;
	*text = value;
}

static void options_add_name(struct options *options, const struct option *option,
			     const char *value, struct words *words)
{
	(void)words;
	options_names_add(options_place_of(options, option), value);
}

static void options_select_with(struct options *options, const struct option *option,
				const char *value, struct words *words)
{
	struct selection *selection = options_place_of(options, option);

	(void)words;
	selection->is_asked = true;
	selection->is_refused = false;
	if (value != NULL)
		options_names_add(&selection->with, value);
}

static void options_select_without(struct options *options, const struct option *option,
				   const char *value, struct words *words)
{
	struct selection *selection = options_place_of(options, option);

	(void)words;
	selection->is_asked = value != NULL;
	selection->is_refused = value == NULL;
	if (value != NULL)
		options_names_add(&selection->without, value);
}

/* ---------------- Numbers ---------------- */

static double options_number_of(const char *text, const char *what)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end != '\0' || !(number > 0) || number > NUMBER_MOST)
		fail("%s: %s must be a number above 0, up to %g", text, what, NUMBER_MOST);
	return number;
}

static uint32_t options_whole_number_of(const char *text, const char *what, uint32_t least)
{
	double number = -1;

	if (*text != '\0' && text[strspn(text, "0123456789")] == '\0')
		number = strtod(text, NULL);
	if (number < least || number > NUMBER_MOST)
		fail("%s: %s must be a whole number from %" PRIu32 " to %.0f", text, what, least,
		     NUMBER_MOST);
	return (uint32_t)number;
}

/* Messages say which number it is by the option's spelling. */
static void options_set_number(struct options *options, const struct option *option,
			       const char *value, struct words *words)
{
	char spelled[SPELL_BYTES], what[SPELL_BYTES + 16];
	uint32_t *number = options_place_of(options, option);

	(void)words;
	option_spell(option, spelled, sizeof(spelled));
	snprintf(what, sizeof(what), "the number of %s", spelled);
	*number = options_whole_number_of(value, what, 0);
}

static void options_set_cycle_size(struct options *options, const struct option *option,
				   const char *value, struct words *words)
{
	(void)option;
	(void)words;
	options->cycle_size = options_whole_number_of(value, "the size of cycles for -C", 1);
}

static void options_set_period(struct options *options, const struct option *option,
			       const char *value, struct words *words)
{
	(void)option;
	(void)words;
	options->period = options_number_of(value, "the milliseconds of -r") / 1000;
}

/* ---------------- Others ---------------- */

static void options_add_cut(struct options *options, const struct option *option, const char *value,
			    struct words *words)
{
	char *copy = copy_text(value);
	char *slash = strchr(copy, '/');

	(void)option;
	if (slash != NULL)
		*slash = '\0';
	options_names_add(&options->cut_from, copy);
	options_names_add(&options->cut_to, slash != NULL ? slash + 1 : words_next(words, "-k"));
}

static void options_set_for(struct options *options, const struct option *option, const char *value,
			    struct words *words)
{
	(void)option;
	(void)words;
	options->splits = strcmp(value, "each") == 0;
	options->served = options->splits ? NULL : value;
	if (value[0] >= '0' && value[0] <= '9')
		options_whole_number_of(value, "the process of --for", 0);
}

static void options_set_diff(struct options *options, const struct option *option,
			     const char *value, struct words *words)
{
	(void)option;
	(void)words;
	options->diffs = true;
	options->diffs_shares = value != NULL && strcmp(value, "shares") == 0;
	if (value != NULL && !options->diffs_shares && strcmp(value, "times") != 0)
		usage("--diff=%s: is of times or of shares", value);
}

static void options_set_tree(struct options *options, const struct option *option,
			     const char *value, struct words *words)
{
	(void)option;
	(void)words;
	options->tree_depth = TREE_DEPTH_MOST;
	if (value != NULL)
		options->tree_depth = options_whole_number_of(value, "the levels of --tree", 1);
	if (options->tree_depth > TREE_DEPTH_MOST)
		fail("%s: --tree has %u levels at most", value, TREE_DEPTH_MOST);
}

static void options_set_share(struct options *options, const struct option *option,
			      const char *value, struct words *words)
{
	char *end;
	double share = strtod(value, &end);

	(void)option;
	(void)words;
	if (end == value || *end != '\0' || !(share >= 0 && share <= 100))
		fail("%s: --min-share is of percent, from 0 to 100", value);
	options->least_share = share;
}

static void options_set_by(struct options *options, const struct option *option, const char *value,
			   struct words *words)
{
	(void)option;
	(void)words;
	options->by = rollup_way(value);
	if (options->by == BY_NOTHING)
		fail("--by=%s: samples can be added up by process, command, job or user", value);
}

static void options_set_sum(struct options *options, const struct option *option, const char *value,
			    struct words *words)
{
	(void)option;
	(void)value;
	(void)words;
	options->sums = options->only_sums = true;
}

static _Noreturn void options_end(void)
{
	if (fflush(stdout) != 0)
		fail("standard output cannot be written");
	exit(0);
}

static void options_help(struct options *options, const struct option *option, const char *value,
			 struct words *words)
{
	(void)options;
	(void)option;
	(void)value;
	(void)words;
	options_print_help();
	options_end();
}

static void options_version(struct options *options, const struct option *option, const char *value,
			    struct words *words)
{
	(void)options;
	(void)option;
	(void)value;
	(void)words;
	puts(GPROF_VERSION);
	options_end();
}

/* ---------------- The table ---------------- */

#define AT(field) offsetof(struct options, field)

/* clang-format off */
const struct option option_table[] = {
	{'a', "no-static", VALUE_NONE, NULL,
	 "static functions count for the global one before them",
	 options_set_switch, AT(hides_static)},
	{'A', "annotated-source", VALUE_OPTIONAL, "SYM",
	 "the sources, with samples and calls beside their lines",
	 options_select_with, AT(sources)},
	{'b', "brief", VALUE_NONE, NULL,
	 "no explanations of the columns", options_set_switch, AT(is_brief)},
	{'c', "static-call-graph", VALUE_NONE, NULL,
	 "also calls that the code has and that were not counted",
	 options_set_switch, AT(scans_calls)},
	{'C', NULL, VALUE_NEEDED, "COUNT",
	 "takes arcs out until no cycle has COUNT members", options_set_cycle_size, 0},
	{'D', "ignore-non-functions", VALUE_NONE, NULL,
	 "labels that are no functions are no names", options_set_switch, AT(ignores_labels)},
	{'e', NULL, VALUE_NEEDED, "ROUTINE",
	 "no entry for the routine, nor for what only it calls", options_add_name, AT(hidden)},
	{'E', NULL, VALUE_NEEDED, "ROUTINE",
	 "and the total is without their time", options_add_name, AT(left_out)},
	{'f', NULL, VALUE_NEEDED, "ROUTINE",
	 "entries only for the routine and what it calls", options_add_name, AT(shown)},
	{'F', NULL, VALUE_NEEDED, "ROUTINE",
	 "and the total is of their time", options_add_name, AT(counted)},
	{'h', "help", VALUE_NONE, NULL,
	 "prints this", options_help, 0},
	{'i', "file-info", VALUE_NONE, NULL,
	 "what is in the profiles, and no tables", options_set_switch, AT(describes_files)},
	{'J', "no-annotated-source", VALUE_OPTIONAL, "SYM",
	 "without the sources, or without that function in them",
	 options_select_without, AT(sources)},
	{'k', NULL, VALUE_NEEDED, "FROM/TO",
	 "without the arcs from FROM to TO; two words will do", options_add_cut, 0},
	{'l', "line", VALUE_NONE, NULL,
	 "samples by source line", options_set_switch, AT(shows_lines)},
	{'L', "print-path", VALUE_NONE, NULL,
	 "names of sources with their folders", options_set_switch, AT(shows_paths)},
	{'m', "min-count", VALUE_NEEDED, "NUMBER",
	 "functions called less often are not counted (1)", options_set_number, AT(least_calls)},
	{'n', "time", VALUE_NEEDED, "SYM",
	 "only time of these functions is passed on", options_add_name, AT(timed)},
	{'N', NULL, VALUE_NONE, NULL,
	 "samples are events and not ticks of a clock", options_set_switch, AT(counts_events)},
	{'o', NULL, VALUE_NEEDED, "FILE",
	 "where the view goes", options_set_text, AT(output)},
	{'p', "flat-profile", VALUE_OPTIONAL, "SYM",
	 "the flat profile", options_select_with, AT(flat)},
	{'P', "no-flat-profile", VALUE_OPTIONAL, "SYM",
	 "without it, or without that function in it", options_select_without, AT(flat)},
	{'q', "graph", VALUE_OPTIONAL, "SYM",
	 "the call graph, with its index", options_select_with, AT(graph)},
	{'Q', "no-graph", VALUE_OPTIONAL, "SYM",
	 "without it, or without that function in it", options_select_without, AT(graph)},
	{'r', NULL, VALUE_NEEDED, "MILLISECONDS",
	 "time of one sample", options_set_period, 0},
	{'s', NULL, VALUE_NONE, NULL,
	 "writes gmon.sum, the sum of the profiles", options_set_switch, AT(sums)},
	{'t', "table-length", VALUE_NEEDED, "NUMBER",
	 "so many of each source's lines are listed once more (10)",
	 options_set_number, AT(top_lines)},
	{'T', "traditional", VALUE_NONE, NULL,
	 "tables in 4.2BSD's form, which they always have", options_set_nothing, 0},
	{'v', "version", VALUE_NONE, NULL,
	 "says which gprof this is", options_version, 0},
	{'w', "width", VALUE_NEEDED, "COLUMNS",
	 "width of the index and the tree", options_set_number, AT(width)},
	{'x', NULL, VALUE_NEEDED, "ROUTINE",
	 "every address of the routine that was sampled", options_add_name, AT(routines)},
	{'y', "separate-files", VALUE_NONE, NULL,
	 "-A: each source into a file NAME-ann", options_set_switch, AT(separates_sources)},
	{'z', "display-unused-functions", VALUE_NONE, NULL,
	 "also functions neither called nor sampled", options_set_switch, AT(shows_unused)},
	{0, "any-date", VALUE_NONE, NULL,
	 "a program newer than its profile will do", options_set_switch, AT(ignores_dates)},
	{0, "by", VALUE_NEEDED, "HOW",
	 "a recording's samples by process, command, job or user", options_set_by, 0},
	{0, "diff", VALUE_OPTIONAL, "shares",
	 "two profiles, function by function; by shares if they are of other lengths",
	 options_set_diff,
	 0},
	{0, "exec-counts", VALUE_OPTIONAL, "SYM",
	 "functions with the number of their calls", options_select_with, AT(counts)},
	{0, "flavor", VALUE_NEEDED, "NAME",
	 "samples of this flavor only", options_set_text, AT(flavor)},
	{0, "for", VALUE_NEEDED, "PID",
	 "samples on behalf of that process, or of all of that name; `each`: as columns",
	 options_set_for, 0},
	{0, "kernel", VALUE_NEEDED, "FILE",
	 "samples in the kernel are of its functions", options_set_text, AT(kernel)},
	{0, "min-share", VALUE_NEEDED, "PERCENT",
	 "what has less of all time is not in the tree (1)", options_set_share, 0},
	{0, "no-exec-counts", VALUE_OPTIONAL, "SYM",
	 "without them, or without that function among them", options_select_without, AT(counts)},
	{0, "no-time", VALUE_NEEDED, "SYM",
	 "time of these functions is not passed on", options_add_name, AT(untimed)},
	{0, "programs", VALUE_NEEDED, "FOLDER",
	 "with --view: the other programs of a recording are below it",
	 options_set_text, AT(programs)},
	{0, "sum", VALUE_NONE, NULL,
	 "writes gmon.sum, and prints no tables", options_set_sum, 0},
	{0, "tree", VALUE_OPTIONAL, "DEPTH",
	 "a call tree, with so many levels at most", options_set_tree, 0},
	{0, "view", VALUE_NEEDED, "NAME",
	 "writes another program's form", options_set_text, AT(view)},
	{0},
};
/* clang-format on */

/* ---------------- What does not go together ---------------- */

/* Which of the options that choose among tables, or what is in them, there is; 0: none. */
static char options_table_option(const struct options *options)
{
	const struct {
		char letter;
		bool is_there;
	} all[] = {
		{'x', options->routines.n > 0},   {'l', options->shows_lines},
		{'A', options->sources.is_asked}, {'e', options->hidden.n > 0},
		{'E', options->left_out.n > 0},   {'f', options->shown.n > 0},
		{'F', options->counted.n > 0},    {'k', options->cut_from.n > 0},
		{'C', options->cycle_size > 0},   {'c', options->scans_calls},
		{'a', options->hides_static},     {'p', options->flat.is_asked},
		{'P', options->flat.is_refused},  {'q', options->graph.is_asked},
		{'Q', options->graph.is_refused}, {'n', options->timed.n > 0},
		{'i', options->describes_files},  {'D', options->ignores_labels},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].is_there)
			return all[i].letter;
	return 0;
}

static bool options_is_other_asked(const struct options *options)
{
	return options->routines.n > 0 || options->shows_lines || options->flat.is_asked ||
	       options->graph.is_asked || options->sources.is_asked || options->counts.is_asked ||
	       options->tree_depth > 0;
}

bool options_print(const struct options *options, const struct selection *selection)
{
	return selection->is_asked || (!selection->is_refused && !options_is_other_asked(options));
}

static bool options_has_gnus(const struct options *options)
{
	return options->graph.with.n + options->graph.without.n + options->timed.n +
		       options->untimed.n >
	       0;
}

/* Options that contradict each other. */
static void options_check(const struct options *options)
{
	char letter = options_table_option(options);
	bool has_bsds =
		options->hidden.n + options->left_out.n + options->shown.n + options->counted.n > 0;

	if (options->by != BY_NOTHING && (options->view != NULL || letter != 0))
		fail("--by: is a table of its own, without a view or options of other tables");
	if (options->output != NULL && options->view == NULL)
		fail("-o: is where a view goes; tables go to standard output (--view=NAME)");
	if (options->programs != NULL && options->view == NULL)
		fail("--programs: is for views; tables are of PROGRAM alone (--view=NAME)");
	if (options->view != NULL && letter != 0)
		fail("-%c: is for tables; --view=%s writes all of the profile, as it is", letter,
		     options->view);
	if (has_bsds && options_has_gnus(options))
		fail("-e -E -f -F, and -q -Q -n --no-time with functions, are two ways to say the "
		     "same: take one of them");
	if (options->tree_depth > 0 && (has_bsds || options_has_gnus(options) ||
					options->view != NULL || options->cut_from.n > 0))
		fail("--tree: is of all functions and all calls: leave out the options that choose "
		     "some of them, and --view");
	if (options->diffs &&
	    (has_bsds || options_has_gnus(options) || options_is_other_asked(options) ||
	     options->view != NULL || options->splits || options->sums))
		fail("--diff: compares all functions, and prints nothing else: leave out the "
		     "options that choose tables or what is in them");
	if (options->separates_sources && !options->sources.is_asked)
		fail("-y: is where sources go, which only -A prints");
}

static void options_read_words(struct options *options, struct words *words)
{
	bool has_ended = false;

	while (words->next < words->count) {
		const char *word = words->items[words->next++];

		if (!has_ended && strcmp(word, "--") == 0)
			has_ended = true;
		else if (!has_ended && strncmp(word, "--", 2) == 0)
			words_read_long(options, words, word);
		else if (!has_ended && word[0] == '-' && word[1] != '\0')
			words_read_letters(options, words, word + 1);
		else if (options->program == NULL)
			options->program = word;
		else
			options_names_add(&options->profiles, word);
	}
}

void options_read(struct options *options, int count, char **arguments)
{
	struct words words = {.count = count, .items = arguments, .next = 1};

	*options = (struct options){
		.top_lines = TOP_LINES, .least_calls = 1, .least_share = SHARE_LEAST};
	options_read_words(options, &words);
	if (options->program == NULL)
		options->program = "a.out";
	if (options->profiles.n == 0)
		options_names_add(&options->profiles, "gmon.out");
	options_check(options);
}
