/* SPDX-License-Identifier: MIT */
/* Regular expressions, basic and extended, that tell whether a line matches. */
#ifndef GREP_REGEX_H
#define GREP_REGEX_H

#include <stdbool.h>
#include <stddef.h>

enum syntax {
	SYNTAX_BASIC,    /* \( \) \{ \} group and count; + ? | are characters. */
	SYNTAX_EXTENDED, /* ( ) { } + ? | have meanings. */
	SYNTAX_FIXED,    /* All characters stand for themselves. */
};

struct regex;

/* Compiles the pattern; NULL, and what is wrong in `error`, if it cannot be. */
struct regex *regex_compile(const char *pattern, size_t length, enum syntax syntax,
			    bool ignores_case, const char **error);

/* Whether the line has a part that matches.  Time is at most pattern times line. */
bool regex_matches(struct regex *regex, const char *line, size_t length);

#endif
