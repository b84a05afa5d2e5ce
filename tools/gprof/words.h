/* SPDX-License-Identifier: MIT */
/*
 * The command line as words, and the table of options that they are looked up in.
 *
 * A letter may stand with others in one word; its value is the rest of the word or the next one.  A
 * long name may be shortened as far as it stays one, and has its value behind a `=` or in the next
 * word.  A value that may be left out is never the next word.
 */
#ifndef GPROF_WORDS_H
#define GPROF_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

struct words {
	int count;
	char **items;
	int next;
};

enum option_value {
	VALUE_NONE,
	VALUE_NEEDED,
	VALUE_OPTIONAL,
};

struct option {
	char letter;      /* 0: none. */
	const char *name; /* The long one, without its dashes; NULL: none. */
	enum option_value value;
	const char *what; /* The value, in help. */
	const char *help;
	/* With a value of NULL if there is none.  `words` are those behind it. */
	void (*set)(struct options *options, const struct option *option, const char *value,
		    struct words *words);
	size_t at; /* What it sets, in struct options. */
};

/* All of them, up to one without letter and name: options.c. */
extern const struct option option_table[];

/* Prints what is wrong and how gprof is called, and exits with status 1. */
_Noreturn void usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints how gprof is called, and all options. */
void options_print_help(void);

/* The next word, as the value of an option that has more than one. */
const char *words_next(struct words *words, const char *option);

/* Each option's letter, with which messages call it, or its long name. */
void option_spell(const struct option *option, char *text, size_t size);

/* Letters: behind a `-`; a long name: behind `--`. */
void words_read_letters(struct options *options, struct words *words, const char *at);
void words_read_long(struct options *options, struct words *words, const char *word);

/* ---- hints.c ---- */

/*
 * What somebody may have meant who wrote this: an option that is spelled nearly so, or what there
 * is here for one of GNU's.  In the text; "" if nothing comes to mind.
 */
void option_hint(const char *word, char *text, size_t size);

#endif
