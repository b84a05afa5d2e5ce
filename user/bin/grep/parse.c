/* SPDX-License-Identifier: MIT */
/* From a pattern to its tree, in both syntaxes. */
#include <ctype.h>
#include <string.h>

#include "common/common.h"
#include "grep/program.h"
#include "grep/tree.h"

#define DEPTH_MAX   100
#define REPEATS_MAX 255

struct parser {
	const char *at;
	const char *end;
	enum syntax syntax;
	bool ignores_case;
	unsigned depth;
	const char *error;
};

static const struct class_name {
	const char *name;
	int (*contains)(int character);
} classes[] = {
	{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
	{"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
	{"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
};

static struct tree *parse_choice(struct parser *parser);

static struct tree *create(enum kind kind, struct tree *left, struct tree *right)
{
	struct tree *tree = allocate(sizeof(*tree));

	tree->kind = kind;
	tree->left = left;
	tree->right = right;
	return tree;
}

static struct tree *complain_of(struct parser *parser, const char *error)
{
	if (parser->error == NULL)
		parser->error = error;
	parser->at = parser->end;
	return create(KIND_EMPTY, NULL, NULL);
}

/* Whether the operator is next: with a backslash in basic expressions, without in extended. */
static bool at_operator(const struct parser *parser, char operation)
{
	size_t left = (size_t)(parser->end - parser->at);

	if (parser->syntax == SYNTAX_EXTENDED)
		return left >= 1 && parser->at[0] == operation;
	return parser->syntax == SYNTAX_BASIC && left >= 2 && parser->at[0] == '\\' &&
	       parser->at[1] == operation;
}

static bool take_operator(struct parser *parser, char operation)
{
	if (!at_operator(parser, operation))
		return false;
	parser->at += parser->syntax == SYNTAX_EXTENDED ? 1 : 2;
	return true;
}

static void add_to_class(uint8_t *class, unsigned character, bool ignores_case)
{
	class[character / 8] |= (uint8_t)(1u << character % 8);
	if (ignores_case && isalpha((int)character)) {
		unsigned other = (unsigned)(isupper((int)character) ? tolower((int)character)
								    : toupper((int)character));

		class[other / 8] |= (uint8_t)(1u << other % 8);
	}
}

/* [:name:] behind its first bracket; false if it is none. */
static bool read_class_name(struct parser *parser, uint8_t *class)
{
	size_t left = (size_t)(parser->end - parser->at);

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t length = strlen(classes[i].name);

		if (left < length + 3 || strncmp(parser->at + 1, classes[i].name, length) != 0 ||
		    strncmp(parser->at + 1 + length, ":]", 2) != 0)
			continue;
		for (unsigned character = 0; character < 256; character++)
			if (classes[i].contains((int)character))
				add_to_class(class, character, parser->ignores_case);
		parser->at += length + 3;
		return true;
	}
	return false;
}

/* One character or a range. */
static void read_class_element(struct parser *parser, uint8_t *class)
{
	unsigned first = (unsigned char)*parser->at++;
	unsigned last = first;

	if (first == '[' && parser->at < parser->end && *parser->at == ':') {
		if (!read_class_name(parser, class))
			complain_of(parser, "no such class of characters");
		return;
	}
	if (parser->end - parser->at >= 2 && parser->at[0] == '-' && parser->at[1] != ']') {
		last = (unsigned char)parser->at[1];
		parser->at += 2;
	}
	if (first > last)
		complain_of(parser, "the range's end is before its beginning");
	for (unsigned character = first; character <= last; character++)
		add_to_class(class, character, parser->ignores_case);
}

static struct tree *parse_class(struct parser *parser)
{
	struct tree *tree = create(KIND_CLASS, NULL, NULL);
	bool is_negated = parser->at < parser->end && *parser->at == '^';
	const char *start;

	tree->class = allocate(CLASS_BYTES);
	parser->at += is_negated;
	start = parser->at;
	while (parser->at < parser->end && (*parser->at != ']' || parser->at == start))
		read_class_element(parser, tree->class);
	if (parser->at == parser->end)
		return complain_of(parser, "no closing ]");
	parser->at++;
	for (size_t i = 0; is_negated && i < CLASS_BYTES; i++)
		tree->class[i] = (uint8_t)~tree->class[i];
	return tree;
}

static struct tree *character_tree(const struct parser *parser, char character)
{
	struct tree *tree = create(KIND_CHARACTER, NULL, NULL);

	tree->character = (unsigned char)character;
	if (parser->ignores_case)
		tree->character = (unsigned char)tolower(tree->character);
	return tree;
}

static struct tree *parse_group(struct parser *parser)
{
	struct tree *tree;

	if (++parser->depth > DEPTH_MAX)
		return complain_of(parser, "nested too deeply");
	tree = parse_choice(parser);
	parser->depth--;
	if (!take_operator(parser, ')'))
		return complain_of(parser, "no closing )");
	return tree;
}

static struct tree *parse_escaped(struct parser *parser)
{
	if (parser->at == parser->end)
		return complain_of(parser, "a backslash at the end");
	if (*parser->at >= '1' && *parser->at <= '9')
		return complain_of(parser, "references to groups are not understood");
	if (parser->syntax == SYNTAX_BASIC && strchr("({})", *parser->at) != NULL)
		return complain_of(parser, "something is missing before \\) \\{ or \\}");
	return character_tree(parser, *parser->at++);
}

/* In a basic expression ^ and $ are anchors at the ends of it and of groups alone. */
static bool is_end_anchor(const struct parser *parser)
{
	return parser->syntax == SYNTAX_EXTENDED || parser->at == parser->end ||
	       at_operator(parser, ')') || at_operator(parser, '|');
}

static struct tree *parse_atom(struct parser *parser, bool is_first)
{
	char character;

	if (parser->syntax == SYNTAX_FIXED)
		return character_tree(parser, *parser->at++);
	if (take_operator(parser, '('))
		return parse_group(parser);
	character = *parser->at++;
	if (character == '\\')
		return parse_escaped(parser);
	if (character == '.')
		return create(KIND_ANY, NULL, NULL);
	if (character == '[')
		return parse_class(parser);
	if (character == '^' && (is_first || parser->syntax == SYNTAX_EXTENDED))
		return create(KIND_START, NULL, NULL);
	if (character == '$' && is_end_anchor(parser))
		return create(KIND_END, NULL, NULL);
	if (parser->syntax == SYNTAX_EXTENDED && strchr("*+?", character) != NULL)
		return complain_of(parser, "nothing to repeat");
	return character_tree(parser, character);
}

static int read_count(struct parser *parser, int otherwise)
{
	int value = 0;

	if (parser->at == parser->end || !isdigit((unsigned char)*parser->at))
		return otherwise;
	while (parser->at < parser->end && isdigit((unsigned char)*parser->at))
		if ((value = value * 10 + (*parser->at++ - '0')) > REPEATS_MAX) {
			complain_of(parser, "too many repetitions");
			return 0;
		}
	return value;
}

static struct tree *repeat(struct tree *tree, int minimum, int maximum)
{
	struct tree *result = create(KIND_REPEAT, tree, NULL);

	result->minimum = minimum;
	result->maximum = maximum;
	return result;
}

/* {2} {2,} {2,5} */
static struct tree *parse_counts(struct parser *parser, struct tree *tree)
{
	int minimum = read_count(parser, 0);
	int maximum = minimum;

	if (parser->at < parser->end && *parser->at == ',') {
		parser->at++;
		maximum = read_count(parser, REPEAT_FOREVER);
	}
	if (!take_operator(parser, '}'))
		return complain_of(parser, "no closing }");
	if (maximum != REPEAT_FOREVER && maximum < minimum)
		return complain_of(parser, "the highest count is below the lowest");
	return repeat(tree, minimum, maximum);
}

/* One operator behind an atom, such as *; false if there is none. */
static bool parse_repeat(struct parser *parser, struct tree **tree)
{
	if (parser->syntax == SYNTAX_FIXED)
		return false;
	if (parser->at < parser->end && *parser->at == '*') {
		parser->at++;
		*tree = repeat(*tree, 0, REPEAT_FOREVER);
	} else if (take_operator(parser, '+')) {
		*tree = repeat(*tree, 1, REPEAT_FOREVER);
	} else if (take_operator(parser, '?')) {
		*tree = repeat(*tree, 0, 1);
	} else if (take_operator(parser, '{')) {
		*tree = parse_counts(parser, *tree);
	} else {
		return false;
	}
	return true;
}

static struct tree *parse_sequence(struct parser *parser)
{
	struct tree *sequence = NULL;
	bool is_first = true;

	while (parser->at < parser->end && !at_operator(parser, '|') &&
	       !(parser->depth > 0 && at_operator(parser, ')'))) {
		struct tree *tree = parse_atom(parser, is_first);
		unsigned repeats = 0;

		/* A star at the very beginning of a basic expression is a character. */
		is_first = is_first && tree->kind == KIND_START && parser->syntax == SYNTAX_BASIC;
		if (is_first && parser->at < parser->end && *parser->at == '*')
			tree = create(KIND_SEQUENCE, tree, character_tree(parser, *parser->at++));
		while (parse_repeat(parser, &tree))
			if (++repeats > DEPTH_MAX)
				complain_of(parser, "repeated too often");
		is_first = false;
		sequence = sequence == NULL ? tree : create(KIND_SEQUENCE, sequence, tree);
	}
	return sequence != NULL ? sequence : create(KIND_EMPTY, NULL, NULL);
}

static struct tree *parse_choice(struct parser *parser)
{
	struct tree *tree = parse_sequence(parser);

	while (take_operator(parser, '|'))
		tree = create(KIND_CHOICE, tree, parse_sequence(parser));
	return tree;
}

struct tree *tree_parse(const char *pattern, size_t length, enum syntax syntax, bool ignores_case,
			const char **error)
{
	struct parser parser = {pattern, pattern + length, syntax, ignores_case, 0, NULL};
	struct tree *tree = parse_choice(&parser);

	if (parser.error == NULL && parser.at < parser.end)
		complain_of(&parser, "no opening (");
	*error = parser.error;
	return parser.error == NULL ? tree : NULL;
}
