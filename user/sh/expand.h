/* SPDX-License-Identifier: MIT */
/*
 * Expansion: from words to strings, fields and patterns, all in scratch.
 *
 * In between, a text has a mark for each character: how it was quoted decides whether it separates
 * fields and what it means in a pattern.
 */
#ifndef SH_EXPAND_H
#define SH_EXPAND_H

#include "memory.h"
#include "tree.h"

enum mark {
	MARK_PLAIN = 'p',  /* From the script, not quoted. */
	MARK_SPLIT = 's',  /* From an expansion, not quoted: may separate fields. */
	MARK_QUOTED = 'q', /* Stands for itself. */
	MARK_BREAK = 'b',  /* No character: a field ends here. */
	MARK_EMPTY = 'e',  /* No character: there is a field, even if nothing is in it. */
};

struct text {
	struct string bytes;
	struct string marks; /* One for each byte. */
};

struct expansion {
	struct text text;
	bool splits;        /* Fields are wanted. */
	bool is_assignment; /* A tilde after a colon counts. */
	enum mark plain;    /* The mark of the script's own characters. */
};

/* ---- expand.c ---- */

/* Fields of the words, after splitting and with file names for patterns. */
void expand_fields(const struct word *words, struct list *fields);

/* One string. */
char *expand_string(const struct word *word);
char *expand_assignment(const struct word *word);
struct text expand_pattern(const struct word *word);

/* The value of a variable that is a prompt. */
const char *expand_prompt(const char *name);

/* Fields of an argument such as name=value to export: value is expanded as in an assignment. */
void expand_declaration(const struct word *word, struct list *fields);

void expand_parts(struct expansion *expansion, const struct word *word);
void text_start(struct text *text);
void text_add(struct text *text, const char *bytes, enum mark mark);
void text_add_value(struct text *text, const char *value, bool quoted);
void text_add_sign(struct text *text, enum mark mark);

/* The characters alone. */
char *text_flatten(const struct text *text);

/* ---- expand_parameter.c ---- */

void expand_parameter(struct expansion *expansion, const struct part *part);

/* ---- substitute.c ---- */

/* What the commands print, without the newlines at its end. */
char *substitute(struct node *command);

/* ---- split.c ---- */

void split_fields(const struct text *text, struct list *fields);

/* ---- glob.c ---- */

/* Adds the names of files that match, or the text itself. */
void glob_field(const struct text *text, struct list *fields);

/* ---- pattern.c ---- */

/* Whether all of the subject matches. */
bool pattern_matches(const struct text *pattern, const char *subject, size_t length);
bool pattern_is_active(const struct text *pattern);

/* ---- arithmetic.c ---- */

long long arithmetic(const char *expression);

/* A C constant, blanks around it allowed; false if it is none. */
bool read_constant(const char *text, long long *value);

#endif
