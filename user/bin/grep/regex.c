/* SPDX-License-Identifier: MIT */
/* From trees to programs, and the machine that executes them on all places of a line at once. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/common.h"
#include "grep/program.h"
#include "grep/tree.h"

static void compile(struct regex *regex, const struct tree *tree);

/* Once a program is too large nothing is added; regex_compile() sees it by its length. */
static uint32_t emit(struct regex *regex, enum operation operation)
{
	if (regex->length == INSTRUCTIONS_MAX)
		return regex->length - 1;
	if (regex->length == regex->room) {
		regex->room = 2 * regex->room + 64;
		regex->code = reallocate(regex->code, regex->room * sizeof(*regex->code));
	}
	regex->code[regex->length] =
		(struct instruction){.operation = operation, .first = regex->length + 1};
	return regex->length++;
}

static void compile_choice(struct regex *regex, const struct tree *tree)
{
	uint32_t split = emit(regex, OPERATION_SPLIT);
	uint32_t jump;

	compile(regex, tree->left);
	jump = emit(regex, OPERATION_JUMP);
	regex->code[split].second = regex->length;
	compile(regex, tree->right);
	regex->code[jump].first = regex->length;
}

static void compile_optional(struct regex *regex, const struct tree *tree, bool forever)
{
	uint32_t split = emit(regex, OPERATION_SPLIT);

	compile(regex, tree);
	if (forever) {
		uint32_t jump = emit(regex, OPERATION_JUMP);

		regex->code[jump].first = split;
	}
	regex->code[split].second = regex->length;
}

static void compile_repeat(struct regex *regex, const struct tree *tree)
{
	for (int i = 0; i < tree->minimum && regex->length < INSTRUCTIONS_MAX; i++)
		compile(regex, tree->left);
	if (tree->maximum == REPEAT_FOREVER)
		compile_optional(regex, tree->left, true);
	for (int i = tree->minimum; i < tree->maximum && regex->length < INSTRUCTIONS_MAX; i++)
		compile_optional(regex, tree->left, false);
}

/* A sequence leans to the left and may be as long as the pattern. */
static void compile_sequence(struct regex *regex, const struct tree *tree)
{
	const struct tree **elements;
	const struct tree *element;
	size_t count = 1;

	for (element = tree; element->kind == KIND_SEQUENCE; element = element->left)
		count++;
	elements = allocate(count * sizeof(struct tree *));
	element = tree;
	for (size_t i = count; i-- > 1; element = element->left)
		elements[i] = element->right;
	elements[0] = element;
	for (size_t i = 0; i < count; i++)
		compile(regex, elements[i]);
	free(elements);
}

static void compile(struct regex *regex, const struct tree *tree)
{
	static const enum operation operations[] = {
		[KIND_CHARACTER] = OPERATION_CHARACTER,
		[KIND_ANY] = OPERATION_ANY,
		[KIND_CLASS] = OPERATION_CLASS,
		[KIND_START] = OPERATION_START,
		[KIND_END] = OPERATION_END,
	};
	uint32_t place;

	switch (tree->kind) {
	case KIND_EMPTY:
		return;
	case KIND_SEQUENCE:
		compile_sequence(regex, tree);
		return;
	case KIND_CHOICE:
		compile_choice(regex, tree);
		return;
	case KIND_REPEAT:
		compile_repeat(regex, tree);
		return;
	default:
		place = emit(regex, operations[tree->kind]);
		regex->code[place].character = tree->character;
		regex->code[place].class = tree->class;
	}
}

static void create_set(struct set *set, uint32_t size)
{
	set->members = allocate(size * sizeof(*set->members));
	set->places = allocate(size * sizeof(*set->places));
}

/* The trees stay: there are as many as patterns, and classes are used by the program. */
struct regex *regex_compile(const char *pattern, size_t length, enum syntax syntax,
			    bool ignores_case, const char **error)
{
	struct tree *tree = tree_parse(pattern, length, syntax, ignores_case, error);
	struct regex *regex;

	if (tree == NULL)
		return NULL;
	regex = allocate(sizeof(*regex));
	regex->ignores_case = ignores_case;
	compile(regex, tree);
	emit(regex, OPERATION_MATCH);
	if (regex->length == INSTRUCTIONS_MAX) {
		*error = "too large";
		return NULL;
	}
	create_set(&regex->now, regex->length);
	create_set(&regex->next, regex->length);
	regex->stack = allocate(2 * regex->length * sizeof(*regex->stack));
	return regex;
}

static bool add_one(struct set *set, uint32_t place)
{
	uint32_t found = set->places[place];

	if (found < set->count && set->members[found] == place)
		return false;
	set->places[place] = set->count;
	set->members[set->count++] = place;
	return true;
}

/* Adds a place and all that can be reached from it without taking a character. */
static void add(struct regex *regex, struct set *set, uint32_t start, bool at_start, bool at_end)
{
	uint32_t used = 0;

	regex->stack[used++] = start;
	while (used > 0) {
		uint32_t place = regex->stack[--used];
		const struct instruction *instruction = &regex->code[place];

		assert(place < regex->length);
		if (!add_one(set, place))
			continue;
		if (instruction->operation == OPERATION_SPLIT)
			regex->stack[used++] = instruction->second;
		if (instruction->operation == OPERATION_SPLIT ||
		    instruction->operation == OPERATION_JUMP ||
		    (instruction->operation == OPERATION_START && at_start) ||
		    (instruction->operation == OPERATION_END && at_end))
			regex->stack[used++] = instruction->first;
	}
}

static bool takes(const struct regex *regex, const struct instruction *instruction,
		  unsigned char character)
{
	switch (instruction->operation) {
	case OPERATION_CHARACTER:
		if (regex->ignores_case)
			character = (unsigned char)tolower(character);
		return character == instruction->character;
	case OPERATION_ANY:
		return true;
	case OPERATION_CLASS:
		return instruction->class[character / 8] >> character % 8 & 1;
	default:
		return false;
	}
}

static bool has_match(const struct regex *regex, const struct set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (regex->code[set->members[i]].operation == OPERATION_MATCH)
			return true;
	return false;
}

/* A match may begin at every place: its first instruction is added at each. */
bool regex_matches(struct regex *regex, const char *line, size_t length)
{
	regex->now.count = 0;
	for (size_t i = 0;; i++) {
		struct set swapped = regex->now;

		add(regex, &regex->now, 0, i == 0, i == length);
		if (has_match(regex, &regex->now))
			return true;
		if (i == length)
			return false;
		swapped = regex->now;
		regex->next.count = 0;
		for (uint32_t j = 0; j < swapped.count; j++) {
			const struct instruction *instruction = &regex->code[swapped.members[j]];

			if (takes(regex, instruction, (unsigned char)line[i]))
				add(regex, &regex->next, instruction->first, false,
				    i + 1 == length);
		}
		regex->now = regex->next;
		regex->next = swapped;
	}
}
