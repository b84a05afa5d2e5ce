/* SPDX-License-Identifier: MIT */
/*
 * What all views are made from: a profile as stacks of functions with counts.
 *
 * A *frame* is a place in a function; a place outside of every function has a function of its own,
 * UNKNOWN.  A *stack* is so many samples of one flavor that were found with the same frames, the
 * innermost first; a profile of single samples has a stack for each.  Where it has no samples but
 * counts and calls (gmon.out), the callers in a stack are guessed: guess.c.
 */
#ifndef GPROF_VIEW_H
#define GPROF_VIEW_H

#include <stdio.h>

#include "../model.h"
#include "views.h"

#define VIEW_UNKNOWN "<outside>" /* As gprof's own tables call it. */
#define VIEW_KERNEL  "<kernel>"  /* A kernel whose symbols are not at hand. */

struct view_function {
	const char *name;
	const struct profile_image *image; /* NULL: that of the program.  Of all processes that ran
					      a program it is the first one's. */
	uint64_t start;
	bool is_kernel;
};

struct view_frame {
	uint32_t function;
	bool is_return;  /* The address is behind a call. */
	uint32_t client; /* In whose program it is; 0: the sampled task's own. */
	uint64_t address;
};

struct view_stack {
	size_t frames;  /* Index of the first in the view's. */
	uint32_t depth; /* At least 1. */
	uint32_t flavor;
	uint64_t count;
	const struct profile_sample *sample; /* NULL: made from counts. */
};

/* How often a function called another one, as was counted; by caller, each pair once. */
struct view_call {
	uint32_t caller;
	uint32_t callee;
	uint64_t count;
};

struct view_site {
	uint32_t caller;
	uint32_t callee;
	uint64_t site; /* Behind the call. */
	uint64_t count;
};

struct view {
	const struct profile *profile; /* With the flavors that are shown. */
	const struct elfsym *program;  /* NULL: not at hand. */
	const char *program_path;
	const char *kernel_path; /* Of the profile's kernel, if that is at hand. */
	bool is_guessed;         /* The callers are. */

	struct view_function *functions;
	size_t n_functions;
	size_t functions_room;

	struct view_frame *frames;
	size_t n_frames;
	size_t frames_room;

	struct view_stack *stacks;
	size_t n_stacks;
	size_t stacks_room;

	struct view_call *calls;
	size_t n_calls;
	struct view_site *sites; /* The same by where the calls were made. */
	size_t n_sites;

	uint32_t *firsts; /* By image, the first one of the same program. */

	/* Places of functions, in a table by their names' and images' hash. */
	uint32_t *table;
	size_t table_size;
};

/* `profile` is the source's, or a copy that has only the flavor to show. */
void view_begin(struct view *view, const struct profile *profile, const struct view_source *source);
void view_end(struct view *view);

/*
 * The place of an address that was executed, or behind which a call was made (`is_return`), in a
 * sample; NULL if it is in none.
 */
struct view_frame view_place(struct view *view, const struct profile_sample *sample, bool is_kernel,
			     uint64_t address, bool is_return);

/* Where the kernel was when there is no more to say of it. */
struct view_frame view_kernel(struct view *view);

void view_add_frame(struct view *view, struct view_frame frame);

/* Adds a stack of the frames that were added since `first`. */
void view_add_stack(struct view *view, size_t first, uint32_t flavor, uint64_t count,
		    const struct profile_sample *sample);

/* Makes stacks of a profile's counts, and of its calls the callers in them. */
void view_guess(struct view *view);

/* ---------------- For writers ---------------- */

static inline const char *view_name(const struct view *view, uint32_t function)
{
	return view->functions[function].name;
}

/* An address that is the frame's function's in any case. */
static inline uint64_t view_inside(const struct view_frame *frame)
{
	return frame->address - (frame->is_return && frame->address > 0);
}

/* The executable on this host that has the function; NULL: there is none. */
const char *view_file(const struct view *view, uint32_t function);

/* The path of the executable that a function is from, "" if nobody said it. */
const char *view_object(const struct view *view, uint32_t function);

/* The symbols of what was mapped there, or of the program; NULL. */
const struct elfsym *view_symbols(const struct view *view, const struct profile_image *image);

/* The samples of a flavor that the stacks have together. */
uint64_t view_total(const struct view *view, size_t flavor);

/* The flavor to show first: the clock's, if there is one. */
size_t view_main_flavor(const struct view *view);

/* Nanoseconds between samples of a flavor; 0 if a sample is an event. */
uint64_t view_interval(const struct profile_flavor *flavor);

/* The task of that id, NULL if nothing is known of it. */
const struct profile_task *view_task(const struct view *view, uint32_t id);

/* "PID:NAME", or as much of it as is known; in the buffer. */
const char *view_task_name(const struct view *view, uint32_t id, char *text, size_t size);

/*
 * The profile's values as words like `lost=3`, by number; NULL if the file did not give that one.
 */
const char *view_value(const struct profile *profile, unsigned which, char *text, size_t size);

/* The same, and behind them of each of several CPUs a word like `cpu1=due:9,fired:4,...`. */
#define VIEW_WORDS     (PROFILE_VALUES + PROFILE_CPUS)
#define VIEW_WORD_ROOM 256
const char *view_word(const struct profile *profile, unsigned which, char *text, size_t size);

/* What there is of each CPU. */
#define VIEW_CPU_VALUES 7
extern const unsigned view_cpu_values[VIEW_CPU_VALUES];
const char *view_value_name(unsigned which);

uint64_t view_lost(const struct profile *profile);

/* A string with JSON's quotes. */
void view_quote(FILE *out, const char *text);

typedef void view_writer(const struct view *view, FILE *out);

view_writer view_write_callgrind;
view_writer view_write_folded;
view_writer view_write_json;
view_writer view_write_perf_data;
view_writer view_write_perf_script;
view_writer view_write_pprof;
view_writer view_write_speedscope;

#endif
